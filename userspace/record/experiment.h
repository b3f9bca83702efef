/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of a measurement because copyscope arranged it: the plan and the path, the totals
 * of the workload's two ends, and how they ended.
 */
#ifndef COPYSCOPE_EXPERIMENT_H
#define COPYSCOPE_EXPERIMENT_H

#include "userspace/common/system/cpu_time.h"
#include "userspace/counters/modelled.h"
#include "userspace/counters/values.h"
#include "userspace/path/path_info.h"
#include "userspace/record/plan.h"
#include "userspace/record/record.h"
#include "userspace/tables/blocks.h"

/* The totals that the workload prints: the first witness. */
struct app_socket {
	uint64_t cookie;
	char local[ADDRESS_BYTES];
	char remote[ADDRESS_BYTES];
	uint64_t messages, accepted_bytes, received_bytes, gather_bytes;
	uint64_t zerocopy_sends, completions, completions_copied, enobufs, map_calls, content_errors;
	bool latency_known;
	double latency_mean_us;
	/* The same by TCP's own sequence numbers: the witness that needs no probe. */
	bool tcp_known;
	uint64_t tcp_accepted_bytes, tcp_returned_bytes, tcp_retransmitted_bytes;
};

struct latency {
	bool known;
	char what[NAME_BYTES];
	double mean_us, p50_us, p99_us;
};

/* What came by one of several sockets that listen on one port. */
struct app_listener {
	uint64_t connections, accepted_bytes, received_bytes;
};

struct app_totals {
	bool known;
	struct app_socket sum;
	struct app_socket *sockets;	/* owned */
	int socket_count;
	struct app_listener listener[PLAN_LISTENERS_MAX];
	int listener_count;	/* 0: there was one */
	int pid;
	bool completions_read;
	bool content_unchecked;	/* plan_unchecked_why() has the reason */
	uint64_t elapsed_ns;
	struct latency latency;
	int stopped_by;		/* the signal that ended it; 0: none */
	char complaint[WHY_BYTES / 2];	/* the first error that it printed; empty: none */
	/* Of a sender whose variants alternate, in the order of time. */
	struct block *blocks;	/* owned */
	size_t block_count;
	uint64_t block_bytes;	/* that all connections together send in each */
	bool machine_known, ksoftirqd_known;	/* numbers of blocks */
};

/* How one end of the workload ended. */
struct end_outcome {
	bool known;
	int exit_status;	/* if no signal killed it */
	int signal;		/* that killed it; 0: none */
	bool told_to_end;		/* it did not end by itself: it was told to, then killed */
};

/* How both ends ended, and what happened to them. */
struct run_ends {
	char failure[WHY_BYTES];	/* what went wrong beside the ends themselves; may be empty */
	int interrupt_signal;		/* that ended the run before its time; 0: none */
	bool before_gate;		/* it ended before it began */
	bool alone;			/* path peer: the other host's half never came */
	enum end alone_at;		/* then: whose host this is */
	char alone_why[WHY_BYTES];
	struct end_outcome end[END_COUNT];
};

/* What a pass left, apart from what probes counted: plain data, so that a process can hand it over. */
struct pass {
	struct app_totals app[END_COUNT];
	struct run_ends ends;
	struct counter_value counters[END_COUNT][COUNTER_COUNT];
	struct modelled modelled;
	uint64_t window_ns;
	double asked_s;			/* 0: it was to send a number of messages */
	struct cpu_shares cpu;		/* who else used the CPUs in its window */
	bool fifo;			/* the workload ran under SCHED_FIFO */
};

/* The pass that probes watched, or the only one: app, ends, counters, modelled, asked_s, cpu and fifo
 * below, window_ns of the record. */
struct experiment {
	struct workload_plan plan;
	struct path_info path;
	struct app_totals app[END_COUNT];
	struct run_ends ends;
	struct counter_value counters[END_COUNT][COUNTER_COUNT];
	struct modelled modelled;
	double asked_s;
	struct cpu_shares cpu;
	int attempt;			/* 1, or more after blind runs */
	bool fifo;			/* the workload ran under SCHED_FIFO */
	enum { PASS_ONLY, PASS_TIMED, PASS_COUNTED } during;	/* which of two passes that is */
	struct pass *timed;		/* made before it without a probe; NULL: none was. Owned. */
	char pass_why[WHY_BYTES];	/* why there is one pass alone; empty: nobody asked for that */
	/* Path peer: the half that the receiver's host counted, while machine, path and backend
	 * of the record are the sender's; else NULL. Owned. */
	struct record *far;
};

/* Gives a record its experiment, which all look-ups in it rely on. 0 or -ENOMEM. */
int record_arrange(struct record *r);

/* The other host's half, on path peer; else NULL. */
struct record *record_far(const struct record *r);

/* The totals of an end. */
const struct app_totals *record_app(const struct record *r, enum end end);

/* The question of the hooks that see the sends of this run complete. */
const char *metric_of_completions(const struct record *r);

/* True if a packet capture runs beside the path, in any namespace. */
bool record_tapped(const struct record *r);

/* Makes @pass the one that the record describes. The sockets of both ends go along; what the record had
 * before is not freed. */
void record_describe_pass(struct record *r, const struct pass *pass);

/* Frees a pass and the sockets of its ends; NULL is accepted. */
void pass_free(struct pass *pass);

/* A pass as reports print it. */
struct pass_view {
	bool made;			/* false: there is no such pass */
	const struct app_totals *app;	/* of both ends */
	const struct counter_value (*counters)[COUNTER_COUNT];
	const struct modelled *modelled;	/* NULL if there is no such pass */
	uint64_t window_ns;
	double asked_s;
	struct cpu_shares cpu;
	bool fifo;
};

/* The pass without a probe, and the pass with them. */
struct pass_view record_timed(const struct record *r);
struct pass_view record_counted(const struct record *r);

/* The one that times and counters of a record are from. */
struct pass_view record_shown(const struct record *r);

/* Throughput of a pass in Gbit/s; 0 if it is not known. */
double pass_gbps(const struct pass_view *pass);

/* Throughput of the counted pass over that of the timed one; 0 if either is not known. */
double record_throughput_ratio(const struct record *r);

/* The end that a socket belongs to, from the workload's own list; NULL if neither lists it. */
const struct app_socket *record_app_socket(const struct record *r, const struct socket_books *books,
					   enum end *end);

/* Frees what the experiment owns; NULL is accepted. */
void experiment_free(struct experiment *x);

#endif
