// SPDX-License-Identifier: GPL-2.0
/* Runs a watch: when it reads, what it shows until then, what ends it. */
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

static int draw(struct session *s)
{
	/* Before the first interval is over there is nothing to show. */
	return s->latest.lately_ns ? view_draw(s->view, &s->latest) : 0;
}

/* Where nothing more can be written, nothing more is tried; a command goes on all the same. */
static void note_output(struct session *s, int err)
{
	if (err && !s->output_lost)
		s->output_lost = err;
}

static int block(struct session *s)
{
	watch_block_print(&s->latest, &s->blocks);
	return ferror(s->blocks.out) ? -EIO : 0;
}

static void write_delta(struct session *s, const struct watch_record *r)
{
	if (s->deltas.out && !s->deltas_lost)
		s->deltas_lost = watch_delta_write(&s->deltas, r, &s->ending);
}

static void show(struct session *s)
{
	const struct watch_options *o = s->options;

	write_delta(s, &s->latest);
	if (s->output_lost)
		return;
	if (s->view)
		note_output(s, s->view->paused ? 0 : draw(s));
	else if (s->lines.out)
		note_output(s, watch_json_line(&s->lines, &s->latest, o, s->words, &s->ending));
	else if (!o->quiet && !s->to_stdout)
		note_output(s, block(s));
}

static int read_interval(struct session *s)
{
	int err;

	watch_record_free(&s->latest);
	err = session_read(s, &s->latest);
	if (!err)
		show(s);
	return err;
}

/* The terminal is given back while the tool is stopped. */
static int stop(struct session *s)
{
	int err = screen_hide(&s->view->screen);

	kill(getpid(), SIGSTOP);
	if (!err)
		err = screen_show(&s->view->screen);
	return err ? err : draw(s);
}

/* True if a key ends the watch. */
static bool obey_keys(struct session *s)
{
	int key;

	/* In the background the terminal's keys are another's. */
	while (!s->output_lost && s->view->screen.shown && (key = screen_key())) {
		switch (view_key(s->view, key)) {
		case VIEW_NOTHING:
			break;
		case VIEW_DRAW:
			note_output(s, draw(s));
			break;
		case VIEW_STOP:
			note_output(s, stop(s));
			break;
		case VIEW_QUIT:
			return true;
		}
	}
	return false;
}

/* True if a key ends the watch. What the terminal has not taken yet follows, also once it is in
 * front again. */
static bool serve_view(struct session *s)
{
	struct screen *screen = &s->view->screen;
	int err = 0;

	if (stop_signal_next())
		err = stop(s);
	if (!err && !screen->shown)
		err = screen_show(screen) ?: screen->shown ? draw(s) : 0;
	note_output(s, err ? err : screen_flush(screen));
	return obey_keys(s);
}

/* A command gets what was meant for it: Ctrl-C by the terminal, others from here. What it leaves
 * running is not waited for after a signal. */
static bool signal_ends(struct session *s)
{
	bool from_process;
	int signal = end_signals_next(&from_process);

	if (!signal)
		return false;
	if (!s->command || s->command->ended || s->command->lost)
		return true;
	if (signal != SIGINT || from_process)
		command_signal(s->command, signal);
	return false;
}

/* Of a command the keeper knows; of other processes, or without it, the window does. */
static bool all_ended(struct session *s, struct progress *p, int alive)
{
	bool runs = s->command && command_runs(s->command);

	if (!s->command || s->command->lost)
		return !alive;
	if (!runs)
		return true;
	if (s->command->ended && !p->told_rest && isatty(STDERR_FILENO)) {
		p->told_rest = true;
		fprintf(stderr, "copyscope watch: the command has ended, processes that it started have "
			"not: Ctrl-C ends the watch\n");
	}
	return false;
}

/* Why the watch ends now; NULL: it goes on. */
static const char *reason_to_end(struct session *s, struct progress *p, int alive)
{
	if (signal_ends(s) || ((s->output_lost || s->deltas_lost) && !s->command))
		return "interrupted";
	if (s->view && serve_view(s))
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
	err = read_interval(s);
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
			s->ending.reason = reason_to_end(s, p, alive);
	}
	return err;
}

/* The last reading follows whatever happened to what intervals were written to. */
static int finish(struct session *s, struct watch_record *r)
{
	int err = session_read(s, r);

	if (s->command) {
		s->ending.status_known = s->command->ended;
		s->ending.status = s->command->status;
	}
	if (!err)
		write_delta(s, r);
	return err;
}

int session_run(struct session *s, struct watch_record *r)
{
	const struct watch_options *o = s->options;
	bool intervals = o->interval && (!o->quiet || s->lines.out || s->deltas.out);
	int64_t now = monotonic_ms();
	struct progress p = { .next_ms = intervals ? now + o->interval * 1000 : 0,
			      /* The clock is cut to whole milliseconds: never end early. */
			      .end_ms = o->seconds ? now + o->seconds * 1000 + 1 : 0 };
	int err;

	if (s->view) {
		stop_signal_note();
		note_output(s, screen_show(&s->view->screen));
	}
	err = go_on(s, &p);
	if (s->view)
		s->terminal_lost = !screen_close(&s->view->screen);
	watch_record_free(&s->latest);
	return err ? err : finish(s, r);
}
