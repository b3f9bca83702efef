/* SPDX-License-Identifier: GPL-2.0 */
/* The report of a run for people. */
#ifndef COPYSCOPE_REPORT_REPORT_H
#define COPYSCOPE_REPORT_REPORT_H

#include "userspace/record/record.h"
#include "userspace/report/page.h"

/* Prints the whole report. */
void report_print(const struct record *r, const struct report_page *p);

#endif
