/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that keeps the right to look at programs when the watch has given up its own: it notes what they have
 * mapped while they live, and has their stacks named in the end.
 *
 * It parses no file of theirs: for that it starts a process without any rights, for each naming one.
 */
#ifndef COPYSCOPE_WATCH_PROGRAM_READER_H
#define COPYSCOPE_WATCH_PROGRAM_READER_H

#include <sys/types.h>

#include "userspace/engine/engine.h"
#include "userspace/record/watch_record.h"
#include "userspace/watch/books/cpu_tally.h"

struct kept_stacks {
	struct engine *engine;	/* NULL: neither stacks nor samples are kept */
	bool of_calls;		/* stacks of calls are kept */
	uint32_t every;		/* bytes: one of so many is sampled; 0: each counts */
	pid_t reader;		/* that process; 0: no program is looked at */
	int to, from;
	int64_t named_by_ms;	/* when it is waited for no longer; 0: nothing was asked yet */
	int failure;		/* of it, after which it is asked nothing more */
	struct cpu_tally tally;	/* samples of the clock that were taken until now */
};

/* A file system of a program that hangs holds a watch up for so long. */
enum { NAMING_MS = 10000 };

/* Before the caller gives up its rights; @of_calls: their stacks are kept; @of_clock: the clock is sampled; @looks:
 * programs are looked at, so that places in them can be named. 0, or -errno with one line in @why. */
int stacks_keep(struct kept_stacks *s, struct engine *engine, bool of_calls, bool of_clock, bool looks,
		char why[WHY_BYTES]);

/* The process of each new stack is looked at: it may end soon. */
void stacks_look(const struct kept_stacks *s);

/* No call is put to a stack any more, and no sample counts: before the last reading of books. */
void stacks_end(const struct kept_stacks *s);

/* All stacks, named as far as they can be, into a record that has its books; where no name came in time, by their
 * addresses. 0 or -errno. */
int stacks_read(struct kept_stacks *s, struct watch_record *r);

/* Takes samples of the clock out of tables that would be full soon. 0 or -errno. */
int samples_relieve(struct kept_stacks *s);

/* What samples of the clock found, into a record that has its processes; places in user space are named if it is the
 * last reading, as it takes a look at every program. 0 or -errno. */
int samples_read(struct kept_stacks *s, struct watch_record *r, bool last);

/* A zeroed one is accepted. */
void stacks_close(struct kept_stacks *s);

#endif
