/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of the report that timing_print.c prints; report.h is for everyone else. */
#ifndef COPYSCOPE_REPORT_REPORT_PARTS_H
#define COPYSCOPE_REPORT_REPORT_PARTS_H

#include "userspace/record/experiment.h"
#include "userspace/report/page.h"

/* The parts, each with the blank line before it; a part about nothing prints nothing. */
void print_timing(const struct record *r, const struct report_page *p);
void print_counters(const struct record *r, const struct report_page *p);
void print_modelled(const struct record *r, const struct report_page *p);
void print_costs(const struct record *r, const struct report_page *p);
void print_overhead(const struct record *r, const struct report_page *p);

#endif
