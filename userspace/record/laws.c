// SPDX-License-Identifier: GPL-2.0
/* Look-ups in the table of laws. */
#include "userspace/record/laws.h"

#include <stdio.h>

static const struct law_row rows[LAW_COUNT] = {
#define OTHER_ROW(symbol, name, scope, traits, left, right, ...) { name, left, right, LAW_OF_##scope, traits, false },
#define WATCH_ROW(symbol, name, scope, traits, left, right, ...) { name, left, right, LAW_OF_##scope, traits, true },
	LAWS(OTHER_ROW, WATCH_ROW, OTHER_ROW)
#undef OTHER_ROW
#undef WATCH_ROW
};

_Static_assert((int)LAW_COUNT <= LAWS_MAX, "a law may find no room");

enum { TERMS_BYTES = 256 };

/* What the sites with these traits are called, as in "tx_copy + tx_reference + tx_splice". */
static const char *name_sites(unsigned int traits)
{
	static char of_sends[TERMS_BYTES], of_reads[TERMS_BYTES];
	char *terms = traits == SITE_SENDS ? of_sends : of_reads;
	size_t used = 0;

	for (enum site s = 0; s < SITE_COUNT && used < TERMS_BYTES; s++)
		if (site_has(s, traits))
			used += snprintf(terms + used, TERMS_BYTES - used, "%s%s", used ? " + " : "",
					 site_name(s));
	return terms;
}

struct law_row law_row(enum law_id id)
{
	struct law_row row = rows[id];

	if (!row.right_is)
		row.right_is = name_sites(id == LAW_send ? SITE_SENDS : SITE_READS);
	return row;
}

const char *law_scope_name(enum law_scope scope)
{
	static const char *const names[] = {
#define SCOPE_NAME(symbol, name) name,
		LAW_SCOPES(SCOPE_NAME)
#undef SCOPE_NAME
	};

	return names[scope];
}

struct law law_untested(enum law_id id)
{
	const struct law_row row = law_row(id);

	return (struct law){ .name = row.name, .left_is = row.left_is, .right_is = row.right_is,
			     .at_any_end = row.traits & LAW_AT_ANY_END, .status = LAW_NOT_TESTABLE };
}

enum law_id law_of_watch(enum watch_law law)
{
	static const enum law_id ids[] = {
#define LAW_ID(symbol, ...) LAW_##symbol,
		LAWS(LAW_NONE, LAW_ID, LAW_NONE)
#undef LAW_ID
	};

	return ids[law];
}

const char *watch_law_name(enum watch_law law)
{
	return rows[law_of_watch(law)].name;
}

enum law_status watch_law_status(const struct watch_sides *sides)
{
	return !sides->known ? LAW_NOT_TESTABLE : sides->left == sides->right ? LAW_BALANCED : LAW_BROKEN;
}
