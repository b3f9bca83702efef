/* SPDX-License-Identifier: GPL-2.0 */
/* Invariants that several families share. */
#ifndef COPYSCOPE_BASELINE_SHARED_INVARIANTS_H
#define COPYSCOPE_BASELINE_SHARED_INVARIANTS_H

#include "studies/baseline/proof/invariants.h"

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

#endif
