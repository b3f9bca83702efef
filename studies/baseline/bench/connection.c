// SPDX-License-Identifier: GPL-2.0
/*
 * Makes sockets on both sides of a private network; reads TCP_INFO and the statistics of the
 * namespace.
 */
#include "studies/baseline/bench/connection.h"

#include <errno.h>
#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"

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

static void read_all(int listener, uint64_t *arrived, uint64_t turn_bytes)
{
	static char buffer[DRAIN_BYTES];
	int fd = accept(listener, NULL, NULL);
	uint64_t answered = 0;
	ssize_t got;

	while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
		*arrived += got;
		for (; turn_bytes && *arrived - answered >= turn_bytes; answered += turn_bytes)
			send(fd, buffer, 1, MSG_NOSIGNAL);
	}
	_exit(got < 0);
}

int drain_start(struct work *w, struct drain *d, const struct net *n, uint64_t turn_bytes)
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
		read_all(listener, d->arrived, turn_bytes);
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

/* What the devices of this namespace carried so far, by their statistics. */
struct carried {
	double received_bytes, sent, sent_by_others;
};

/* Of the thread's own namespace, which /proc/net is not. */
static struct carried read_devices(const struct work *w)
{
	FILE *file = fopen("/proc/thread-self/net/dev", "re");
	struct carried c = { NAN, NAN, 0 };
	double bytes, sent;
	char line[512], name[64];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %63[^:]: %lf %*f %*f %*f %*f %*f %*f %*f %*f %lf", name, &bytes,
			   &sent) != 3)
			continue;
		if (strcmp(name, w->device)) {
			c.sent_by_others += sent;
			continue;
		}
		c.received_bytes = bytes;
		c.sent = sent;
	}
	if (file)
		fclose(file);
	return c;
}

double net_received_bytes(const struct work *w)
{
	return read_devices(w).received_bytes;
}

/* TCP's own statistics of this namespace: a line of names, and one of numbers. */
static void read_tcp(double *opens, double *resets)
{
	FILE *file = fopen("/proc/thread-self/net/snmp", "re");
	double active, passive, established, sent;
	char line[1024];

	*opens = *resets = NAN;
	while (file && fgets(line, sizeof(line), file)) {
		/* RFC 4022 in the kernel's order: net/ipv4/proc.c, snmp4_tcp_list. */
		if (sscanf(line, "Tcp: %*d %*d %*d %*d %lf %lf %*f %lf %*f %*f %*f %*f %*f %lf",
			   &active, &passive, &established, &sent) != 4)
			continue;
		*opens = active + passive;
		*resets = established + sent;
	}
	if (file)
		fclose(file);
}

void net_region_begin(struct work *w)
{
	struct carried c = read_devices(w);
	double opens, resets;

	read_tcp(&opens, &resets);
	w->witness[WITNESS_OPENS] = -opens;
	w->witness[WITNESS_RESETS] = -resets;
	w->witness[WITNESS_PACKETS] = -c.sent;
	w->witness[WITNESS_STRAYS] = -c.sent_by_others;
	region_begin(w);
}

void net_region_end(struct work *w)
{
	double opens, resets;
	struct carried c;

	region_end(w);
	read_tcp(&opens, &resets);
	w->witness[WITNESS_OPENS] += opens;
	w->witness[WITNESS_RESETS] += resets;
	c = read_devices(w);
	w->witness[WITNESS_PACKETS] += c.sent;
	w->witness[WITNESS_STRAYS] += c.sent_by_others;
}

#define LIMITS "; limited of its busy time by: "

/* include/net/tcp_states.h */
enum { ESTABLISHED = 1 };

static bool ask(int fd, struct tcp_info *info)
{
	socklen_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size);
}

double tcp_retransmits(int fd)
{
	struct tcp_info info;

	return ask(fd, &info) ? info.tcpi_total_retrans : NAN;
}

bool tcp_established(int fd)
{
	struct tcp_info info;

	return ask(fd, &info) && info.tcpi_state == ESTABLISHED;
}

double tcp_delay_kept(const struct work *w, int fd)
{
	struct tcp_info info;

	/* ~0: the kernel has measured none yet (include/linux/win_minmax.h). */
	if (!ask(fd, &info) || info.tcpi_min_rtt == ~0u)
		return NAN;
	/* Without a delay that was asked for no trip is too short. */
	return w->protocol->rtt_ms ? info.tcpi_min_rtt / (1000 * w->protocol->rtt_ms) : 1;
}

void tcp_tell_limits(struct work *w, int fd)
{
	struct tcp_info info;
	char *last = strstr(w->how, LIMITS);
	size_t used = last ? (size_t)(last - w->how) : strlen(w->how);

	if (!ask(fd, &info) || !info.tcpi_busy_time)
		return;
	snprintf(w->how + used, sizeof(w->how) - used,
		 LIMITS "receiver's window %.0f %%, send buffer %.0f %%",
		 100.0 * info.tcpi_rwnd_limited / info.tcpi_busy_time,
		 100.0 * info.tcpi_sndbuf_limited / info.tcpi_busy_time);
}
