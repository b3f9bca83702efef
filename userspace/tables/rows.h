/* SPDX-License-Identifier: GPL-2.0 */
/* A row of a table of names, and how to find one by its name. */
#ifndef COPYSCOPE_ROWS_H
#define COPYSCOPE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct table_row {
	const char *name;
	unsigned int traits;	/* bits of the table's own enum */
	const char *meaning;	/* one line */
};

/* The number of the row of that name, or -1. */
int row_find(const struct table_row *rows, int count, const char *name);

/* True if there is a row of that name and it has all of @traits. */
bool row_has(const struct table_row *rows, int count, const char *name, unsigned int traits);

#endif
