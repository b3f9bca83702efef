// SPDX-License-Identifier: GPL-2.0
/* Each way to spoil a benchmark, done within the region that is counted. */
#include "userspace/baseline/spoil.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[SPOIL_COUNT] = {
	"none", "skip", "syscall", "sleep", "fault", "fork", "packet", "read", "hole",
	"apart", "near",
};

int spoil_named(const char *word)
{
	for (int i = 0; i < SPOIL_COUNT; i++)
		if (!strcmp(names[i], word))
			return i;
	return -1;
}

uint64_t spoil_calls(const struct settings *s, uint64_t calls)
{
	return s->spoil == SPOIL_SKIP && calls > 1 ? calls / 2 : calls;
}

void spoil_peer(const struct settings *s)
{
	int here = sched_getcpu();
	cpu_set_t others;

	if (s->spoil != SPOIL_APART)
		return;
	CPU_ZERO(&others);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != here)
			CPU_SET(cpu, &others);
	sched_setaffinity(0, sizeof(others), &others);
}

double spoil_rtt_ms(const struct settings *s)
{
	return s->spoil == SPOIL_NEAR ? 0 : s->rtt_ms;
}

static void touch_a_page(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	*(volatile char *)page = 1;
	munmap(page, 4096);
}

static void make_a_process(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* 127.0.0.1 leaves by lo, which is a stray wherever the path is another. */
static void send_a_packet(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
	close(fd);
}

static void read_from_disk(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR, 0600);
	char page[4096] = { 1 };

	if (fd < 0 || write(fd, page, sizeof(page)) < 0 || fsync(fd))
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (pread(fd, page, sizeof(page), 0) < 0)
		return;
	close(fd);
}

void spoil_region(const struct settings *s)
{
	switch (s->spoil) {
	case SPOIL_SYSCALL:
		syscall(SYS_getuid);
		break;
	case SPOIL_SLEEP:
		usleep(1000);
		break;
	case SPOIL_FAULT:
		touch_a_page();
		break;
	case SPOIL_FORK:
		make_a_process();
		break;
	case SPOIL_PACKET:
		send_a_packet();
		break;
	case SPOIL_READ:
		read_from_disk(s->dir);
		break;
	default:
		break;
	}
}
