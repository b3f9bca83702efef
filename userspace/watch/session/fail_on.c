// SPDX-License-Identifier: GPL-2.0
/* Judges by --fail-on: laws that are broken, and bytes that were copied needlessly. */
#include "userspace/watch/session/fail_on.h"

#include <stdio.h>

#include "userspace/common/text.h"
#include "userspace/watch/judge/watch_judge.h"
#include "userspace/watch/summary/figures.h"

static bool broken(const struct watch_record *r)
{
	int laws = watch_laws_broken(r);

	if (laws)
		fprintf(stderr, "copyscope watch: --fail-on: %d law%s broken\n", laws,
			laws == 1 ? " is" : "s are");
	return laws;
}

/* What cannot be known must not pass. */
static bool tell_unknown(const char *what, const char *why)
{
	fprintf(stderr, "copyscope watch: --fail-on needless: not measured: %s: %s\n", what, why);
	return true;
}

/* What send took by reference or spliced, and what it copied although it was asked not to. */
static uint64_t intended_bytes(const struct watch_movements *m, struct figure needless)
{
	uint64_t referenced = m->site_bytes[SITE_tx_reference];
	uint64_t later = figure_copied_later(m).bytes;

	return referenced + m->site_bytes[SITE_tx_splice] + needless.bytes -
	       (later < referenced ? later : referenced);
}

static bool too_much(const struct watch_options *o, const struct watch_record *r)
{
	const struct watch_movements *m = &r->total.moved;
	struct figure needless = figure_needless(m), unknown = figure_unknown(m);
	uint64_t intended = intended_bytes(m, needless);
	double most = o->needless_most * intended / 100;
	char copied[16], all[16], why[WHY_BYTES];

	if (watch_sums_short(r, why))
		return tell_unknown("sums may be short", why);
	if (!needless.known || !unknown.known)
		return tell_unknown("a number is not known", "the report says which, and why");
	if (needless.bytes <= most && needless.bytes + unknown.bytes > most)
		return tell_unknown("too many bytes", "nobody knows whether they were copied behind the socket");
	if (needless.bytes <= most)
		return false;
	bytes_text(needless.bytes, copied);
	bytes_text(intended, all);
	fprintf(stderr, "copyscope watch: --fail-on needless=%g: %s of %s that were to be sent without a "
		"copy were copied, %.1f %%\n", o->needless_most, copied, all,
		needless.bytes * 100.0 / intended);
	return true;
}

bool fail_on_found(const struct watch_options *o, const struct watch_record *r)
{
	bool failed = o->fail_on && broken(r);

	return (o->fail_on_needless && too_much(o, r)) || failed;
}
