// SPDX-License-Identifier: GPL-2.0
/* Obeys the keys of a live view. */
#include "userspace/watch/view.h"

#include <stddef.h>
#include <string.h>

enum { CTRL_Z = 26, ESCAPE = 27 };

enum view_command view_key(struct view *v, int key)
{
	static const struct {
		int key;
		enum rows_order order;
	} orders[] = { { 'c', ROWS_BY_COPIED }, { 't', ROWS_BY_SENT }, { 'i', ROWS_BY_RECEIVED },
		       { 'a', ROWS_BY_AVOIDABLE }, { 'n', ROWS_BY_NAME } };
	static const struct {
		int key;
		enum watch_rows rows;
	} kinds[] = { { 'v', ROWS_SERVICES }, { 's', ROWS_SOCKETS }, { 'p', ROWS_PROCESSES }, { 'g', ROWS_CGROUPS },
		      { 'r', ROWS_PEERS }, { 'l', ROWS_PORTS } };

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (orders[i].key == key) {
			v->order = orders[i].order;
			return VIEW_DRAW;
		}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].key == key) {
			v->rows = kinds[i].rows;
			return VIEW_DRAW;
		}
	if (key == ' ')
		v->paused = !v->paused;
	else if (key == '/' || key == ESCAPE)
		v->every = key == '/';
	else if (key == '+' || key == '-')
		v->detail = key == '+';
	return strchr(" /\033+-", key) ? VIEW_DRAW : key == CTRL_Z ? VIEW_STOP : key == 'q' ? VIEW_QUIT : VIEW_NOTHING;
}
