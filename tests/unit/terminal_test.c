// SPDX-License-Identifier: GPL-2.0
/* A page is as wide as its terminal, within bounds, and has colours only where they are wanted. */
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/common/terminal.h"

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

TEST_BETWEEN(a_page_is_as_wide_as_its_terminal, setup, teardown)
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

TEST_BETWEEN(colours_are_for_terminals_that_know_them, setup, teardown)
{
	assert_true(terminal_colours(slave, COLOUR_AUTO));
	assert_false(terminal_colours(ends[1], COLOUR_AUTO));
	setenv("TERM", "dumb", 1);
	assert_false(terminal_colours(slave, COLOUR_AUTO));
	unsetenv("TERM");
	assert_false(terminal_colours(slave, COLOUR_AUTO));
}

TEST_BETWEEN(no_color_refuses_them_unless_it_is_empty, setup, teardown)
{
	setenv("NO_COLOR", "1", 1);
	assert_false(terminal_colours(slave, COLOUR_AUTO));
	setenv("NO_COLOR", "", 1);
	assert_true(terminal_colours(slave, COLOUR_AUTO));
}

TEST_BETWEEN(what_is_asked_for_comes_first, setup, teardown)
{
	assert_false(terminal_colours(slave, COLOUR_NEVER));
	setenv("NO_COLOR", "1", 1);
	assert_true(terminal_colours(ends[1], COLOUR_ALWAYS));
}
