// SPDX-License-Identifier: GPL-2.0
/* The behaviours as rows, as lists of names, and which of them go together. */
#include "userspace/tables/behaviours.h"

#include <stdio.h>
#include <string.h>

#include "userspace/tables/variants.h"

#define ROW(symbol, name, traits, meaning) [BEHAVIOUR_##symbol] = { name, traits, meaning },
const struct table_row behaviour_rows[BEHAVIOUR_COUNT] = { BEHAVIOURS(ROW) };
#undef ROW

static bool has_any(unsigned int set, unsigned int trait)
{
	for (int i = 0; i < BEHAVIOUR_COUNT; i++)
		if (set & 1u << i && behaviour_rows[i].traits & trait)
			return true;
	return false;
}

int behaviours_read(const char *list, unsigned int *set)
{
	unsigned int found = 0;
	char name[32];

	for (const char *at = *list ? list : NULL; at;) {
		size_t length = strcspn(at, ",");
		int i = -1;

		if (length < sizeof(name)) {
			memcpy(name, at, length);
			name[length] = '\0';
			i = row_find(behaviour_rows, BEHAVIOUR_COUNT, name);
		}
		if (i < 0)
			return -1;
		found |= 1u << i;
		at = at[length] ? at + length + 1 : NULL;
	}
	*set = found;
	return 0;
}

void behaviours_write(unsigned int set, char *list, size_t size)
{
	size_t used = 0;

	*list = '\0';
	for (int i = 0; i < BEHAVIOUR_COUNT; i++)
		if (set & 1u << i && used < size)
			used += snprintf(list + used, size - used, "%s%s", used ? "," : "",
					 behaviour_rows[i].name);
}

const char *behaviours_fault(unsigned int set, unsigned int variant_traits)
{
	bool zerocopy = variant_traits & VARIANT_SO_ZEROCOPY;
	bool reads = traits_reference(variant_traits) && !(variant_traits & VARIANT_UNREAPED);

	if (has_any(set, BEHAVIOUR_ZEROCOPY) && !zerocopy)
		return "reuse-at-once, end-on-enobufs and sleep-on-enobufs are for variants that set "
		       "SO_ZEROCOPY";
	if (has_any(set, BEHAVIOUR_AT_ONCE) && reads)
		return "fresh-message and reuse-at-once are not for variants that read completions";
	if (has_any(set, BEHAVIOUR_DATAGRAMS) && !(variant_traits & VARIANT_DATAGRAMS))
		return "no-gro is for variants that send by UDP";
	if (set & BEHAVIOUR_BIT(fresh_message) && set & BEHAVIOUR_BIT(reuse_at_once))
		return "fresh-message leaves no memory for reuse-at-once";
	if (set & BEHAVIOUR_BIT(end_on_enobufs) && set & BEHAVIOUR_BIT(sleep_on_enobufs))
		return "end-on-enobufs and sleep-on-enobufs exclude each other";
	return NULL;
}

bool behaviours_overwrite(unsigned int set, unsigned int variant_traits)
{
	return variant_traits & VARIANT_SO_ZEROCOPY && has_any(set, BEHAVIOUR_AT_ONCE);
}

bool behaviours_want_messages(unsigned int set)
{
	return has_any(set, BEHAVIOUR_OF_RECEIVER);
}
