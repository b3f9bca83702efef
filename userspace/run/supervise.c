// SPDX-License-Identifier: GPL-2.0
/* Runs each try in a child, waits for it, and passes signals on. */
#include "userspace/run/supervise.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 1 };

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

void guard_begin(struct guard *g)
{
	/* No program that a run executes may gain privileges from its file. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* If it were inherited as ignored, children would vanish before anyone waits for them. */
	signal(SIGCHLD, SIG_DFL);
	choose_signals(&g->heard);
	sigprocmask(SIG_BLOCK, &g->heard, &g->mask);
}

bool guard_run(const struct guard *g, int (*make)(void *arg), void *arg, int *status, int *passed)
{
	pid_t parent = getpid(), child;

	fflush(NULL);
	child = fork();
	if (child < 0) {
		perror("trace_run: cannot start the process that measures");
		return false;
	}
	if (!child) {
		become_child(parent, &g->mask);
		exit(make(arg));
	}
	*status = wait_for(child, &g->heard, passed);
	return true;
}

int guard_end(const struct guard *g, int status, int passed)
{
	if (WIFEXITED(status) && !wants_another(status))
		return WEXITSTATUS(status);
	if (passed)
		die_of(passed, &g->mask);
	else if (WIFSIGNALED(status))
		fprintf(stderr, "trace_run: the process that measured was killed by signal %d (%s); "
			"if there is a record, it is complete\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return CANNOT;
}

struct making {
	int (*make)(const struct try *this_one, void *arg);
	void *arg;
	struct try t;
};

static int make_try(void *arg)
{
	const struct making *m = arg;

	return m->make(&m->t, m->arg);
}

int supervise(int (*make)(const struct try *this_one, void *arg), int (*anew)(void *arg), void *arg)
{
	struct making m = { make, arg, { .number = 1 } };
	int status, passed = 0;
	struct guard g;

	guard_begin(&g);
	for (;; m.t.number++) {
		if (!guard_run(&g, make_try, &m, &status, &passed))
			return CANNOT;
		if (passed || m.t.number == TRIES_MAX || !wants_another(status))
			return guard_end(&g, status, passed);
		m.t.fifo |= WEXITSTATUS(status) == TRY_AGAIN_FIFO;
		status = anew(arg);
		if (status)
			return status;
	}
}

/*
 * Decides whether to repeat a run whose probes missed events.
 *
 * A kernel that preempts itself (6.18 and 7.2 do, lazily) may stop a task inside a program. Until
 * the task continues, the kernel skips the program for every other task of that CPU
 * (kernel/bpf/trampoline.c, __bpf_prog_enter_recur). A task under SCHED_FIFO does not interrupt
 * another one, so the next try runs the workload under it. A guest with such a kernel asks for
 * it from its first try on.
 */

/*
 * A long run costs more patience, and is more likely to miss packets again; an emulated machine takes
 * seconds for a short one. A skipped program is rarer: on 7.2 a run of seconds under SCHED_FIFO meets
 * one in four tries at most.
 */
enum { TRIES = TRIES_MAX, TRIES_LONG = 2 };
static const uint64_t long_ns = 5000000000, long_skipped_ns = 20000000000;

static const char fifo_key[] = "COPYSCOPE_FIFO";

void retry_schedule(struct record *r, bool fifo)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	if ((fifo || getenv(fifo_key)) && sched_setscheduler(0, SCHED_FIFO, &lowest))
		perror("trace_run: cannot run the workload under SCHED_FIFO; going on without");
	retry_note_schedule(r);
}

void retry_note_schedule(struct record *r)
{
	r->experiment->fifo = sched_getscheduler(0) == SCHED_FIFO;
}

static int tries_allowed(const struct record *r)
{
	bool skipped = record_missed(r);

	/* SCHED_FIFO, which helps against skipped programs, is still to be tried. */
	if (skipped && !r->experiment->fifo)
		return TRIES;
	return r->window_ns < (skipped ? long_skipped_ns : long_ns) ? TRIES : TRIES_LONG;
}

bool retry_is_worth_it(const struct record *r)
{
	return r->outcome.status == RUN_BLIND && r->experiment->attempt < tries_allowed(r);
}

int retry_once_more(const struct record *r)
{
	if (record_missed(r)) {
		fprintf(stderr, "trace_run: the kernel skipped %" PRIu64 " runs of programs, because it "
			"had stopped a task inside them; trying again under SCHED_FIFO\n",
			record_missed(r));
		return TRY_AGAIN_FIFO;
	}
	fprintf(stderr, "trace_run: the probes missed %" PRIu64 " packets, because this kernel runs "
		"no BPF program while certain tasks are current; trying again\n", record_missed_hits(r, NULL));
	return TRY_AGAIN;
}
