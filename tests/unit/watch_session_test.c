// SPDX-License-Identifier: GPL-2.0
/* A watch shows each interval once, and ends by its time, a signal or the end of what it watches. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/common/clock.h"
#include "userspace/watch/session.h"

/* In place of the window of the library: nothing is loaded. */
static int alive, readings, reading_fails_at, reading_takes_ms;

int watch_wait(struct watch *w, int timeout_ms, int other)
{
	sleep_ns(timeout_ms * NS_PER_MS);
	return alive;
}

int watch_read(struct watch *w, struct watch_record *r)
{
	uint64_t began_ns = processor_ns();

	while (processor_ns() - began_ns < reading_takes_ms * NS_PER_MS)
		;
	*r = (struct watch_record){ .id = "named", .lately_ns = NS_PER_S, .window_ns = NS_PER_S };
	return ++readings == reading_fails_at ? -EIO : 0;
}

int watch_read_last(struct watch *w, struct watch_record *r)
{
	return watch_read(w, r);
}


struct made {
	struct watch_options options;
	struct session session;
	struct reader reader;
	struct watch_record r;
	char *text;
	size_t bytes;
};

static struct made m;

static int forget(void **state)
{
	free(m.text);
	m.text = NULL;
	return 0;
}

#define TEST_OF_SESSION(name) TEST_BETWEEN(name, NULL, forget)

static void made(double seconds, double interval)
{
	forget(NULL);
	m = (struct made){ .options = { .seconds = seconds, .interval = interval, .top = 10,
					 .rows = ROWS_PROCESSES } };
	m.session.options = &m.options;
	m.session.reader = &m.reader;
	m.reader.keys = -1;
	m.reader.out = open_memstream(&m.text, &m.bytes);
	assert_non_null(m.reader.out);
	alive = 1;
	readings = reading_fails_at = reading_takes_ms = 0;
}

static void expect(const char *reason, int least, int most)
{
	assert_int_equal(session_run(&m.session, &m.r), 0);
	assert_string_equal(m.session.ending.reason, reason);
	assert_in_range(readings, least, most);
	fclose(m.reader.out);
}

static int count(const char *text, const char *what)
{
	int found = 0;

	for (; (text = strstr(text, what)); text++)
		found++;
	return found;
}

TEST_OF_SESSION(it_ends_when_its_time_is_over)
{
	uint64_t began = monotonic_ns();

	made(0.2, 0);
	expect("seconds", 1, 1);
	assert_in_range(monotonic_ns() - began, 200 * NS_PER_MS, 20 * NS_PER_S);
	assert_string_equal(m.text, "");
}

TEST_OF_SESSION(each_interval_is_told_to_the_reader)
{
	made(0.8, 0.1);
	/* A busy machine may miss some; they are not made up for. */
	expect("seconds", 2, 9);
	assert_int_equal(count(m.text, "{\"interval\":"), readings - 1);
}

/* 10 ms of each 0.6 s at most: metrics are read on time. */
TEST_OF_SESSION(a_live_view_whose_readings_take_long_has_longer_intervals)
{
	struct view view = {};

	made(1.5, 0.1);
	m.session.view = &view;
	reading_takes_ms = 10;
	expect("seconds", 2, 4);
}

TEST_OF_SESSION(it_ends_with_what_it_watches)
{
	made(0, 0);
	alive = 0;
	expect("subject ended", 1, 1);
}

TEST_OF_SESSION(each_interval_is_a_line_where_records_are_asked_for)
{
	char *words[] = { "copyscope", "watch", NULL };

	made(0.8, 0.1);
	strcpy(m.options.asked, "1");
	m.session.lines.out = m.reader.out;
	m.session.words = words;
	expect("seconds", 2, 9);
	assert_int_equal(count(m.text, "\n"), readings - 1);
	assert_int_equal(count(m.text, "\"ended_by\":\"nothing yet\""), readings - 1);
	assert_int_equal(count(m.text, "\"id\":\"named\""), readings - 1);
}

/* The last one is of what the last reading adds. */
TEST_OF_SESSION(each_reading_is_a_line_of_what_moved)
{
	made(0.8, 0.1);
	m.session.reader = NULL;
	m.session.deltas.out = m.reader.out;
	expect("seconds", 2, 9);
	assert_int_equal(count(m.text, "\n"), readings);
	assert_int_equal(count(m.text, "\"ended_by\":null"), readings - 1);
	assert_int_equal(count(m.text, "\"ended_by\":\"seconds\""), 1);
}

/* A full disk, a pipe whose reader left, a terminal that is gone. */
TEST_OF_SESSION(what_cannot_be_written_costs_no_reading)
{
	FILE *full = fopen("/dev/full", "w");

	made(60, 0.1);
	m.session.deltas.out = full;
	expect("interrupted", 2, 2);
	assert_int_equal(m.session.deltas_lost, -ENOSPC);
	made(60, 0.1);
	fclose(m.reader.out);
	m.reader.out = full;
	expect("interrupted", 2, 2);
	assert_int_equal(m.session.output_lost, -ENOSPC);
}

/* Ports and namespaces have no processes that could be counted. */
TEST_OF_SESSION(what_has_no_number_does_not_end)
{
	made(0.1, 0);
	alive = -1;
	expect("seconds", 1, 1);
}

TEST_OF_SESSION(a_signal_ends_it_in_order)
{
	bool from_process;

	made(0, 0);
	end_signals_note();
	raise(SIGTERM);
	expect("interrupted", 1, 1);
	assert_int_equal(end_signals_next(&from_process), 0);
}

static void expect_failure(double seconds, double interval, int at)
{
	made(seconds, interval);
	reading_fails_at = at;
	assert_int_equal(session_run(&m.session, &m.r), -EIO);
	fclose(m.reader.out);
}

TEST(a_reading_that_fails_is_told)
{
	expect_failure(0, 0.1, 2);
	expect_failure(0.1, 0, 1);
}

static struct watch_record found(uint64_t referenced, uint64_t late)
{
	struct watch_record r = { .law_count = WATCH_LAW_COUNT, .total = watch_sum_of_nothing() };

	r.total.moved.site[SITE_tx_reference].bytes = referenced;
	r.total.moved.site[SITE_late_copy].bytes = late;
	return r;
}

TEST(it_fails_on_what_is_asked_for)
{
	const struct watch_options none = {}, broken = { .fail_on = true };
	const struct watch_options needless = { .fail_on = true, .fail_on_needless = true,
						.needless_most = 10 };
	struct watch_record r = found(1000, 100);

	assert_false(fail_on_found(&broken, &r));
	assert_false(fail_on_found(&needless, &r));
	r = found(1000, 101);
	assert_false(fail_on_found(&broken, &r));
	assert_true(fail_on_found(&needless, &r));
	r.laws[WATCH_LAW_completion].status = LAW_BROKEN;
	assert_true(fail_on_found(&broken, &r));
	assert_false(fail_on_found(&none, &r));
	/* What is not known must not pass. */
	r = found(1000, 0);
	r.total.moved.sites_known &= ~(1u << SITE_late_copy);
	assert_true(fail_on_found(&needless, &r));
	assert_false(fail_on_found(&broken, &r));
	r = found(1000, 0);
	r.unseen_events = 1;
	assert_true(fail_on_found(&needless, &r));
}
