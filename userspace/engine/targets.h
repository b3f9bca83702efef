/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions and tracepoints that programs can be attached to, by name, from one pass over BTF.
 *
 * A kernel's BTF has some 150,000 types. libbpf searches all of them for each program that it loads,
 * which takes a third of a run in an emulated guest.
 */
#ifndef COPYSCOPE_PROBES_TARGETS_H
#define COPYSCOPE_PROBES_TARGETS_H

#include <stdint.h>

struct bpf_map;
struct bpf_object;
struct btf;
struct targets;

/* Owns @btf from now on, also on error. NULL without memory or if @btf is NULL. */
struct targets *targets_read(struct btf *btf);

/* Reads the BTF of this kernel, and loads by it from now on. 0 or -errno. */
int targets_open(struct targets **targets);

/* libbpf looks for BTF in one file after the other, and tells of the last, which is not there: so low
 * memory, too, looks like -ENOENT or -ESRCH. Returns -ENOMEM if it is that, else @err. */
int targets_failure(int err);

/* Accepts NULL. Programs are then loaded by no targets. */
void targets_free(struct targets *targets);

const struct btf *targets_btf(const struct targets *targets);

/* The number of the type: of a function, or of what declares a tracepoint. 0: this kernel has none. */
uint32_t targets_function(const struct targets *targets, const char *name);
uint32_t targets_tracepoint(const struct targets *targets, const char *name);

/*
 * From now on libbpf loads programs for fentry, fexit and tp_btf with the numbers in @targets, until
 * they are freed. Call it before a skeleton is opened. 0 or -errno.
 */
int targets_load_by(const struct targets *targets);

/* Those programs then have the values of this map in place of reads of it; its map must outlive their load. */
void targets_write_constants(struct targets *targets, struct bpf_map *constants);

/* Those programs are then verified on all processors. Call it once it is known which of @programs are loaded. */
void targets_load_side_by_side(struct targets *targets, struct bpf_object *programs);

#endif
