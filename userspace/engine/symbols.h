/* SPDX-License-Identifier: GPL-2.0 */
/* Names kernel addresses. */
#ifndef COPYSCOPE_SYMBOLS_H
#define COPYSCOPE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct engine;
struct symbols;

/* Between load and attachment: tells the programs where the kernel's lists of captures lie. */
void symbols_prepare(const struct engine *e);

/* Finds the functions that hold @count addresses, 0 among them ignored. NULL if there is no memory.
 * Sorts @addresses. */
struct symbols *symbols_load(const struct engine *e, uint64_t *addresses, int count);
void symbols_free(struct symbols *symbols);

/*
 * Writes the functions that hold the return addresses @frames (0 ends them), innermost first,
 * joined by " < ", leaving out BPF programs and their trampolines. Empty if the kernel hides addresses
 * (kernel.kptr_restrict).
 */
void symbols_join(const struct symbols *symbols, const uint64_t *frames, int count, char *text,
		  size_t size);

#endif
