/* SPDX-License-Identifier: GPL-2.0 */
/* What a watch found, as text for people. */
#ifndef COPYSCOPE_WATCH_REPORT_H
#define COPYSCOPE_WATCH_REPORT_H

#include "userspace/watch/report/rows.h"

/* The whole report: verdicts, sites, causes, zero copy, rows, balances, laws, cost, what is missing. */
void watch_report_print(const struct watch_record *r, const struct watch_page *p);

/* What happened since the reading before: one block for a pipe. */
void watch_block_print(const struct watch_record *r, const struct watch_page *p);

#endif
