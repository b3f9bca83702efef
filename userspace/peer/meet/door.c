// SPDX-License-Identifier: GPL-2.0
/* Waits for a partner at an open port, and serves many callers at once so that none delays
 * another. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/foreign.h"
#include "userspace/peer/meet/caller.h"
#include "userspace/peer/meet/refusals.h"

/* The time from a caller's first byte to its plan, and how many callers are served at once. */
enum { CALL_MS = 5000, CALLERS_MAX = 32, BACKLOG = 64 };

struct door {
	int fd;
	struct caller *caller[CALLERS_MAX];
	int count;
	struct refusals refusals;
};

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

static int open_door(const struct path_partner *partner)
{
	struct addrinfo *a = handshake_resolve(partner);
	int fd = a ? socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
	int err = 0;

	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (a && a->ai_family == AF_INET6)
		set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (fd < 0 || bind(fd, a->ai_addr, a->ai_addrlen))
		err = -errno;
	if (a)
		freeaddrinfo(a);
	if (!err)
		return fd;
	fprintf(stderr, "trace_run: cannot listen on %s, port %d: %s; choose another --listen "
		"ADDRESS:PORT\n", foreign(partner->address), partner->port, strerror(-err));
	close(fd);
	return err;
}

static void refuse(struct door *d, int number, const char *why)
{
	struct caller *c = d->caller[number];

	refusals_tell(&d->refusals, monotonic_ms(), c->name, why);
	d->caller[number] = d->caller[--d->count];
	caller_free(c);
}

/* Of those at the earliest stage, the one who came first. */
static int least(const struct door *d)
{
	int least = 0;

	for (int i = 1; i < d->count; i++) {
		const struct caller *a = d->caller[i], *b = d->caller[least];

		if (a->stage < b->stage || (a->stage == b->stage && a->deadline_ms < b->deadline_ms))
			least = i;
	}
	return least;
}

/* Accepts everyone; if there are too many, the one that has been silent longest is refused. */
static void let_in(struct door *d)
{
	/* No more than fit at once: the accepted ones must be served, too. */
	for (int i = 0; i < CALLERS_MAX; i++) {
		int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct caller *c;

		if (fd < 0)
			return;
		if (d->count == CALLERS_MAX)
			refuse(d, least(d), "it sent nothing, and too many others came");
		handshake_notice_loss(fd);
		c = caller_new(fd, monotonic_ms() + CALL_MS);
		if (c)
			d->caller[d->count++] = c;
		else
			close(fd);
	}
}

static void await_word(struct door *d)
{
	struct pollfd fds[CALLERS_MAX + 1] = { { .fd = d->fd, .events = POLLIN } };
	int64_t now_ms = monotonic_ms();
	int timeout_ms = refusals_flush(&d->refusals, now_ms);

	for (int i = 0; i < d->count; i++) {
		int64_t left_ms = d->caller[i]->deadline_ms - now_ms;

		fds[i + 1] = (struct pollfd){ .fd = d->caller[i]->fd, .events = POLLIN };
		if (left_ms < 0)
			left_ms = 0;
		if (timeout_ms < 0 || left_ms < timeout_ms)
			timeout_ms = left_ms;
	}
	poll(fds, d->count + 1, timeout_ms);
}

/* The index of a caller whose plan can be run, or -1. */
static int hear_all(struct door *d, const struct handshake *m)
{
	for (int i = d->count - 1; i >= 0; i--) {
		const char *fault = caller_hear(d->caller[i], m);

		if (!fault && d->caller[i]->stage == STAGE_ACCEPTED)
			return i;
		if (!fault && monotonic_ms() >= d->caller[i]->deadline_ms)
			fault = frame_why(-ETIMEDOUT);
		if (fault)
			refuse(d, i, fault);
	}
	return -1;
}

static void tell_plan(const struct run_request *offer, const char *name)
{
	const struct workload_plan *p = &offer->plan;

	fprintf(stderr, "trace_run: %s asks for %s, %llu bytes, %d connection%s, %s; this host is the %s\n",
		name, p->variant, (unsigned long long)p->bytes, p->threads, p->threads == 1 ? "" : "s",
		p->pattern, offer->connector == END_SENDER ? "receiver" : "sender");
}

/* Takes the partner's connection over, and closes all others. */
static int close_door(struct door *d, int partner, const struct handshake *m, struct run_request *offer,
		      struct session *session)
{
	struct caller *c = d->caller[partner];
	int fd = c->fd;

	*offer = c->offer;
	*session = c->session;
	if (!m->quiet)
		tell_plan(offer, c->name);
	c->fd = -1;
	for (int i = 0; i < d->count; i++)
		caller_free(d->caller[i]);
	close(d->fd);
	return fd;
}

int handshake_wait(const struct handshake *m, struct run_request *offer, struct session *session)
{
	char address[ADDRESS_BYTES], name[NAME_OF_ADDRESS_BYTES];
	struct door door = { .fd = open_door(m->partner) };
	int partner;

	if (door.fd < 0)
		return door.fd;
	handshake_address(door.fd, false, address, name);
	if (!m->key->bytes && !handshake_is_local(door.fd, false)) {
		close(door.fd);
		return handshake_lacks_key(name);
	}
	if (listen(door.fd, BACKLOG)) {
		fprintf(stderr, "trace_run: cannot listen on %s: %s; choose another --listen ADDRESS:PORT\n",
			name, strerror(errno));
		close(door.fd);
		return -EADDRINUSE;
	}
	if (!m->quiet)
		fprintf(stderr, "trace_run: waiting for a partner on %s\n", name);
	do {
		await_word(&door);
		let_in(&door);
		partner = hear_all(&door, m);
	} while (partner < 0);
	return close_door(&door, partner, m, offer, session);
}
