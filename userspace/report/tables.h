/* SPDX-License-Identifier: GPL-2.0 */
/* The tables that reports of runs and of watches have in common: sites, causes, laws. */
#ifndef COPYSCOPE_REPORT_TABLES_H
#define COPYSCOPE_REPORT_TABLES_H

#include "userspace/record/record.h"
#include "userspace/report/page.h"

/* What stands beside the bytes of each site: their share, and what is shown on a wide page alone. */
struct site_texts {
	char share[AMOUNT_BYTES], each[AMOUNT_BYTES];
};

/* @each_is: NULL if there is nothing for a wide page. */
void print_sites(const struct site_value sites[SITE_COUNT], const struct site_texts texts[SITE_COUNT],
		 const char *share_is, const char *each_is, const struct report_page *p);

/* Causes of copies; of sends that were refused there are no bytes. */
void print_causes(const struct measured *m, uint64_t accepted_bytes, const struct report_page *p);

/* A row for each law that is broken, or was tested at all if the page asks for laws. */
void print_law_rows(const struct measured *m, const struct report_page *p);

#endif
