// SPDX-License-Identifier: GPL-2.0
/* Notes the signals that ask a watch to end, or to give the terminal back for a while. */
#include "userspace/watch/session/end_signals.h"

#include <signal.h>
#include <stdint.h>

#include "userspace/common/clock.h"

/* A signal that is not heard for so long finds the tool in a write that nobody reads. */
enum { DEAF_MS = 3000 };

static volatile sig_atomic_t noted, by_process, stop_noted, int_ignored;
static volatile int64_t noted_ms;

static void note(int number, siginfo_t *info, void *context)
{
	int64_t now = monotonic_ms();

	/* What the terminal sends to all of a group; a process's kill() says whom it means. */
	if (number == SIGINT && int_ignored && info->si_code == SI_KERNEL)
		return;
	if (noted && now - noted_ms > DEAF_MS) {
		signal(number, SIG_DFL);
		raise(number);
	}
	if (!noted)
		noted_ms = now;
	by_process = info->si_code != SI_KERNEL;
	noted = number;
}

static void note_stop(int signal)
{
	stop_noted = 1;
}

/* The write that fails tells. A handler, as what COMMAND executes is to die of it. */
static void nothing(int signal)
{
}

static bool is_ignored(int number)
{
	struct sigaction was;

	return !sigaction(number, NULL, &was) && was.sa_handler == SIG_IGN;
}

void end_signals_note(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction act = { .sa_sigaction = note, .sa_flags = SA_SIGINFO };

	int_ignored = is_ignored(SIGINT);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i] == SIGINT || !is_ignored(numbers[i]))
			sigaction(numbers[i], &act, NULL);
	if (!is_ignored(SIGPIPE))
		sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = nothing }, NULL);
}

void stop_signal_note(void)
{
	if (!is_ignored(SIGTSTP))
		sigaction(SIGTSTP, &(struct sigaction){ .sa_handler = note_stop, .sa_flags = SA_RESTART },
			  NULL);
}

int end_signals_next(bool *from_process)
{
	int signal = noted;

	*from_process = by_process;
	noted = 0;
	return signal;
}

bool stop_signal_next(void)
{
	bool came = stop_noted;

	stop_noted = 0;
	return came;
}
