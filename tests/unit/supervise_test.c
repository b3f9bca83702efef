// SPDX-License-Identifier: GPL-2.0
/* Claims about tries: each is a child, a bounded number follow, signals reach it, it dies with us. */
#include <stdlib.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/run/supervise.h"

enum { WAIT_MS = 10000, STATUS = 3, REFUSED = 4 };

/* What the tries leave for the test to see; shared by all processes. */
struct tries_seen {
	int tries, fifo_tries, anew, said[8];
	pid_t pid[8];
	int ready[2];	/* a try writes a byte when it runs */
};

static struct tries_seen *seen;

static int note(const struct try *t, void *arg)
{
	const int *says = arg;

	seen->tries++;
	seen->fifo_tries += t->fifo;
	seen->pid[t->number] = getpid();
	return says[t->number - 1];
}

static int wait_for_ever(const struct try *t, void *arg)
{
	seen->pid[t->number] = getpid();
	if (write(seen->ready[1], "r", 1) == 1)
		pause();
	return STATUS;
}

static void on_signal(int number)
{
	_exit(40 + number);
}

static int end_in_order(const struct try *t, void *arg)
{
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	return wait_for_ever(t, arg);
}

/* What comes before another try: the second one may not be made. */
static int twice_at_most(void *arg)
{
	return ++seen->anew == 2 ? REFUSED : 0;
}

static int always(void *arg)
{
	return 0;
}

/* Runs the supervisor in a process of its own, as it changes how signals are handled. */
static pid_t supervised_by(int (*make)(const struct try *, void *), int (*anew)(void *), const int *says)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(supervise(make, anew, (void *)says));
	return pid;
}

static pid_t supervised(int (*make)(const struct try *, void *), const int *says)
{
	return supervised_by(make, always, says);
}

static int ended(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void await_try(void)
{
	struct pollfd wait = { .fd = seen->ready[0], .events = POLLIN };
	char byte;

	assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
	assert_int_equal(read(seen->ready[0], &byte, 1), 1);
}

static int setup(void **state)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return seen == MAP_FAILED ? -1 : pipe(seen->ready);
}

static int teardown(void **state)
{
	close(seen->ready[0]);
	close(seen->ready[1]);
	return munmap(seen, sizeof(*seen));
}

TEST_BETWEEN(a_try_is_a_child_and_its_status_is_ours, setup, teardown)
{
	static const int says[] = { STATUS };
	int status = ended(supervised(note, says));

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS);
	assert_int_equal(seen->tries, 1);
	assert_int_not_equal(seen->pid[1], 0);
}

TEST_BETWEEN(a_status_above_those_that_ask_is_ours_too, setup, teardown)
{
	static const int says[] = { 128 + SIGINT };

	assert_int_equal(WEXITSTATUS(ended(supervised(note, says))), 128 + SIGINT);
	assert_int_equal(seen->tries, 1);
}

TEST_BETWEEN(a_try_that_asks_for_it_is_followed_by_another_process, setup, teardown)
{
	static const int says[] = { TRY_AGAIN, TRY_AGAIN_FIFO, TRY_AGAIN, 0 };

	assert_int_equal(ended(supervised(note, says)), 0);
	assert_int_equal(seen->tries, 4);
	assert_int_equal(seen->fifo_tries, 2);
	assert_int_not_equal(seen->pid[1], seen->pid[2]);
}

TEST_BETWEEN(a_try_cannot_ask_for_ever, setup, teardown)
{
	static const int says[] = { TRY_AGAIN, TRY_AGAIN, TRY_AGAIN, TRY_AGAIN, TRY_AGAIN, 0 };

	assert_int_equal(WEXITSTATUS(ended(supervised(note, says))), 1);
	assert_int_equal(seen->tries, TRIES_MAX);
}

TEST_BETWEEN(what_comes_before_another_try_may_end_it, setup, teardown)
{
	static const int says[] = { TRY_AGAIN, TRY_AGAIN, TRY_AGAIN, 0 };

	assert_int_equal(WEXITSTATUS(ended(supervised_by(note, twice_at_most, says))), REFUSED);
	assert_int_equal(seen->tries, 2);
	assert_int_equal(seen->anew, 2);
}

TEST_BETWEEN(a_signal_reaches_the_try_which_ends_in_order, setup, teardown)
{
	static const int numbers[] = { SIGINT, SIGTERM };

	for (int i = 0; i < 2; i++) {
		pid_t pid = supervised(end_in_order, NULL);

		await_try();
		kill(pid, numbers[i]);
		assert_int_equal(WEXITSTATUS(ended(pid)), 40 + numbers[i]);
	}
}

TEST_BETWEEN(a_signal_that_kills_the_try_kills_us_too, setup, teardown)
{
	pid_t pid = supervised(wait_for_ever, NULL);
	int status;

	await_try();
	kill(pid, SIGTERM);
	status = ended(pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

TEST_BETWEEN(a_try_that_is_killed_is_a_failure, setup, teardown)
{
	pid_t pid = supervised(wait_for_ever, NULL);

	await_try();
	kill(seen->pid[1], SIGKILL);
	assert_int_equal(WEXITSTATUS(ended(pid)), 1);
}

TEST_BETWEEN(a_try_dies_with_us, setup, teardown)
{
	pid_t pid = supervised(wait_for_ever, NULL);
	int left_ms = WAIT_MS;

	await_try();
	kill(pid, SIGKILL);
	ended(pid);
	while (!kill(seen->pid[1], 0) && left_ms--)
		usleep(1000);
	assert_int_equal(errno, ESRCH);
}
