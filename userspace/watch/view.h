/* SPDX-License-Identifier: GPL-2.0 */
/* What the keys of a live view chose; the reader draws it. */
#ifndef COPYSCOPE_WATCH_VIEW_H
#define COPYSCOPE_WATCH_VIEW_H

#include "userspace/watch/report/rows.h"

struct view {
	enum watch_rows rows;
	enum rows_order order;
	bool paused;
	bool every;	/* the reader picks rows by a filter: all of them */
	bool detail;	/* what each row is made of, too */
};

/* What a key asks of the watch. */
enum view_command { VIEW_NOTHING, VIEW_DRAW, VIEW_STOP, VIEW_QUIT };

enum view_command view_key(struct view *v, int key);

#endif
