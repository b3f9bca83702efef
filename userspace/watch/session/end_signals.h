/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that ask a watch to end or to stop: noted, so that it does so in its own order. */
#ifndef COPYSCOPE_WATCH_END_SIGNALS_H
#define COPYSCOPE_WATCH_END_SIGNALS_H

#include <stdbool.h>

/*
 * From now on SIGINT, SIGTERM and SIGHUP are noted, and a pipe that nobody reads is an error of the
 * write. SIGTERM and SIGHUP stay ignored if they are: nohup asks for that. A shell without job
 * control has SIGINT ignored for what runs in the background, so that Ctrl-C does not reach it: then
 * one of the terminal stays ignored, and one that a process sends is noted. If a signal is not heard
 * for some seconds, because nobody reads what is written, the next one ends the tool at once.
 */
void end_signals_note(void);

/* From now on SIGTSTP is noted: the terminal is given back first. */
void stop_signal_note(void);

/* A signal that came since the last call, 0: none; and whether a process sent it, not the terminal. */
int end_signals_next(bool *from_process);

/* True if SIGTSTP came since the last call. */
bool stop_signal_next(void);

#endif
