// SPDX-License-Identifier: GPL-2.0
/* The variants as rows. */
#include "userspace/tables/variants.h"

#define ROW(symbol, name, traits, meaning) [VARIANT_##symbol] = { name, traits, meaning },
const struct table_row variant_rows[VARIANT_COUNT] = { VARIANTS(ROW) };
#undef ROW

int variant_number(const char *name)
{
	return row_find(variant_rows, VARIANT_COUNT, name);
}

unsigned int variant_traits(const char *name)
{
	int i = variant_number(name);

	return i < 0 ? 0 : variant_rows[i].traits;
}

bool variant_has(const char *name, unsigned int traits)
{
	return row_has(variant_rows, VARIANT_COUNT, name, traits);
}
