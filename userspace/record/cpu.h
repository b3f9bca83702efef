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

#include "userspace/record/user_stacks.h"
#include "userspace/tables/cpu_classes.h"

enum { CPU_TEXT_BYTES = 1024, CPU_HZ = 199, CPU_HZ_MOST = 4999 };

struct cpu_stack {
	uint32_t tgid, tid;	/* .tid 0: of a thread that is not told */
	bool user;
	uint64_t address;	/* in user space; 0: not told */
	uint64_t samples;
	/* In the kernel functions, innermost first, joined by " < "; in user space the innermost one. Empty: hidden,
	 * or without a name. */
	const char *frames;
	enum cpu_class class;	/* once it is known, these two */
	bool softirq;
};

/* A thread from its first sample to its last. */
struct cpu_span {
	uint32_t tgid, tid;
	uint64_t first_ns;	/* when it was found first */
	uint64_t periods;	/* of the clock, in which it ran, between the two */
	uint64_t skipped;	/* further ones, that the clock let pass without a sample */
	uint64_t run_ns;	/* for so long it had a processor, between the two */
	char comm[WATCH_TASK_COMM];
};

struct cpu_samples {
	struct cpu_stack *stacks;	/* owned */
	int stack_count;
	char *texts;			/* owned: .frames of the kernel */
	struct user_stacks programs;	/* owned: .frames of user space, once they have names */
	bool named;			/* they have */
	struct cpu_span *spans;		/* owned */
	int span_count;
	uint64_t lost;			/* no room for their stack */
};

/* Frees what it owns. */
void cpu_samples_free(struct cpu_samples *samples);

/* Of one thread, or of several together. */
struct cpu_thread_use {
	uint32_t tgid, tid;	/* .tid 0: several */
	uint64_t threads;	/* so many with samples, as far as there was room for them */
	char comm[WATCH_TASK_COMM];
	uint64_t samples[CPU_CLASS_COUNT];
	uint64_t all;
};

enum { CPU_THREADS_TOLD = 32 };

/* Of one process. */
struct cpu_use {
	uint64_t samples[CPU_CLASS_COUNT];
	uint64_t softirq[CPU_CLASS_COUNT];	/* of them, in a softirq on its time */
	uint64_t user[CPU_USER_KIND_COUNT];	/* those in user space, once they have names */
	uint64_t all;
	/* The record's: threads with most samples first; all further ones together come last. */
	const struct cpu_thread_use *by_thread;
	int by_thread_count;
	uint64_t threads, periods;	/* with samples, and periods between the first and the last of each */
	uint64_t skipped;		/* further ones, without a sample */
	uint64_t run_ns;		/* for so long they had a processor, between these */
};

struct cpu_share {
	double share, low, high;
};

const char *cpu_class_key(enum cpu_class c);
const char *cpu_user_key(enum cpu_user_kind kind);

/* Of samples by class, those of classes that copy payload. */
uint64_t cpu_copies(const uint64_t samples[CPU_CLASS_COUNT]);

/* @part of @whole samples with its 95 % interval; @whole is not 0. */
struct cpu_share cpu_share_of(uint64_t part, uint64_t whole);

#endif
