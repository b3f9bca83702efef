/* SPDX-License-Identifier: GPL-2.0 */
/* What the CPUs of this machine spent their time on, by /proc/stat. */
#ifndef COPYSCOPE_CPU_TIME_H
#define COPYSCOPE_CPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds since boot, summed over all CPUs. The kernel counts all but softirq_threads_ns in ticks
 * of 1 to 10 ms. */
struct cpu_time {
	bool known;
	bool threads_known;		/* softirq_threads_ns is */
	uint64_t all_ns, busy_ns;	/* busy: neither idle nor stolen */
	uint64_t stolen_ns;		/* that the hypervisor gave to others */
	uint64_t softirq_threads_ns;	/* of busy_ns: ksoftirqd, the network's work that had to wait */
};

/* Open files, so that they can be read by a process that may open none any more. */
struct cpu_clocks {
	int stat;		/* /proc/stat, or -1 */
	int *thread;		/* owned: run time of each ksoftirqd thread; hidden in a PID namespace */
	int count;
	bool opened;
};

void cpu_clocks_open(struct cpu_clocks *clocks);
void cpu_clocks_close(struct cpu_clocks *clocks);	/* a zeroed one is accepted */

/* Reads the clocks; what cannot be read is not known. */
struct cpu_time cpu_time_read(const struct cpu_clocks *clocks);

/* Why shares are not known, or what `others` contains besides. */
enum cpu_doubt { CPU_NO_DOUBT, CPU_NO_STAT, CPU_NO_TICK, CPU_TWO_HOSTS, CPU_HIDDEN_THREADS,
		 CPU_DOUBTS };
const char *cpu_doubt_text(enum cpu_doubt doubt);

/* The share of the CPUs' time between two readings, 0 to 1. */
struct cpu_shares {
	bool known;
	double others;	/* used by neither the measured processes nor the kernel's softirq threads */
	double stolen;
	enum cpu_doubt doubt;
};

/* measured_ns: what the measured processes used. */
struct cpu_shares cpu_shares_between(const struct cpu_time *from, const struct cpu_time *to,
				     int64_t measured_ns);

#endif
