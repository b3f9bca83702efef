// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates of every row, made from the machine description and general knowledge of processors and
 * of the kernel's code. Nothing is measured here, so a measurement can contradict an estimate.
 */
#include "studies/baseline/estimate.h"

#include <math.h>
#include <string.h>

/* What a number of the table is counted in. */
enum scale {
	CYCLES_NS,	/* core cycles, said in ns; not known without the core's clock */
	TOLD_GHZ,	/* the rate that the kernel tells, or the time stamp counter's */
	AS_IS,		/* already in the row's unit */
	RTTS_MS,	/* round trips of the remote path, in ms */
	CHANNELS,	/* peaks of one memory channel, in GB/s; as is if the firmware tells none */
	SHARE,		/* this share of the hardware estimate */
	CACHE_MIB,	/* MiB of memory that the page cache may use in this test */
};

enum { CHANNEL_GBPS = 25 };

struct part {
	double n;
	enum scale scale;
	const char *basis;
};

#define NONE { 0, AS_IS, "none" }
#define CALL(k)                                                                             \
	{ "call-" #k, { 3, CYCLES_NS, "call and return, predicted" },                       \
	  { (k) * 0.25, CYCLES_NS, "moving arguments to registers, four a cycle" } }

#define COPIES(name)                                                                        \
	{ name "64", { 2, CYCLES_NS, "32 bytes a cycle" },                                  \
	  { 10, CYCLES_NS, "a string instruction begins, beyond what one byte takes" } },   \
	{ name "4096", { 128, CYCLES_NS, "32 bytes a cycle" },                              \
	  { 20, CYCLES_NS, "a string instruction begins, beyond what one byte takes" } },   \
	{ name "65536", { 2048, CYCLES_NS, "32 bytes a cycle" },                            \
	  { 1000, CYCLES_NS, "16 pages, each a string instruction; the nearest cache is full" } }

#define RAM(name, share, basis)                                                             \
	{ "ram-" name, { 1, CHANNELS, "one channel's peak" }, { share, SHARE, basis } }

