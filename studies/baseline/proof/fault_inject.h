/* SPDX-License-Identifier: GPL-2.0 */
/* Injects a fault into a benchmark on purpose, so that tests see its invariants catch it. */
#ifndef COPYSCOPE_BASELINE_FAULT_INJECT_H
#define COPYSCOPE_BASELINE_FAULT_INJECT_H

#include <stdint.h>

/* What --break adds to each region, or changes around it. */
enum injected {
	INJECT_NONE,
	INJECT_SKIP,		/* half of the calls are left out */
	INJECT_SYSCALL,		/* a system call more */
	INJECT_SLEEP,		/* a voluntary context switch more */
	INJECT_PAGE_FAULT,	/* a page fault more */
	INJECT_FORK,		/* a process more */
	INJECT_PACKET,		/* a packet on another device */
	INJECT_READ,		/* a read from the disk */
	INJECT_HOLE,		/* files are holes: no disk has anything of them */
	INJECT_APART,		/* the peer is on another CPU */
	INJECT_NEAR,		/* the remote path has no delay */
	INJECT_ELSEWHERE,	/* the working set is that of another level of the cache */
	INJECT_COUNT
};

/* The fault that the word after --break names, or -1. */
int fault_inject_named(const char *word);

/* To be called once, within the counted region. A file that it needs is made in @dir. */
void fault_inject_region(enum injected fault, const char *dir);

/* How many of @calls are really made. */
uint64_t fault_inject_calls(enum injected fault, uint64_t calls);

/* In the peer of a row of one CPU, where it begins. */
void fault_inject_peer(enum injected fault);

/* The delay that the remote path really has. */
double fault_inject_rtt_ms(enum injected fault, double rtt_ms);

#endif
