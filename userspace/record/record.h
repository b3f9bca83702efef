/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run as plain data: what was counted, and what follows from it.
 *
 * Filled in order: machine, the ledger read from the probes, what is derived from it, then sites,
 * causes and laws. What was arranged, and what its two ends say of it, is in the experiment. The
 * JSON record and the text report are two prints of this struct and of nothing else. Bytes, pages
 * and calls are exact counts.
 */
#ifndef COPYSCOPE_RECORD_H
#define COPYSCOPE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/include/sites.h"
#include "userspace/common/system/machine.h"
#include "userspace/counters/values.h"
#include "userspace/record/ledger.h"

enum { WHY_BYTES = 240 };
/* CAUSES_KEPT: room in a list of CAUSES_MAX for each known cause, whatever the unknown ones are. */
enum { PROBES_MAX = 160, LAWS_MAX = 40, CAUSES_MAX = 92, CAUSES_KEPT = 80 };

enum how { HOW_NOT_MEASURED, HOW_MEASURED, HOW_DERIVED };

enum run_status { RUN_COMPLETE, RUN_FAILED, RUN_INTERRUPTED, RUN_BLIND };

/* How the measurement ended. Follows from the rest: outcome.h. */
struct run_outcome {
	enum run_status status;
	char reason[WHY_BYTES];
};

/* One hook, and whether it was attached. */
struct probe {
	const char *metric;	/* the site or the book it feeds */
	char hook[NAME_BYTES];	/* "fexit/tcp_sendmsg_locked" */
	enum { PROBE_ABSENT, PROBE_REFUSED, PROBE_ATTACHED } status;
	char why[WHY_BYTES];
	uint64_t runs, run_time_ns, missed_runs;
	bool perf_checked;		/* a perf counter of the same tracepoint ran beside it */
	uint64_t missed_hits;	/* hits for which the kernel did not run the program */
};

struct site_value {
	enum how how;
	struct tally tally;
	char why[WHY_BYTES];	/* how it is derived, or why it is not measured */
};

struct cause {
	const char *name;
	enum site site;
	struct tally tally;
	bool bytes_known;	/* false: only calls were refused, as with ENOBUFS */
	const char *remedy;
	const char *why;	/* why the bytes, or which of two causes it is, is not known */
	char stack[STACK_TEXT_BYTES];	/* only for causes that are not known */
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

enum law_status { LAW_BALANCED, LAW_BROKEN, LAW_NOT_TESTABLE };

struct law {
	const char *name;
	const char *left_is;
	const char *right_is;
	bool at_any_end;	/* it holds however the two ends ended */
	bool known;		/* left and right are meaningful */
	int64_t left, right, residual;
	enum law_status status;
	char why[WHY_BYTES];
};

struct pins {
	enum how how, released_how, peak_how;
	uint64_t pages, released_pages, peak_pages;
	char why[WHY_BYTES];
};

enum backend { BACKEND_AUTO, BACKEND_TRAMPOLINE, BACKEND_TRACEPOINT, BACKEND_NONE };

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
	char id[NAME_BYTES];
	char started[NAME_BYTES];	/* ISO 8601, UTC */
	char **command;			/* not owned, NULL-terminated */
	struct machine machine;
	struct run_outcome outcome;
	enum backend backend;
	char backend_why[WHY_BYTES];
	struct probe probes[PROBES_MAX];
	int probe_count;
	struct ledger ledger;		/* as the probes counted */
	struct ledger derived;		/* the same with what follows from it, for laws and reports */
	struct site_value sites[SITE_COUNT];
	struct cause causes[CAUSES_MAX];
	int cause_count;
	struct pins pins;
	struct law laws[LAWS_MAX];
	int law_count;
	bool cost_asked;
	char cost_why[WHY_BYTES];	/* why no call was measured at all */
	char cost_event_why[COST_EVENTS][COUNTER_WHY_BYTES];
	struct cost_value cost[COST_COUNT];
	bool stats_known;		/* run times of the programs were counted */
	uint64_t window_ns;		/* gate open to gate closed */
	struct experiment *experiment;	/* owned; from record_arrange */
};

/* Name and meaning of a site, as in the table of sites. */
const char *site_name(enum site site);
const char *site_meaning(enum site site);
/* True if it has all of @traits (enum site_trait). */
bool site_has(enum site site, unsigned int traits);

/* True if the calls behind its bytes were counted: what left a socket by the rest of its numbers has none. */
bool site_calls_known(enum site site, enum how how);
const char *count_name(enum count count);
/* What carries the bytes of a socket. */
const char *protocol_name(bool datagrams);
const char *cost_name(enum cost cost);
const char *how_name(enum how how);
const char *backend_name(enum backend backend);
const char *law_status_name(enum law_status status);
const char *probe_status_name(int status);
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

/* What no program saw of a socket's states and end, the next of them tells (bpf/sockets.bpf.c): a run has it as a lost
 * update, a watch by a census of its books. */
bool probe_is_of_states(const struct probe *p);

/* What the programs did in the window. */
struct overhead {
	bool known;		/* the kernel timed them, and there is a ratio */
	uint64_t events;	/* runs of programs; known without times, too */
	double ns_per_event;
	double share;	/* of the time of all CPUs */
};

struct overhead overhead_of(const struct probe *probes, int count, uint64_t window_ns, int cpus);

struct overhead record_overhead(const struct record *r);

/* Gives the run its id and start time: unique on one machine. */
void record_name(struct record *r);

/* Frees what the record owns. */
void record_free(struct record *r);

#endif
