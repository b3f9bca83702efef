/* SPDX-License-Identifier: GPL-2.0 */
/* Prints a run of the suite as its record. */
#ifndef COPYSCOPE_BASELINE_SUITE_JSON_H
#define COPYSCOPE_BASELINE_SUITE_JSON_H

#include <stdio.h>

#include "studies/baseline/suite.h"

/* 0 or -errno. */
int suite_json_write(const struct suite *s, FILE *out);

#endif
