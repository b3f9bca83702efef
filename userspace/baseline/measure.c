// SPDX-License-Identifier: GPL-2.0
/* Runs each pass over a row in a process of its own and takes its results from shared memory. */
#include "userspace/baseline/measure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/baseline/code.h"
#include "userspace/baseline/fault_inject.h"

enum { QUICK_DEADLINE_S = 40, DEADLINE_S = 1800, COUNT_TRIES = 3 };

static const double published_rtt_ms = 6;

/* Shared with the process of a pass. */
struct pass {
	bool done;
	int err;
	char how[WORK_WHY_BYTES], why[WORK_WHY_BYTES];
	double counted[EVENT_COUNT + WITNESS_COUNT];
	double values[RUNS_MAX], trimmed[RUNS_MAX];
	struct point points[POINTS_MAX];
	int point_count;
	double waited;
};

static volatile pid_t running;
static volatile sig_atomic_t stopped;

void measure_stop(void)
{
	stopped = 1;
	if (running)
		kill(-running, SIGKILL);
}

bool measure_stopped(void)
{
	return stopped;
}

const char *status_name(enum status status)
{
	static const char *const names[] = { "not_measured", "valid", "invalid", "unchecked" };

	return names[status];
}

static void work_init(struct work *w, const struct settings *s, const struct facts *f)
{
	*w = (struct work){ .settings = s, .facts = f, .value = NAN, .trimmed = NAN };
	for (int i = 0; i < WITNESS_COUNT; i++)
		w->witness[i] = NAN;
}

static void want_events(const struct row *row, bool wanted[EVENT_COUNT])
{
	memset(wanted, 0, EVENT_COUNT * sizeof(*wanted));
	for (int i = 0; i < ROW_INVARIANTS && row->invariants[i].is != NOTHING; i++)
		if (row->invariants[i].event < EVENT_COUNT)
			wanted[row->invariants[i].event] = true;
}

static int count(struct work *w, struct pass *p, const struct outcome *o)
{
	bool wanted[EVENT_COUNT];
	int err;

	want_events(o->row, wanted);
	w->counters = counters_beside(wanted, w->device, w->function, p->why, sizeof(p->why));
	err = o->family->time(w, o->row, fault_inject_calls(w->settings->fault, o->counted_calls));
	counters_take(w->counters, p->counted);
	memcpy(p->counted + EVENT_COUNT, w->witness, sizeof(w->witness));
	counters_free(w->counters);
	return err;
}

/* Nanoseconds that this process wanted to run and could not. */
static double run_delay_ns(void)
{
	FILE *file = fopen("/proc/self/schedstat", "re");
	double delay = NAN;

	if (file && fscanf(file, "%*f %lf", &delay) != 1)
		delay = NAN;
	if (file)
		fclose(file);
	return delay;
}

static int time_curve(struct work *w, struct pass *p, const struct outcome *o)
{
	int repeats = w->settings->quick ? 2 : POINT_REPEATS, err = 0;

	for (int i = 0; i < POINTS_MAX && !err; i++) {
		struct point *point = &p->points[i];

		w->x = point->x = o->row->point(w, i);
		if (!w->x)
			break;
		for (point->n = 0; point->n < repeats && !err; point->n++) {
			err = o->family->time(w, o->row, o->calls);
			point->values[point->n] = w->value;
		}
		point->disk_bytes = w->witness[WITNESS_DISK_BYTES];
		p->point_count = i + 1;
	}
	w->x = 0;
	return err;
}

static int time_runs(struct work *w, struct pass *p, const struct outcome *o)
{
	double from = work_now(), delay = run_delay_ns();
	int err = 0;

	for (int run = 0; run < o->runs && !err; run++) {
		w->trimmed = NAN;
		err = o->family->time(w, o->row, o->calls);
		p->values[run] = w->value;
		p->trimmed[run] = w->trimmed;
	}
	p->waited = (run_delay_ns() - delay) / ((work_now() - from) * 1e9);
	if (!err && o->row->point && !o->rounds)
		err = time_curve(w, p, o);
	return err;
}

/* In the process of the pass. */
static void pass_run(struct pass *p, const struct outcome *o, const struct settings *s,
		     const struct facts *f, bool counting)
{
	struct work w;
	int err = 0;

	work_init(&w, s, f);
	code_touch();
	if (o->family->prepare)
		err = o->family->prepare(&w, o->row);
	if (!err)
		err = counting ? count(&w, p, o) : time_runs(&w, p, o);
	if (o->family->undo)
		o->family->undo(&w);
	p->err = err;
	memcpy(p->how, w.how, sizeof(p->how));
	if (err)
		memcpy(p->why, w.why, sizeof(p->why));
	p->done = true;
	_exit(0);
}

