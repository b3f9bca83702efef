// SPDX-License-Identifier: GPL-2.0
/* The variants as rows, and how to find one by name. */
#include "userspace/tables/variants.h"

#include <string.h>

#define ROW(symbol, name, traits, meaning) [VARIANT_##symbol] = { name, traits, meaning },
const struct variant_row variant_rows[VARIANT_COUNT] = { VARIANTS(ROW) };
#undef ROW

bool variant_has(const char *name, unsigned int traits)
{
	for (int i = 0; i < VARIANT_COUNT; i++)
		if (!strcmp(variant_rows[i].name, name))
			return (variant_rows[i].traits & traits) == traits;
	return false;
}
