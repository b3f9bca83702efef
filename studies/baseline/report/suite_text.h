/* SPDX-License-Identifier: GPL-2.0 */
/* Prints a run of the suite for people. */
#ifndef COPYSCOPE_BASELINE_SUITE_TEXT_H
#define COPYSCOPE_BASELINE_SUITE_TEXT_H

#include <stdio.h>

#include "studies/baseline/suite.h"

void suite_text_print(const struct suite *s, FILE *out);

#endif
