/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of a watch: opened over processes that run, read any number of times, closed.
 *
 * Order: watch_open, then watch_wait and watch_read in any order, watch_close. After watch_open the
 * caller may give up its privileges with watch_confine: nothing later needs them.
 */
#ifndef COPYSCOPE_WATCH_WINDOW_H
#define COPYSCOPE_WATCH_WINDOW_H

#include "bpf/include/watch.h"
#include "userspace/record/watch_record.h"
#include "userspace/watch/options/subject.h"

struct watch;

struct watch_config {
	struct watch_subject *subject;	/* resolved; its namespaces stay the caller's */
	const struct measured *begun;	/* what each record has of it: name, start, machine; it stays the caller's */
	enum backend backend;		/* BACKEND_AUTO: trampolines if the kernel accepts them */
	enum watch_books books;
	enum fault_inject fault_inject;	/* for tests: what a program is to do wrong */
	bool details;		/* stacks of causes, what is copied between buffers of packets */
	unsigned int cpu_hz;	/* how often the clock is sampled in a second; 0: it is not */
	bool sizes;		/* calls are told by their size; with WATCH_CALLS alone */
	uint32_t stack_every;	/* with .stacks: one byte of so many is sampled; 0: each counts */
	bool stacks;		/* what calls move is put to stacks of their programs; with WATCH_CALLS */
	bool names;		/* a report or a record tells functions that samples of the clock found */
	bool every_hook;	/* attach also what plain programs never need: for -- COMMAND */
	bool glances;		/* readings before the last are looked at and not kept: see engine_books */
	bool early_datagrams;	/* hooks of UDP do not wait for a socket: sums that decide are to be whole */
};

/* Loads, attaches, reads the opening balances. 0, or -errno with one line in @why. */
int watch_open(struct watch **out, const struct watch_config *config, char why[WHY_BYTES]);

/* Drops privileges and system calls that watch_wait, watch_read and printing do not need. 0 or -errno. */
int watch_confine(struct watch *w);

/*
 * Waits until @timeout_ms have passed, a signal comes, @other (-1: none) can be read or the programs have something to
 * tell that cannot wait, and collects what they noted of sockets that died. Returns how many processes of the subject are alive, -1: not known by
 * number (ports, namespaces, all), or another -errno.
 */
int watch_wait(struct watch *w, int timeout_ms, int other);

/* A fresh record in place of what *r has, which is empty or an earlier one: from the opening balances to now. 0 or
 * -errno. */
int watch_read(struct watch *w, struct watch_record *r);

/* The same with the stacks of calls, which end here. */
int watch_read_last(struct watch *w, struct watch_record *r);

/* Detaches, frees; NULL is accepted. */
void watch_close(struct watch *w);

#endif
