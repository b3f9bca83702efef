// SPDX-License-Identifier: GPL-2.0
/* A live view gives the terminal back as it was, however the tool ends. */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/watch/screen.h"

enum { PATIENCE_MS = 5000, ROWS = 6, COLUMNS = 20 };

struct tool {
	int terminal;
	pid_t pid;
	struct termios was;
	char said[4096];
	size_t said_bytes;
};

/* Reads what the terminal was sent until @what is there. */
static void await(struct tool *t, const char *what)
{
	struct pollfd in = { .fd = t->terminal, .events = POLLIN };
	ssize_t got;

	while (!strstr(t->said, what)) {
		if (poll(&in, 1, PATIENCE_MS) != 1)
			fail_msg("'%s' never came", what + (*what == '\033'));
		got = read(t->terminal, t->said + t->said_bytes, sizeof(t->said) - 1 - t->said_bytes);
		if (got <= 0)
			fail_msg("the terminal is gone");
		t->said_bytes += got;
		t->said[t->said_bytes] = '\0';
	}
}

/* Draws one page and then what a key asks for: h to hide, s to show, x to exit, k to be killed. */
static void be_the_tool(void)
{
	static const char page[] = "head\n\xc3\xa4 line that is longer than the screen\nthird";
	struct screen s;
	int key = 0;

	if (!screen_possible() || screen_open(&s) || screen_show(&s) ||
	    screen_draw(&s, page, sizeof(page) - 1))
		_exit(1);
	while (key != 'x') {
		key = screen_key();
		if (key == 'h')
			screen_hide(&s);
		if (key == 's')
			screen_show(&s);
		if (key == 'k')
			kill(getpid(), SIGKILL);
		if (key < 0)
			_exit(2);
		usleep(1000);
	}
	screen_close(&s);
	_exit(0);
}

static void start(struct tool *t)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };

	*t = (struct tool){};
	setenv("TERM", "xterm", 1);
	t->pid = forkpty(&t->terminal, NULL, NULL, &size);
	if (!t->pid)
		be_the_tool();
	assert_true(t->pid > 0);
	assert_int_equal(tcgetattr(t->terminal, &t->was), 0);
}

static bool is_raw(const struct tool *t)
{
	struct termios now;

	return !tcgetattr(t->terminal, &now) && !(now.c_lflag & (ICANON | ECHO));
}

/* The restorer writes to the terminal first. */
static void expect_given_back(const struct tool *t)
{
	for (int i = 0; i < 500 && is_raw(t); i++)
		usleep(10000);
	assert_false(is_raw(t));
}

static void press(const struct tool *t, const char *keys)
{
	assert_int_equal(write(t->terminal, keys, strlen(keys)), strlen(keys));
}

static int finish(struct tool *t)
{
	int status;

	await(t, "\033[?25h\033[?1049l");
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	expect_given_back(t);
	close(t->terminal);
	return status;
}

TEST(it_clears_draws_and_gives_back)
{
	struct tool t;

	start(&t);
	await(&t, "third");
	assert_true(is_raw(&t));
	assert_non_null(strstr(t.said, "\033[?1049h\033[?25l"));
	/* Cut to the screen: a character of two bytes takes one column. */
	assert_non_null(strstr(t.said, "head\033[K\r"));
	assert_non_null(strstr(t.said, "\n\xc3\xa4 line that is longe\033[K\r"));
	press(&t, "x");
	assert_int_equal(finish(&t), 0);
}

TEST(it_gives_back_when_the_tool_is_killed)
{
	struct tool t;

	start(&t);
	await(&t, "third");
	press(&t, "k");
	assert_int_equal(WTERMSIG(finish(&t)), SIGKILL);
}

TEST(it_can_be_hidden_and_shown_again)
{
	struct tool t;

	start(&t);
	await(&t, "third");
	press(&t, "h");
	await(&t, "\033[?1049l");
	expect_given_back(&t);
	*t.said = '\0';
	t.said_bytes = 0;
	/* The terminal waits for whole lines now. */
	press(&t, "s\n");
	await(&t, "\033[?1049h");
	assert_true(is_raw(&t));
	press(&t, "x");
	assert_int_equal(finish(&t), 0);
}

/* Ctrl-S is no more than a key; a terminal whose other end is not read takes nothing for ever. */
TEST(it_never_waits_for_the_terminal)
{
	static char page[ROWS * COLUMNS];
	int status, stuck = 0;
	struct screen s;
	struct tool t;

	start(&t);
	await(&t, "third");
	press(&t, "\023h");
	await(&t, "\033[?1049l");
	press(&t, "x\n");
	assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
	assert_int_equal(status, 0);
	close(t.terminal);

	memset(page, 'x', sizeof(page));
	t.pid = forkpty(&t.terminal, NULL, NULL, NULL);
	if (!t.pid) {
		alarm(PATIENCE_MS / 1000);
		if (screen_open(&s) || screen_show(&s))
			_exit(1);
		/* What lies in its buffers makes room a little later. */
		for (int i = 0; i < 10000 && stuck < 100; i++) {
			if (screen_draw(&s, page, sizeof(page)))
				_exit(2);
			stuck = s.left ? stuck + 1 : 0;
			usleep(stuck * 100);
		}
		_exit(!s.left ? 3 : screen_close(&s) ? 4 : 0);
	}
	assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
	assert_int_equal(status, 0);
	close(t.terminal);
}

/* What is in front has the terminal. */
TEST(in_the_background_it_shows_nothing)
{
	struct screen s;
	struct tool t;
	pid_t other;
	int status;

	t.pid = forkpty(&t.terminal, NULL, NULL, NULL);
	if (!t.pid) {
		signal(SIGTTOU, SIG_IGN);
		other = fork();
		if (!other) {
			pause();
			_exit(0);
		}
		setpgid(other, other);
		if (tcsetpgrp(STDIN_FILENO, other) || screen_open(&s) || screen_show(&s) || s.shown ||
		    screen_draw(&s, "page", 4) || s.bytes)
			_exit(1);
		if (tcsetpgrp(STDIN_FILENO, getpgrp()) || screen_show(&s) || !s.shown)
			_exit(2);
		if (tcsetpgrp(STDIN_FILENO, other) || screen_draw(&s, "page", 4) || s.shown)
			_exit(3);
		kill(other, SIGKILL);
		_exit(screen_close(&s) ? 0 : 4);
	}
	assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
	assert_int_equal(status, 0);
	close(t.terminal);
}

TEST(a_dumb_terminal_and_a_pipe_are_none)
{
	setenv("TERM", "dumb", 1);
	assert_false(screen_possible());
	setenv("TERM", "", 1);
	assert_false(screen_possible());
}
