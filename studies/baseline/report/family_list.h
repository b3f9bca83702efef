/* SPDX-License-Identifier: GPL-2.0 */
/* Prints what can be measured. */
#ifndef COPYSCOPE_BASELINE_FAMILY_LIST_H
#define COPYSCOPE_BASELINE_FAMILY_LIST_H

#include <stdio.h>

/* Every family and its rows, a line each. */
void family_list_print(FILE *out);

#endif
