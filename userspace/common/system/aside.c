// SPDX-License-Identifier: GPL-2.0
/* Starts a process that can only read, compute and write, and asks it one question. */
#include "userspace/common/system/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/system/confine.h"

/* The parser of a large document takes some 30 bytes for each of its bytes. */
enum { QUESTION_BYTES_MAX = 16 << 20, MEMORY_BYTES = 768 << 20, CPU_S = 20, ANSWER_MS = 60000 };

struct heading {
	int32_t err;
	uint64_t size;
};

/* Reads or writes all of it. A deadline of 0 means no deadline. */
static int move_all(int fd, short events, void *bytes, size_t left, int64_t deadline_ms)
{
	struct pollfd wait = { .fd = fd, .events = events };
	char *at = bytes;

	while (left) {
		int64_t wait_ms = deadline_ms ? deadline_ms - monotonic_ms() : 0;
		ssize_t moved;

		if (deadline_ms && (wait_ms <= 0 || !poll(&wait, 1, wait_ms)))
			return -ETIMEDOUT;
		moved = events == POLLIN ? read(fd, at, left) : write(fd, at, left);
		if (!moved || (moved < 0 && errno != EINTR && errno != EAGAIN))
			return -EPIPE;
		if (moved > 0) {
			at += moved;
			left -= moved;
		}
	}
	return 0;
}

static int answer_one(aside_work work, int from, int to)
{
	struct heading metric, heading = {};
	void *answer = NULL;
	size_t size = 0;
	char *text;

	if (move_all(from, POLLIN, &metric, sizeof(metric), 0) ||
	    metric.size > QUESTION_BYTES_MAX)
		return 1;
	text = malloc(metric.size + 1);
	if (!text || move_all(from, POLLIN, text, metric.size, 0))
		return 1;
	text[metric.size] = '\0';
	heading.err = work(text, metric.size, &answer, &size);
	heading.size = heading.err ? 0 : size;
	return move_all(to, POLLOUT, &heading, sizeof(heading), 0) ||
	       move_all(to, POLLOUT, answer, heading.size, 0);
}

/* The caller's environment may hold a secret, and the parser needs none of it. */
static void forget_environment(void)
{
	for (char **variable = environ; variable && *variable; variable++)
		explicit_bzero(*variable, strlen(*variable));
}

static int work_aside(aside_work work, int from, int to, pid_t parent)
{
	const struct rlimit memory __attribute__((unused)) = { MEMORY_BYTES, MEMORY_BYTES };
	const struct rlimit cpu = { CPU_S, CPU_S };
	int err;

	prctl(PR_SET_NAME, "parser");
	forget_environment();
	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
#ifndef __SANITIZE_ADDRESS__	/* which maps terabytes */
	setrlimit(RLIMIT_DATA, &memory);
#endif
	setrlimit(RLIMIT_CPU, &cpu);
	err = confine_descriptors((int[]){ from, to }, 2);
	if (!err)
		err = confine_for_good();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	if (!err)
		err = confine_syscalls(CONFINE_PARSE);
	return err || answer_one(work, from, to);
}

int aside_start(struct aside *a, aside_work work)
{
	pid_t parent = getpid();
	int to[2], from[2];

	*a = (struct aside){};
	if (pipe2(to, O_CLOEXEC))
		return -errno;
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return -EMFILE;
	}
	a->pid = fork();
	if (!a->pid)
		_exit(work_aside(work, to[0], from[1], parent));
	close(to[0]);
	close(from[1]);
	a->to = to[1];
	a->from = from[0];
	if (a->pid > 0)
		return 0;
	a->pid = 0;
	close(a->to);
	close(a->from);
	return -EAGAIN;
}

int aside_ask(struct aside *a, const char *text, size_t bytes, size_t limit, void **answer,
	      size_t *size)
{
	struct heading heading = { .size = bytes };
	int64_t deadline_ms = monotonic_ms() + ANSWER_MS;
	int err;

	/* If the child died, the missing answer must show it, not SIGPIPE. */
	signal(SIGPIPE, SIG_IGN);
	err = a->pid ? move_all(a->to, POLLOUT, &heading, sizeof(heading), deadline_ms) : -EPIPE;
	if (!err)
		err = move_all(a->to, POLLOUT, (void *)text, bytes, deadline_ms);
	if (!err)
		err = move_all(a->from, POLLIN, &heading, sizeof(heading), deadline_ms);
	if (err || heading.err)
		return err ? err : heading.err < 0 ? heading.err : -EBADMSG;
	if (heading.size > limit)
		return -EBADMSG;
	*size = heading.size;
	*answer = malloc(heading.size + 1);
	err = *answer ? move_all(a->from, POLLIN, *answer, *size, deadline_ms) : -ENOMEM;
	if (err)
		free(*answer);
	return err;
}

void aside_end(struct aside *a)
{
	if (a->pid <= 0)
		return;
	close(a->to);
	close(a->from);
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
	*a = (struct aside){};
}
