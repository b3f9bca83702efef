// SPDX-License-Identifier: GPL-2.0
/* Which call comes next, of which socket, in which thread and process. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/program/program.h"

enum { THREADS_MAX = 4, CHILD_CALLS_MAX = 40, CHILD_SECONDS = 120, NAMES_BYTES_MAX = 1000 };
static __thread bool in_thread;

bool is_thread(void)
{
	return in_thread;
}

uint64_t calls_named(const char *list)
{
	char copy[NAMES_BYTES_MAX], *left = NULL;
	uint64_t named = 0;

	snprintf(copy, sizeof(copy), "%s", list);
	for (char *name = strtok_r(copy, ",", &left); name; name = strtok_r(NULL, ",", &left)) {
		int k = 0;

		while (calls[k].name && strcmp(name, calls[k].name))
			k++;
		if (!calls[k].name) {
			fprintf(stderr, "%s: no call %s\n", program_invocation_short_name, name);
			exit(2);
		}
		named |= 1ULL << k;
	}
	return named;
}

void print_calls(void)
{
	for (int k = 0; calls[k].name; k++)
		fprintf(stderr, " %s", calls[k].name);
}

bool is_open(int i)
{
	return all->socket[i].is_live && open_here[i];
}

int open_count(void)
{
	int count = 0;

	for (int i = 0; i < all->sockets; i++)
		count += is_open(i);
	return count;
}

static int some_socket(void)
{
	int count = open_count(), wanted = below(count);

	for (int i = 0; count && i < all->sockets; i++)
		if (is_open(i) && !wanted--)
			return i;
	return -1;
}

static int some_call(void)
{
	int total = 0, at, k = 0;

	for (int each = 0; calls[each].name; each++)
		total += calls[each].weight;
	at = below(total);
	while (at >= calls[k].weight)
		at -= calls[k++].weight;
	return k;
}

/* Two calls in one direction of one socket have no order that can be told: the second one is not made. */
static bool take(struct sock *s, int needs)
{
	if (needs & SENDS && atomic_exchange(&s->sends, 1))
		return false;
	if (!(needs & RECEIVES) || !atomic_exchange(&s->receives, 1))
		return true;
	if (needs & SENDS)
		atomic_store(&s->sends, 0);
	return false;
}

static void give_back(struct sock *s, int needs)
{
	if (needs & SENDS)
		atomic_store(&s->sends, 0);
	if (needs & RECEIVES)
		atomic_store(&s->receives, 0);
}

static void call_of_socket(int k)
{
	int i = some_socket(), needs = calls[k].needs;
	struct sock *s = &all->socket[i];

	if (i < 0) {
		if (!in_thread)
			call_connect(-1);
		return;
	}
	if ((needs & COPIES && !(s->ways & WAY_COPY)) || (needs & REFERENCES && !(s->ways & WAY_REFERENCE)) ||
	    (needs & SPLICES && !(s->ways & WAY_SPLICE)) || !take(s, needs))
		return;
	if (open_here[i])
		calls[k].make(i);
	give_back(s, needs);
}

static void make_call(bool may_fork)
{
	int k = some_call();
	bool connects = calls[k].needs & CONNECTS;

	if (!(all->may.calls >> k & 1) || (calls[k].make == call_fork && (!may_fork || in_thread)) ||
	    (connects && (in_thread || open_count() >= all->may.connections)))
		return;
	if (calls[k].needs & NO_SOCKET)
		calls[k].make(-1);
	else
		call_of_socket(k);
}

void make_calls(int n, bool may_fork)
{
	while (n--)
		make_call(may_fork);
}

static void execute_child(int calls_left, uint64_t seed)
{
	char words[4][32];

	snprintf(words[0], sizeof(words[0]), "%d", memory);
	snprintf(words[1], sizeof(words[1]), "%d", place);
	snprintf(words[2], sizeof(words[2]), "%lu", (unsigned long)seed);
	snprintf(words[3], sizeof(words[3]), "%d", calls_left);
	execl("/proc/self/exe", program_invocation_short_name, "--child", words[0], words[1], words[2], words[3], NULL);
	fail("a child");
}

void call_fork(int unused)
{
	uint64_t seed = throw() | 1;
	int count = below(CHILD_CALLS_MAX), child;
	bool waits = one_in(2), executes = all->may.executes && one_in(3);
	pid_t pid;

	if (!all->may.forks || all->processes >= PROCESSES_MAX)
		return;
	child = atomic_fetch_add(&all->processes, 1);
	memcpy(all->given[child], open_here, SOCKETS_MAX);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		place = child;
		throw_from(seed);
		begin_child();
		alarm(CHILD_SECONDS);
		if (executes)
			execute_child(count, seed);
		make_calls(count, false);
		_exit(0);
	}
	all->pids[child] = pid;
	say("fork %d", pid);
	if (waits)
		waitpid(pid, NULL, 0);
}

struct turn {
	uint64_t seed;
	int calls;
};

static void *run_thread(void *argument)
{
	const struct turn *turn = argument;

	in_thread = true;
	throw_from(turn->seed);
	make_calls(turn->calls, false);
	return NULL;
}

static void wait_for_children(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void make_threads(int n)
{
	pthread_t threads[THREADS_MAX];
	struct turn turns[THREADS_MAX];
	int count = 2 + below(THREADS_MAX - 1);

	for (int k = 0; k < count; k++) {
		turns[k] = (struct turn){ throw() | 1, n };
		if (pthread_create(&threads[k], NULL, run_thread, &turns[k]))
			fail("a thread");
	}
	for (int k = 0; k < count; k++)
		pthread_join(threads[k], NULL);
}

void make_phase(int n)
{
	bool threads = all->may.threads && one_in(2);

	if (!open_count())
		call_connect(-1);
	make_calls(threads ? n / 2 : n, true);
	wait_for_children();
	if (threads)
		make_threads(n / 2);
	/* A child that its alarm killed in a call may have left its marks. */
	for (int i = 0; i < all->sockets; i++)
		give_back(&all->socket[i], SENDS | RECEIVES);
	end_phase();
}
