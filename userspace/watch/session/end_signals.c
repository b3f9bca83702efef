// SPDX-License-Identifier: GPL-2.0
/* Notes the signals that ask a watch to end. */
#include "userspace/watch/session/end_signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;

static void note(int signal)
{
	noted = signal;
}

void end_signals_note(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction was, act = { .sa_handler = note };

		if (!sigaction(numbers[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
	}
}

int end_signals_next(void)
{
	int signal = noted;

	noted = 0;
	return signal;
}
