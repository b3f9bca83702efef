/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT and SIGTERM ask every loop to end, in child processes, too. */
#ifndef WORKLOAD_STOP_H
#define WORKLOAD_STOP_H

#include <signal.h>
#include <stdbool.h>

/* No blocking call may last longer than this, so a request to stop is seen in time. */
#define STOP_TICK_MS 100

struct stop {
	volatile sig_atomic_t signal; /* the first that came; 0: none */
	volatile sig_atomic_t given_up;
};

extern struct stop *stop_state;

/* Catch SIGINT and SIGTERM, ignore SIGPIPE. */
void stop_install(void);

/* From now on children learn it when this process is to stop. 0 or -ENOMEM. */
int stop_share(void);

/* Ends every loop, as a signal does. */
static inline void stop_give_up(void)
{
	stop_state->given_up = 1;
}

static inline bool stop_gave_up(void)
{
	return stop_state->given_up;
}

static inline bool stop_requested(void)
{
	return stop_state->signal != 0 || stop_state->given_up;
}

#endif
