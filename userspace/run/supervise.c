// SPDX-License-Identifier: GPL-2.0
/* Runs each try in a child, waits for it, and passes signals on. */
#include "userspace/run/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/confine/confine.h"

enum { CANNOT = 1, REFUSED = 3 };

/* The signals to wait for. SIGHUP stays ignored if the parent ignored it, as nohup does. */
static void choose_signals(sigset_t *heard)
{
	struct sigaction hangup;

	sigemptyset(heard);
	sigaddset(heard, SIGCHLD);
	sigaddset(heard, SIGINT);
	sigaddset(heard, SIGTERM);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaddset(heard, SIGHUP);
}

/* Waits for the child; @passed gets the last signal that was passed on to it. */
static int wait_for(pid_t child, const sigset_t *heard, int *passed)
{
	int number, status;

	for (;;) {
		number = sigwaitinfo(heard, NULL);
		if (number == SIGCHLD && waitpid(child, &status, WNOHANG) == child)
			return status;
		if (number > 0 && number != SIGCHLD) {
			*passed = number;
			kill(child, number);
		}
	}
}

static void become_child(pid_t parent, const sigset_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CANNOT);
	/* A terminal's Ctrl-C must reach the parent alone, or it would come twice. */
	setsid();
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static void die_of(int number, const sigset_t *mask)
{
	signal(number, SIG_DFL);
	raise(number);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static bool wants_another(int status)
{
	return WIFEXITED(status) &&
	       (WEXITSTATUS(status) == TRY_AGAIN || WEXITSTATUS(status) == TRY_AGAIN_FIFO);
}

/* The exit status of the last child. */
static int last_status(int status, int passed, const sigset_t *mask)
{
	if (WIFEXITED(status) && !wants_another(status))
		return WEXITSTATUS(status);
	if (passed)
		die_of(passed, mask);
	else if (WIFSIGNALED(status))
		fprintf(stderr, "trace_run: the process that measured was killed by signal %d (%s); "
			"if there is a record, it is complete\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return CANNOT;
}

int supervise(int (*make)(const struct try *this_one, void *arg), void *arg)
{
	struct try t = { .number = 1 };
	pid_t parent = getpid(), child;
	int status, passed = 0;
	sigset_t heard, mask;

	/* No program that a run executes may gain privileges from its file. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* All tries inherit it, and narrow it once they have attached. */
	errno = -confine_to_what_runs_do();
	if (errno) {
		perror("trace_run: cannot confine the run by seccomp(2)");
		return REFUSED;
	}
	/* If it were inherited as ignored, children would vanish before anyone waits for them. */
	signal(SIGCHLD, SIG_DFL);
	choose_signals(&heard);
	sigprocmask(SIG_BLOCK, &heard, &mask);
	for (;; t.number++) {
		fflush(NULL);
		child = fork();
		if (child < 0) {
			perror("trace_run: cannot start the process that measures");
			return CANNOT;
		}
		if (!child) {
			become_child(parent, &mask);
			exit(make(&t, arg));
		}
		status = wait_for(child, &heard, &passed);
		if (passed || t.number == TRIES_MAX || !wants_another(status))
			return last_status(status, passed, &mask);
		t.fifo |= WEXITSTATUS(status) == TRY_AGAIN_FIFO;
	}
}
