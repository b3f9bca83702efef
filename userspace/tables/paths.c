// SPDX-License-Identifier: GPL-2.0
/* The paths as rows. */
#include "userspace/tables/paths.h"

#define ROW(symbol, name, traits, meaning) [PATH_##symbol] = { name, traits, meaning },
const struct table_row path_rows[PATH_COUNT] = { PATHS(ROW) };
#undef ROW

int path_find(const char *name)
{
	return row_find(path_rows, PATH_COUNT, name);
}

bool path_has(const char *name, unsigned int traits)
{
	return row_has(path_rows, PATH_COUNT, name, traits);
}
