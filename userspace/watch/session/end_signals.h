/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that ask a watch to end: noted, so that it ends in its own order. */
#ifndef COPYSCOPE_WATCH_END_SIGNALS_H
#define COPYSCOPE_WATCH_END_SIGNALS_H

/* From now on SIGINT, SIGTERM and SIGHUP are noted. One that nohup has ignored stays ignored. */
void end_signals_note(void);

/* A signal that came since the last call; 0: none. */
int end_signals_next(void);

#endif
