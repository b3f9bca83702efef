/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes out of a program what it never comes to, by what is set before load.
 *
 * The verifier does so, too, late and range by range: each time it moves what is behind. Half of the instructions of a
 * watch's programs are of what another watch or another kernel needs.
 */
#ifndef COPYSCOPE_DEAD_CODE_H
#define COPYSCOPE_DEAD_CODE_H

#include <stddef.h>

struct bpf_insn;
struct bpf_prog_load_opts;

/* A map that does not change: its descriptor, and what it holds. */
struct frozen_map {
	int fd;
	const void *values;
	size_t bytes;
};

/*
 * Writes what is left over @insns, and over the notes of functions and lines in @opts, which must be writable. Returns
 * how many instructions are left; without memory all.
 */
size_t dead_code_drop(struct bpf_insn *insns, size_t count, const struct frozen_map *map,
		      struct bpf_prog_load_opts *opts);

#endif
