/* SPDX-License-Identifier: GPL-2.0 */
/* What each record has, of a run and of a watch: machine, hooks, sites, causes and laws. */
#ifndef COPYSCOPE_RECORD_MEASURED_H
#define COPYSCOPE_RECORD_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/sites.h"
#include "userspace/common/system/machine.h"
#include "userspace/record/ledger.h"

/*
 * A record has them as members of its own, r->sites, and as a whole, r->measured, for functions that the rest does
 * not concern. The kernel is built with -fms-extensions for the same since 6.19.
 */
#define MEASURED union { struct measured measured; struct measured; }

enum { WHY_BYTES = 240 };
/* CAUSES_KEPT: room in a list of CAUSES_MAX for each known cause, whatever the unknown ones are. */
enum { PROBES_MAX = 160, LAWS_MAX = 40, CAUSES_MAX = 92, CAUSES_KEPT = 80 };

enum how { HOW_NOT_MEASURED, HOW_MEASURED, HOW_DERIVED };

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

enum backend { BACKEND_AUTO, BACKEND_TRAMPOLINE, BACKEND_TRACEPOINT, BACKEND_NONE };

struct measured {
	char id[NAME_BYTES];
	char started[NAME_BYTES];	/* ISO 8601, UTC */
	struct machine machine;
	enum backend backend;
	char backend_why[WHY_BYTES];
	struct probe probes[PROBES_MAX];
	int probe_count;
	uint64_t window_ns;
	struct site_value sites[SITE_COUNT];
	struct cause causes[CAUSES_MAX];
	int cause_count;
	struct law laws[LAWS_MAX];
	int law_count;
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
const char *how_name(enum how how);
const char *backend_name(enum backend backend);
const char *law_status_name(enum law_status status);
const char *probe_status_name(int status);

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

/* @timed: the kernel timed them. */
struct overhead overhead_of(const struct measured *m, bool timed);

/* Gives the record its id, unique on one machine, and says that it starts now. */
void measured_name(struct measured *m);

#endif
