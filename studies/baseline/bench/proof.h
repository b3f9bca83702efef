/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judges whether a benchmark did what its name says, and injects faults on purpose, so that tests
 * see it caught.
 */
#ifndef COPYSCOPE_BASELINE_PROOF_H
#define COPYSCOPE_BASELINE_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "studies/baseline/bench/events.h"

/* What a benchmark knows of itself without probes: a second account beside the counters. */
enum witness {
	WITNESS_PAGES_BEFORE,	/* of the file in the page cache before the region (mincore) */
	WITNESS_PAGES_AFTER,
	WITNESS_DISK_BYTES,	/* read from a disk by this process (getrusage) */
	WITNESS_RETRANSMITS,	/* TCP_INFO of both ends */
	WITNESS_BYTES,		/* that arrived */
	WITNESS_QUEUED_BYTES,	/* SIOCOUTQ, before the connection is dropped */
	WITNESS_EXTRA_BYTES,	/* sent, less those that arrived */
	WITNESS_SLOPE,		/* time of twice the turns over time of once */
	WITNESS_REMOTE_BYTES,	/* received by the device of the remote path */
	WITNESS_MAJOR,		/* faults that waited for a disk (getrusage) */
	WITNESS_PACKETS,	/* sent by the path's device on the near side, by its statistics */
	WITNESS_STRAYS,		/* sent by other devices of the near side's namespace */
	WITNESS_OPENS,		/* connections opened from and to this side, by its TCP statistics */
	WITNESS_RESETS,		/* sent, and connections that got one */
	WITNESS_ESTABLISHED,	/* connections that were up when connect() returned (TCP_INFO) */
	WITNESS_COMPLETIONS,	/* zero-copy sends whose notification was read */
	WITNESS_TURNS,		/* made, told by what they changed */
	WITNESS_PRODUCT,	/* time of a multiplication over that of an addition, in chains */
	WITNESS_ORDERLY,	/* share of loads that go to the next line in memory */
	WITNESS_FAST,		/* share of stretches of loads as fast as a level of the cache */
	WITNESS_TOUCHED,	/* bytes, told by what was read or by what the memory holds then */
	WITNESS_MAPPED,		/* pages of the mapping, by smaps */
	WITNESS_DELAY,		/* shortest round trip (TCP_INFO) over the delay that was asked for */
	WITNESS_COUNT
};

enum relation { NOTHING, EXACTLY, AT_LEAST, AT_MOST };

/*
 * "Counted = per_call x calls + once", or at least, or at most. A neighbour on the same CPU can
 * shift a count that depends on the scheduler: slack is that share of it, 0 elsewhere.
 */
struct invariant {
	enum relation is;
	int event;		/* enum event_id, or WITNESS(w) */
	double per_call, once, slack;
	const char *means;	/* "one getuid a call" */
};

#define WITNESS(w) (EVENT_COUNT + (w))

/* What became of one invariant. */
struct finding {
	double expected, counted;	/* counted is NAN if nothing looked */
	bool held;
};

enum proof { PROOF_HELD, PROOF_BROKEN, PROOF_MISSING };

/* Name of a counter or a witness, as in the record. */
const char *invariant_counter(const struct invariant *invariant);
const char *relation_name(enum relation is);

/*
 * @counted has EVENT_COUNT + WITNESS_COUNT places. Broken if any broke, even if others are
 * missing. The first that decided is told in @why.
 */
enum proof invariants_judge(const struct invariant *invariants, size_t n, uint64_t calls,
			    const double *counted, struct finding *findings, char *why,
			    size_t why_bytes);

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
