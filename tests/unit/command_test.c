// SPDX-License-Identifier: GPL-2.0
/* A watched command starts when it is released, as its caller, and its end is told in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

#include "userspace/watch/command/command.h"

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

static void its_status_is_that_of_a_shell(void **state)
{
	assert_int_equal(run("exit 7"), 7);
	assert_int_equal(run("true"), 0);
	assert_int_equal(run("kill -9 $$"), 128 + SIGKILL);
}

static void nothing_runs_before_the_release(void **state)
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

static void it_has_the_number_that_was_told_before(void **state)
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

static void what_it_leaves_behind_is_waited_for(void **state)
{
	assert_int_equal(run("(sleep 0.3; echo late > \"$1\") & exit 3"), 3);
	assert_string_equal(content(), "late\n");
}

static void what_is_not_there_has_the_status_of_env(void **state)
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

static void a_signal_reaches_it(void **state)
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
static void it_outlives_the_tool(void **state)
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
static void a_keeper_that_is_killed_is_no_end(void **state)
{
	char *argv[] = { "/bin/sh", "-c", "sleep 0.3; echo lived > \"$1\"", "sh", file, NULL };
	struct command c;

	assert_int_equal(command_start(&c, argv, false), 0);
	assert_int_equal(command_release(&c, *argv), 0);
	kill(c.keeper, SIGKILL);
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

static void under_sudo_it_is_the_callers(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(its_status_is_that_of_a_shell, new_file, remove_file),
		cmocka_unit_test_setup_teardown(nothing_runs_before_the_release, new_file, remove_file),
		cmocka_unit_test_setup_teardown(it_has_the_number_that_was_told_before, new_file, remove_file),
		cmocka_unit_test_setup_teardown(what_it_leaves_behind_is_waited_for, new_file, remove_file),
		cmocka_unit_test(what_is_not_there_has_the_status_of_env),
		cmocka_unit_test(a_signal_reaches_it),
		cmocka_unit_test_setup_teardown(it_outlives_the_tool, new_file, remove_file),
		cmocka_unit_test_setup_teardown(a_keeper_that_is_killed_is_no_end, new_file, remove_file),
		cmocka_unit_test_setup_teardown(under_sudo_it_is_the_callers, new_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
