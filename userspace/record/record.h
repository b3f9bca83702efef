/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run as plain data: what was arranged, what was counted, what follows from it.
 *
 * Filled in order by the conductor: options and machine, path, the workload's own totals, the
 * ledger read from the probes, then sites and laws. The JSON record and the text report are two
 * prints of this struct and of nothing else. Bytes, pages and calls are exact counts.
 */
#ifndef COPYSCOPE_RECORD_H
#define COPYSCOPE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/sites.h"
#include "userspace/common/system/machine.h"
#include "userspace/counters/counters.h"
#include "userspace/path/path_info.h"

enum { WHY_BYTES = 240 };
/* CAUSES_KEPT: room in a list of CAUSES_MAX for each known cause, whatever the unknown ones are. */
enum { PROBES_MAX = 64, LAWS_MAX = 24, CAUSES_MAX = 68, CAUSES_KEPT = 56, STACK_TEXT_BYTES = 640 };

enum how { HOW_NOT_MEASURED, HOW_MEASURED, HOW_DERIVED };

/* Asked for, as typed. */
struct workload_plan {
	char variant[32];
	char pattern[16];
	char receiver[16];
	uint64_t bytes;
	int threads;
	uint64_t messages;	/* 0: run for .seconds */
	double seconds;
	int readers;		/* threads that share each socket; 0: one that knows messages */
	uint64_t memlock_bytes;	/* RLIMIT_MEMLOCK of both ends; 0: as it was */
	uint64_t optmem_bytes;	/* net.core.optmem_max of both ends; 0: as it was */
};

/* What the workload says of itself: the first witness. */
struct app_socket {
	uint64_t cookie;
	char local[ADDRESS_BYTES];
	char remote[ADDRESS_BYTES];
	uint64_t messages, accepted_bytes, received_bytes, gather_bytes;
	uint64_t zerocopy_sends, completions, completions_copied, enobufs, content_errors;
	bool latency_known;
	double latency_mean_us;
};

struct latency {
	bool known;
	char what[NAME_BYTES];
	double mean_us, p50_us, p99_us;
};

struct app_totals {
	bool known;
	struct app_socket sum;
	struct app_socket *sockets;	/* owned */
	int socket_count;
	int pid;
	bool completions_read;
	bool content_unchecked;	/* by readers that may share a socket */
	uint64_t elapsed_ns;
	struct latency latency;
	int stopped_by;		/* the signal that told it to end; 0: none */
	char complaint[WHY_BYTES / 2];	/* the first thing it found wrong; empty: nothing */
};

/* How one end of the workload ended. */
struct end_outcome {
	bool known;
	int exit_status;	/* if no signal killed it */
	int signal;		/* that killed it; 0: none */
	bool hurried;		/* it did not end by itself: it was told to, then killed */
};

enum run_status { RUN_COMPLETE, RUN_FAILED, RUN_INTERRUPTED, RUN_BLIND };

/* How the run ended. Status and reason follow from the rest: outcome.h. */
struct run_outcome {
	enum run_status status;
	char reason[WHY_BYTES];
	char failure[WHY_BYTES];	/* what went wrong beside the ends themselves; may be empty */
	int interrupt_signal;		/* that ended the run before its time; 0: none */
	bool before_gate;		/* it ended before it began */
	bool alone;			/* path peer: the other host's half of the books never came */
	enum end alone_at;		/* then: whose host this is */
	char alone_why[WHY_BYTES];
	struct end_outcome end[END_COUNT];
};

/* One hook and what became of it. */
struct probe {
	const char *metric;	/* the site or the book it feeds */
	char hook[NAME_BYTES];	/* "fexit/tcp_sendmsg_locked" */
	enum { PROBE_ABSENT, PROBE_REFUSED, PROBE_ATTACHED } status;
	char why[WHY_BYTES];
	uint64_t runs, run_time_ns, missed_runs;
	bool perf_checked;		/* a perf counter of the same tracepoint ran beside it */
	uint64_t missed_hits;	/* firings that the kernel kept from the program */
};

