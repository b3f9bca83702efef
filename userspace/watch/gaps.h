/* SPDX-License-Identifier: GPL-2.0 */
/* What the books of a watch lack, and what is told beside them. */
#ifndef COPYSCOPE_WATCH_GAPS_H
#define COPYSCOPE_WATCH_GAPS_H

#include "userspace/engine/engine.h"
#include "userspace/watch/books/books_fate.h"
#include "userspace/watch/options/subject.h"

/* How a watch looks, and at whom. */
struct watch_looks {
	const struct engine *probes;
	const struct watch_subject *subject;
	const struct watch_hooked *hooked;
	bool details;
};

/* Fills .not_covered, .refused and .mptcp_copied of @r, which has its total and its backend. */
void gaps_fill(const struct watch_looks *w, struct watch_record *r);

#endif
