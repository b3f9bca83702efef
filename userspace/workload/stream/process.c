// SPDX-License-Identifier: GPL-2.0
/* Child processes that do a part of the work, and the memory that they share with this one. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/workload/stream/process.h"

void *shared_alloc(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Blocked, it is kept until process_join() asks for it. */
static sigset_t end_of_child(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return set;
}

pid_t process_start(void *(*work)(void *), void *data)
{
	sigset_t ends = end_of_child();
	pid_t parent = getpid(), pid;

	sigprocmask(SIG_BLOCK, &ends, NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		work(data);
	_exit(0);
}

bool process_join(pid_t pid, bool *well)
{
	const struct timespec second = { .tv_sec = 1 };
	sigset_t ends = end_of_child();
	int status;

	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			*well = WIFEXITED(status) && !WEXITSTATUS(status);
			return true;
		}
		/* The signal may be of another child, whose turn comes. */
		if (sigtimedwait(&ends, NULL, &second) < 0)
			return false;
	}
}
