/* SPDX-License-Identifier: GPL-2.0 */
/* Every family of benchmarks, in the order of the report, and the words they share. */
#ifndef COPYSCOPE_BASELINE_FAMILIES_H
#define COPYSCOPE_BASELINE_FAMILIES_H

#include "userspace/baseline/bench.h"

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

extern const struct family family_overhead, family_call, family_syscall, family_create,
	family_switch, family_latency, family_bandwidth, family_kernels, family_fault, family_rtt,
	family_icmp, family_stream, family_send, family_connect, family_cache, family_read,
	family_remote, family_contention;

/* NULL-terminated. */
extern const struct family *const families[];

/* True if the user asked for this row, by its name or its family's, or for everything. */
bool row_wanted(const struct settings *s, const struct family *f, const struct row *row);

#endif
