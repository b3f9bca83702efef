// SPDX-License-Identifier: GPL-2.0
/* Forks ssh(1) as the user who is known to the other host, with pipes in place of a terminal. */
#include "userspace/peer/ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/system/sudo_caller.h"
#include "userspace/path/path_types.h"

enum { LEAVE_MS = 300, COMMAND_BYTES = 4096, CANNOT_START = 127 };

/*
 * Nobody is there to be asked for a password. A master for connections of others would outlive the
 * run. A host that vanished is noticed after half a minute.
 */
static const char *const always[] = {
	"-T", "-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o", "ServerAliveInterval=10", "--"
};
enum { ALWAYS_COUNT = sizeof(always) / sizeof(*always) };

static int become_caller(void)
{
	const struct passwd *user;
	uint32_t uid;

	if (geteuid() || sudo_caller(SUDO_UID, &uid) != 1 || !uid)
		return 0;
	errno = ENOENT;
	user = getpwuid(uid);
	if (!user || initgroups(user->pw_name, user->pw_gid) ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) || setresuid(uid, uid, uid))
		return -errno;
	setenv("HOME", user->pw_dir, 1);
	setenv("USER", user->pw_name, 1);
	setenv("LOGNAME", user->pw_name, 1);
	return 0;
}

static void become_ssh(const char *const *argv, pid_t parent)
{
	sigset_t none;
	int err;

	/* Ctrl-C is for the run, which ends the other half in order. */
	setsid();
	/* Between two tries the run waits with its signals blocked. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Root runs the system's programs and no others, and who called sudo may be anyone. */
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	err = become_caller();
	/* Changing the user clears it, so it is set last. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CANNOT_START);
	if (!err) {
		execvp(argv[0], (char *const *)argv);
		err = -errno;
	}
	/* That is the pipe: the run prints it as the reason. */
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(-err));
	_exit(CANNOT_START);
}

static int make_pipes(int in[2], int out[2], int err[2])
{
	return pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ? -errno : 0;
}

int ssh_start(struct ssh *s, char *const *command, const char *host, const char *far)
{
	const char *argv[SSH_WORDS_MAX + ALWAYS_COUNT + 3];
	int in[2], out[2], err[2], count = 0, failed;
	char there[COMMAND_BYTES];
	pid_t parent = getpid();

	for (; command[count]; count++)
		argv[count] = command[count];
	memcpy(argv + count, always, sizeof(always));
	count += ALWAYS_COUNT;
	argv[count++] = host;
	/* The other half's own sudo would hide this variable from it. */
	snprintf(there, sizeof(there), "%s --far-half \"$SSH_CONNECTION\"", far);
	argv[count++] = there;
	argv[count] = NULL;
	failed = make_pipes(in, out, err);
	s->pid = failed ? -1 : fork();
	if (s->pid < 0) {
		perror("trace_run: cannot start ssh");
		s->pid = 0;
		return -EAGAIN;
	}
	if (!s->pid) {
		dup2(out[0], STDIN_FILENO);
		dup2(in[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		become_ssh(argv, parent);
	}
	close(out[0]);
	close(in[1]);
	close(err[1]);
	s->in = in[0];
	s->out = out[1];
	s->err = err[0];
	return 0;
}

void ssh_end(struct ssh *s)
{
	pid_t gone = s->pid <= 0 ? -1 : 0;

	for (int ms = 0; !gone; ms++) {
		gone = waitpid(s->pid, NULL, WNOHANG);
		if (!gone && ms == LEAVE_MS)
			kill(s->pid, SIGKILL);
		if (!gone)
			usleep(1000);
	}
	s->pid = 0;
}
