// SPDX-License-Identifier: GPL-2.0
/* Each fault that can be injected into a benchmark, most of them within the counted region. */
#include "studies/baseline/proof/fault_inject.h"

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

static const char *const names[INJECT_COUNT] = {
	"none", "skip", "syscall", "sleep", "fault", "fork", "packet", "read", "hole",
	"apart", "near", "elsewhere",
};

int fault_inject_named(const char *word)
{
	for (int i = 0; i < INJECT_COUNT; i++)
		if (!strcmp(names[i], word))
			return i;
	return -1;
}

uint64_t fault_inject_calls(enum injected fault, uint64_t calls)
{
	return fault == INJECT_SKIP && calls > 1 ? calls / 2 : calls;
}

void fault_inject_peer(enum injected fault)
{
	int here = sched_getcpu();
	cpu_set_t others;

	if (fault != INJECT_APART)
		return;
	CPU_ZERO(&others);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != here)
			CPU_SET(cpu, &others);
	sched_setaffinity(0, sizeof(others), &others);
}

double fault_inject_rtt_ms(enum injected fault, double rtt_ms)
{
	return fault == INJECT_NEAR ? 0 : rtt_ms;
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

/* To 127.0.0.1, by lo: a packet of another device wherever the path is not lo. */
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

void fault_inject_region(enum injected fault, const char *dir)
{
	switch (fault) {
	case INJECT_SYSCALL:
		syscall(SYS_getuid);
		break;
	case INJECT_SLEEP:
		usleep(1000);
		break;
	case INJECT_PAGE_FAULT:
		touch_a_page();
		break;
	case INJECT_FORK:
		make_a_process();
		break;
	case INJECT_PACKET:
		send_a_packet();
		break;
	case INJECT_READ:
		read_from_disk(dir);
		break;
	default:
		break;
	}
}
