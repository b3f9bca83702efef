/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a line: what each process, or each service, did since the line before. */
#ifndef COPYSCOPE_WATCH_REPORT_LINE_ROWS_H
#define COPYSCOPE_WATCH_REPORT_LINE_ROWS_H

#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/names.h"

/* A process at the line before; where its histograms were, -1: it had none. */
struct line_note {
	struct watch_process_id id;
	struct watch_service service;
	uint64_t open;
	uint32_t laws_broken;
	uint64_t cpu[CPU_CLASS_COUNT];
	int at;
};

/* What the line before said of processes. */
struct line_notes {
	struct line_note *note;		/* owned */
	int count;
	struct watch_ids index;		/* of these */
	struct call_sizes *sizes;	/* owned: as the record had them */
	struct call_holds *holds;	/* owned */
};

/* A row: a process, or what is known alike of processes with one cgroup, user and name. */
struct line_row {
	const struct watch_process *who;	/* of several the first: its names alone are theirs */
	int processes;
	uint64_t open;			/* sockets */
	struct watch_sum sum;		/* .moved is what moved lately */
	struct figure needless, copied;
	bool sampled;
	uint64_t cpu[CPU_CLASS_COUNT];
	uint32_t laws_broken;		/* and none of their sockets at the line before */
	struct call_sizes sizes;	/* of calls in the interval */
	bool held;			/* .holds tell something */
	struct call_holds holds;
};

/*
 * Calls @take with each row that has something to tell: one for each process, or, if @fold, for each service one that
 * tells how many sockets it has open, and more if it broke a law or its processes know other numbers. 0 or -ENOMEM.
 */
int line_rows(const struct line_notes *before, const struct watch_record *r, bool fold,
	      void (*take)(void *arg, const struct line_row *row), void *arg);

/* What moved lately counts from the beginning on: a column of it is no sum over intervals. */
struct figure lately_figure(const struct watch_sum *sum, struct figure (*of)(const struct watch_movements *));

void sizes_add(struct call_sizes *to, const struct call_sizes *more);
void sizes_subtract(struct call_sizes *from, const struct call_sizes *less);

/* What was held since; @before NULL: from the beginning on. True if there is something to tell. */
bool holds_since(struct call_holds *lately, const struct call_holds *now, const struct call_holds *before);

/* What the next line begins with. 0 or -ENOMEM. */
int line_notes_take(struct line_notes *notes, const struct watch_record *r);
void line_notes_free(struct line_notes *notes);

#endif
