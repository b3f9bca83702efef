/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for working sets: touched before it is timed, in huge pages where the kernel has some. */
#ifndef COPYSCOPE_BASELINE_RAM_H
#define COPYSCOPE_BASELINE_RAM_H

#include <stdint.h>

#include "studies/baseline/machine/machine_info.h"

/* NULL and errno if there is none. */
void *ram_get(uint64_t bytes);
void ram_free(void *at, uint64_t bytes);

/*
 * Two arrays of 64-bit words, one of ones and one of zeros. The sum of what was read is then the
 * number of words read, and each word that was written is not zero any more.
 */
struct arrays {
	char *from, *to;
	uint64_t bytes;
};

/* NULL and errno if there is no memory; free takes NULL. */
struct arrays *arrays_new(uint64_t bytes);
void arrays_free(struct arrays *a);

/* Bytes of @to that a pass over the arrays wrote. */
uint64_t arrays_written(const struct arrays *a);

/* How much of the mapping that begins at @at lies in huge pages. */
double ram_huge_bytes(const void *at);

/* How much of it is mapped to pages. */
double ram_mapped_bytes(const void *at);

/* Large enough that no cache holds it, small enough for this machine; 0 if it has too little. */
uint64_t ram_large_bytes(const struct machine_info *m);

/* The largest cache that the kernel tells of. */
uint64_t ram_told_bytes(const struct machine_info *m);

/* The largest working set of a curve, which shows where even the largest cache ends. */
uint64_t ram_curve_bytes(const struct machine_info *m);

#endif
