// SPDX-License-Identifier: GPL-2.0
/* A watched command starts when it is released, as its caller, and its end is told in full. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/watch/command.h"

enum { PATIENCE_MS = 10000, NOBODY = 65534 };

static char file[64];

static int new_file(void **state)
{
	strcpy(file, "/tmp/copyscope-command-XXXXXX");
	close(mkstemp(file));
	return chmod(file, 0666);
}

static int remove_file(void **state)
{
	return unlink(file);
}

static void await_end(struct command *c)
{
	struct pollfd news = { .fd = c->channel, .events = POLLIN };

	while (command_runs(c))
		assert_int_equal(poll(&news, 1, PATIENCE_MS), 1);
}

/* Runs a line of shell to its end, and the end of all that it started; its status. */
static int run(const char *line)
{
	char *argv[] = { "/bin/sh", "-c", (char *)line, "sh", file, NULL };
	struct command c;

	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_release(&c, *argv), 0);
	await_end(&c);
	assert_true(c.ended);
	command_end(&c);
	return c.status;
}

static const char *content(void)
{
	static char text[256];
	int fd = open(file, O_RDONLY);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

TEST_BETWEEN(its_status_is_that_of_a_shell, new_file, remove_file)
{
	assert_int_equal(run("exit 7"), 7);
	assert_int_equal(run("true"), 0);
	assert_int_equal(run("kill -9 $$"), 128 + SIGKILL);
}

TEST_BETWEEN(nothing_runs_before_the_release, new_file, remove_file)
{
	char *argv[] = { "/bin/sh", "-c", "echo ran > \"$1\"", "sh", file, NULL };
	struct command c;

	assert_int_equal(command_start(&c, argv, false), 0);
	usleep(100000);
	assert_string_equal(content(), "");
	assert_int_equal(kill(c.pid, 0), 0);
	command_end(&c);
	assert_string_equal(content(), "");
}

TEST_BETWEEN(it_has_the_number_that_was_told_before, new_file, remove_file)
{
	char *argv[] = { "/bin/sh", "-c", "echo $$ > \"$1\"", "sh", file, NULL };
	struct command c;
	pid_t pid;

	assert_int_equal(command_start(&c, argv, false), 0);
	pid = c.pid;
	assert_int_equal(command_release(&c, *argv), 0);
	await_end(&c);
	command_end(&c);
	assert_int_equal(atoi(content()), pid);
}

TEST_BETWEEN(what_it_leaves_behind_is_waited_for, new_file, remove_file)
{
	assert_int_equal(run("(sleep 0.3; echo late > \"$1\") & exit 3"), 3);
	assert_string_equal(content(), "late\n");
}

TEST(what_is_not_there_has_the_status_of_env)
{
	char *argv[] = { "/no/such/program", NULL };
	struct command c;

	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_release(&c, *argv), -ENOENT);
	assert_int_equal(c.status, 127);
	command_end(&c);
	*argv = "/";
	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_release(&c, *argv), -EACCES);
	assert_int_equal(c.status, 126);
	command_end(&c);
}

TEST(a_signal_reaches_it)
{
	char *argv[] = { "/bin/sleep", "30", NULL };
	struct command c;

	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_release(&c, *argv), 0);
	command_signal(&c, SIGTERM);
	await_end(&c);
	assert_int_equal(c.status, 128 + SIGTERM);
	command_end(&c);
}

/* The tool dies; the command, which writes at its end, must not. */
TEST_BETWEEN(it_outlives_the_tool, new_file, remove_file)
{
	char *argv[] = { "/bin/sh", "-c", "sleep 0.3; echo lived > \"$1\"", "sh", file, NULL };
	pid_t tool = fork();

	if (!tool) {
		struct command c;

		if (!command_start(&c, argv, false) && !command_release(&c, *argv))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(tool, NULL, 0), tool);
	for (int i = 0; i < 100 && !*content(); i++)
		usleep(50000);
	assert_string_equal(content(), "lived\n");
}

/* Nobody knows then how it ends, and that it has is not true. */
TEST_BETWEEN(a_subreaper_that_is_killed_is_no_end, new_file, remove_file)
{
	char *argv[] = { "/bin/sh", "-c", "sleep 0.3; echo lived > \"$1\"", "sh", file, NULL };
	struct command c;

	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_release(&c, *argv), 0);
	kill(c.subreaper, SIGKILL);
	for (int i = 0; i < 100 && !c.lost; i++) {
		assert_true(command_runs(&c));
		usleep(50000);
	}
	assert_true(c.lost && !c.ended && !c.all_ended);
	for (int i = 0; i < 100 && !*content(); i++)
		usleep(50000);
	assert_string_equal(content(), "lived\n");
	command_end(&c);
}

TEST_BETWEEN(under_sudo_it_is_the_callers, new_file, remove_file)
{
	if (geteuid()) {
		print_message("skipped: not root, so nobody else can be become\n");
		skip();
	}
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	assert_int_equal(run("echo $(id -u) $(id -g) ${SUDO_UID-none} $USER > \"$1\""), 0);
	assert_string_equal(content(), "65534 65534 none nobody\n");
	setenv("SUDO_UID", "1x", 1);
	assert_int_equal(command_start(&(struct command){}, (char *[]){ "/bin/true", NULL }, false),
			 -EINVAL);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}
