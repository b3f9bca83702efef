/* SPDX-License-Identifier: GPL-2.0 */
/* What a run or a watch did not see, once for each reason. */
#ifndef COPYSCOPE_REPORT_MISSING_H
#define COPYSCOPE_REPORT_MISSING_H

#include "userspace/record/record.h"
#include "userspace/report/page.h"

enum { LACK_NAMES_BYTES = 400 };

/* Sites, laws and counters that lack for one reason. */
struct lack {
	const char *why;
	char sites[LACK_NAMES_BYTES], laws[LACK_NAMES_BYTES], counters[LACK_NAMES_BYTES];
	int site_count, law_count, counter_count;
};

struct lacks {
	struct lack lack[SITE_COUNT + LAWS_MAX + COUNTER_COUNT + 2];
	int count;
};

/* The one for that reason, made if there is none yet. */
struct lack *lack_for(struct lacks *all, const char *why);
/* Appends a name to one of its lists. */
void lack_name(char names[LACK_NAMES_BYTES], const char *name);

void lacks_of_sites(struct lacks *all, const struct measured *m);
void lacks_of_laws(struct lacks *all, const struct measured *m);

/* The last part of a report, which the first paragraph begins. */
struct missing {
	const struct report_page *page;
	bool any;	/* it has begun */
};

void print_missing_text(struct missing *m, const char *text);
void print_lacks(struct missing *m, const struct lacks *all);

#endif
