/* SPDX-License-Identifier: GPL-2.0 */
/* Knows where this program's code and constants lie: in its file, for a probe, and in memory. */
#ifndef COPYSCOPE_BASELINE_CODE_H
#define COPYSCOPE_BASELINE_CODE_H

#include <stdint.h>

/* -1 if it lies in no segment of the program itself. */
int64_t code_file_offset(const void *function);

/*
 * Reads each page of the program and its libraries once. A child of fork() has none of them in its
 * page tables, and a fault maps at most 16 (mm/memory.c, do_fault_around). Without this, the address
 * of the program would decide which benchmark takes the next fault.
 */
void code_touch(void);

#endif
