/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for working sets: touched before it is timed, in huge pages where the kernel has some. */
#ifndef COPYSCOPE_BASELINE_RAM_H
#define COPYSCOPE_BASELINE_RAM_H

#include <stdint.h>

#include "userspace/baseline/facts.h"

/* NULL and errno if there is none. */
void *ram_get(uint64_t bytes);
void ram_free(void *at, uint64_t bytes);

/* How much of the mapping that begins at @at lies in huge pages. */
double ram_huge_bytes(const void *at);

/* Large enough that no cache holds it, small enough for this machine; 0 if it has too little. */
uint64_t ram_large_bytes(const struct facts *f);

#endif
