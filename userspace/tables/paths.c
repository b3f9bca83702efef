// SPDX-License-Identifier: GPL-2.0
/* The paths as rows, and how to find one by name. */
#include "userspace/tables/paths.h"

#include <string.h>

#define ROW(symbol, name, traits, meaning) [PATH_##symbol] = { name, traits, meaning },
const struct path_row path_rows[PATH_COUNT] = { PATHS(ROW) };
#undef ROW

int path_find(const char *name)
{
	for (int i = 0; i < PATH_COUNT; i++)
		if (!strcmp(path_rows[i].name, name))
			return i;
	return -1;
}

bool path_has(const char *name, unsigned int traits)
{
	int i = path_find(name);

	return i >= 0 && (path_rows[i].traits & traits) == traits;
}
