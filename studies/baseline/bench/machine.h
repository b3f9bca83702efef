/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describes this machine, and warns of what disturbs measurements on it: neighbours, limits, little
 * memory.
 */
#ifndef COPYSCOPE_BASELINE_MACHINE_H
#define COPYSCOPE_BASELINE_MACHINE_H

#include <stdint.h>

#include "studies/baseline/bench/stats.h"
#include "userspace/common/system/machine.h"

struct machine_info {
	struct machine common;		/* what the tracer's records have, too */
	double clock_ghz;		/* of the clock that times are read from */
	double tsc_ghz;			/* the time stamp counter's rate, not the core's; 0: there is none */
	double told_ghz;		/* highest of the core if the kernel tells it, else the TSC's */
	double core_ghz;		/* of the core, by the row core-clock; 0: not measured */
	uint64_t l1d_bytes, l1i_bytes, l2_bytes, l3_bytes;	/* 0: not told */
	struct levels levels;		/* what latency by working set shows of them */
	char levels_why[NAME_BYTES];	/* it was not measured; "" otherwise */
	uint64_t available_bytes;	/* of memory, within the limit of this control group */
	char memory[NAME_BYTES * 2];	/* speed and width of the first module, if the firmware tells */
	double memory_peak_gbps;	/* GB/s of one channel; 0: not told */
	char dir[256];			/* where files are made, its file system, device and bus */
	char dir_fs[NAME_BYTES];
	char disk[NAME_BYTES];
	char disk_model[NAME_BYTES];
	char disk_bus[NAME_BYTES];
	uint64_t disk_free_bytes;
	int disk_read_ahead_kib;
	int disk_rotational;		/* -1: not told */
	char nic[NAME_BYTES];		/* device of the default route */
	char nic_bus[NAME_BYTES];
	int nic_mbit;			/* -1: not told */
};

/* Of the machine as it is, and of the disk below @dir. */
void machine_info_read(struct machine_info *m, const char *dir);

enum { WARNINGS_MAX = 24, WARNING_BYTES = 240 };

/* Sentences that warn the reader of what disturbed a run. */
struct warnings {
	int count;
	char sentence[WARNINGS_MAX][WARNING_BYTES];
};

/* Adds a sentence, once. */
void warnings_add(struct warnings *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* To be called before anything is measured. */
void interference_look(const struct machine_info *m, struct warnings *warnings);

/* Share of all CPU time that the hypervisor gave to others since the last call; NAN: not told. */
double interference_stolen(void);

#endif
