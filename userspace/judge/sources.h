/* SPDX-License-Identifier: GPL-2.0 */
/* Which hooks each site needs, and how its number comes from them: one table for runs and watches. Pure. */
#ifndef COPYSCOPE_JUDGE_SOURCES_H
#define COPYSCOPE_JUDGE_SOURCES_H

#include "userspace/record/measured.h"

enum { SOURCE_METRICS = 3 };

struct source {
	enum how how;
	const char *metrics[SOURCE_METRICS];	/* each needs a hook; NULL ends them */
	const char *why;	/* how it is derived, or why it is not known; else empty */
};

/* As that backend knows a site, unless a run or a watch knows it otherwise; NULL: the table has no row. */
const struct source *site_source(enum backend backend, enum site site);

/* NULL: a hook of that metric is attached. Else why none is, of several forms of a function the last one's reason;
 * @otherwise if there is no such hook. */
const char *why_absent(const struct measured *m, const char *metric, const char *otherwise);

/* The same of the first that @source needs. */
const char *source_lacks(const struct measured *m, const struct source *source, const char *otherwise);

/* Notes a site's number with how it is known, or @why_not; NULL: it is known as @source says. */
void site_tell(struct site_value *value, const struct tally *tally, const struct source *source, const char *why_not);

#endif
