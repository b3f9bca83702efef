/* SPDX-License-Identifier: GPL-2.0 */
/* Prints a run of the suite, as its record and for people, and what can be measured. */
#ifndef COPYSCOPE_BASELINE_REPORT_H
#define COPYSCOPE_BASELINE_REPORT_H

#include <stdio.h>

#include "studies/baseline/suite.h"

/* The record: 0 or -errno. */
int suite_json_write(const struct suite *s, FILE *out);

void suite_text_print(const struct suite *s, FILE *out);

/* Every family and its rows, a line each. */
void family_list_print(FILE *out);

#endif
