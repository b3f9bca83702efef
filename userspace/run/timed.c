// SPDX-License-Identifier: GPL-2.0
/* Makes the timed pass in a process of its own and takes over what it left. */
#include "userspace/run/timed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/counters/counters.h"
#include "userspace/run/ends/ending.h"

/* The ends are gone 1.6 s after a signal; the record is due after 2 s. */
enum { TICK_MS = 100, LAST_MS = 1800 };

struct timed_pass {
	bool done;
	struct pass pass;	/* without its lists of sockets */
	struct app_socket sockets[END_COUNT][PLAN_THREADS_MAX];
};

struct timed_pass *timed_share(void)
{
	struct timed_pass *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared != MAP_FAILED)
		return shared;
	fprintf(stderr, "trace_run: no memory for the timed pass: %s\n", strerror(errno));
	return NULL;
}

double pass_seconds(double both, bool timed)
{
	/* Times need long runs; counts of a short run are as exact as those of a long one. */
	static const double timed_share = 0.8;

	return both * (timed ? timed_share : 1 - timed_share);
}

bool timed_done(const struct timed_pass *shared)
{
	return shared->done;
}

void timed_hand_over(struct timed_pass *shared, const struct record *r)
{
	const struct experiment *x = r->experiment;
	struct pass *p = &shared->pass;

	memcpy(p->app, x->app, sizeof(p->app));
	p->ends = x->ends;
	memcpy(p->counters, x->counters, sizeof(p->counters));
	p->modelled = x->modelled;
	p->window_ns = r->window_ns;
	p->asked_s = x->asked_s;
	p->cpu = x->cpu;
	p->fifo = x->fifo;
	for (int e = 0; e < END_COUNT; e++) {
		memcpy(shared->sockets[e], x->app[e].sockets,
		       x->app[e].socket_count * sizeof(*x->app[e].sockets));
		p->app[e].sockets = NULL;
	}
	shared->done = true;
}

/* Waits until the other side of the pipe is closed, which is when the child ends. */
static int wait_for(pid_t child, int pipe)
{
	struct pollfd wait = { .fd = pipe };
	int64_t asked_ms = 0;
	int status = 0;

	while (poll(&wait, 1, TICK_MS) <= 0 || !(wait.revents & POLLHUP)) {
		ending_pass_on(child);
		if (ending_asked() && !asked_ms)
			asked_ms = monotonic_ms();
		if (asked_ms && monotonic_ms() - asked_ms > LAST_MS)
			kill(child, SIGKILL);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int timed_make(int (*make)(void *arg), void *arg, char failure[WHY_BYTES])
{
	pid_t parent = getpid(), child;
	int life[2], status;

	*failure = '\0';
	if (pipe2(life, O_CLOEXEC) || (child = fork()) < 0) {
		perror("trace_run: cannot start the timed pass");
		return 3;
	}
	if (!child) {
		prctl(PR_SET_NAME, "timed pass");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		close(life[0]);
		_exit(make(arg));
	}
	close(life[1]);
	status = wait_for(child, life[0]);
	close(life[0]);
	if (WIFSIGNALED(status))
		snprintf(failure, WHY_BYTES, "the process that made it was killed by signal %d",
			 WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* In memory that the caller frees. NULL: there is none. */
static struct pass *copied(const struct timed_pass *shared)
{
	struct pass *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = shared->pass;
	for (int e = 0; e < END_COUNT; e++) {
		struct app_totals *app = &p->app[e];

		app->sockets = malloc(sizeof(shared->sockets[e]));
		if (app->sockets)
			memcpy(app->sockets, shared->sockets[e], app->socket_count * sizeof(*app->sockets));
	}
	if (p->app[END_SENDER].sockets && p->app[END_RECEIVER].sockets)
		return p;
	pass_free(p);
	return NULL;
}

struct pass *timed_take(const struct timed_pass *shared, const char *failure)
{
	struct pass *p;

	if (shared->done)
		return copied(shared);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	for (int e = 0; e < END_COUNT; e++)
		counters_read(NULL, p->counters[e]);
	snprintf(p->ends.failure, WHY_BYTES, "%s", *failure ? failure : "it left no result");
	return p;
}