struct socket_books {
	uint64_t cookie;
	enum end host;		/* path peer: whose host counted it; else 0. Both may use a cookie. */
	struct books books;
};

/* A place that copied late or reshaped, by the stack that led there. */
struct copy_stack {
	enum site site;
	unsigned int circumstances;	/* bits of enum circumstance */
	char frames[STACK_TEXT_BYTES];	/* innermost caller first, joined by " < " */
	struct tally tally;
};

/* What the probes counted. */
struct ledger {
	struct books total;
	struct socket_books *sockets;	/* owned */
	int socket_count;
	struct gauges gauges;
	struct copy_stack *stacks;	/* owned */
	int stack_count;
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

struct record {
	char id[NAME_BYTES];
	char started[NAME_BYTES];	/* ISO 8601, UTC */
	char **command;			/* not owned, NULL-terminated */
	struct machine machine;
	struct path_info path;
	struct workload_plan plan;
	struct app_totals app[END_COUNT];
	struct run_outcome outcome;
	enum backend backend;
	char backend_why[WHY_BYTES];
	struct probe probes[PROBES_MAX];
	int probe_count;
	struct ledger ledger;
	struct site_value sites[SITE_COUNT];
	struct cause causes[CAUSES_MAX];
	int cause_count;
	struct pins pins;
	struct law laws[LAWS_MAX];
	int law_count;
	struct counter_value counters[END_COUNT][COUNTER_COUNT];
	bool cost_asked;
	char cost_why[WHY_BYTES];	/* why no call was measured at all */
	char cost_event_why[COST_EVENTS][COUNTER_WHY_BYTES];
	struct cost_value cost[COST_COUNT];
	bool stats_known;		/* run times of the programs were counted */
	uint64_t window_ns;		/* gate open to gate closed */
	int attempt;			/* 1, or more after runs that missed firings */
	bool fifo;			/* the workload ran under SCHED_FIFO */
	/* Path peer: the half that the receiver's host counted, while machine, path and backend
	 * above are the sender's; else NULL. Owned. */
	struct record *far;
	bool partner_authenticated;	/* path peer: by a key; else both are on one host */
};

/* Name, side and meaning of a site, as in the table of sites. */
const char *site_name(enum site site);
const char *site_side(enum site site);
const char *site_meaning(enum site site);
const char *count_name(enum count count);
const char *cost_name(enum cost cost);
const char *how_name(enum how how);
const char *backend_name(enum backend backend);
const char *law_status_name(enum law_status status);
const char *probe_status_name(int status);
const char *outcome_status_name(enum run_status status);

/* True when a packet capture runs beside the path, whoever's namespace it is in. */
bool record_tapped(const struct record *r);

/* True when a hook of that question was attached, on each host that could have fired it. */
bool record_probe_attached(const struct record *r, const char *metric);

/* Firings that the kernel showed to no program, of the hooks of one question or, NULL, of all. */
uint64_t record_missed_hits(const struct record *r, const char *metric);

/* Program runs that the kernel skipped because the program was already running on that CPU. */
uint64_t record_missed(const struct record *r);

/* True when a hook of that question was attached and shown every firing. */
bool record_probe_whole(const struct record *r, const char *metric);

/* True when every skb that left was counted, and each that left for a second time. */
bool record_wire_known(const struct record *r);

/* The end that a socket belongs to, told by the workload's own list; NULL if neither knows it. */
const struct app_socket *record_app_socket(const struct record *r, const struct socket_books *books,
					   enum end *end);

/* True when the processor of a machine of the run is software: its times mean nothing. */
bool record_emulated(const struct record *r);

/* What the programs did over the window. known: the kernel kept count, and there is a ratio. */
struct overhead {
	bool known;
	uint64_t events;
	double ns_per_event;
	double share;	/* of the time of all CPUs */
};

struct overhead record_overhead(const struct record *r);

/* Gives the run its id and start time: unique on one machine. */
void record_name(struct record *r);

/* Frees what the record owns. */
void record_free(struct record *r);

#endif
