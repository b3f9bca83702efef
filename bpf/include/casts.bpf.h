/* SPDX-License-Identifier: GPL-2.0 */
/* Reads of kernel memory by plain loads, through pointers that the verifier is told the type of. */
#ifndef COPYSCOPE_CASTS_BPF_H
#define COPYSCOPE_CASTS_BPF_H

#include "bpf/include/casts.h"
#include "vmlinux/vmlinux.h"
#include <bpf/bpf_helpers.h>

/* Set before load: the kernel has bpf_rdonly_cast(), a35b9af4ec2c ("bpf: Add a kfunc for generic type cast"), 6.2.
 * It becomes a move of one register. */
const volatile bool casts_known __weak = false;
/* Set before load, too: a relocation would give numbers in the part of the kernel's BTF that libbpf searches. */
const volatile struct cast_numbers cast_numbers __weak = {};

/* libbpf's linker takes the declaration of a kernel's function from one object alone: user space writes the number of
 * bpf_rdonly_cast() over this one. */
static const void *(*const cast)(const void *address, __u32 type) = (void *)CAST_CALL;

#define TYPED(type, address) ((const struct type *)cast((const void *)(address), cast_numbers.type))

/* A pointer in a struct that the verifier trusts. Of each it asks whether to trust that, too, by up to four searches
 * of all of the kernel's types (btf_nested_type_is_trusted), which took a third of the time that all programs took
 * to load. What is read here it does not trust. */
#define POINTER_IN(type, pointer, field) (casts_known ? TYPED(type, pointer)->field : (pointer)->field)

#endif
