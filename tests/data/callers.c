// SPDX-License-Identifier: GPL-2.0
/* Sends from three functions 1 : 2 : 5 and receives in two, over loopback: stacks of calls are held against it. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loopback.h"

enum { PRIME = 4093, ROUNDS = 23 };

static char buffer[8 * PRIME];
/* No call is the last thing that a function does: the compiler would make a jump of it. */
static volatile uint64_t moved;

APART void send_one(void)
{
	moved += send(sender, buffer, PRIME, 0);
}

APART void send_two(void)
{
	moved += send(sender, buffer, 2 * PRIME, 0);
}

APART void send_five(void)
{
	moved += send(sender, buffer, 5 * PRIME, 0);
}

APART void recv_three(void)
{
	moved += recv(receiver, buffer, 3 * PRIME, MSG_WAITALL);
}

APART void recv_rest(void)
{
	moved += read(receiver, buffer, 5 * PRIME);
}

APART void work(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		send_one();
		send_two();
		recv_three();
		send_five();
		recv_rest();
	}
	moved++;
}

static void *working(void *arg)
{
	work();
	return arg;
}

static void in_thread(void)
{
	pthread_t thread;

	check(!pthread_create(&thread, NULL, working, NULL), "pthread_create");
	pthread_join(thread, NULL);
}

/* So many calls deep. */
APART void deeper(int calls)
{
	if (calls)
		deeper(calls - 1);
	else
		send_one();
	moved++;
}

APART void left(int path, int steps);

/* Another stack for each number: a call to the left or to the right for each bit. */
APART void right(int path, int steps)
{
	if (!steps)
		send_one();
	else if (path & 1)
		right(path >> 1, steps - 1);
	else
		left(path >> 1, steps - 1);
	moved++;
}

APART void left(int path, int steps)
{
	if (!steps)
		send_one();
	else if (path & 1)
		right(path >> 1, steps - 1);
	else
		left(path >> 1, steps - 1);
	moved += 2;
}

static void ways(int count)
{
	for (int path = 0; path < count; path++) {
		left(path, 14);
		moved += recv(receiver, buffer, PRIME, MSG_WAITALL);
	}
}

#ifdef __x86_64__
/* Code of no file: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static void compiled(void)
{
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	check(made != MAP_FAILED, "mmap");
	memcpy(made, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	check(map != NULL, path);
	fprintf(map, "%lx %zx Compiled.at(run time)\n", (unsigned long)made, sizeof(code));
	fclose(map);
	((void (*)(void (*)(void)))made)(work);
	moved++;
}
#else
static void compiled(void)
{
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "work";
	int count = argc > 2 ? atoi(argv[2]) : 0;

	connect_both();
	puts("ready");
	go_on();
	if (!strcmp(what, "thread"))
		in_thread();
	else if (!strcmp(what, "deeper"))
		deeper(count);
	else if (!strcmp(what, "ways"))
		ways(count);
	else if (!strcmp(what, "again"))
		for (int i = 0; i < count; i++)
			work();
	else if (!strcmp(what, "compiled"))
		compiled();
	else
		work();
	printf("%llu\n", (unsigned long long)moved);
	go_on();
	return 0;
}
