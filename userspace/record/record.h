/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run as plain data: what was counted, and what follows from it.
 *
 * Filled in order: machine, the ledger read from the probes, what is derived from it, then sites,
 * causes and laws. What was arranged, and what its two ends say of it, is in the experiment. The
 * JSON record is a print of this struct and of nothing else; reports are made of that. Bytes, pages
 * and calls are exact counts.
 */
#ifndef COPYSCOPE_RECORD_H
#define COPYSCOPE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "userspace/counters/values.h"
#include "userspace/record/ledger.h"
#include "userspace/record/measured.h"

enum run_status { RUN_COMPLETE, RUN_FAILED, RUN_INTERRUPTED, RUN_BLIND };

/* How the measurement ended. Follows from the rest: outcome.h. */
struct run_outcome {
	enum run_status status;
	char reason[WHY_BYTES];
};

/* One event over the measured calls of one function. */
struct cost_event {
	bool known, scaled;
	uint64_t value;
	char why[COUNTER_WHY_BYTES];
};

/* What the calls of one function cost (--cost). */
struct cost_value {
	bool known;
	char why[WHY_BYTES];
	struct cost_sums sums;
	struct cost_event event[COST_EVENTS];
};

struct pins {
	enum how how, released_how, peak_how;
	uint64_t pages, released_pages, peak_pages;
	char why[WHY_BYTES];
};

/* Whose sockets a run's probes count: all that they know of it. */
struct subject {
	uint32_t tgid[SUBJECT_PROCESSES];	/* of its processes, as BPF programs see them */
	int processes;
	uint32_t netns[SUBJECT_PROCESSES];	/* inode numbers of their network namespaces */
	int namespaces;
	int sockets;			/* how many it may use at most */
	bool datagrams;			/* it sends by UDP */
	bool references;		/* it may request references to its pages */
	bool tls;			/* its sockets have kernel TLS */
	bool hardware_dma;		/* a device on their way may read pages itself */
	const char *usdt_path;		/* the program with the USDT probe; NULL: it has none */
	pid_t usdt_pid;			/* the process with it, as this PID namespace sees it */
};

struct experiment;

struct record {
	MEASURED;			/* sites and causes are of the derived ledger */
	char **command;			/* not owned, NULL-terminated */
	struct run_outcome outcome;
	struct ledger ledger;		/* as the probes counted */
	struct ledger derived;		/* the same with what follows from it, for laws and reports */
	struct pins pins;
	bool cost_asked;
	char cost_why[WHY_BYTES];	/* why no call was measured at all */
	char cost_event_why[COST_EVENTS][COUNTER_WHY_BYTES];
	struct cost_value cost[COST_COUNT];
	bool stats_known;		/* run times of the programs were counted */
	struct experiment *experiment;	/* owned; from record_arrange */
};

const char *cost_name(enum cost cost);
const char *outcome_status_name(enum run_status status);

/* True if a hook of that metric was attached, on each host where it could be hit. */
bool record_probe_attached(const struct record *r, const char *metric);

/* Hits that programs missed, of the hooks of one metric or, NULL, of all. */
uint64_t record_missed_hits(const struct record *r, const char *metric);

/* Program runs that the kernel skipped because the program was already running on that CPU; none of
 * those that watch completions if every completion was found, because two programs look for each. */
uint64_t record_missed(const struct record *r);

/* True if a hook of that metric was attached and missed no hit. */
bool record_probe_whole(const struct record *r, const char *metric);

/* True if every skb that left was counted, and each that left for a second time. */
bool record_wire_known(const struct record *r);

/* True if the processor of a machine of the run is emulated: its times mean nothing. */
bool record_emulated(const struct record *r);

struct overhead record_overhead(const struct record *r);

/* Frees what the record owns. */
void record_free(struct record *r);

#endif
