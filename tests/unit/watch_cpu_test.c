// SPDX-License-Identifier: GPL-2.0
/* Claims about samples by process and thread: each is in one class of one thread, and few threads are told. */
#include "tests/unit/made_watch.h"
#include "tests/unit/unit.h"
#include "userspace/judge/cpu_classes.h"
#include "userspace/watch/books/watch_cpu.h"

enum { THREADS = 100, FIRST = 900 };

static struct made_watch made;
static struct cpu_stack stacks[2 * THREADS + 3];
static struct cpu_span spans[THREADS + 1];

/* Thread n has n samples in user space and one that sends; one place has no thread, another process has a sample. */
static struct cpu_samples sampled(void)
{
	struct cpu_samples samples = { .stacks = stacks, .spans = spans };

	for (uint32_t i = 0; i < THREADS; i++) {
		spans[samples.span_count++] = (struct cpu_span){ .tgid = 812, .tid = FIRST + i, .periods = i + 1, .comm = "worker" };
		stacks[samples.stack_count++] = (struct cpu_stack){ .tgid = 812, .tid = FIRST + i, .user = true,
								    .samples = i + 1, .frames = "memcpy" };
		stacks[samples.stack_count++] = (struct cpu_stack){ .tgid = 812, .tid = FIRST + i, .samples = 1,
								    .frames = "_copy_from_iter < tcp_sendmsg_locked" };
	}
	stacks[samples.stack_count++] = (struct cpu_stack){ .tgid = 812, .user = true, .samples = 7, .frames = "" };
	stacks[samples.stack_count++] = (struct cpu_stack){ .tgid = 7, .tid = 7, .samples = 1000, .frames = "" };
	return samples;
}

static const struct cpu_use *filled(void)
{
	struct cpu_samples samples = sampled();

	for (int i = 0; i < samples.stack_count; i++)
		cpu_stack_classify(&samples.stacks[i]);
	made_watch(&made);
	made.r.cpu_clock = "cpu-clock";
	made.r.cpu_hz = 199;
	assert_int_equal(watch_cpu_fill(&made.r, &samples), 0);
	return &made.process[0].cpu;
}

TEST(samples_of_a_process_are_those_of_its_threads)
{
	const struct cpu_use *use = filled();
	uint64_t samples = 0, threads = 0, copies = 0;

	assert_int_equal(use->all, THREADS * (THREADS + 1) / 2 + THREADS + 7);
	for (int i = 0; i < use->by_thread_count; i++) {
		samples += use->by_thread[i].all;
		threads += use->by_thread[i].threads;
		copies += cpu_copies(use->by_thread[i].samples);
	}
	assert_int_equal(samples, use->all);
	assert_int_equal(threads, THREADS);
	assert_int_equal(copies, THREADS);
	assert_int_equal(use->user[CPU_USER_COPIES] + use->user[CPU_USER_UNNAMED], use->samples[CPU_USER]);
	free(made.r.cpu_threads);
}

TEST(threads_with_most_samples_are_told_and_all_others_together)
{
	const struct cpu_use *use = filled();

	assert_int_equal(use->by_thread_count, CPU_THREADS_TOLD + 1);
	for (int i = 0; i < CPU_THREADS_TOLD; i++) {
		assert_int_equal(use->by_thread[i].tid, FIRST + THREADS - 1 - i);
		assert_string_equal(use->by_thread[i].comm, "worker");
	}
	assert_int_equal(use->by_thread[CPU_THREADS_TOLD].tid, 0);
	assert_int_equal(use->by_thread[CPU_THREADS_TOLD].threads, THREADS - CPU_THREADS_TOLD);
	free(made.r.cpu_threads);
}
