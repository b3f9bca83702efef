// SPDX-License-Identifier: GPL-2.0
/*
 * Forks for each pass, judges the counting one and gathers the values of the others from shared
 * memory.
 */
#include "studies/baseline/measure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/events.h"
#include "userspace/common/clock.h"

/* Share of a row's time: less than what one slice of another task takes of a quick row. */
#define MOST_WAITED 0.02

enum { QUICK_DEADLINE_S = 120, DEADLINE_S = 1800, COUNT_TRIES = 3 };

static const double published_rtt_ms = 6;

struct pass_request {
	const struct family *family;
	const struct row *row;
	const struct protocol *protocol;
	const struct machine_info *machine;
	bool counting;			/* once, beside counters; else timed */
	uint64_t calls;
	int runs;			/* of a timing pass; 0: its curve alone */
	bool curve;			/* and the row's curve after them */
};

/* What a pass found. */
struct pass {
	bool done;			/* it came to its end, however well */
	int err;			/* -errno with @why */
	char how[WORK_WHY_BYTES], why[WORK_WHY_BYTES];
	double counted[EVENT_COUNT + WITNESS_COUNT];
	double values[RUNS_MAX], trimmed[RUNS_MAX];
	struct point points[POINTS_MAX];
	int point_count;
	double waited;			/* share of its time that it wanted a CPU and had none */
};

static volatile pid_t running;
static volatile sig_atomic_t stopped;

void pass_stop(void)
{
	stopped = 1;
	if (running)
		kill(-running, SIGKILL);
}

bool pass_stopped(void)
{
	return stopped;
}

static double now_s(void)
{
	return monotonic_ns() / 1e9;
}

static void want_events(const struct row *row, bool wanted[EVENT_COUNT])
{
	memset(wanted, 0, EVENT_COUNT * sizeof(*wanted));
	for (int i = 0; i < ROW_INVARIANTS && row->invariants[i].is != NOTHING; i++)
		if (row->invariants[i].event < EVENT_COUNT)
			wanted[row->invariants[i].event] = true;
}

