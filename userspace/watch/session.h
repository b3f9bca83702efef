/* SPDX-License-Identifier: GPL-2.0 */
/* One watch from its first reading to its last: waits, shows intervals, obeys keys and signals. */
#ifndef COPYSCOPE_WATCH_SESSION_H
#define COPYSCOPE_WATCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/watch/command.h"
#include "userspace/watch/options/options.h"
#include "userspace/watch/report/reader.h"
#include "userspace/watch/report/watch_line.h"
#include "userspace/watch/view.h"
#include "userspace/watch/window.h"

struct session {
	const struct watch_options *options;
	struct watch *window;		/* open */
	struct command *command;	/* released; NULL: processes that run */
	struct reader *reader;		/* NULL: nobody prints */
	struct view *view;		/* NULL: it shows no interval live */
	struct watch_lines lines;	/* records of intervals, unless its out is NULL */
	struct watch_deltas deltas;	/* what moved in each, the same */
	char **words;			/* the command line, for such records */
	struct watch_record latest;	/* the last reading of an interval */
	struct watch_ending ending;	/* filled */
	int64_t heard_ms;		/* when the last key came */
	int output_lost;		/* filled: -errno of what showed intervals; 0: all was shown */
	int deltas_lost;		/* filled: the same of lines of what moved */
};

/* Goes on until the time is over, all processes have ended, a signal or a key ends it, or what shows
 * intervals is gone; then reads the record in any case. 0 or -errno. */
int session_run(struct session *s, struct watch_record *r);

/*
 * From now on SIGINT, SIGTERM and SIGHUP are noted, and a pipe that nobody reads is an error of the
 * write. SIGTERM and SIGHUP stay ignored if they are: nohup asks for that. A shell without job
 * control has SIGINT ignored for what runs in the background, so that Ctrl-C does not reach it: then
 * one of the terminal stays ignored, and one that a process sends is noted. If a signal is not heard
 * for some seconds, because nobody reads what is written, the next one ends the tool at once.
 */
void end_signals_note(void);

/* A signal that came since the last call, 0: none; and whether a process sent it, not the terminal. */
int end_signals_next(bool *from_process);

/* True if it fails by what --fail-on asks for; prints one line for each reason. */
bool fail_on_found(const struct watch_options *o, const struct watch_record *r);

#endif
