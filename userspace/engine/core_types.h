/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types that programs are relocated by (CO-RE), and none of the others.
 *
 * Of some 150,000 types programs name a hundred. libbpf searches all of them by name for each type that it relocates
 * by, which takes a quarter of a start; of these it finds the same.
 */
#ifndef COPYSCOPE_CORE_TYPES_H
#define COPYSCOPE_CORE_TYPES_H

#include <stdint.h>

struct btf;
struct core_types;

/* Types of @kernel that have the name of a type of @programs, and what lies within these. Pointers lead nowhere:
 * relocations end at them. NULL without memory. */
struct core_types *core_types_of(const struct btf *kernel, const struct btf *programs);
void core_types_free(struct core_types *types);

/* In the form of /sys/kernel/btf/vmlinux into a file. 0 or -errno. */
int core_types_write(const struct core_types *types, int fd);

/* The number of this struct in the kernel's BTF; 0: it has none of that name. */
uint32_t core_types_number(const struct core_types *types, const char *name);

#endif
