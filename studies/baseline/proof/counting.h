/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts events beside a benchmark: perf events of tracepoints and of the kernel's own software
 * counters, inherited by children. Some kernels run no BPF program while certain tasks are current;
 * perf counts even then.
 */
#ifndef COPYSCOPE_BASELINE_COUNTING_H
#define COPYSCOPE_BASELINE_COUNTING_H

#include <stdbool.h>

#include "studies/baseline/proof/events.h"

struct counting;

/* What some events are of. */
struct counting_of {
	const char *device;	/* packets on this network device */
	const void *function;	/* entries of this function; NULL: of none */
	int cpu;		/* wake-ups on other CPUs than this */
};

/*
 * Opens the events wanted, stopped, for this process and the children that it will have. One that
 * the kernel does not offer or allow reads NAN; @why then says of the first what was refused.
 */
struct counting *counting_open(const bool wanted[EVENT_COUNT], const struct counting_of *of,
			       char *why, size_t why_bytes);

/* All at once, by one prctl each: nothing else runs between the first and the last. */
void counting_start(struct counting *c);
void counting_stop(struct counting *c);

/* NAN for what was not counted. */
void counting_read(struct counting *c, double counted[EVENT_COUNT]);
void counting_close(struct counting *c);

/* Makes tracefs reachable in a mount namespace of this process's own. 0 or -errno. */
int counting_reach_tracefs(void);

#endif
