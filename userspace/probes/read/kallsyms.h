/* SPDX-License-Identifier: GPL-2.0 */
/* Answers about symbols out of /proc/kallsyms, for kernels that answer no program. */
#ifndef COPYSCOPE_KALLSYMS_H
#define COPYSCOPE_KALLSYMS_H

#include <stdint.h>

#include "bpf/include/sites.h"

/* A function by an address in it. */
struct symbol {
	uint64_t address;
	uint64_t start;			/* 0: not found */
	char name[SYMBOL_BYTES];
};

/* Opens the file, for a process that soon may see no address. */
void kallsyms_open(void);

/* Names @count symbols, by address ascending and without repeats: a pass over 200,000 lines. Names
 * stay empty if addresses are hidden (kernel.kptr_restrict). */
void kallsyms_name(struct symbol *symbols, int count);

/* The address of a variable, in another such pass; 0 if there is none or it is hidden. */
uint64_t kallsyms_find(const char *name);

#endif
