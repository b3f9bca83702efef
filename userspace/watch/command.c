// SPDX-License-Identifier: GPL-2.0
/* Starts the command that is to be watched, as the user who called sudo, held back until it is released. */
#include "userspace/watch/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/system/sudo_caller.h"

/* The user on whose behalf the tool runs: who called sudo, or the tool's own. */
struct caller {
	bool other;	/* than the user of this process */
	uid_t uid;
	gid_t gid;
	char name[64], home[256], shell[64];
};

/* What the tool sends to the subreaper: this, or the number of a signal for the command. */
enum { SUBREAPER_GO = 0 };

/* What the subreaper sends, in this order; the last one when nothing is left that it started. */
struct news {
	enum { NEWS_STARTED, NEWS_EXECUTED, NEWS_ENDED, NEWS_ALL_ENDED } what;
	int value;	/* pid; errno; exit status; 0 */
};

/* Sets @id from a variable of sudo; false if there is none. */
static bool id_in(const char *variable, unsigned int *id, int *err)
{
	int found = sudo_caller(variable, id);

	*err = found < 0 ? found : 0;
	if (*err)
		fprintf(stderr, "copyscope watch: %s is '%s', which is no user or group: give --as-root, or "
			"unset it\n", variable, printable(getenv(variable)));
	return found > 0;
}

/* Finds it; the tool's own with @as_root, or where sudo was not used. 0, or -errno with one line
 * printed. */
static int caller_find(struct caller *caller, bool as_root)
{
	const struct passwd *found;
	int err = 0;

	*caller = (struct caller){};
	if (as_root || geteuid() || !id_in(SUDO_UID, &caller->uid, &err))
		return err;
	found = getpwuid(caller->uid);
	caller->other = caller->uid;
	if (!id_in(SUDO_GID, &caller->gid, &err))
		caller->gid = found ? found->pw_gid : caller->uid;
	if (err || !found)
		return err;
	snprintf(caller->name, sizeof(caller->name), "%s", found->pw_name);
	snprintf(caller->home, sizeof(caller->home), "%s", found->pw_dir);
	snprintf(caller->shell, sizeof(caller->shell), "%s", found->pw_shell);
	return 0;
}

/* A user without an entry in the list of users has one group. */
static int set_ids(const struct caller *c)
{
	int err = *c->name ? initgroups(c->name, c->gid) : setgroups(1, &c->gid);

	return err || setresgid(c->gid, c->gid, c->gid) || setresuid(c->uid, c->uid, c->uid) ? -errno : 0;
}

/* Becomes that user for good, with its groups and its HOME. 0, or -errno with one line printed. */
static int caller_become(const struct caller *c)
{
	static const char *const of_sudo[] = { SUDO_UID, SUDO_GID, "SUDO_USER", "SUDO_COMMAND",
					       "SUDO_HOME" };
	int err;

	if (!c->other)
		return 0;
	err = set_ids(c);
	if (err) {
		fprintf(stderr, "copyscope watch: cannot become user %u, who called sudo: %s; give "
			"--as-root\n", c->uid, strerror(-err));
		return err;
	}
	for (size_t i = 0; i < sizeof(of_sudo) / sizeof(*of_sudo); i++)
		unsetenv(of_sudo[i]);
	if (!*c->name)
		return 0;
	setenv("HOME", c->home, 1);
	setenv("USER", c->name, 1);
	setenv("LOGNAME", c->name, 1);
	setenv("SHELL", c->shell, 1);
	return 0;
}

/* As env(1) and the shell have it. */
enum { STATUS_CANNOT = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

struct subreaper {
	int channel, gate, failure, deaths;
	pid_t pid;	/* of the command; 0 once it has ended */
};

static void tell(const struct subreaper *s, int what, int value)
{
	struct news news = { .what = what, .value = value };

	/* A tool that is gone has had this process killed. */
	(void)!send(s->channel, &news, sizeof(news), MSG_NOSIGNAL);
}

/* What the tool and the subreaper changed for themselves is not for the command. */
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
	/* Nothing comes if the subreaper died: then nobody watches, and nothing is to happen. */
	while (read(gate, &go, 1) != 1)
		if (errno != EINTR)
			_exit(STATUS_CANNOT);
	execvp(*argv, argv);
	err = errno;
	(void)!write(failure, &err, sizeof(err));
	_exit(STATUS_CANNOT);
}

