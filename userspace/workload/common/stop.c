// SPDX-License-Identifier: GPL-2.0
/* SIGINT and SIGTERM ask every loop to end. */
#include <stddef.h>

#include "userspace/workload/common/stop.h"

volatile sig_atomic_t stop_signal, stop_given_up;

static void stop_ask(int signal_number)
{
	if (!stop_signal)
		stop_signal = signal_number;
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
