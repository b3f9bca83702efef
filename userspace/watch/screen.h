/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The terminal while a live view is on it.
 *
 * A process of its own, the restorer, switches the terminal to the view and back: it does so even if
 * the tool is killed, and the tool needs no system call for it after it has dropped its privileges.
 */
#ifndef COPYSCOPE_WATCH_SCREEN_H
#define COPYSCOPE_WATCH_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct screen {
	pid_t restorer;	/* 0: there is no live view */
	int channel;	/* to the restorer */
	int out;	/* the terminal, written to without waiting */
	bool shown;	/* not while another process group is in front */
	unsigned short rows, columns;
	char *page;	/* the last one, of so many bytes, and how many the terminal has not taken yet */
	size_t bytes, left;
};

/* True if stdin and stdout are a terminal that can move its cursor. */
bool screen_possible(void);

/* Starts the restorer; call it before threads are started and privileges dropped. 0 or -errno. */
int screen_open(struct screen *s);

/* Clears the screen for the view, and reads its size; or gives the terminal back as it was. Both may
 * be repeated, for a tool that is stopped and continued. In the background nothing is shown. 0, or
 * -EPIPE if the restorer is gone. */
int screen_show(struct screen *s);
int screen_hide(struct screen *s);

/* Replaces what is on the screen by these lines, each cut to its width; reads its size anew. Never
 * waits: screen_flush() writes what the terminal did not take. 0, or -errno if it is gone. */
int screen_draw(struct screen *s, const char *text, size_t bytes);
int screen_flush(struct screen *s);

/* A key that was typed; 0: none yet, -1: stdin has ended. */
int screen_key(void);

/* Gives the terminal back and ends the restorer; accepts a zeroed one. False if the terminal is gone or
 * takes nothing. */
bool screen_close(struct screen *s);

#endif
