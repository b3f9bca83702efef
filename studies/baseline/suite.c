// SPDX-License-Identifier: GPL-2.0
/* Runs the rows that were asked for: all proofs first, then rounds of timing. */
#include "studies/baseline/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "studies/baseline/bench/machine.h"
#include "studies/baseline/families/families.h"
#include "studies/baseline/measure.h"
#include "userspace/common/clock.h"

enum { BUSY_PERCENT = 10, STOLEN_PERCENT = 2 };

static double now_s(void)
{
	return monotonic_ns() / 1e9;
}

static bool is_known(const char *name)
{
	const struct settings one = { .only = { name }, .only_count = 1 };

	for (const struct family *const *f = families; *f; f++)
		for (int i = 0; i < (*f)->count; i++)
			if (settings_want(&one, (*f)->name, (*f)->rows[i].name))
				return true;
	return false;
}

void suite_check_names(const struct settings *s)
{
	for (int i = 0; i < s->only_count; i++)
		if (!is_known(s->only[i]))
			settings_refuse("--only '%s' is no row and no family; --list names them",
					s->only[i]);
}

void suite_arrange(struct suite *s)
{
	int most = 0;

	for (const struct family *const *f = families; *f; f++)
		most += (*f)->count;
	s->rows = calloc(most, sizeof(*s->rows));
	if (!s->rows)
		abort();
	for (const struct family *const *f = families; *f; f++)
		for (int i = 0; i < (*f)->count; i++)
			if (settings_want(&s->settings, (*f)->name, (*f)->rows[i].name))
				s->rows[s->row_count++] = (struct outcome){
					.family = *f, .row = &(*f)->rows[i],
				};
}

/* A bar of all that is proved and timed: @done rows before this one. */
static void tell(const struct suite *s, const char *doing, int at, int done)
{
	static const char full[] = "########################", none[] = "........................";
	int steps = s->row_count * (1 + s->settings.protocol.rounds), bar = sizeof(full) - 1;
	int part = bar * done / steps;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K[%.*s%.*s] %s %d of %d: %s", part, full, bar - part, none, doing, at + 1,
			s->row_count, s->rows[at].row->name);
}

static void prove(struct suite *s, struct outcome *o)
{
	double from;

	if (o->family->root && geteuid()) {
		o->status = NOT_MEASURED;
		snprintf(o->why, sizeof(o->why), "needs root: run it with sudo");
		return;
	}
	from = now_s();
	measure_prove(o, &s->settings.protocol, &s->machine);
	o->seconds += now_s() - from;
}

/* One sentence for all rows, and the worst of them. */
static void warn_of_waits(struct suite *s)
{
	const struct outcome *worst = NULL;
	int waited = 0;

	for (int i = 0; i < s->row_count; i++) {
		const struct outcome *o = &s->rows[i];

		if (o->row->takes_turns || !(o->waited * 100 > BUSY_PERCENT))
			continue;
		waited++;
		worst = worst && worst->waited > o->waited ? worst : o;
	}
	if (worst)
		warnings_add(&s->warnings, "%d of %d rows waited for a CPU for more than %d %% of their time "
			   "(%s: %.0f %%): a busy neighbour or a limit", waited, s->row_count,
			   BUSY_PERCENT, worst->row->name, worst->waited * 100);
	s->stolen = interference_stolen();
	if (s->stolen * 100 > STOLEN_PERCENT)
		warnings_add(&s->warnings, "the hypervisor gave %.0f %% of the CPU time to others",
			   s->stolen * 100);
}

static bool shows_levels(const struct row *row)
{
	return row->shows_levels;
}

static bool shows_clock(const struct row *row)
{
	return row->shows_clock;
}

/* The row that shows it: as it is measured here, or just for that. */
static struct outcome *shower(struct suite *s, bool (*shows)(const struct row *row),
			      struct outcome *other)
{
	for (int i = 0; i < s->row_count; i++)
		if (shows(s->rows[i].row))
			return &s->rows[i];
	for (const struct family *const *f = families; *f; f++)
		for (int i = 0; i < (*f)->count; i++)
			if (shows(&(*f)->rows[i]))
				*other = (struct outcome){ .family = *f, .row = &(*f)->rows[i] };
	return other;
}

static void find_levels(struct suite *s)
{
	double from = now_s();
	struct outcome *curve, other;
	bool needed = false;

	for (int i = 0; i < s->row_count; i++)
		needed = needed || s->rows[i].family->needs_levels;
	if (!needed)
		return;
	curve = shower(s, shows_levels, &other);
	measure_levels(curve, &s->settings.protocol, &s->machine);
	curve->seconds += now_s() - from;
}

/* After the rounds: the row's number, if it was asked for, else that of a few runs. */
static void find_clock(struct suite *s)
{
	struct outcome other, *clock = shower(s, shows_clock, &other);

	if (clock == &other)
		measure_clock(clock, &s->settings.protocol, &s->machine);
	else if (clock->spread.n)
		s->machine.core_ghz = clock->spread.median;
}

void suite_run(struct suite *s)
{
	double from = now_s(), began;

	find_levels(s);
	for (int i = 0; i < s->row_count; i++) {
		tell(s, "proving", i, i);
		prove(s, &s->rows[i]);
	}
	for (int round = 0; round < s->settings.protocol.rounds; round++)
		for (int i = 0; i < s->row_count; i++) {
			tell(s, "timing", i, (round + 1) * s->row_count + i);
			began = now_s();
			measure_time(&s->rows[i], &s->settings.protocol, &s->machine);
			s->rows[i].seconds += now_s() - began;
		}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	for (int i = 0; i < s->row_count; i++)
		measure_sum(&s->rows[i]);
	find_clock(s);
	warn_of_waits(s);
	s->seconds = now_s() - from;
}

void suite_free(struct suite *s)
{
	free(s->rows);
}
