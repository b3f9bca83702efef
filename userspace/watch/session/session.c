// SPDX-License-Identifier: GPL-2.0
/* Runs a watch: when it reads, what it shows meanwhile, what ends it. */
#include "userspace/watch/session/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/watch/report/report.h"
#include "userspace/watch/session/end_signals.h"

/* Keys are obeyed, and ends noticed, within this time. */
enum { STEP_MS = 50 };

struct progress {
	struct watch_record latest;	/* the last reading of an interval */
	int64_t next_ms, end_ms;	/* of the interval; 0: none */
	bool told_rest;
};

/* A record that names the watch that it is of. */
static int session_read(struct session *s, struct watch_record *r)
{
	int err = watch_read(s->window, r);

	if (err)
		return err;
	memcpy(r->id, s->id, sizeof(r->id));
	memcpy(r->started, s->started, sizeof(r->started));
	r->machine = *s->machine;
	return 0;
}

static int draw(struct session *s, const struct progress *p)
{
	/* Before the first interval is over there is nothing to show. */
	return p->latest.lately_ns ? view_draw(s->view, &p->latest) : 0;
}

static int show(struct session *s, struct progress *p)
{
	if (s->view)
		return s->view->paused ? 0 : draw(s, p);
	if (s->lines)
		return watch_json_line(&p->latest, s->options, s->words, &s->ending, s->lines);
	watch_block_print(&p->latest, &s->blocks);
	return 0;
}

static int read_interval(struct session *s, struct progress *p)
{
	int err;

	watch_record_free(&p->latest);
	err = session_read(s, &p->latest);
	return err ? err : show(s, p);
}

/* The terminal is given back while the tool is stopped. */
static int stop(struct session *s, struct progress *p)
{
	int err = screen_hide(&s->view->screen);

	kill(getpid(), SIGSTOP);
	if (!err)
		err = screen_show(&s->view->screen);
	return err ? err : draw(s, p);
}

/* True if a key ends the watch. */
static bool obey_keys(struct session *s, struct progress *p, int *err)
{
	int key;

	while (!*err && (key = screen_key())) {
		switch (view_key(s->view, key)) {
		case VIEW_NOTHING:
			break;
		case VIEW_DRAW:
			*err = draw(s, p);
			break;
		case VIEW_STOP:
			*err = stop(s, p);
			break;
		case VIEW_QUIT:
			return true;
		}
	}
	return false;
}

/* A command gets what was meant for it: Ctrl-C by the terminal, others from here. What it leaves
 * running is not waited for after a signal. */
static bool signal_ends(struct session *s)
{
	int signal = end_signals_next();

	if (!signal)
		return false;
	if (!s->command || s->command->ended)
		return true;
	if (signal != SIGINT)
		command_signal(s->command, signal);
	return false;
}

/* Of a command the keeper knows; of other processes the window does. */
static bool all_ended(struct session *s, struct progress *p, int alive)
{
	if (!s->command)
		return !alive;
	if (!command_runs(s->command))
		return true;
	if (s->command->ended && !p->told_rest && isatty(STDERR_FILENO)) {
		p->told_rest = true;
		fprintf(stderr, "copyscope watch: the command has ended, processes that it started have "
			"not: Ctrl-C ends the watch\n");
	}
	return false;
}

/* Why the watch ends now; NULL: it goes on. */
static const char *reason_to_end(struct session *s, struct progress *p, int alive, int *err)
{
	if (signal_ends(s))
		return "interrupted";
	if (s->view && obey_keys(s, p, err))
		return "interrupted";
	if (all_ended(s, p, alive))
		return "subject ended";
	return p->end_ms && monotonic_ms() >= p->end_ms ? "seconds" : NULL;
}

static int step_ms(const struct progress *p)
{
	int64_t now = monotonic_ms(), left = STEP_MS;

	if (p->next_ms && p->next_ms - now < left)
		left = p->next_ms - now;
	if (p->end_ms && p->end_ms - now < left)
		left = p->end_ms - now;
	return left > 0 ? left : 0;
}

/* An interval that took too long is not made up for. */
static int pass_interval(struct session *s, struct progress *p)
{
	int64_t now = monotonic_ms();
	int64_t every = s->options->interval * 1000;
	int err;

	if (!p->next_ms || now < p->next_ms)
		return 0;
	err = read_interval(s, p);
	p->next_ms += every;
	if (p->next_ms <= now)
		p->next_ms = now + every;
	return err;
}

static int go_on(struct session *s, struct progress *p)
{
	int err = 0, alive;

	while (!err && !s->ending.reason) {
		alive = watch_wait(s->window, step_ms(p));
		if (alive < -1 && alive != -EINTR)
			return alive;
		err = pass_interval(s, p);
		if (!err)
			s->ending.reason = reason_to_end(s, p, alive, &err);
	}
	return err;
}

int session_run(struct session *s, struct watch_record *r)
{
	const struct watch_options *o = s->options;
	int64_t now = monotonic_ms();
	struct progress p = { .next_ms = o->interval && !o->quiet ? now + o->interval * 1000 : 0,
			      /* The clock is cut to whole milliseconds: never end early. */
			      .end_ms = o->seconds ? now + o->seconds * 1000 + 1 : 0 };
	int err = s->view ? screen_show(&s->view->screen) : 0;

	if (!err)
		err = go_on(s, &p);
	if (s->view)
		screen_close(&s->view->screen);
	watch_record_free(&p.latest);
	if (!err)
		err = session_read(s, r);
	if (s->command) {
		s->ending.status_known = s->command->ended;
		s->ending.status = s->command->status;
	}
	return err;
}
