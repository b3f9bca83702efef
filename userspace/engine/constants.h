/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes what is set before load into programs, in place of the reads of it.
 *
 * The verifier knows what a frozen map holds and drops what is never reached, but it leaves the reads. A program asks
 * a dozen such questions of a packet, of two instructions each.
 */
#ifndef COPYSCOPE_CONSTANTS_H
#define COPYSCOPE_CONSTANTS_H

#include <stddef.h>

struct bpf_insn;

/*
 * @fd: of the map, which will hold @values, @bytes of them. Instructions keep their places: a value goes where its address
 * was, and a jump to the next instruction where the read was, which the verifier removes (opt_remove_nops). Without
 * memory nothing is written.
 */
void constants_write(struct bpf_insn *insns, size_t count, int fd, const void *values, size_t bytes);

#endif
