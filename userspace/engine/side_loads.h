/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs loaded side by side, on each processor that may be used.
 *
 * The kernel verifies one program for each caller, and libbpf calls for one after the other. Here libbpf loads a
 * program of two instructions in place of each, whose descriptors become those of the others once all are loaded.
 */
#ifndef COPYSCOPE_SIDE_LOADS_H
#define COPYSCOPE_SIDE_LOADS_H

#include <stdint.h>

struct bpf_object;
struct bpf_program;
struct bpf_prog_load_opts;
struct side_loads;

/* @stub: the type of a function that declares an iterator, which the short programs hang on. NULL if there is one
 * processor, or no memory: then libbpf loads all. */
struct side_loads *side_loads_begin(struct bpf_object *programs, uint32_t stub);

/* What a handler of libbpf does last before a program is loaded that hangs on a function or on control groups. @loads: NULL
 * does nothing. 0 or -errno. */
int side_loads_take(struct side_loads *loads, struct bpf_program *program, struct bpf_prog_load_opts *opts);

/* Accepts NULL. */
void side_loads_free(struct side_loads *loads);

#endif
