// SPDX-License-Identifier: GPL-2.0
/* The receivers as rows. */
#include "userspace/tables/receivers.h"

#define ROW(symbol, name, traits, meaning) [RECEIVER_##symbol] = { name, traits, meaning },
const struct table_row receiver_rows[RECEIVER_COUNT] = { RECEIVERS(ROW) };
#undef ROW

int receiver_number(const char *name)
{
	return row_find(receiver_rows, RECEIVER_COUNT, name);
}

bool receiver_is_blind(const char *name)
{
	return row_has(receiver_rows, RECEIVER_COUNT, name, RECEIVER_BLIND);
}
