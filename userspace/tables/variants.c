// SPDX-License-Identifier: GPL-2.0
/* The variants as rows. */
#include "userspace/tables/variants.h"

#include <string.h>
#include <strings.h>

#define ROW(symbol, name, call, traits, meaning) [VARIANT_##symbol] = { name, traits, meaning },
const struct table_row variant_rows[VARIANT_COUNT] = { VARIANTS(ROW) };
#undef ROW

static const char *const calls[VARIANT_COUNT] = {
#define CALL(symbol, name, call, traits, meaning) [VARIANT_##symbol] = call,
	VARIANTS(CALL)
#undef CALL
};

int variant_number(const char *name)
{
	return row_find(variant_rows, VARIANT_COUNT, name);
}

const char *variant_call(const char *name)
{
	int i = variant_number(name);

	return i < 0 ? "" : calls[i];
}

const char *variant_meant(const char *name)
{
	for (int i = 0; i < VARIANT_COUNT; i++)
		if (!strcasecmp(name, variant_rows[i].name))
			return variant_rows[i].name;
	return NULL;
}

unsigned int variant_traits(const char *name)
{
	int i = variant_number(name);

	return i < 0 ? 0 : variant_rows[i].traits;
}

const char *variant_fault(unsigned int traits, bool replies, bool readers, const char *receiver)
{
	if (!(traits & VARIANT_DATAGRAMS))
		return NULL;
	if (replies)
		return "a reply to a datagram may be lost: use --pattern stream";
	return readers || strcmp(receiver, "recv") ? "datagrams are received by --receiver recv alone" : NULL;
}

bool variant_has(const char *name, unsigned int traits)
{
	return row_has(variant_rows, VARIANT_COUNT, name, traits);
}
