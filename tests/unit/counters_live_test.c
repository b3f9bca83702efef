// SPDX-License-Identifier: GPL-2.0
// Claims about counters on this kernel: every thread of a real process is counted, to the page.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/counters/counters.h"

#define THREADS 3
#define PAGES 257
#define SLEEPS 23
#define BURN_NS 30000000ULL

static int gate[2], done[2], ready[2];

static void pages_touch(void)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long i;

	madvise(pages, PAGES * page_bytes, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		*(volatile char *)(pages + i * page_bytes) = 1;
	/* Not unmapped: the second round must not find page tables or pages of the first. */
}

static void *page_toucher(void *unused)
{
	char token;

	for (;;) {
		pages_touch();
		syscall(SYS_write, done[1], "d", 1);
		syscall(SYS_read, gate[0], &token, 1);
	}
	return NULL;
}

static void touchers_wait(void)
{
	char token;
	int i;

	for (i = 0; i < THREADS; i++)
		syscall(SYS_read, done[0], &token, 1);
}

/*
 * All code and stacks are touched by a rehearsal before the gate opens, so what is left to count
 * is PAGES per thread and nothing else. main takes the first token of the gate, and each thread
 * takes one.
 */
static void child_touches_pages(void)
{
	pthread_t thread;
	char token;
	int i;

	syscall(SYS_read, gate[0], &token, 1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, page_toucher, NULL);
	touchers_wait();
	syscall(SYS_write, ready[1], "r", 1);
	touchers_wait();
	syscall(SYS_exit_group, 0);
}

static void *sleeper(void *unused)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	int i;

	for (i = 0; i < SLEEPS; i++)
		nanosleep(&nap, NULL);
	return NULL;
}

static void *burner(void *unused)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while (used.tv_sec * 1000000000ULL + used.tv_nsec < BURN_NS);
	return NULL;
}

static void child_runs_threads(void *(*body)(void *))
{
	pthread_t thread[THREADS];
	char token;
	int i;

	if (read(gate[0], &token, 1) != 1)
		_exit(1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, body, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

static pid_t child_start(void *(*body)(void *))
{
	pid_t pid;

	assert_false(pipe(gate) || pipe(done) || pipe(ready));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid && body)
		child_runs_threads(body);
	else if (!pid)
		child_touches_pages();
	return pid;
}

static void child_finish(pid_t pid, struct counter_set *set,
			 struct counter_value values[COUNTER_COUNT], struct rusage *usage)
{
	int fds[] = { gate[0], gate[1], done[0], done[1], ready[0], ready[1] };
	size_t i;
	int status;

	assert_int_equal(wait4(pid, &status, 0, usage), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(counters_read(set, values), 0);
	counters_close(set);
	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
}

/* Only a kernel that refuses is a reason to skip; any other unknown is a failure of ours. */
static void require_known(const struct counter_value *value)
{
	if (value->known)
		return;
	if (!strstr(value->why, "perf_event_paranoid") &&
	    !strstr(value->why, "CONFIG_PERF_EVENTS"))
		fail_msg("not known: %s", value->why);
	print_message("cannot be tested here: %s\n", value->why);
	skip();
}

TEST(every_page_of_every_thread_is_counted)
{
#ifdef __SANITIZE_ADDRESS__
	skip();	/* its shadow memory takes page faults too */
#endif
	struct counter_value v[COUNTER_COUNT];
	pid_t pid = child_start(NULL);
	struct counter_set *set;
	struct rusage usage;
	char token;

	assert_int_equal(counters_open(&set, pid, NULL), 0);
	assert_int_equal(write(gate[1], "m", 1), 1);
	assert_int_equal(read(ready[0], &token, 1), 1);
	assert_int_equal(counters_enable(set), 0);
	assert_int_equal(write(gate[1], "abc", THREADS), THREADS);
	child_finish(pid, set, v, &usage);
	require_known(&v[COUNTER_PAGE_FAULTS]);
	assert_int_equal(v[COUNTER_PAGE_FAULTS].value, THREADS * PAGES);
}

static void threads_run(void *(*body)(void *), struct counter_value v[COUNTER_COUNT],
			struct rusage *usage)
{
	pid_t pid = child_start(body);
	struct counter_set *set;

	assert_int_equal(counters_open(&set, pid, NULL), 0);
	assert_int_equal(counters_enable(set), 0);
	assert_int_equal(write(gate[1], "m", 1), 1);
	child_finish(pid, set, v, usage);
}

TEST(every_sleep_of_every_thread_is_a_context_switch)
{
	struct counter_value v[COUNTER_COUNT];
	struct rusage usage;

	threads_run(sleeper, v, &usage);
	require_known(&v[COUNTER_CONTEXT_SWITCHES]);
	assert_in_range(v[COUNTER_CONTEXT_SWITCHES].value, THREADS * SLEEPS,
			usage.ru_nvcsw + usage.ru_nivcsw);
}

TEST(processor_time_of_every_thread_is_counted)
{
	struct counter_value v[COUNTER_COUNT];
	struct rusage usage;
	uint64_t used_ns;

	threads_run(burner, v, &usage);
	require_known(&v[COUNTER_TASK_CLOCK]);
	used_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
		  (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
	/* Two clocks of the kernel, stopped at slightly different points of a switch. */
	assert_in_range(v[COUNTER_TASK_CLOCK].value, THREADS * BURN_NS * 9 / 10,
			used_ns + used_ns / 10 + 5000000);
}

TEST(closed_gate_counts_nothing)
{
	struct counter_value v[COUNTER_COUNT];
	pid_t pid = child_start(sleeper);
	struct counter_set *set;
	struct rusage usage;
	int event;

	assert_int_equal(counters_open(&set, pid, NULL), 0);
	assert_int_equal(write(gate[1], "m", 1), 1);
	child_finish(pid, set, v, &usage);
	for (event = 0; event < COUNTER_COUNT; event++) {
		assert_false(v[event].known);
		assert_true(v[event].why[0]);
		print_message("%s: %s\n", counter_name(event), v[event].why);
	}
}

static void *waiter(void *lock)
{
	pthread_mutex_lock(lock);
	return NULL;
}

TEST(process_that_cannot_be_counted_whole_is_refused)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct counter_set *set;
	pthread_t thread;
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_int_equal(counters_open(&set, gone, NULL), -ESRCH);
	assert_null(set);
	assert_int_equal(counters_open(&set, 0, NULL), -EINVAL);
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, waiter, &lock);
	assert_int_equal(counters_open(&set, getpid(), NULL), -EBUSY);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}
