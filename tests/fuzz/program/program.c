// SPDX-License-Identifier: GPL-2.0
/*
 * A random program of calls of a protocol's sockets, which knows how each of its bytes went, as its own calls said.
 *
 * usage: PROGRAM SEED TRUTH life|whole [KEY=NUMBER...] [without=CALL,...] [only=CALL,...]
 * The order of calls follows from SEED; how much each moves is what the kernel says. Its life before a window
 * opens is the first phase: with "life" it prints "ready" then, and waits for a line. After the second
 * phase it leaves what it knows of the window in the file TRUTH, prints "done" and waits for the end of stdin.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/program/program.h"

enum { PATIENCE_SECONDS = 900, FILE_BYTES_LEAST = 300000, SETTLE_US = 20000 };

struct all *all;
int memory, place;
char open_here[SOCKETS_MAX];
char *data, *room, *hole;

/* Phases by number of calls; what a program may do. */
static int first = 100, second = 300, ends;
static struct switches may = { .forks = 1, .threads = 1, .rings = 1, .executes = 1, .urgent = 1, .fast_open = 1,
			       .connections = 12, .calls = UINT64_MAX };
static const struct {
	const char *name;
	int *value;
} keys[] = {
	{ "first", &first },	       { "second", &second },	      { "ends", &ends },
	{ "forks", &may.forks },       { "threads", &may.threads },   { "rings", &may.rings },
	{ "executes", &may.executes }, { "urgent", &may.urgent },     { "fast_open", &may.fast_open },
	{ "verbose", &may.verbose },   { "connections", &may.connections },
};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static _Noreturn void usage(void)
{
	fprintf(stderr, "usage: %s SEED TRUTH life|whole [KEY=NUMBER...] [without=CALL,...] [only=CALL,...]\nkeys:",
		program_invocation_short_name);
	for (int k = 0; k < KEYS; k++)
		fprintf(stderr, " %s=%d", keys[k].name, *keys[k].value);
	fprintf(stderr, "\ncalls:");
	print_calls();
	fprintf(stderr, "\n");
	exit(2);
}

static void read_key(const char *word)
{
	const char *value = strchr(word, '=');

	if (!value)
		usage();
	if (!strncmp(word, "without=", value + 1 - word)) {
		may.calls &= ~calls_named(value + 1);
		return;
	}
	if (!strncmp(word, "only=", value + 1 - word)) {
		may.calls = calls_named(value + 1);
		return;
	}
	for (int k = 0; k < KEYS; k++)
		if (strlen(keys[k].name) == (size_t)(value - word) && !strncmp(word, keys[k].name, value - word)) {
			*keys[k].value = atoi(value + 1);
			return;
		}
	usage();
}

static void *map(size_t bytes, int flags, int fd)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (mapped == MAP_FAILED)
		fail("mmap");
	return mapped;
}

static void make_buffers(void)
{
	data = map(BUFFER_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	room = map(BUFFER_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	hole = map(BUFFER_BYTES + HOLE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mprotect(hole + BUFFER_BYTES, HOLE_BYTES, PROT_NONE);
	memset(data, 'b', BUFFER_BYTES);
	signal(SIGPIPE, SIG_IGN);
}

/* What a child that executed this program goes on with. */
static int go_on(char **words)
{
	memory = atoi(words[0]);
	place = atoi(words[1]);
	all = map(sizeof(*all), MAP_SHARED, memory);
	throw_from(strtoull(words[2], NULL, 10));
	make_buffers();
	memcpy(open_here, all->given[place], SOCKETS_MAX);
	make_calls(atoi(words[3]), false);
	return 0;
}

static void begin(const char *seed)
{
	memory = memfd_create("random", 0);
	if (memory < 0 || ftruncate(memory, sizeof(*all)))
		fail("memory");
	all = map(sizeof(*all), MAP_SHARED, memory);
	all->seed = strtoull(seed, NULL, 10);
	all->may = may;
	all->pids[0] = getpid();
	all->processes = 1;
	/* Neighbouring seeds far apart, none of them 0; the first throws are still alike. */
	throw_from(all->seed * 0x9e3779b97f4a7c15ULL + 88172645463325252ULL);
	for (int k = 0; k < 20; k++)
		throw();
	make_buffers();
	all->file_bytes = FILE_BYTES_LEAST + below(FILE_BYTES_LEAST);
	all->file = memfd_create("file", 0);
	if (write(all->file, data, all->file_bytes) != all->file_bytes ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, all->pair))
		fail("a file");
	begin_sockets();
}

static void wait_for_line(void)
{
	char line[100];

	if (!fgets(line, sizeof(line), stdin))
		clearerr(stdin);
}

int main(int argc, char **argv)
{
	if (argc == 6 && !strcmp(argv[1], "--child"))
		return go_on(argv + 2);
	if (argc < 4)
		usage();
	for (int k = 4; k < argc; k++)
		read_key(argv[k]);
	alarm(PATIENCE_SECONDS);
	begin(argv[1]);
	if (!strcmp(argv[3], "life")) {
		make_phase(first);
		/* What is on its way arrives before the window opens. */
		usleep(SETTLE_US);
		puts("ready");
		fflush(stdout);
		wait_for_line();
		forget();
	}
	make_phase(second);
	write_truth(argv[2]);
	if (ends)
		return 0;
	puts("done");
	fflush(stdout);
	wait_for_line();
	return 0;
}
