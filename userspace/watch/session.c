// SPDX-License-Identifier: GPL-2.0
/* Runs a watch: when it reads, what it shows until then, what ends it, whether it fails by what it found. */
#include "userspace/watch/session.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/text.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/interval_json.h"

/* A reader on another host says every 10 s that it is there: a connection that is silent for so long is lost. */
enum { SILENT_MS = 60000 };

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

/* From now on SIGTSTP is noted: the terminal is given back first. */
static void stop_signal_note(void)
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

/* True if SIGTSTP came since the last call. */
static bool stop_signal_next(void)
{
	bool came = stop_noted;

	stop_noted = 0;
	return came;
}

/* Keys and ends wake the tool, but for a signal that comes as it falls asleep. */
enum { IDLE_MS = 600 };

struct progress {
	int64_t next_ms, end_ms;	/* of the interval; 0: none */
	bool told_rest;
};

enum { LIVE_ROWS = 200 };

/* Before the first interval is over there is nothing to show. */
static int draw(struct session *s)
{
	const struct watch_options *o = s->options;
	bool every = s->view && s->view->every, detail = s->view && s->view->detail;
	/* A screen may be high. */
	int top = every ? WATCH_ROWS_MAX : s->view && !o->top_asked ? LIVE_ROWS : o->top;
	enum watch_rows rows = s->view ? s->view->rows : o->rows;
	enum rows_order order = s->view ? s->view->order : o->order;

	if (!s->latest.lately_ns)
		return 0;
	return reader_tell(s->reader, json_pack("{s:o, s:b}", "interval", interval_json(&s->latest, rows, order, top, detail),
						"paused", s->view && s->view->paused));
}

/* Where nothing more can be written, nothing more is tried; a command goes on all the same. */
static void note_output(struct session *s, int err)
{
	if (err && !s->output_lost)
		s->output_lost = err;
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
	if (s->lines.out)
		note_output(s, watch_json_line(&s->lines, &s->latest, o, s->words, &s->ending));
	else if (s->reader && !(s->view && s->view->paused))
		note_output(s, draw(s));
}

static int read_interval(struct session *s)
{
	int err = watch_read(s->window, &s->latest);

	if (!err)
		show(s);
	return err;
}

/* The reader has given the terminal back. On another host it stops by itself, if it does. */
static int stop(struct session *s)
{
	int err;

	if (!s->reader->far)
		kill(getpid(), SIGSTOP);
	err = reader_tell(s->reader, json_pack("{s:b}", "go", true));
	return err ? err : draw(s);
}

