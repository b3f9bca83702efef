// SPDX-License-Identifier: GPL-2.0
/* Ends a run that is interrupted, has half failed, or takes too long. */
#include "userspace/run/ends/ending.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "userspace/common/clock.h"
#include "userspace/record/record.h"

/* After a signal: when the other end gets SIGTERM, too, and when the rest is killed. */
enum { OTHER_MS = 1000, KILL_MS = 1600, LEAVE_MS = 1850 };
enum { FAILED_MS = 3000, GRACE_MS = 1000 };
static const struct ending_bounds usual = { .alone_ms = 30000, .still_ms = 60000, .late_ms = 90000 };
/* One press of Ctrl-C may come twice, from the terminal and from the parent process. */
enum { SAME_MS = 300 };

static volatile sig_atomic_t caught;
static struct {
	int interrupt;		/* the first signal */
	struct ending_bounds bounds;
	int64_t interrupt_ms, urged_ms, failed_ms, alone_ms, late_ms;
	int64_t moved_ms, used_ns;	/* when the ends last used processor time, and how much */
	char failure[WHY_BYTES];
} state;

static void on_signal(int number)
{
	caught = number;
}

void ending_listen(void)
{
	struct sigaction action = { .sa_handler = on_signal }, hangup;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup makes it ignored. */
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

void ending_begin(double seconds, int64_t bound_ms)
{
	state.bounds = bound_ms ? (struct ending_bounds){ bound_ms, bound_ms, bound_ms } : usual;
	state.late_ms = seconds ? monotonic_ms() + (int64_t)(seconds * 1000) + state.bounds.late_ms : 0;
}

bool ending_asked(void)
{
	return caught || state.interrupt;
}

int children_interrupted(void)
{
	return state.interrupt;
}

const char *ending_failure(void)
{
	return state.failure;
}

static void tell(struct child *c, bool again_in_vain)
{
	if (c->pid && !c->ended)
		kill(c->pid, again_in_vain ? SIGKILL : SIGTERM);
}

/* What a time limit ends: SIGTERM first, a moment later SIGKILL. */
static void tell_to_end(struct child *children, int count, int64_t since_ms, int64_t now)
{
	for (int i = 0; i < count; i++) {
		struct child *c = &children[i];

		if (!c->pid || c->ended)
			continue;
		if (!c->told_to_end || now - since_ms > GRACE_MS)
			tell(c, c->told_to_end);
		c->told_to_end = true;
	}
}

/* True if it is the first. */
static bool note_signal(int64_t now)
{
	int number = caught;

	caught = 0;
	if (number && !state.interrupt) {
		state.interrupt = number;
		state.interrupt_ms = now;
		return true;
	}
	if (number && !state.urged_ms && now - state.interrupt_ms > SAME_MS)
		state.urged_ms = now;
	return false;
}

void ending_pass_on(pid_t child)
{
	int number = caught;

	if (number)
		kill(child, number);
	note_signal(monotonic_ms());
}

int64_t ending_left_ms(void)
{
	int64_t now = monotonic_ms();

	note_signal(now);
	return !state.interrupt ? INT64_MAX : state.urged_ms ? 0 : state.interrupt_ms + LEAVE_MS - now;
}

static void heed_signal(struct child *children, int count, int64_t now)
{
	if (note_signal(now))
		for (int i = 0; i < count; i++)
			if (children[i].decides)
				tell(&children[i], false);
	if (!state.interrupt)
		return;
	if (state.urged_ms || now - state.interrupt_ms > OTHER_MS)
		for (int i = 0; i < count; i++)
			if (!children[i].told_to_end) {
				tell(&children[i], false);
				children[i].told_to_end = !children[i].ended;
			}
	if (now - state.interrupt_ms > KILL_MS ||
	    (state.urged_ms && now - state.urged_ms > KILL_MS - OTHER_MS))
		for (int i = 0; i < count; i++)
			tell(&children[i], true);
}

/* Notes when the first of them ended, well or not. */
static void note_ends(const struct child *children, int count, int64_t now)
{
	for (int i = 0; i < count; i++) {
		const struct child *c = &children[i];

		if (!c->pid || !c->ended)
			continue;
		if (c->status && !state.failed_ms)
			state.failed_ms = now;
		if (!state.alone_ms)
			state.alone_ms = now;
	}
}

static void fail(const char *what, int64_t bound_ms, const char *since)
{
	if (!*state.failure && !state.interrupt)
		snprintf(state.failure, sizeof(state.failure), "no progress: %s %g s%s", what,
			 bound_ms / 1000.0, since);
}

/* The processor time of both since they began; one that has ended adds nothing from then on. */
static int64_t used_ns(const struct child *children, int count)
{
	int64_t sum_ns = 0;

	for (int i = 0; i < count; i++) {
		struct timespec used;

		if (children[i].pid && !children[i].ended && !clock_gettime(children[i].clock, &used))
			sum_ns += used.tv_sec * 1000000000ll + used.tv_nsec;
	}
	return sum_ns;
}

/* An end that waits wakes a few times a second to see whether anything moves; a stopped one does
 * not. */
static bool stands_still(const struct child *children, int count, int64_t now)
{
	int64_t used = used_ns(children, count);

	if (!state.moved_ms || used != state.used_ns)
		state.moved_ms = now;
	state.used_ns = used;
	return now - state.moved_ms > state.bounds.still_ms;
}

void ending_step(struct child *children, int count)
{
	const struct ending_bounds *most = &state.bounds;
	int64_t now = monotonic_ms();
	bool still = stands_still(children, count, now);

	note_ends(children, count, now);
	heed_signal(children, count, now);
	if (state.failed_ms && now - state.failed_ms > FAILED_MS) {
		tell_to_end(children, count, state.failed_ms + FAILED_MS, now);
	} else if (state.alone_ms && now - state.alone_ms > most->alone_ms) {
		fail("one end had not ended", most->alone_ms, " after the other");
		tell_to_end(children, count, state.alone_ms + most->alone_ms, now);
	} else if (state.late_ms && now > state.late_ms) {
		fail("the ends had not ended", most->late_ms, " after their time");
		tell_to_end(children, count, state.late_ms, now);
	} else if (still) {
		fail("neither end moved for", most->still_ms, "");
		tell_to_end(children, count, state.moved_ms + most->still_ms, now);
	}
}