static const struct {
	const char *row;
	struct part hardware, software;
} table[] = {
	{ "core-clock", { 1, TOLD_GHZ, "highest that the kernel tells, else the TSC's rate" }, NONE },
	{ "timing", { 30, CYCLES_NS, "rdtscp and lfence" }, NONE },
	{ "timing-intrinsic", { 30, CYCLES_NS, "rdtscp and lfence" }, NONE },
	{ "loop", { 5, CYCLES_NS, "a load of what was just stored" }, { 1, CYCLES_NS, "compare, jump" } },
	{ "loop-register", { 1, CYCLES_NS, "one turn a cycle" }, NONE },
	CALL(0), CALL(1), CALL(2), CALL(3), CALL(4), CALL(5), CALL(6), CALL(7),
	{ "call-0-timed-singly", { 33, CYCLES_NS, "the clock's reading and the call" }, NONE },
	{ "syscall-getppid", { 80, CYCLES_NS, "syscall, swapgs twice, sysret" },
	  { 60, AS_IS, "mitigations, dispatch, another task looked up" } },
	{ "syscall-traced", { 80, CYCLES_NS, "syscall, swapgs twice, sysret" },
	  { 220, CYCLES_NS, "entry and exit code, mitigations, a tracepoint called" } },
	{ "syscall-first", { 80, CYCLES_NS, "syscall, swapgs twice, sysret" },
	  { 3000, AS_IS, "the program's page mapped, code and tables read from memory" } },
	{ "syscall", { 80, CYCLES_NS, "syscall, swapgs twice, sysret" },
	  { 150, CYCLES_NS, "entry and exit code, mitigations" } },
	{ "process", { 10, AS_IS, "page tables of a small process copied" },
	  { 60, AS_IS, "copy_process, its maps and files" } },
	{ "process-ended", { 10, AS_IS, "page tables of a small process copied" },
	  { 150, AS_IS, "fork, first faults, exit, a switch there and back" } },
	{ "thread", { 1, AS_IS, "a stack mapped" }, { 9, AS_IS, "mmap, clone, wake-up" } },
	{ "switch-process", { 0.2, AS_IS, "registers, CR3 with PCID" },
	  { 1.3, AS_IS, "pipe write and read, wake-up, schedule" } },
	{ "switch-thread", { 0.1, AS_IS, "registers" },
	  { 1.3, AS_IS, "pipe write and read, wake-up, schedule" } },
	{ "latency-l1", { 4, CYCLES_NS, "load to use" }, NONE },
	{ "latency-l2-paged", { 14, CYCLES_NS, "load to use" },
	  { 1, AS_IS, "a translation each time, one set of the L1 cache" } },
	{ "latency-l2", { 14, CYCLES_NS, "load to use" }, NONE },
	{ "latency-l3", { 50, CYCLES_NS, "load to use" }, NONE },
	{ "latency-memory", { 90, AS_IS, "DRAM" }, { 10, AS_IS, "TLB misses, nested tables" } },
	{ "latency-array", { 8, CYCLES_NS, "prefetched into L1 or L2" }, NONE },
	{ "memory-read", { 1, CHANNELS, "one channel's peak" }, { -0.3, SHARE, "one core's misses" } },
	{ "memory-write", { 1, CHANNELS, "one channel's peak" },
	  { -0.5, SHARE, "each line is read before it is written" } },
	{ "memory-copy", { 1, CHANNELS, "one channel's peak" },
	  { -0.6, SHARE, "two lines read and one written for each copied" } },
	RAM("read-plain", -0.5, "one load a turn of the loop"),
	RAM("read-unrolled", -0.3, "one core's misses"),
	RAM("write-plain", -0.5, "each line is read before it is written"),
	RAM("write-unrolled", -0.5, "each line is read before it is written"),
	RAM("write-memset", -0.4, "non-temporal beyond a share of the cache"),
	RAM("copy-plain", -0.6, "two lines read and one written for each copied"),
	RAM("copy-unrolled", -0.6, "two lines read and one written for each copied"),
	RAM("copy-memcpy", -0.6, "two lines read and one written for each copied"),
	RAM("read-avx2", -0.3, "one core's misses"),
	RAM("read-avx512", -0.3, "one core's misses"),
	RAM("write-avx512", -0.4, "whole lines: some are not read before"),
	RAM("write-nt", -0.2, "no line is read before it is written"),
	RAM("write-stosb", -0.3, "microcode that does not read lines first"),
	RAM("copy-avx512", -0.6, "two lines read and one written for each copied"),
	RAM("copy-nt", -0.5, "one line read and one written for each copied"),
	RAM("copy-movsb", -0.5, "microcode that does not read lines first"),
	{ "fault-hole", { 0.3, AS_IS, "exception, a page cleared" },
	  { 1.7, AS_IS, "page cache, file system's page_mkwrite; no disk is read" } },
	{ "fault-cached-unmapped", { 0.02, AS_IS, "a page table entry, a share of an exception" },
	  { 0.08, AS_IS, "a sixteenth of a fault that maps 16 pages; unmapped" } },
	{ "fault-cached", { 0.02, AS_IS, "a page table entry, a share of an exception" },
	  { 0.05, AS_IS, "a sixteenth of a fault that maps 16 pages" } },
	{ "fault-minor", { 0.2, AS_IS, "exception, a page cleared" }, { 0.4, AS_IS, "page allocated" } },
	{ "fault-major", { 100, AS_IS, "a read of 4 KiB from an SSD" },
	  { 10, AS_IS, "fault, block layer, two switches" } },
	{ "tcp-rtt", { 0.4, AS_IS, "two context switches" },
	  { 12, AS_IS, "two sends, two receives, wake-ups" } },
	{ "tcp-rtt-remote", { 1, RTTS_MS, "the delay of the path" }, { 0.1, AS_IS, "as on loopback" } },
	{ "icmp-rtt", { 0.1, AS_IS, "two system calls" },
	  { 4, AS_IS, "send, reply in softirq, receive" } },
	{ "icmp-rtt-2ms", { 0.1, AS_IS, "two system calls" },
	  { 8, AS_IS, "as back to back; the caches lost some of it to others" } },
	{ "icmp-rtt-1s", { 0.1, AS_IS, "two system calls" },
	  { 30, AS_IS, "as back to back, but from memory: the caches lost all of it" } },
	{ "icmp-rtt-remote", { 1, RTTS_MS, "the delay of the path" }, { 0.1, AS_IS, "as on loopback" } },
	{ "tcp-stream", { 80000, AS_IS, "two copies of each byte at 20 GB/s" },
	  { -0.6, SHARE, "skbs, wake-ups, two tasks" } },
	{ "tcp-stream-remote", { 8000, AS_IS, "no link limits it: 6 MB of window in 6 ms" },
	  { -0.75, SHARE, "the window is smaller while it grows" } },
	{ "send-copy", { 400, AS_IS, "two copies of 4 KiB at 20 GB/s" },
	  { 2000, AS_IS, "system call, a packet every few sends, wake-ups" } },
	{ "send-zerocopy", { 400, AS_IS, "a late copy and a copy to the reader" },
	  { 5000, AS_IS, "as a copied send; a page pinned, a notification sent and read" } },
	{ "zerocopy-pieces", { 50, AS_IS, "a page pinned" },
	  { 4000, AS_IS, "system call, packet, notification" } },
	{ "cpu-copy", { 400, AS_IS, "two copies of 4 KiB at 20 GB/s" },
	  { 4000, AS_IS, "both ends: system calls, a packet every few sends, wake-ups" } },
	{ "cpu-reference", { 400, AS_IS, "a late copy and a copy to the reader" },
	  { 8000, AS_IS, "both ends; a page pinned, a notification sent and read" } },
	{ "cpu-file", { 200, AS_IS, "a copy to the reader" },
	  { 5000, AS_IS, "both ends; a page of the file found, put into a pipe and taken out" } },
	{ "cpu-read", { 600, AS_IS, "three copies of 4 KiB at 20 GB/s" },
	  { 4600, AS_IS, "as cpu-copy, and a read() of a page of the page cache" } },
	{ "cpu-ring", { 400, AS_IS, "two copies of 4 KiB at 20 GB/s" },
	  { 4500, AS_IS, "both ends; a request taken from the ring, a completion put into it" } },
	{ "cpu-ring-reference", { 400, AS_IS, "a late copy and a copy to the reader" },
	  { 9000, AS_IS, "both ends; a page pinned, two completions" } },
	{ "turn-copy", { 400, AS_IS, "two copies of 4 KiB at 20 GB/s" },
	  { 12000, AS_IS, "both ends: two sends, two receives, two wake-ups" } },
	{ "turn-reference", { 400, AS_IS, "a late copy and a copy to the reader" },
	  { 16000, AS_IS, "both ends; a page pinned, a notification that wakes the sender" } },
	{ "turn-file", { 200, AS_IS, "a copy to the reader" },
	  { 13000, AS_IS, "both ends; a page of the file found, put into a pipe and taken out" } },
	{ "turn-ring", { 400, AS_IS, "two copies of 4 KiB at 20 GB/s" },
	  { 12500, AS_IS, "both ends; a request taken from the ring, a completion put into it" } },
	{ "turn-ring-reference", { 400, AS_IS, "a late copy and a copy to the reader" },
	  { 17000, AS_IS, "both ends; a page pinned, two completions" } },
	{ "away-copy", { 200, AS_IS, "a copy of 4 KiB at 20 GB/s" },
	  { 800, AS_IS, "system call, room for a packet, its end" } },
	{ "away-cold", { 400, AS_IS, "a copy of 4 KiB at 10 GB/s" },
	  { 800, AS_IS, "system call, room for a packet, its end" } },
	{ "away-reference", { 50, AS_IS, "a page pinned" },
	  { 1500, AS_IS, "system call, packet, notification" } },
	{ "away-file", { 0, AS_IS, "no byte is moved" },
	  { 1500, AS_IS, "system call, a page put into a pipe and taken out, its end" } },
	{ "away-ring", { 200, AS_IS, "a copy of 4 KiB at 20 GB/s" },
	  { 1200, AS_IS, "a request taken from the ring, a completion put into it, room for a packet" } },
	{ "away-ring-reference", { 50, AS_IS, "a page pinned" },
	  { 2000, AS_IS, "a request taken from the ring, two completions, packet" } },
	{ "alone-copy", { 200, AS_IS, "a copy of 4 KiB at 20 GB/s" },
	  { 1800, AS_IS, "as away-copy, and a connection made and dropped" } },
	{ "alone-reference", { 50, AS_IS, "a page pinned" },
	  { 4000, AS_IS, "as away-reference, a connection made and dropped, a notification read" } },
	{ "alone-ring-reference", { 50, AS_IS, "a page pinned" },
	  { 4000, AS_IS, "as away-ring-reference, a connection made and dropped, a notification taken" } },
	COPIES("copy-"), COPIES("copy-back-"),
	{ "pin", { 110, CYCLES_NS, "system call, the clock" },
	  { 100, AS_IS, "page tables walked, a count raised, a slot of a pipe" } },
	{ "write-pieces", { 80, CYCLES_NS, "system call" }, { 500, AS_IS, "page cache, locks" } },
	{ "write-whole", { 80, CYCLES_NS, "system call" }, { 450, AS_IS, "page cache, locks" } },
	{ "connect", { 1, AS_IS, "context switches" },
	  { 40, AS_IS, "socket, port, three segments, accept" } },
	{ "connect-remote", { 1, RTTS_MS, "SYN and its answer: connect() waits no longer" },
	  { 0.1, AS_IS, "as on loopback" } },
	{ "close", { 0.1, AS_IS, "a system call" }, { 12, AS_IS, "FIN, its answer, time-wait" } },
	{ "close-remote", { 0.1, AS_IS, "a system call" },
	  { 15, AS_IS, "FIN is sent; close() waits for no answer" } },
	{ "file-cache", { 1, CACHE_MIB, "the memory that the test may use" },
	  { -0.05, SHARE, "the kernel's own share of it" } },
	{ "read-sequential", { 90, AS_IS, "a read of 4 KiB from an SSD" },
	  { 10, AS_IS, "block layer, two switches; readahead is off" } },
	{ "read-again", { 1, CHANNELS, "one channel's peak" },
	  { -0.7, SHARE, "copied by the kernel, a page at a time" } },
	{ "read-again-summed", { 1, CHANNELS, "one channel's peak" },
	  { -0.8, SHARE, "copied by the kernel, then summed up" } },
	{ "read-ahead", { 2, AS_IS, "4 KiB at 2 GB/s" },
	  { 1, AS_IS, "system call, copy; readahead hides the latency" } },
	{ "read-random", { 100, AS_IS, "a read of 4 KiB from an SSD" },
	  { 10, AS_IS, "block layer, two switches" } },
	{ "remote-sequential", { 1, RTTS_MS, "a round trip a block: readahead is off" },
	  { 0.3, AS_IS, "client, server, network" } },
	{ "remote-random", { 1, RTTS_MS, "a round trip a block" },
	  { 0.3, AS_IS, "client, server, network" } },
	{ "contention-one-cpu", { 400, AS_IS, "20 readers queue at one device" },
	  { 200, AS_IS, "switches, on one CPU" } },
	{ "contention-cpu-wait", NONE, { 200, AS_IS, "20 readers take turns on one CPU" } },
	{ "contention", { 400, AS_IS, "20 readers queue at one device" }, { 100, AS_IS, "switches" } },
};

static double value(const struct part *p, double hardware, const struct machine_info *m,
		    const struct protocol *protocol)
{
	switch (p->scale) {
	case CYCLES_NS:
		return m->core_ghz ? p->n / m->core_ghz : NAN;
	case TOLD_GHZ:
		return m->told_ghz;
	case RTTS_MS:
		return p->n * protocol->rtt_ms;
	case CHANNELS:
		return p->n * (m->memory_peak_gbps ? m->memory_peak_gbps : CHANNEL_GBPS);
	case SHARE:
		return p->n * hardware;
	case CACHE_MIB:
		return p->n * (protocol->cache_bytes >> 20);
	case AS_IS:
		break;
	}
	return p->n;
}

struct estimate estimate_row(const char *row, const struct machine_info *m,
			     const struct protocol *protocol)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct estimate e;

		if (strcmp(table[i].row, row))
			continue;
		e.hardware = value(&table[i].hardware, NAN, m, protocol);
		e.software = value(&table[i].software, e.hardware, m, protocol);
		e.hardware_basis = table[i].hardware.basis;
		e.software_basis = table[i].software.basis;
		return e;
	}
	return (struct estimate){ NAN, NAN, "none made", "none made" };
}