/* True if a key ends the watch. */
static bool obey_keys(struct session *s)
{
	int64_t now = monotonic_ms();
	int key;

	if (s->reader->far && s->heard_ms && now - s->heard_ms > SILENT_MS)
		note_output(s, -ETIMEDOUT);
	while (!s->output_lost && (key = reader_key(s->reader))) {
		s->heard_ms = now;
		if (key < 0) {
			note_output(s, -EPIPE);
			break;
		}
		switch (s->view ? view_key(s->view, key) : VIEW_NOTHING) {
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

/* Of a reader on another host the end of the connection comes the same way. */
static bool has_keys(const struct session *s)
{
	return s->view || (s->reader && s->reader->far);
}

/* True if a key ends the watch. */
static bool serve_view(struct session *s)
{
	if (stop_signal_next())
		note_output(s, reader_tell(s->reader, json_pack("{s:b}", "stop", true)));
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

/* Of a command its subreaper knows; of other processes, or without it, the window does. */
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
	if (has_keys(s) && serve_view(s))
		return "interrupted";
	if (all_ended(s, p, alive))
		return "subject ended";
	return p->end_ms && monotonic_ms() >= p->end_ms ? "seconds" : NULL;
}

static int step_ms(const struct progress *p)
{
	int64_t now = monotonic_ms(), left = IDLE_MS;

	if (p->next_ms && p->next_ms - now < left)
		left = p->next_ms - now;
	if (p->end_ms && p->end_ms - now < left)
		left = p->end_ms - now;
	return left > 0 ? left : 0;
}

/* What is looked at is read more seldom where a reading of many sockets takes longer: readings and rows take some 2 % of
 * a processor at most. */
enum { REST_SHARE = 66 };

/* An interval that took too long is not made up for. */
static int pass_interval(struct session *s, struct progress *p)
{
	int64_t now = monotonic_ms(), every = s->options->interval * 1000, rest;
	uint64_t began_ns = processor_ns();
	int err;

	if (!p->next_ms || now < p->next_ms)
		return 0;
	err = read_interval(s);
	rest = REST_SHARE * (processor_ns() - began_ns) / NS_PER_MS;
	if (s->view && every < rest)
		every = rest;
	p->next_ms += every;
	if (p->next_ms <= now)
		p->next_ms = now + every;
	return err;
}

/* What can be read when the command ends, or a key was typed: no command has a view. -1: nothing. */
static int news_of(const struct session *s)
{
	if (has_keys(s))
		return s->reader->keys;
	return s->command && !s->command->lost ? s->command->channel : -1;
}

static int go_on(struct session *s, struct progress *p)
{
	int err = 0, alive;

	while (!err && !s->ending.reason) {
		alive = watch_wait(s->window, step_ms(p), news_of(s));
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
	int err = watch_read_last(s->window, r);

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

	if (s->view)
		stop_signal_note();
	err = go_on(s, &p);
	watch_record_free(&s->latest);
	err = err ? err : finish(s, r);
	line_notes_free(&s->deltas.notes);
	return err;
}

static bool broken(const struct watch_record *r)
{
	int laws = watch_laws_broken(r);

	if (laws)
		fprintf(stderr, "copyscope watch: --fail-on: %d law%s broken\n", laws,
			laws == 1 ? " is" : "s are");
	return laws;
}

/* What cannot be known must not pass. */
static bool tell_unknown(const char *what, const char *why)
{
	fprintf(stderr, "copyscope watch: --fail-on needless: not measured: %s: %s\n", what, why);
	return true;
}

/* What send took by reference or spliced, and what it copied although it was asked not to. */
static uint64_t intended_bytes(const struct watch_movements *m, struct figure needless)
{
	uint64_t referenced = m->site[SITE_tx_reference].bytes;
	uint64_t later = figure_copied_later(m).bytes;

	return referenced + m->site[SITE_tx_splice].bytes + needless.bytes -
	       (later < referenced ? later : referenced);
}

static bool too_much(const struct watch_options *o, const struct watch_record *r)
{
	const struct watch_movements *m = &r->total.moved;
	struct figure needless = figure_needless(m), unknown = figure_unknown(m);
	uint64_t intended = intended_bytes(m, needless);
	double most = o->needless_most * intended / 100;
	char copied[16], all[16], why[WHY_BYTES];

	if (watch_sums_short(r, why))
		return tell_unknown("sums may be short", why);
	if (!needless.known || !unknown.known)
		return tell_unknown("a number is not known", "the report says which, and why");
	if (needless.bytes <= most && needless.bytes + unknown.bytes > most)
		return tell_unknown("too many bytes", "nobody knows whether they were copied behind the socket");
	if (needless.bytes <= most)
		return false;
	bytes_text(needless.bytes, copied);
	bytes_text(intended, all);
	fprintf(stderr, "copyscope watch: --fail-on needless=%g: %s of %s that were to be sent without a "
		"copy were copied, %.1f %%\n", o->needless_most, copied, all,
		needless.bytes * 100.0 / intended);
	return true;
}

bool fail_on_found(const struct watch_options *o, const struct watch_record *r)
{
	bool failed = o->fail_on && broken(r);

	return (o->fail_on_needless && too_much(o, r)) || failed;
}
