/* SPDX-License-Identifier: GPL-2.0 */
/* The machine description: processor, caches, memory, bus, disk, network card. */
#ifndef COPYSCOPE_BASELINE_FACTS_H
#define COPYSCOPE_BASELINE_FACTS_H

#include <stdint.h>

#include "userspace/record/record.h"

enum { WARNINGS_MAX = 24, WARNING_BYTES = 240 };

struct facts {
	struct machine machine;
	double clock_ghz;		/* of the clock that times are read from */
	double core_ghz;		/* highest of the core if the kernel tells it, else the clock's */
	uint64_t l1d_bytes, l1i_bytes, l2_bytes, l3_bytes;	/* 0: not told */
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
	double rtt_ms;			/* of the remote path */
	uint64_t cache_limit_bytes;	/* of memory, for the row that fills the page cache */
	char warnings[WARNINGS_MAX][WARNING_BYTES];
	int warning_count;
};

struct settings;

void facts_read(struct facts *f, const struct settings *s);

/* Adds a sentence once. */
void facts_warn(struct facts *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Warns of what on this machine disturbs measurements before they begin. */
void interference_look(struct facts *f);

/* Share of all CPU time that the hypervisor gave to others since the last call; NAN: not told. */
double interference_stolen(void);

#endif
