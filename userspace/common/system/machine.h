/* SPDX-License-Identifier: GPL-2.0 */
/* What machine is this, and what does its kernel allow? */
#ifndef COPYSCOPE_MACHINE_H
#define COPYSCOPE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAME_BYTES = 64 };

struct machine {
	char kernel[NAME_BYTES];
	char arch[NAME_BYTES];
	char cpu_model[NAME_BYTES * 2];
	char virt[NAME_BYTES];		/* "none", "emulated (TCG)", a hypervisor's name */
	char lockdown[NAME_BYTES];	/* "none", "integrity", "confidentiality", "not available" */
	int cpus;
	uint64_t memory_bytes;
	bool emulated;			/* times mean nothing; counts are exact */
	bool instruction_clock;		/* emulated, and its clock ticks 1 ns an instruction */
};

void machine_read(struct machine *m);

/* Where control groups (version 2) are mounted and in sight; false: nowhere. */
bool cgroup_mount(char *path, size_t size);

#endif
