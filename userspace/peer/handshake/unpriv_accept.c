// SPDX-License-Identifier: GPL-2.0
/* The unprivileged process that opens the control connection and passes it on. */
#include "userspace/peer/handshake/unpriv_accept.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/confine/confine.h"
#include "userspace/peer/channel/limits.h"
#include "userspace/peer/handshake/handshake.h"

/* What unpriv_accept passes on beside the connection. */
struct xmit {
	int err;
	struct run_request request;
	struct session session;
};

static int pass_on(int to, int fd, const struct xmit *what_is)
{
	char room[CMSG_SPACE(sizeof(int))] = {};
	struct iovec what = { .iov_base = (void *)what_is, .iov_len = sizeof(*what_is) };
	struct msghdr message = { .msg_iov = &what, .msg_iovlen = 1, .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	if (fd < 0)
		return send(to, what_is, sizeof(*what_is), MSG_NOSIGNAL) < 0 ? -errno : 0;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &message, MSG_NOSIGNAL) == sizeof(*what_is) ? 0 : -errno;
}

/* The connection, why there is none, or -ECONNABORTED if unpriv_accept ended without an answer. */
static int take_over(int from, struct xmit *what_is)
{
	char room[CMSG_SPACE(sizeof(int))] = {};
	struct iovec what = { .iov_base = what_is, .iov_len = sizeof(*what_is) };
	struct msghdr message = { .msg_iov = &what, .msg_iovlen = 1, .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	ssize_t got;
	int fd;

	do {
		got = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	c = CMSG_FIRSTHDR(&message);
	if (got != sizeof(*what_is))
		return -ECONNABORTED;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return what_is->err < 0 ? what_is->err : -ECONNABORTED;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static int accept_unprivileged(int to, pid_t parent, const struct handshake *m,
			       struct run_request *request)
{
	struct xmit what_is = {};
	int fd;

	prctl(PR_SET_NAME, "unpriv_accept");
	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
	/* It keeps only the pipe to its parent and stderr; no record and no probe. */
	errno = -confine_descriptors((int[]){ STDERR_FILENO, to }, 2);
	if (!errno)
		errno = -confine_for_good();
	/* No other process of its user may read the memory that holds the key. */
	prctl(PR_SET_DUMPABLE, 0);
	/* Changing the user clears the parent-death signal, so it is set last. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	if (!errno)
		errno = -confine_syscalls(CONFINE_ACCEPT);
	if (errno) {
		perror("trace_run: cannot confine the process that accepts the partner");
		return 1;
	}
	fd = m->partner->listen ? handshake_wait(m, request, &what_is.session)
				: handshake_connect(m, request, &what_is.session);
	what_is.err = fd < 0 ? fd : 0;
	what_is.request = *request;
	return pass_on(to, fd, &what_is) || fd < 0;
}

/* Checks again what a listener's unpriv_accept let through: it talks to strangers. */
static const char *fault_of(const struct handshake *m, const struct run_request *request, char *line,
			    size_t size)
{
	const char *fault = run_request_fault(request);

	return fault || !m->partner->listen ? fault :
	       limits_fault(&m->partner->limits, &request->plan, line, size);
}

int unpriv_accept_run(const struct handshake *m, struct run_request *request,
		      struct session *session)
{
	struct xmit what_is = {};
	pid_t parent = getpid(), pid;
	const char *fault;
	char line[300];
	int ends[2], fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(accept_unprivileged(ends[1], parent, m, request));
	close(ends[1]);
	fd = take_over(ends[0], &what_is);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	fault = fd < 0 ? NULL : fault_of(m, &what_is.request, line, sizeof(line));
	if (fault) {
		fprintf(stderr, "trace_run: cannot run: %s\n", fault);
		close(fd);
		return -EPROTO;
	}
	*request = what_is.request;
	*session = what_is.session;
	return fd;
}
