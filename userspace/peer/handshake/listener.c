// SPDX-License-Identifier: GPL-2.0
/* Listens at a port, and serves many callers at once so that none delays another. */
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
#include "userspace/peer/handshake/caller.h"
#include "userspace/peer/handshake/refusals.h"

/* The time from a caller's first byte to its plan, and how many callers are served at once. */
enum { CALL_MS = 5000, CALLERS_MAX = 32, BACKLOG = 64 };

struct listener {
	int fd;
	struct caller *caller[CALLERS_MAX];
	int count;
	struct refusals refusals;
};

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

static int listener_open(const struct path_partner *partner)
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

static void refuse(struct listener *l, int number, const char *why)
{
	struct caller *c = l->caller[number];

	refusals_tell(&l->refusals, monotonic_ms(), c->name, why);
	l->caller[number] = l->caller[--l->count];
	caller_free(c);
}

/* Of those at the earliest stage, the one who came first. */
static int least(const struct listener *l)
{
	int least = 0;

	for (int i = 1; i < l->count; i++) {
		const struct caller *a = l->caller[i], *b = l->caller[least];

		if (a->stage < b->stage || (a->stage == b->stage && a->deadline_ms < b->deadline_ms))
			least = i;
	}
	return least;
}

/* Accepts everyone; if there are too many, the one that has been silent longest is refused. */
static void accept_callers(struct listener *l)
{
	/* No more than fit at once: the accepted ones must be served, too. */
	for (int i = 0; i < CALLERS_MAX; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct caller *c;

		if (fd < 0)
			return;
		if (l->count == CALLERS_MAX)
			refuse(l, least(l), "it sent nothing, and too many others came");
		handshake_notice_loss(fd);
		c = caller_new(fd, monotonic_ms() + CALL_MS);
		if (c)
			l->caller[l->count++] = c;
		else
			close(fd);
	}
}

static void await_word(struct listener *l)
{
	struct pollfd fds[CALLERS_MAX + 1] = { { .fd = l->fd, .events = POLLIN } };
	int64_t now_ms = monotonic_ms();
	int timeout_ms = refusals_flush(&l->refusals, now_ms);

	for (int i = 0; i < l->count; i++) {
		int64_t left_ms = l->caller[i]->deadline_ms - now_ms;

		fds[i + 1] = (struct pollfd){ .fd = l->caller[i]->fd, .events = POLLIN };
		if (left_ms < 0)
			left_ms = 0;
		if (timeout_ms < 0 || left_ms < timeout_ms)
			timeout_ms = left_ms;
	}
	poll(fds, l->count + 1, timeout_ms);
}

/* The index of a caller whose plan can be run, or -1. */
static int hear_all(struct listener *l, const struct handshake *m)
{
	for (int i = l->count - 1; i >= 0; i--) {
		const char *fault = caller_hear(l->caller[i], m);

		if (!fault && l->caller[i]->stage == STAGE_ACCEPTED)
			return i;
		if (!fault && monotonic_ms() >= l->caller[i]->deadline_ms)
			fault = frame_why(-ETIMEDOUT);
		if (fault)
			refuse(l, i, fault);
	}
	return -1;
}

static void tell_plan(const struct run_request *request, const char *name)
{
	const struct workload_plan *p = &request->plan;

	fprintf(stderr, "trace_run: %s asks for %s, %llu bytes, %d connection%s, %s; this host is the %s\n",
		name, p->variant, (unsigned long long)p->bytes, p->threads, p->threads == 1 ? "" : "s",
		p->pattern, request->connector == END_SENDER ? "receiver" : "sender");
}

/* Takes the partner's connection over, and closes all others. */
static int listener_close(struct listener *l, int partner, const struct handshake *m,
			  struct run_request *request, struct session *session)
{
	struct caller *c = l->caller[partner];
	int fd = c->fd;

	*request = c->request;
	*session = c->session;
	if (!m->quiet)
		tell_plan(request, c->name);
	c->fd = -1;
	for (int i = 0; i < l->count; i++)
		caller_free(l->caller[i]);
	close(l->fd);
	return fd;
}

int handshake_wait(const struct handshake *m, struct run_request *request, struct session *session)
{
	char address[ADDRESS_BYTES], name[NAME_OF_ADDRESS_BYTES];
	struct listener listener = { .fd = listener_open(m->partner) };
	int partner;

	if (listener.fd < 0)
		return listener.fd;
	handshake_address(listener.fd, false, address, name);
	if (!m->key->bytes && !handshake_is_local(listener.fd, false)) {
		close(listener.fd);
		return handshake_lacks_key(name);
	}
	if (listen(listener.fd, BACKLOG)) {
		fprintf(stderr, "trace_run: cannot listen on %s: %s; choose another --listen ADDRESS:PORT\n",
			name, strerror(errno));
		close(listener.fd);
		return -EADDRINUSE;
	}
	if (!m->quiet)
		fprintf(stderr, "trace_run: waiting for a partner on %s\n", name);
	do {
		await_word(&listener);
		accept_callers(&listener);
		partner = hear_all(&listener, m);
	} while (partner < 0);
	return listener_close(&listener, partner, m, request, session);
}
