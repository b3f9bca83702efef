/* SPDX-License-Identifier: GPL-2.0 */
/* One watch from its first reading to its last: waits, shows intervals, obeys keys and signals. */
#ifndef COPYSCOPE_WATCH_SESSION_H
#define COPYSCOPE_WATCH_SESSION_H

#include "userspace/watch/command/command.h"
#include "userspace/watch/live/view.h"
#include "userspace/watch/report/json/watch_json.h"
#include "userspace/watch/window/watch_window.h"

struct session {
	const struct watch_options *options;
	struct watch *window;		/* open */
	const char *id, *started;	/* of the records, with their NAME_BYTES */
	const struct machine *machine;
	struct command *command;	/* released; NULL: processes that run */
	struct view *view;		/* NULL: blocks, if there are intervals */
	struct page blocks;		/* where blocks go */
	FILE *lines;			/* where records go, a line each, instead of blocks */
	char **words;			/* the command line, for such records */
	struct watch_ending ending;	/* filled */
};

/* Goes on until the time is over, all processes have ended, or a signal or a key ends it; then reads
 * the record. 0 or -errno. */
int session_run(struct session *s, struct watch_record *r);

#endif
