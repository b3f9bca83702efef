// SPDX-License-Identifier: GPL-2.0
/* Finds rows of tables by name. */
#include "userspace/tables/rows.h"

#include <string.h>

int row_find(const struct table_row *rows, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

bool row_has(const struct table_row *rows, int count, const char *name, unsigned int traits)
{
	int i = row_find(rows, count, name);

	return i >= 0 && (rows[i].traits & traits) == traits;
}
