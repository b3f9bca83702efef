/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What samples of the clock found, as plain data: by stack as they were read, by class as they are told.
 *
 * A sample stands for one period of the clock. A share is an estimate: of n samples its 95 % interval is that of
 * Wilson's score, which assumes that samples are independent; those of a clock scatter less.
 */
#ifndef COPYSCOPE_RECORD_CPU_H
#define COPYSCOPE_RECORD_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/tables/cpu_classes.h"

enum { CPU_TEXT_BYTES = 1024, CPU_HZ = 199, CPU_HZ_MOST = 4999 };

struct cpu_stack {
	uint32_t tgid;
	bool user;
	uint64_t samples;
	char frames[CPU_TEXT_BYTES];	/* functions, innermost first, joined by " < "; empty: hidden, or user space */
};

/* A thread from its first sample to its last. */
struct cpu_span {
	uint32_t tgid, tid;
	uint64_t samples;
	uint64_t run_ns;	/* by the scheduler's clock, between the two */
};

struct cpu_samples {
	struct cpu_stack *stacks;	/* owned */
	int stack_count;
	struct cpu_span *spans;		/* owned */
	int span_count;
	uint64_t lost;			/* no room for their stack */
};

/* Frees what it owns. */
void cpu_samples_free(struct cpu_samples *samples);

/* Of one process. */
struct cpu_use {
	uint64_t samples[CPU_CLASS_COUNT];
	uint64_t softirq[CPU_CLASS_COUNT];	/* of them, in a softirq on its time */
	uint64_t all;
	uint64_t threads, periods;	/* with samples, and periods between the first and the last of each */
	uint64_t run_ns;		/* in those, by the scheduler's clock */
};

struct cpu_share {
	double share, low, high;
};

const char *cpu_class_key(enum cpu_class c);
const char *cpu_class_meaning(enum cpu_class c);

/* Of samples by class, those of classes that copy payload. */
uint64_t cpu_copies(const uint64_t samples[CPU_CLASS_COUNT]);

/* @part of @whole samples with its 95 % interval; @whole is not 0. */
struct cpu_share cpu_share_of(uint64_t part, uint64_t whole);

#endif
