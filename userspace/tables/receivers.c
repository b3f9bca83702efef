// SPDX-License-Identifier: GPL-2.0
/* The receivers as rows. */
#include "userspace/tables/receivers.h"

#include "userspace/tables/variants.h"

#define ROW(symbol, name, traits, meaning) [RECEIVER_##symbol] = { name, traits, meaning },
const struct table_row receiver_rows[RECEIVER_COUNT] = { RECEIVERS(ROW) };
#undef ROW

int receiver_number(const char *name)
{
	return row_find(receiver_rows, RECEIVER_COUNT, name);
}

/* Both tables have the same bits for it. */
enum { TLS = RECEIVER_TLS | RECEIVER_TLS_OLD };
_Static_assert((int)RECEIVER_TLS == VARIANT_TLS && (int)RECEIVER_TLS_OLD == VARIANT_TLS_OLD, "one bit, one meaning");

const char *receiver_implied(unsigned int variant)
{
	int i = 0;

	while ((receiver_rows[i].traits & TLS) != (variant & TLS))
		i++;
	return receiver_rows[i].name;
}

const char *receiver_fault(const char *name, unsigned int variant)
{
	int i = receiver_number(name);
	unsigned int traits = i < 0 ? 0 : receiver_rows[i].traits;

	if ((traits & TLS) == (variant & TLS))
		return NULL;
	return variant & VARIANT_TLS ? "it receives no TLS of that version, which the variant sends: leave it out" :
				       "it receives TLS, which the variant does not send: leave it out";
}

const char *receiver_turn_fault(const char *name, unsigned int variant)
{
	const char *fault = variant_fault(variant, false, false, name);

	if (receiver_has(name, RECEIVER_MULTISHOT))
		return "it does not stop behind a message";
	return fault ? fault : receiver_fault(name, variant);
}

bool receiver_has(const char *name, unsigned int traits)
{
	return row_has(receiver_rows, RECEIVER_COUNT, name, traits);
}
