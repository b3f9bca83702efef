/* SPDX-License-Identifier: GPL-2.0 */
/* The report of a run for people. */
#ifndef COPYSCOPE_REPORT_H
#define COPYSCOPE_REPORT_H

#include <stdio.h>

#include "userspace/record/record.h"

/* Prints the whole report, under 100 columns. */
void report_print(const struct record *r, FILE *out);

#endif
