/* SPDX-License-Identifier: GPL-2.0 */
/* The table of families, in the order of the report: a file each, and a line here. */
#ifndef COPYSCOPE_BASELINE_FAMILIES_H
#define COPYSCOPE_BASELINE_FAMILIES_H

#include "studies/baseline/bench/family.h"

#define FAMILIES(X)    \
	X(clock)       \
	X(overhead)    \
	X(call)        \
	X(syscall)     \
	X(create)      \
	X(switch)      \
	X(latency)     \
	X(bandwidth)   \
	X(kernels)     \
	X(fault)       \
	X(rtt)         \
	X(icmp)        \
	X(stream)      \
	X(send)        \
	X(pin)         \
	X(copy)        \
	X(connect)     \
	X(cache)       \
	X(read)        \
	X(remote)      \
	X(contention)

#define X(name) extern const struct family family_##name;
FAMILIES(X)
#undef X

/* NULL-terminated. */
extern const struct family *const families[];

#endif
