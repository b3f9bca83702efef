// SPDX-License-Identifier: GPL-2.0
/* A page is as wide as its terminal, within bounds, and has colours only where they are wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include "userspace/common/terminal/terminal.h"

static int master, slave, ends[2];

static int setup(void **state)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	return openpty(&master, &slave, NULL, NULL, NULL) || pipe(ends);
}

static int teardown(void **state)
{
	close(master);
	close(slave);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int columns_at(int wide)
{
	struct winsize size = { .ws_col = wide, .ws_row = 24 };

	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	return terminal_columns(slave);
}

static void a_page_is_as_wide_as_its_terminal(void **state)
{
	assert_int_equal(columns_at(80), 80);
	assert_int_equal(columns_at(101), 101);
	assert_int_equal(columns_at(20), TERMINAL_COLUMNS_LEAST);
	assert_int_equal(columns_at(500), TERMINAL_COLUMNS_MOST);
	/* A terminal that does not know, a pipe, nothing. */
	assert_int_equal(columns_at(0), 80);
	assert_int_equal(terminal_columns(ends[1]), 80);
	assert_int_equal(terminal_columns(-1), 80);
	setenv("COLUMNS", "110", 1);
	assert_int_equal(terminal_columns(ends[1]), 110);
	assert_int_equal(columns_at(101), 101);
	setenv("COLUMNS", "none", 1);
	assert_int_equal(terminal_columns(ends[1]), 80);
}

static void colours_are_for_terminals_that_know_them(void **state)
{
	assert_true(terminal_colours(slave, COLOUR_AUTO));
	assert_false(terminal_colours(ends[1], COLOUR_AUTO));
	setenv("TERM", "dumb", 1);
	assert_false(terminal_colours(slave, COLOUR_AUTO));
	unsetenv("TERM");
	assert_false(terminal_colours(slave, COLOUR_AUTO));
}

static void no_color_refuses_them_unless_it_is_empty(void **state)
{
	setenv("NO_COLOR", "1", 1);
	assert_false(terminal_colours(slave, COLOUR_AUTO));
	setenv("NO_COLOR", "", 1);
	assert_true(terminal_colours(slave, COLOUR_AUTO));
}

static void what_is_asked_for_comes_first(void **state)
{
	assert_false(terminal_colours(slave, COLOUR_NEVER));
	setenv("NO_COLOR", "1", 1);
	assert_true(terminal_colours(ends[1], COLOUR_ALWAYS));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_page_is_as_wide_as_its_terminal),
		TEST(colours_are_for_terminals_that_know_them),
		TEST(no_color_refuses_them_unless_it_is_empty),
		TEST(what_is_asked_for_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
