// SPDX-License-Identifier: GPL-2.0
/*
 * Gives borrowed NICs back as they were, however the run ends.
 *
 * The kernel sends a NIC home when its namespace dies, but down and with the offloads and the MTU
 * that the run gave it. So a process of its own remembers them and waits for the run to let go of
 * a pipe, which SIGKILL does too.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/confine/confine.h"
#include "userspace/path/parts.h"

enum { HOME_MS = 10000, STEP_MS = 5 };

static void await_device(const char *name)
{
	for (int ms = 0; ms < HOME_MS && !if_nametoindex(name); ms += STEP_MS)
		usleep(STEP_MS * 1000);
}

static void guard(int let_go, char name[END_COUNT][IFNAMSIZ],
		  const struct device_state state[END_COUNT])
{
	static const int deaf[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	char byte;

	setsid();
	prctl(PR_SET_NAME, "nic-guard");
	for (size_t i = 0; i < sizeof(deaf) / sizeof(*deaf); i++)
		signal(deaf[i], SIG_IGN);
	/* Not even standard output and error stay: they may be a pipe whose reader waits for its end. */
	if (confine_descriptors(&let_go, 1) || confine_root_but(1ull << CAP_NET_ADMIN) ||
	    confine_syscalls(CONFINE_RESTORE))
		_exit(1);
	while (read(let_go, &byte, 1) < 0 && errno == EINTR)
		;
	for (int e = 0; e < END_COUNT; e++) {
		await_device(name[e]);
		device_restore(name[e], &state[e]);
	}
	_exit(0);
}

int nic_restore_start(struct path *path, char name[END_COUNT][IFNAMSIZ])
{
	struct device_state state[END_COUNT];
	int pipe_fds[2], err = 0;

	for (int e = 0; e < END_COUNT && !err; e++)
		err = device_save(name[e], &state[e]);
	if (err)
		return err;
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	path->nic_restore_pid = fork();
	if (path->nic_restore_pid < 0)
		return -errno;
	if (!path->nic_restore_pid) {
		close(pipe_fds[1]);
		guard(pipe_fds[0], name, state);
	}
	close(pipe_fds[0]);
	path->nic_restore_pipe = pipe_fds[1];
	return 0;
}

void nic_restore_end(struct path *path)
{
	if (path->nic_restore_pid <= 0)
		return;
	close(path->nic_restore_pipe);
	waitpid(path->nic_restore_pid, NULL, 0);
}
