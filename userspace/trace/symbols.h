/* SPDX-License-Identifier: GPL-2.0 */
/* Names kernel addresses. */
#ifndef COPYSCOPE_SYMBOLS_H
#define COPYSCOPE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the functions that hold the return addresses @frames (0 ends them), innermost first,
 * joined by " < ", leaving out BPF programs and their trampolines. Empty if /proc/kallsyms hides
 * addresses (kernel.kptr_restrict).
 */
void symbols_join(const uint64_t *frames, int count, char *text, size_t size);

#endif
