/* SPDX-License-Identifier: GPL-2.0 */
/* Judges whether a benchmark did what its name says; pure. */
#ifndef COPYSCOPE_BASELINE_INVARIANTS_H
#define COPYSCOPE_BASELINE_INVARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "studies/baseline/proof/events.h"

/* What a benchmark knows of itself without probes: a second account beside the counters. */
enum witness {
	WITNESS_PAGES_BEFORE,	/* of the file in the page cache before the region (mincore) */
	WITNESS_PAGES_AFTER,
	WITNESS_DISK_BYTES,	/* read from a disk by this process (getrusage) */
	WITNESS_RETRANSMITS,	/* TCP_INFO of both ends */
	WITNESS_BYTES,		/* that arrived */
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

#endif