static int start(struct subreaper *s, char **argv, const struct caller *caller,
		 const sigset_t *mask)
{
	int gate[2], failure[2];

	if (pipe2(gate, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
		return -errno;
	s->pid = fork();
	if (!s->pid) {
		close(gate[1]);
		close(s->channel);
		become(argv, caller, gate[0], failure[1], mask);
	}
	close(gate[0]);
	close(failure[1]);
	s->gate = gate[1];
	s->failure = failure[0];
	return s->pid < 0 ? -errno : 0;
}

static void release(struct subreaper *s)
{
	int err = 0;

	if (write(s->gate, "", 1) != 1)
		err = errno;
	close(s->gate);
	/* A successful execve() closes it without a word. */
	while (!err && read(s->failure, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	close(s->failure);
	tell(s, NEWS_EXECUTED, err);
}

static void serve_next(struct subreaper *s)
{
	unsigned char asked;

	if (recv(s->channel, &asked, 1, 0) != 1)
		_exit(0);
	if (asked == SUBREAPER_GO)
		release(s);
	else if (s->pid)
		kill(s->pid, asked);
}

static void collect(struct subreaper *s)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	(void)!read(s->deaths, &info, sizeof(info));
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != s->pid)
			continue;
		s->pid = 0;
		tell(s, NEWS_ENDED, WIFEXITED(status) ? WEXITSTATUS(status) :
							STATUS_SIGNAL + WTERMSIG(status));
	}
	if (pid < 0 && errno == ECHILD) {
		tell(s, NEWS_ALL_ENDED, 0);
		_exit(0);
	}
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* In a child of the tool @parent: starts the command and serves the channel. Does not return. */
static __attribute__((noreturn)) void subreap(int channel, char **argv, const struct caller *caller,
					      pid_t parent)
{
	/* Those of a terminal reach the command, too; the tool passes others on. */
	static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct subreaper s = { .channel = channel };
	sigset_t chld, mask;
	int err;

	die_with(parent);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &mask);
	signal(SIGCHLD, SIG_DFL);
	s.deaths = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	err = s.deaths < 0 ? -errno : start(&s, argv, caller, &mask);
	tell(&s, NEWS_STARTED, err ? err : s.pid);
	if (err)
		_exit(0);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		signal(passed[i], SIG_IGN);
	for (;;) {
		struct pollfd in[] = { { s.channel, POLLIN, 0 }, { s.deaths, POLLIN, 0 } };

		if (poll(in, 2, -1) < 0)
			continue;
		if (in[0].revents)
			serve_next(&s);
		if (in[1].revents)
			collect(&s);
	}
}

/* Waits for the next news; false if the subreaper is gone. */
static bool hear(struct command *c, struct news *news, int flags)
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
	struct news news = { .value = -EPIPE };
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
	c->subreaper = fork();
	if (!c->subreaper) {
		close(pair[0]);
		subreap(pair[1], argv, &caller, self);
	}
	err = c->subreaper < 0 ? -errno : 0;
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
	struct news news = { .value = EPIPE };

	send_byte(c, SUBREAPER_GO);
	/* The child may have ended before, if it could not become its user. */
	while (hear(c, &news, 0) && news.what == NEWS_ENDED) {
		c->ended = true;
		c->status = news.value;
	}
	/* A subreaper that was killed before it told may have started the command all the same. */
	if (!news.value || c->lost)
		return 0;
	fprintf(stderr, "copyscope watch: cannot run '%s': %s\n", printable(name), strerror(news.value));
	c->status = news.value == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT;
	return -news.value;
}

bool command_runs(struct command *c)
{
	struct news news;

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
	if (c->subreaper <= 0)
		return;
	/* The subreaper ends, and with it the gate of a command that waits for its release. */
	close(c->channel);
	while (waitpid(c->subreaper, NULL, 0) < 0 && errno == EINTR)
		;
	*c = (struct command){ .channel = -1, .status = c->status };
}
