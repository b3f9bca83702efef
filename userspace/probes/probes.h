/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chooses hooks by what the running kernel's BTF offers, loads, attaches, opens the gate.
 *
 * The only module that includes libbpf. Order: probes_load, probes_attach, probes_open_gate, the
 * run, probes_close_gate, probes_read, probes_free.
 */
#ifndef COPYSCOPE_PROBES_H
#define COPYSCOPE_PROBES_H

#include "userspace/record/record.h"

struct probes;

struct probes_config {
	enum backend backend;		/* BACKEND_AUTO: trampolines if the kernel accepts them */
	uint32_t tgid[END_COUNT];	/* as BPF programs see them */
	pid_t sender_pid;		/* as this PID namespace sees it */
	uint32_t netns[END_COUNT];	/* inode numbers of their network namespaces */
	bool references;		/* the variant sends user pages by reference */
	int sockets;			/* how many the run may use at most, both ends together */
	const char *workload_path;	/* where the USDT probe of the sender lies */
	enum fault_inject fault_inject;
	const char *detach;		/* question whose hooks are left off on purpose, or NULL */
};

/* All return 0 or -errno with one line in r->backend_why or printed; on error *out is NULL. */
int probes_load(struct probes **out, const struct probes_config *config, struct record *r);
int probes_attach(struct probes *p, struct record *r);
void probes_open_gate(struct probes *p);
/* Also notes in r->probes which hooks the kernel kept firings from. */
void probes_close_gate(struct probes *p, struct record *r);

/* Pages of zero-copy sends that are still pinned; 0 where no hook sees them. */
uint64_t probes_outstanding_pages(const struct probes *p);

/* Sums every map into r->ledger and fills in run counts of r->probes. */
/* May this process, as it is now, read what was counted? To be asked before the gate opens. */
bool probes_readable(const struct probes *p);

int probes_read(struct probes *p, struct record *r);

/* Detaches and unloads; NULL is accepted. */
void probes_free(struct probes *p);

#endif
