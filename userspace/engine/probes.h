/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks of a run: loaded, attached, counting while the gate is open. Order: probes_load, probes_attach,
 * probes_open_gate, probes_close_gate, then both probes_read*, probes_free.
 */
#ifndef COPYSCOPE_PROBES_H
#define COPYSCOPE_PROBES_H

#include "userspace/record/record.h"

struct probes;

struct probes_config {
	const struct subject *subject;	/* used by probes_load alone; its usdt_path by probes_attach */
	enum backend backend;		/* BACKEND_AUTO: trampolines if the kernel accepts them */
	enum fault_inject fault_inject;
	const char *detach;		/* metric whose hooks are left off on purpose, or NULL */
	bool relinks;			/* probes_relink() may change what is left off */
};

/* Both return 0 or -errno with one line in r->backend_why or printed; on error *out is NULL. */
int probes_load(struct probes **out, const struct probes_config *config, struct record *r);
int probes_attach(struct probes *p, struct record *r);

/*
 * Hooks that stay attached for one run after the other. Who attached them calls probes_keep(); each run, in a child of
 * that process, calls probes_renew() in place of probes_load(), goes on as usual, and its probes_free() leaves them.
 */

/* True if programs that were loaded for @had count what @wanted asks for, once the same hooks are left off. */
bool probes_alike(const struct probes_config *had, const struct probes_config *wanted);

/* True if the same hooks are left off, too. */
bool probes_fit(const struct probes_config *had, const struct probes_config *wanted);

/* Leaves off what @config says and nothing else. 0 or -errno: then all is to be loaded anew; see engine_relink(). */
int probes_relink(struct probes *p, const struct probes_config *config);

/* 0 or -errno. */
int probes_keep(struct probes *p);

/* 0 or -errno: then they are to be attached anew; see engine_renew(). */
int probes_renew(struct probes *p, const struct probes_config *config, struct record *r);

/* 0 or -errno. */
int probes_open_gate(struct probes *p);

/* Also notes in r->probes how many hits each hook has missed. */
void probes_close_gate(struct probes *p, struct record *r);

/* Pages of zero-copy sends that are still pinned; 0 where no hook sees them. */
uint64_t probes_outstanding_pages(const struct probes *p);

/* Fills @fresh, which owns nothing yet, with what was counted while the gate was open. 0 or -errno; what
 * @fresh owns is the caller's to free either way. */
int probes_read(struct probes *p, struct ledger *fresh);

/* Notes what the programs themselves did: runs in r->probes, costs of calls in r->cost. 0 or -errno. */
int probes_read_programs(const struct probes *p, struct record *r);

/* Detaches and unloads; NULL is accepted. */
void probes_free(struct probes *p);

#endif
