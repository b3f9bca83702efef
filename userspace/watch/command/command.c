// SPDX-License-Identifier: GPL-2.0
/* Starts the command that is to be watched, held back until the probes are attached. */
#include "userspace/watch/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/foreign.h"
#include "userspace/watch/command/keeper.h"

/* As env(1) and the shell have it. */
enum { STATUS_CANNOT = 126, STATUS_NOT_FOUND = 127 };

/* Waits for the next news; false if the keeper is gone. */
static bool hear(struct command *c, struct keeper_news *news, int flags)
{
	ssize_t got;

	do
		got = recv(c->channel, news, sizeof(*news), flags);
	while (got < 0 && errno == EINTR);
	if (got == sizeof(*news))
		return true;
	/* It says when all has ended, and goes: without that word it was killed. */
	if (got >= 0 || errno != EAGAIN)
		c->lost = true;
	return false;
}

static int tell_failure(int err)
{
	fprintf(stderr, "copyscope watch: cannot start a process: %s\n", strerror(-err));
	return err;
}

int command_start(struct command *c, char **argv, bool as_root)
{
	struct keeper_news news = { .value = -EPIPE };
	pid_t self = getpid();
	struct caller caller;
	int pair[2], err;

	*c = (struct command){ .channel = -1 };
	err = caller_find(&caller, as_root);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return tell_failure(-errno);
	fflush(NULL);
	c->keeper = fork();
	if (!c->keeper) {
		close(pair[0]);
		command_keep(pair[1], argv, &caller, self);
	}
	err = c->keeper < 0 ? -errno : 0;
	close(pair[1]);
	c->channel = pair[0];
	if (!err)
		hear(c, &news, 0);
	if (!err && news.value > 0) {
		c->pid = news.value;
		return 0;
	}
	command_end(c);
	return tell_failure(err ? err : news.value);
}

static void send_byte(struct command *c, unsigned char byte)
{
	(void)!send(c->channel, &byte, 1, MSG_NOSIGNAL);
}

int command_release(struct command *c, const char *name)
{
	struct keeper_news news = { .value = EPIPE };

	c->released = true;
	send_byte(c, KEEPER_GO);
	/* The child may have ended before, if it could not become its user. */
	while (hear(c, &news, 0) && news.what == NEWS_ENDED) {
		c->ended = true;
		c->status = news.value;
	}
	/* A keeper that was killed before it told may have started the command all the same. */
	if (!news.value || c->lost)
		return 0;
	fprintf(stderr, "copyscope watch: cannot run '%s': %s\n", foreign(name), strerror(news.value));
	c->status = news.value == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT;
	return -news.value;
}

bool command_runs(struct command *c)
{
	struct keeper_news news;

	while (!c->all_ended && !c->lost && hear(c, &news, MSG_DONTWAIT)) {
		if (news.what == NEWS_ENDED) {
			c->ended = true;
			c->status = news.value;
		}
		c->all_ended |= news.what == NEWS_ALL_ENDED;
	}
	return !c->all_ended;
}

void command_signal(struct command *c, int signal)
{
	send_byte(c, signal);
}

void command_end(struct command *c)
{
	if (c->keeper <= 0)
		return;
	/* The keeper ends, and with it the gate of a command that waits for its release. */
	close(c->channel);
	while (waitpid(c->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	*c = (struct command){ .channel = -1, .status = c->status };
}
