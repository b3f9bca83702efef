/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of a report of a watch, in the order of the report; report.h is for everyone else. */
#ifndef COPYSCOPE_WATCH_REPORT_PARTS_H
#define COPYSCOPE_WATCH_REPORT_PARTS_H

#include "userspace/watch/report/page.h"

void print_watched_sites(const struct watch_record *r, const struct page *p);
void print_watched_causes(const struct watch_record *r, const struct page *p);
void print_watched_zerocopy(const struct watch_record *r, const struct page *p);
void print_watched_balances(const struct watch_record *r, const struct page *p);
void print_watched_laws(const struct watch_record *r, const struct page *p);
void print_watched_cost(const struct watch_record *r, const struct page *p);
void print_not_watched(const struct watch_record *r, const struct page *p);

#endif