/* What takes so long hangs; a longer delay than the published one is no such thing. */
static double longest_s(const struct settings *s)
{
	double published = s->quick ? QUICK_DEADLINE_S : DEADLINE_S;

	return published * fmax(1, s->rtt_ms / published_rtt_ms);
}

static void tell_end(struct pass *p, int status)
{
	if (stopped)
		snprintf(p->why, sizeof(p->why), "interrupted");
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		snprintf(p->why, sizeof(p->why), "its process was killed, as the kernel does where "
			 "memory runs out: end what else uses it, or raise the limit");
	else
		snprintf(p->why, sizeof(p->why), "its process ended early, with status 0x%x", status);
}

static void wait_for(pid_t pid, struct pass *p, double seconds)
{
	double deadline = work_now() + seconds;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (work_now() > deadline && !stopped) {
			kill(-pid, SIGKILL);
			snprintf(p->why, sizeof(p->why), "took longer than %.0f s: the "
				 "machine is too busy, or short of memory", seconds);
		}
		usleep(1000);
	}
	/* What it started and did not end. */
	kill(-pid, SIGKILL);
	if (p->done)
		return;
	p->err = -ECHILD;
	if (!*p->why)
		tell_end(p, status);
}

static void pass_make(struct pass *p, const struct outcome *o, const struct settings *s,
		      const struct facts *f, bool counting)
{
	pid_t pid;

	memset(p, 0, sizeof(*p));
	for (int i = 0; i < EVENT_COUNT + WITNESS_COUNT; i++)
		p->counted[i] = NAN;
	if (stopped) {
		p->err = -EINTR;
		snprintf(p->why, sizeof(p->why), "interrupted");
		return;
	}
	fflush(NULL);
	pid = work_fork();
	if (pid < 0) {
		p->err = -errno;
		snprintf(p->why, sizeof(p->why), "cannot fork: %s", strerror(errno));
		return;
	}
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGPIPE, SIG_IGN);
		setpgid(0, 0);
		pass_run(p, o, s, f, counting);
	}
	setpgid(pid, pid);
	running = pid;
	wait_for(pid, p, longest_s(s));
	running = 0;
}

static struct pass *shared_pass(void)
{
	static struct pass *p;

	if (!p)
		p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		abort();
	return p;
}

void measure_prove(struct outcome *o, const struct settings *s, const struct facts *f)
{
	struct pass *p = shared_pass();
	char why[WORK_WHY_BYTES] = "";

	o->counted_calls = o->row->counted_calls;
	/* A neighbour may disturb what depends on the scheduler; a wrong benchmark is wrong again. */
	for (int try = 0; try < COUNT_TRIES; try++) {
		pass_make(p, o, s, f, true);
		if (p->err)
			break;
		o->proof = invariants_judge(o->row->invariants, ROW_INVARIANTS, o->counted_calls,
					    p->counted, o->findings, why, sizeof(why));
		if (o->proof != PROOF_BROKEN)
			break;
	}
	memcpy(o->how, p->how, sizeof(o->how));
	if (p->err) {
		o->status = NOT_MEASURED;
		snprintf(o->why, sizeof(o->why), "%s", p->why);
		return;
	}
	o->status = o->proof == PROOF_HELD ? VALID : o->proof == PROOF_BROKEN ? INVALID : UNCHECKED;
	snprintf(o->why, sizeof(o->why), "%s",
		 o->proof == PROOF_MISSING && *p->why ? p->why : why);
}

void measure_time(struct outcome *o, const struct settings *s, const struct facts *f)
{
	struct pass *p = shared_pass();
	int at;

	if (o->status == NOT_MEASURED || o->status == INVALID)
		return;
	o->calls = s->quick ? o->row->quick_calls : o->row->calls;
	o->runs = o->row->most_runs && o->row->most_runs < s->runs ? o->row->most_runs : s->runs;
	pass_make(p, o, s, f, false);
	if (p->err) {
		o->status = NOT_MEASURED;
		snprintf(o->why, sizeof(o->why), "%s", p->why);
		return;
	}
	at = o->rounds++ * o->runs;
	memcpy(&o->values[at], p->values, o->runs * sizeof(double));
	memcpy(&o->trimmed[at], p->trimmed, o->runs * sizeof(double));
	if (*p->how)
		memcpy(o->how, p->how, sizeof(o->how));
	o->waited = fmax(o->waited, p->waited);
	if (p->point_count) {
		memcpy(o->points, p->points, sizeof(o->points));
		o->point_count = p->point_count;
	}
}

void measure_sum(struct outcome *o)
{
	if (o->status == VALID || o->status == UNCHECKED)
		o->spread = stats_spread_rounds(o->values, o->runs, o->rounds);
}
