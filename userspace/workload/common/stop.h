/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT and SIGTERM ask every loop to end. */
#ifndef WORKLOAD_STOP_H
#define WORKLOAD_STOP_H

#include <signal.h>
#include <stdbool.h>

/* No blocking call may last longer than this, so a request to stop is seen in time. */
#define STOP_TICK_MS 100

extern volatile sig_atomic_t stop_signal; /* the first that came; 0: none */
extern volatile sig_atomic_t stop_given_up;

/* Catch SIGINT and SIGTERM, ignore SIGPIPE. */
void stop_install(void);

/* Ends every loop, as a signal does. */
static inline void stop_give_up(void)
{
	stop_given_up = 1;
}

static inline bool stop_requested(void)
{
	return stop_signal != 0 || stop_given_up;
}

#endif