static int count(struct work *w, struct pass *p, const struct pass_request *r)
{
	struct counting_of of = { w->device, w->function, task_cpu(0) };
	bool wanted[EVENT_COUNT];
	int err;

	want_events(r->row, wanted);
	w->counting = counting_open(wanted, &of, p->why, sizeof(p->why));
	err = r->family->time(w, r->row, fault_inject_calls(r->protocol->fault, r->calls));
	counting_read(w->counting, p->counted);
	memcpy(p->counted + EVENT_COUNT, w->witness, sizeof(w->witness));
	counting_close(w->counting);
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

static int time_curve(struct work *w, struct pass *p, const struct pass_request *r)
{
	int repeats = r->protocol->quick ? 2 : POINT_REPEATS, err = 0;

	for (int i = 0; i < POINTS_MAX && !err; i++) {
		struct point *point = &p->points[i];

		w->x = point->x = r->row->point(w, i);
		if (!w->x)
			break;
		for (point->n = 0; point->n < repeats && !err; point->n++) {
			err = r->family->time(w, r->row, r->calls);
			point->values[point->n] = w->value;
		}
		point->disk_bytes = w->witness[WITNESS_DISK_BYTES];
		p->point_count = i + 1;
	}
	w->x = 0;
	return err;
}

static int time_runs(struct work *w, struct pass *p, const struct pass_request *r)
{
	double from, delay;
	int err = 0;

	for (int run = 0; run < r->row->warm_ups && r->runs && !err; run++)
		err = r->family->time(w, r->row, r->calls);
	from = now_s();
	delay = run_delay_ns();
	for (int run = 0; run < r->runs && !err; run++) {
		w->trimmed = NAN;
		err = r->family->time(w, r->row, r->calls);
		p->values[run] = w->value;
		p->trimmed[run] = w->trimmed;
	}
	p->waited = (run_delay_ns() - delay) / ((now_s() - from) * 1e9);
	if (!err && r->row->point && r->curve)
		err = time_curve(w, p, r);
	return err;
}

/* In the process of the pass. */
__attribute__((noreturn)) static void work(struct pass *p, const struct pass_request *r)
{
	struct work w;
	int err = 0;

	work_init(&w, r->protocol, r->machine);
	code_touch();
	if (r->family->prepare)
		err = r->family->prepare(&w, r->row);
	if (!err)
		err = r->counting ? count(&w, p, r) : time_runs(&w, p, r);
	if (r->family->undo)
		r->family->undo(&w);
	p->err = err;
	memcpy(p->how, w.how, sizeof(p->how));
	if (err)
		memcpy(p->why, w.why, sizeof(p->why));
	p->done = true;
	_exit(0);
}

/* A pass that takes longer hangs. A longer delay of the remote path lengthens it, too. */
static double longest_s(const struct protocol *protocol)
{
	double published = protocol->quick ? QUICK_DEADLINE_S : DEADLINE_S;

	return published * fmax(1, protocol->rtt_ms / published_rtt_ms);
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
	double deadline = now_s() + seconds;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now_s() > deadline && !stopped) {
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

static struct pass *shared_pass(void)
{
	static struct pass *p;

	if (!p)
		p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		abort();
	return p;
}

static void fork_and_wait(struct pass *p, const struct pass_request *r)
{
	pid_t pid;

	fflush(NULL);
	pid = task_fork();
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
		work(p, r);
	}
	setpgid(pid, pid);
	running = pid;
	wait_for(pid, p, longest_s(r->protocol));
	running = 0;
}

/* Valid until the next call. In a counting pass, @why without an error says what cannot be counted. */
static const struct pass *pass_run(const struct pass_request *r)
{
	struct pass *p = shared_pass();

	memset(p, 0, sizeof(*p));
	for (int i = 0; i < EVENT_COUNT + WITNESS_COUNT; i++)
		p->counted[i] = NAN;
	if (!stopped) {
		fork_and_wait(p, r);
		return p;
	}
	p->err = -EINTR;
	snprintf(p->why, sizeof(p->why), "interrupted");
	return p;
}

void measure_prove(struct outcome *o, const struct protocol *protocol,
		   const struct machine_info *machine)
{
	const struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.counting = true, .calls = o->row->counted_calls,
	};
	char why[WORK_WHY_BYTES] = "";
	const struct pass *p;

	o->counted_calls = request.calls;
	/* A neighbour may shift counts of the scheduler. A wrong benchmark fails every time. */
	for (int try = 0; try < COUNT_TRIES; try++) {
		p = pass_run(&request);
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

void measure_time(struct outcome *o, const struct protocol *protocol,
		  const struct machine_info *machine)
{
	struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.curve = !o->rounds && !o->point_count,
	};
	const struct pass *p;
	int at, most;

	if (o->status == NOT_MEASURED || o->status == INVALID)
		return;
	o->calls = protocol->quick ? o->row->quick_calls : o->row->calls;
	o->runs = protocol->runs;
	most = protocol->quick && o->row->most_quick_runs ? o->row->most_quick_runs :
							    o->row->most_runs;
	if (most && most < o->runs)
		o->runs = most;
	request.calls = o->calls;
	request.runs = o->runs;
	p = pass_run(&request);
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

static void find_levels(struct machine_info *machine, const struct pass *p)
{
	const uint64_t told[LEVEL_MEMORY] = { machine->l1d_bytes, machine->l2_bytes,
					      machine->l3_bytes };
	uint64_t bytes[POINTS_MAX];
	double ns[POINTS_MAX];

	for (int i = 0; i < p->point_count; i++) {
		bytes[i] = p->points[i].x;
		ns[i] = stats_least(p->points[i].values, p->points[i].n);
	}
	levels_find(&machine->levels, bytes, ns, p->point_count, told);
}

void measure_levels(struct outcome *o, const struct protocol *protocol,
		    struct machine_info *machine)
{
	const struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.calls = protocol->quick ? o->row->quick_calls : o->row->calls, .curve = true,
	};
	const struct pass *p = pass_run(&request);

	if (p->err) {
		snprintf(machine->levels_why, sizeof(machine->levels_why), "%.*s",
			 (int)sizeof(machine->levels_why) - 1, p->why);
		return;
	}
	find_levels(machine, p);
	memcpy(o->points, p->points, sizeof(o->points));
	o->point_count = p->point_count;
}

void measure_clock(const struct outcome *o, const struct protocol *protocol,
		   struct machine_info *machine)
{
	const struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.calls = o->row->quick_calls, .runs = protocol->runs,
	};
	const struct pass *p = pass_run(&request);

	machine->core_ghz = p->err ? 0 : stats_median(p->values, request.runs);
}

/* Runs of two modes have no one value. Others that took CPU time lengthen some runs and not the rest, which
 * looks alike: then nothing is said of modes. */
static void want_one_mode(struct outcome *o)
{
	double low, high;

	if (!o->row->one_mode || !(o->waited < MOST_WAITED) || o->status == INVALID ||
	    !stats_two_modes(o->values, o->runs * o->rounds, &low, &high))
		return;
	o->status = NOT_MEASURED;
	snprintf(o->why, sizeof(o->why), "its runs fall into two modes, %.4g and %.4g %s, though "
		 "nobody took the CPU from them: neither is the row's", low, high, o->row->unit);
}

void measure_sum(struct outcome *o)
{
	if (o->rounds)
		want_one_mode(o);
	if (o->status == VALID || o->status == UNCHECKED)
		o->spread = stats_spread_rounds(o->values, o->runs, o->rounds);
}
