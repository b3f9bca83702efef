// SPDX-License-Identifier: GPL-2.0
/* Starts a command that waits for its release, passes signals on, tells how it ended. */
#include "userspace/watch/command/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* As env(1) and the shell have it. */
enum { STATUS_CANNOT = 126, STATUS_SIGNAL = 128 };

struct keeper {
	int channel, gate, failure, deaths;
	pid_t pid;	/* of the command; 0 once it has ended */
};

static void tell(const struct keeper *k, int what, int value)
{
	struct keeper_news news = { .what = what, .value = value };

	/* A tool that is gone has had this process killed. */
	(void)!send(k->channel, &news, sizeof(news), MSG_NOSIGNAL);
}

/* What the tool and the keeper changed for themselves is not for the command. */
static void put_signals_back(const sigset_t *mask)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction act;

		/* nohup has a hangup ignored, and the command is to ignore it, too. */
		if (!sigaction(number, NULL, &act) && act.sa_handler != SIG_IGN)
			signal(number, SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* In the child: waits for the release, then executes. */
static void become(char **argv, const struct caller *caller, int gate, int failure,
		   const sigset_t *mask)
{
	char go;
	int err;

	put_signals_back(mask);
	if (caller_become(caller))
		_exit(STATUS_CANNOT);
	/* Nothing comes if the keeper died: then nobody watches, and nothing is to happen. */
	while (read(gate, &go, 1) != 1)
		if (errno != EINTR)
			_exit(STATUS_CANNOT);
	execvp(*argv, argv);
	err = errno;
	(void)!write(failure, &err, sizeof(err));
	_exit(STATUS_CANNOT);
}

static int start(struct keeper *k, char **argv, const struct caller *caller, const sigset_t *mask)
{
	int gate[2], failure[2];

	if (pipe2(gate, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
		return -errno;
	k->pid = fork();
	if (!k->pid) {
		close(gate[1]);
		close(k->channel);
		become(argv, caller, gate[0], failure[1], mask);
	}
	close(gate[0]);
	close(failure[1]);
	k->gate = gate[1];
	k->failure = failure[0];
	return k->pid < 0 ? -errno : 0;
}

static void release(struct keeper *k)
{
	int err = 0;

	if (write(k->gate, "", 1) != 1)
		err = errno;
	close(k->gate);
	/* A successful execve() closes it without a word. */
	while (!err && read(k->failure, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(k->failure);
	tell(k, NEWS_EXECUTED, err);
}

static void hear(struct keeper *k)
{
	unsigned char asked;

	if (recv(k->channel, &asked, 1, 0) != 1)
		_exit(0);
	if (asked == KEEPER_GO)
		release(k);
	else if (k->pid)
		kill(k->pid, asked);
}

static void collect(struct keeper *k)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	(void)!read(k->deaths, &info, sizeof(info));
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != k->pid)
			continue;
		k->pid = 0;
		tell(k, NEWS_ENDED, WIFEXITED(status) ? WEXITSTATUS(status) :
							STATUS_SIGNAL + WTERMSIG(status));
	}
	if (pid < 0 && errno == ECHILD) {
		tell(k, NEWS_ALL_ENDED, 0);
		_exit(0);
	}
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

void command_keep(int channel, char **argv, const struct caller *caller, pid_t parent)
{
	/* Those of a terminal reach the command, too; the tool passes others on. */
	static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct keeper k = { .channel = channel };
	sigset_t chld, mask;
	int err;

	die_with(parent);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &mask);
	signal(SIGCHLD, SIG_DFL);
	k.deaths = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	err = k.deaths < 0 ? -errno : start(&k, argv, caller, &mask);
	tell(&k, NEWS_STARTED, err ? err : k.pid);
	if (err)
		_exit(0);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		signal(passed[i], SIG_IGN);
	for (;;) {
		struct pollfd in[] = { { k.channel, POLLIN, 0 }, { k.deaths, POLLIN, 0 } };

		if (poll(in, 2, -1) < 0)
			continue;
		if (in[0].revents)
			hear(&k);
		if (in[1].revents)
			collect(&k);
	}
}
