// SPDX-License-Identifier: GPL-2.0
/* SIGINT and SIGTERM ask every loop to end, in child processes, too. */
#include <errno.h>
#include <stddef.h>

#include "userspace/workload/stream/process.h"
#include "userspace/workload/stream/stop.h"

static struct stop own;
struct stop *stop_state = &own;

static void stop_ask(int signal_number)
{
	if (!stop_state->signal)
		stop_state->signal = signal_number;
}

int stop_share(void)
{
	struct stop *shared = shared_alloc(sizeof(*shared));

	if (!shared)
		return -ENOMEM;
	stop_state = shared;
	/* One that came before it was shared. */
	if (own.signal && !shared->signal)
		shared->signal = own.signal;
	return 0;
}

void stop_install(void)
{
	/* No SA_RESTART: the call that the signal interrupts must return. */
	struct sigaction ask = { .sa_handler = stop_ask };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &ask, NULL);
	sigaction(SIGTERM, &ask, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}
