/* SPDX-License-Identifier: GPL-2.0 */
/* The live view of a watch: a table in place, and the keys that change it. */
#ifndef COPYSCOPE_WATCH_VIEW_H
#define COPYSCOPE_WATCH_VIEW_H

#include "userspace/watch/report/rows.h"
#include "userspace/watch/screen.h"

struct view {
	struct screen screen;
	struct watch_page page;	/* rows and order change by keys */
	const char *title;	/* whom it shows, escaped */
	bool paused;
};

/* What a key asks of whoever draws the view. */
enum view_command { VIEW_NOTHING, VIEW_DRAW, VIEW_STOP, VIEW_QUIT };

enum view_command view_key(struct view *v, int key);

/* Draws what happened since the reading before. 0 or -errno: the terminal is gone. */
int view_draw(struct view *v, const struct watch_record *r);

#endif
