/* SPDX-License-Identifier: GPL-2.0 */
/* The table of families, in the order of the report: a file each, and a line here. */
#ifndef COPYSCOPE_BASELINE_FAMILIES_H
#define COPYSCOPE_BASELINE_FAMILIES_H

#include "studies/baseline/bench/bench.h"

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

/* Invariants that several families share. */
#define ALL_IN_USER_MODE                                                                    \
	{ EXACTLY, EVENT_syscalls, 0, 0, 0, "no system call is made" },                     \
	{ EXACTLY, EVENT_voluntary, 0, 0, 0, "the process never waits" },                   \
	{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" }

/* @calls is in MiB. */
#define EACH_BYTE                                                                           \
	{ EXACTLY, WITNESS(WITNESS_TOUCHED), 1 << 20, 0, 0, "each byte is touched" }

#define TWICE_THE_TIME(means)                                                               \
	{ AT_LEAST, WITNESS(WITNESS_SLOPE), 0, 1.5, 0, means },                             \
	{ AT_MOST, WITNESS(WITNESS_SLOPE), 0, 3, 0, "and no longer" }

/* NULL-terminated. */
extern const struct family *const families[];

#endif
