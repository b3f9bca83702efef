// SPDX-License-Identifier: GPL-2.0
/*
 * Compares what was counted with what a benchmark must do. Injects faults, most of them within the
 * counted region.
 */
#include "studies/baseline/bench/proof.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *relation_name(enum relation is)
{
	static const char *const names[] = { "nothing", "exactly", "at least", "at most" };

	return names[is];
}

static const char *witness_name(enum witness w)
{
	static const char *const names[WITNESS_COUNT] = {
		[WITNESS_PAGES_BEFORE] = "pages cached before",
		[WITNESS_PAGES_AFTER] = "pages cached after",
		[WITNESS_DISK_BYTES] = "bytes read from disks",
		[WITNESS_RETRANSMITS] = "retransmits by TCP_INFO",
		[WITNESS_BYTES] = "bytes arrived",
		[WITNESS_QUEUED_BYTES] = "bytes queued",
		[WITNESS_EXTRA_BYTES] = "bytes sent but not arrived",
		[WITNESS_SLOPE] = "time of twice the turns over once",
		[WITNESS_REMOTE_BYTES] = "bytes over the remote device",
		[WITNESS_MAJOR] = "major faults by getrusage",
		[WITNESS_PACKETS] = "packets by the device's statistics",
		[WITNESS_STRAYS] = "packets of other devices",
		[WITNESS_OPENS] = "connections opened, active and passive",
		[WITNESS_RESETS] = "resets",
		[WITNESS_ESTABLISHED] = "connections up when connect() returned",
		[WITNESS_COMPLETIONS] = "notifications read",
		[WITNESS_TURNS] = "turns by what they changed",
		[WITNESS_MAPPED] = "pages mapped by smaps",
		[WITNESS_DELAY] = "shortest round trip over the path's delay",
		[WITNESS_PRODUCT] = "time of a multiplication over an addition",
		[WITNESS_ORDERLY] = "share of loads of the next line",
		[WITNESS_FAST] = "share of stretches as fast as the cache",
		[WITNESS_TOUCHED] = "bytes by what the memory holds",
	};

	return names[w];
}

const char *invariant_counter(const struct invariant *invariant)
{
	return invariant->event < EVENT_COUNT ? event_of(invariant->event)->name
					      : witness_name(invariant->event - EVENT_COUNT);
}

static bool holds(const struct invariant *invariant, double expected, double counted)
{
	double room = fabs(expected) * invariant->slack;

	switch (invariant->is) {
	case EXACTLY:
		return counted >= expected - room && counted <= expected + room;
	case AT_LEAST:
		return counted >= expected - room;
	case AT_MOST:
		return counted <= expected + room;
	case NOTHING:
		break;
	}
	return true;
}

enum proof invariants_judge(const struct invariant *invariants, size_t n, uint64_t calls,
			    const double *counted, struct finding *findings, char *why,
			    size_t why_bytes)
{
	enum proof proof = PROOF_HELD;

	*why = '\0';
	for (size_t i = 0; i < n && invariants[i].is != NOTHING; i++) {
		const struct invariant *each = &invariants[i];
		struct finding *f = &findings[i];

		f->expected = each->per_call * calls + each->once;
		f->counted = counted[each->event];
		f->held = !isnan(f->counted) && holds(each, f->expected, f->counted);
		if (isnan(f->counted) && proof == PROOF_HELD) {
			proof = PROOF_MISSING;
			snprintf(why, why_bytes, "nothing counted %s", invariant_counter(each));
		}
		if (isnan(f->counted) || f->held || proof == PROOF_BROKEN)
			continue;
		proof = PROOF_BROKEN;
		snprintf(why, why_bytes, "%s: expected %s %.15g %s in %llu calls, counted %.15g",
			 each->means, relation_name(each->is), f->expected, invariant_counter(each),
			 (unsigned long long)calls, f->counted);
	}
	return proof;
}

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
