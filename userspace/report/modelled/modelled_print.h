/* SPDX-License-Identifier: GPL-2.0 */
/* What the emulator's plugin counted, for people. */
#ifndef COPYSCOPE_MODELLED_PRINT_H
#define COPYSCOPE_MODELLED_PRINT_H

#include <stdio.h>

#include "userspace/record/record.h"

/* Prints nothing if nobody asked for a model; within @columns, 80 or more. */
void modelled_print(const struct record *r, int columns, FILE *out);

#endif
