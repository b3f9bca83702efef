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
#include "userspace/common/foreign.h"
#include "userspace/counters/counters.h"
#include "userspace/run/ends/app_totals.h"
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

static bool ends_sound(const struct run_ends *ends)
{
	bool sound = sound_text(ends->failure, sizeof(ends->failure)) && !ends->alone &&
		     ends->interrupt_signal >= 0 && ends->interrupt_signal < NSIG;

	for (int e = 0; e < END_COUNT; e++) {
		const struct end_outcome *end = &ends->end[e];

		sound = sound && sound_flag(&end->known) && sound_flag(&end->hurried) &&
			end->exit_status >= 0 && end->exit_status <= UINT8_MAX && end->signal >= 0 &&
			end->signal < NSIG;
	}
	return sound && sound_flag(&ends->before_gate);
}

static bool counters_sound(const struct counter_value *values)
{
	bool sound = true;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_value *v = &values[i];

		sound &= sound_flag(&v->known) && sound_flag(&v->scaled) && v->parts <= COUNTER_PARTS_MAX &&
			 sound_text(v->why, sizeof(v->why)) && sound_real(v->running_share, 1);
		for (unsigned int p = 0; sound && p < v->parts; p++)
			sound &= sound_text(v->part[p].why, sizeof(v->part[p].why)) &&
				 sound_text(v->part[p].pmu, sizeof(v->part[p].pmu));
	}
	return sound;
}

static bool cpu_sound(const struct cpu_shares *cpu)
{
	return sound_flag(&cpu->known) && (unsigned int)cpu->doubt < CPU_DOUBTS &&
	       sound_real(cpu->others, 1) && sound_real(cpu->stolen, 1);
}

static bool modelled_sound(const struct modelled *m)
{
	const struct model_caches *c = &m->caches;

	return sound_flag(&m->asked) && sound_flag(&m->known) && sound_flag(&c->write_allocate) &&
	       sound_text(m->why, sizeof(m->why)) && sound_text(c->name, sizeof(c->name)) &&
	       sound_text(c->emulator, sizeof(c->emulator)) &&
	       sound_text(c->llc_kind, sizeof(c->llc_kind));
}

static bool pass_sound(const struct pass *p)
{
	bool sound = ends_sound(&p->ends) && sound_flag(&p->fifo) && sound_time_ns(p->window_ns) &&
		     sound_real(p->asked_s, PLAN_SECONDS_MAX) && cpu_sound(&p->cpu) &&
		     modelled_sound(&p->modelled);

	for (int e = 0; e < END_COUNT; e++)
		sound = sound && p->app[e].socket_count >= 0 &&
			p->app[e].socket_count <= PLAN_THREADS_MAX &&
			app_totals_sound(&p->app[e], p->app[e].sockets) &&
			counters_sound(p->counters[e]);
	return sound;
}

/* Copied first: a process that was taken over might still change the memory. */
static struct pass *copied(const struct timed_pass *shared)
{
	struct pass *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	memcpy(p, &shared->pass, sizeof(*p));
	for (int e = 0; e < END_COUNT; e++) {
		p->app[e].sockets = malloc(sizeof(shared->sockets[e]));
		if (p->app[e].sockets)
			memcpy(p->app[e].sockets, shared->sockets[e], sizeof(shared->sockets[e]));
	}
	return p;
}

struct pass *timed_take(const struct timed_pass *shared, const char *failure)
{
	struct pass *p = shared->done ? copied(shared) : NULL;

	if (p && p->app[END_SENDER].sockets && p->app[END_RECEIVER].sockets && pass_sound(p))
		return p;
	pass_free(p);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	for (int e = 0; e < END_COUNT; e++)
		counters_read(NULL, p->counters[e]);
	snprintf(p->ends.failure, WHY_BYTES, "%s", *failure ? failure : "it left no result");
	return p;
}
