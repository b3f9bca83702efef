// SPDX-License-Identifier: GPL-2.0
/* The unprivileged process that opens the control connection and passes it on. */
#include "userspace/peer/doorman.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/peer/meeting.h"
#include "userspace/trace/launch.h"

static int pass_on(int to, int fd, const struct offer *offer)
{
	char room[CMSG_SPACE(sizeof(int))] = {};
	struct iovec what = { .iov_base = (void *)offer, .iov_len = sizeof(*offer) };
	struct msghdr message = { .msg_iov = &what, .msg_iovlen = 1, .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &message, MSG_NOSIGNAL) == sizeof(*offer) ? 0 : -errno;
}

/* The connection, or -ECONNABORTED if the doorman left without one. */
static int take_over(int from, struct offer *offer)
{
	char room[CMSG_SPACE(sizeof(int))] = {};
	struct iovec what = { .iov_base = offer, .iov_len = sizeof(*offer) };
	struct msghdr message = { .msg_iov = &what, .msg_iovlen = 1, .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	ssize_t got;
	int fd;

	do {
		got = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	c = CMSG_FIRSTHDR(&message);
	if (got != sizeof(*offer) || !c || c->cmsg_type != SCM_RIGHTS)
		return -ECONNABORTED;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (!offer_fault(offer))
		return fd;
	close(fd);
	return -ECONNABORTED;
}

static int guard_the_door(int to, pid_t parent, const struct path_partner *partner,
			  const char *kernel, bool quiet, struct offer *offer)
{
	int fd;

	if (become_nobody()) {
		perror("trace_run: becoming nobody");
		return 1;
	}
	/* Changing the user clears the death signal, so it is set last. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	fd = partner->listen ? meeting_wait(partner, kernel, quiet, offer)
			     : meeting_go(partner, kernel, offer);
	return fd < 0 || pass_on(to, fd, offer);
}

int doorman_run(const struct path_partner *partner, const char *kernel, bool quiet,
		struct offer *offer)
{
	pid_t parent = getpid(), pid;
	int ends[2], fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(guard_the_door(ends[1], parent, partner, kernel, quiet, offer));
	close(ends[1]);
	fd = take_over(ends[0], offer);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return fd;
}
