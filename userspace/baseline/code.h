/* SPDX-License-Identifier: GPL-2.0 */
/* Finds where in this program's file a function lies, for a probe on its first instruction. */
#ifndef COPYSCOPE_BASELINE_CODE_H
#define COPYSCOPE_BASELINE_CODE_H

#include <stdint.h>

/* -1 if it lies in no segment of the program itself. */
int64_t code_file_offset(const void *function);

#endif
