// SPDX-License-Identifier: GPL-2.0
/* Finds a variant by its name. */
#include <stddef.h>

#include "userspace/workload/send/variant.h"

const struct variant *variant_find(const char *name)
{
#define ADDRESS(symbol, ...) &variant_##symbol,
	static const struct variant *const variants[] = { VARIANTS(ADDRESS) };
#undef ADDRESS
	int i = variant_number(name);

	return i < 0 ? NULL : variants[i];
}
