// SPDX-License-Identifier: GPL-2.0
/* Makes sockets on both sides of a private network. */
#include "studies/baseline/lab/net/connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/task.h"

enum { DRAIN_BYTES = 262144 };

int connection_listen(struct work *w, const struct net *n, in_port_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = n->far };
	socklen_t size = sizeof(a);
	int fd, err = net_enter(w, n, FAR);

	if (err)
		return err;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&a, &size))
		return work_fail(w, errno, "cannot listen");
	*port = a.sin_port;
	err = net_enter(w, n, NEAR);
	return err ? err : fd;
}

int connection_open(struct work *w, const struct net *n, in_port_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = n->far, .sin_port = port };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return work_fail(w, errno, "cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void read_all(int listener, uint64_t *arrived)
{
	static char buffer[DRAIN_BYTES];
	int fd = accept(listener, NULL, NULL);
	ssize_t got;

	while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		*arrived += got;
	_exit(got < 0);
}

int drain_start(struct work *w, struct drain *d, const struct net *n)
{
	in_port_t port;
	int listener;

	*d = (struct drain){
		.arrived = mmap(NULL, sizeof(*d->arrived), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	if (d->arrived == MAP_FAILED)
		return work_fail(w, errno, "no memory");
	listener = connection_listen(w, n, &port);
	if (listener < 0)
		return listener;
	d->pid = task_fork();
	if (!d->pid)
		read_all(listener, d->arrived);
	close(listener);
	return connection_open(w, n, port);
}

uint64_t drain_wait(struct drain *d, int fd)
{
	int status;

	shutdown(fd, SHUT_WR);
	waitpid(d->pid, &status, 0);
	d->pid = 0;
	return *d->arrived;
}

void drain_free(struct drain *d)
{
	task_reap(d->pid);
	if (d->arrived != MAP_FAILED)
		munmap(d->arrived, sizeof(*d->arrived));
}
