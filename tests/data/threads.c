// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that work at known things: samples of the clock and stacks of calls are held against it.
 *
 * usage: threads copy MS         one copies memory, one counts, for so long each by its own clock
 *        threads crowd COUNT     so many send PRIME bytes each, work for a moment, and sleep until the end
 *        threads twins COUNT     so many processes in turn, two threads of each send PRIME bytes at the same moment
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loopback.h"

enum { PRIME = 23, COPIED = 1 << 20, STACK = 64 << 10, MOMENT_NS = 200000 };

static int work_ms;
static char source[COPIED], target[COPIED];
static volatile uint64_t counted;
static pthread_barrier_t end;
static int twins_ready;

static uint64_t own_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

APART void count_up(void)
{
	for (int i = 0; i < 100000; i++)
		counted++;
}

static void *copying(void *arg)
{
	pthread_setname_np(pthread_self(), "copies");
	while (own_ns() < work_ms * 1000000ull) {
		memcpy(target, source, COPIED);
		counted += target[counted % COPIED];
	}
	return arg;
}

static void *counting(void *arg)
{
	pthread_setname_np(pthread_self(), "counts");
	while (own_ns() < work_ms * 1000000ull)
		count_up();
	return arg;
}

APART void send_one(void)
{
	counted += send(sender, source, PRIME, 0);
}

static void *one_of_many(void *arg)
{
	uint64_t until;

	send_one();
	for (until = own_ns() + MOMENT_NS; own_ns() < until;)
		;
	pthread_barrier_wait(&end);
	return arg;
}

static void copy(int ms)
{
	pthread_t one, other;

	work_ms = ms;
	check(!pthread_create(&one, NULL, copying, NULL) && !pthread_create(&other, NULL, counting, NULL), "pthread_create");
	pthread_join(one, NULL);
	pthread_join(other, NULL);
}

static void crowd(int count)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	pthread_barrier_init(&end, NULL, count + 1);
	for (int i = 0; i < count; i++)
		check(!pthread_create(&thread, &small, one_of_many, NULL), "pthread_create");
	for (int left = count * PRIME, got; left > 0; left -= got) {
		got = recv(receiver, target, left < COPIED ? left : COPIED, 0);
		check(got > 0, "recv");
	}
	pthread_barrier_wait(&end);
}

static void *twin(void *socket)
{
	__atomic_add_fetch(&twins_ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&twins_ready, __ATOMIC_SEQ_CST) < 2)
		;
	check(send(*(int *)socket, source, PRIME, 0) == PRIME, "send");
	return socket;
}

/* The sockets were there before; each process is new to them. */
static void send_at_once(void)
{
	pthread_t one, other;

	check(!pthread_create(&one, NULL, twin, &sender) && !pthread_create(&other, NULL, twin, &receiver), "pthread_create");
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	check(recv(sender, target, PRIME, MSG_WAITALL) == PRIME && recv(receiver, target, PRIME, MSG_WAITALL) == PRIME, "recv");
}

static void twins(int count)
{
	for (int i = 0; i < count; i++) {
		if (!fork()) {
			send_at_once();
			_exit(0);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	int number = argc > 2 ? atoi(argv[2]) : 0;

	connect_both();
	puts("ready");
	go_on();
	if (!strcmp(argv[1], "copy"))
		copy(number);
	else if (!strcmp(argv[1], "twins"))
		twins(number);
	else
		crowd(number);
	puts("done");
	go_on();
	return 0;
}
