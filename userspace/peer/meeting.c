// SPDX-License-Identifier: GPL-2.0
/* Listens or connects, and exchanges hello and plan. */
#include "userspace/peer/meeting.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/common/foreign.h"
#include "userspace/peer/frame.h"

enum { WORD_MS = 5000, BACKLOG = 16, CONNECT_TRIES = 50, CONNECT_PAUSE_US = 100000 };
/* A host that vanished without a word is noticed after about 10 s. */
enum { ALIVE_IDLE_S = 4, ALIVE_EACH_S = 2, ALIVE_COUNT = 3, UNACKNOWLEDGED_MS = 10000 };

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

static void notice_loss(int fd)
{
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, ALIVE_IDLE_S);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, ALIVE_EACH_S);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, ALIVE_COUNT);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS);
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static void name_address(const struct sockaddr *a, socklen_t length, char address[ADDRESS_BYTES],
			 char name[NAME_OF_ADDRESS_BYTES])
{
	char port[8];

	*address = *name = '\0';
	if (getnameinfo(a, length, address, ADDRESS_BYTES, port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(name, NAME_OF_ADDRESS_BYTES, strchr(address, ':') ? "[%s]:%s" : "%s:%s", address,
		 port);
}

void meeting_address(int fd, bool there, char address[ADDRESS_BYTES],
		     char name[NAME_OF_ADDRESS_BYTES])
{
	struct sockaddr_storage a = {};
	socklen_t length = sizeof(a);

	if (there)
		getpeername(fd, (struct sockaddr *)&a, &length);
	else
		getsockname(fd, (struct sockaddr *)&a, &length);
	name_address((struct sockaddr *)&a, length, address, name);
}

static struct addrinfo *resolve(const struct path_partner *partner)
{
	struct addrinfo numeric = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				    .ai_socktype = SOCK_STREAM }, *found;
	char port[8];

	snprintf(port, sizeof(port), "%d", partner->port);
	return getaddrinfo(partner->address, port, &numeric, &found) ? NULL : found;
}

static int open_door(const struct path_partner *partner)
{
	struct addrinfo *a = resolve(partner);
	char address[ADDRESS_BYTES], name[NAME_OF_ADDRESS_BYTES] = "";
	int fd = a ? socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
	int err = 0;

	if (a)
		name_address(a->ai_addr, a->ai_addrlen, address, name);
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (a && a->ai_family == AF_INET6)
		set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (fd < 0 || bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, BACKLOG))
		err = -errno;
	if (a)
		freeaddrinfo(a);
	if (!err)
		return fd;
	fprintf(stderr, "trace_run: cannot listen on %s: %s; choose another --listen ADDRESS:PORT\n", name,
		strerror(-err));
	close(fd);
	return err;
}

static const char *why(int err)
{
	return err == -EBADMSG ? "what it said is no word of trace_run" :
	       err == -ETIMEDOUT ? "it said nothing in time" :
	       err == -ECONNRESET ? "it left again" : strerror(-err);
}

/* The next word, or NULL with its reason. */
static json_t *hear(int fd, const char *type, const char **fault)
{
	int err;
	json_t *o = frame_receive(fd, FRAME_WORD_BYTES, WORD_MS, &err);

	*fault = NULL;
	if (o && frame_is(o, type))
		return o;
	*fault = o ? why(-EBADMSG) : why(err);
	json_decref(o);
	return NULL;
}

static const char *say(int fd, json_t *o)
{
	int err = frame_send(fd, o, WORD_MS);

	return err ? why(err) : NULL;
}

/* Hears who came and what it wants. Says nothing to one that does not say hello first. */
static const char *admit(int fd, const char *kernel, struct offer *offer, char *line, size_t size)
{
	const char *fault;
	json_t *hello = hear(fd, "hello", &fault), *plan;

	if (!hello)
		return fault;
	if (!hello_is(hello))
		fault = why(-EBADMSG);
	else
		fault = say(fd, hello_json(kernel));
	if (!fault)
		fault = hello_fault(hello, line, size);
	json_decref(hello);
	if (fault)
		return fault;
	plan = hear(fd, "plan", &fault);
	if (!plan)
		return fault;
	fault = offer_read(plan, offer);
	json_decref(plan);
	return fault ? fault : say(fd, json_pack("{s:s}", "type", "accept"));
}

static void tell_plan(const struct offer *offer, const char *name)
{
	const struct workload_plan *p = &offer->plan;

	fprintf(stderr, "trace_run: %s asks for %s, %llu bytes, %d connection%s, %s; this host is the %s\n",
		name, p->variant, (unsigned long long)p->bytes, p->threads, p->threads == 1 ? "" : "s",
		p->pattern, offer->connector == END_SENDER ? "receiver" : "sender");
}

int meeting_wait(const struct path_partner *partner, const char *kernel, bool quiet,
		 struct offer *offer)
{
	char address[ADDRESS_BYTES], name[NAME_OF_ADDRESS_BYTES], line[300];
	int door = open_door(partner), fd;
	const char *fault;

	if (door < 0)
		return door;
	meeting_address(door, false, address, name);
	if (!quiet)
		fprintf(stderr, "trace_run: waiting for a partner on %s\n", name);
	for (;;) {
		fd = accept4(door, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0) {
			usleep(CONNECT_PAUSE_US);
			continue;
		}
		notice_loss(fd);
		meeting_address(fd, true, address, name);
		fault = admit(fd, kernel, offer, line, sizeof(line));
		if (!fault)
			break;
		fprintf(stderr, "trace_run: refused %s: %s; still waiting\n", name, foreign(fault));
		close(fd);
	}
	close(door);
	if (!quiet)
		tell_plan(offer, name);
	return fd;
}

static int connect_once(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(err);

	if (fd < 0)
		return -errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS)
		err = errno;
	else if (poll(&wait, 1, WORD_MS) != 1)
		err = ETIMEDOUT;
	else
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size);
	if (!err)
		return fd;
	close(fd);
	return -err;
}

/* The two sides are started by two people: the one that listens may be a moment late. */
static int connect_patiently(const struct path_partner *partner)
{
	struct addrinfo *a = resolve(partner);
	int fd = -EINVAL;

	for (int tries = 0; a && tries < CONNECT_TRIES; tries++) {
		fd = connect_once(a);
		if (fd != -ECONNREFUSED)
			break;
		usleep(CONNECT_PAUSE_US);
	}
	if (a)
		freeaddrinfo(a);
	return fd;
}

static const char *ask(int fd, const char *kernel, const struct offer *offer, char *line, size_t size)
{
	const char *fault = say(fd, hello_json(kernel));
	json_t *answer = fault ? NULL : hear(fd, "hello", &fault);

	if (!answer)
		return fault;
	fault = hello_is(answer) ? hello_fault(answer, line, size) : why(-EBADMSG);
	json_decref(answer);
	if (!fault)
		fault = say(fd, offer_json(offer));
	if (fault)
		return fault;
	answer = hear(fd, "accept", &fault);
	json_decref(answer);
	return fault;
}

int meeting_go(const struct path_partner *partner, const char *kernel, const struct offer *offer)
{
	char line[300];
	const char *fault;
	int fd = connect_patiently(partner);

	if (fd < 0) {
		fprintf(stderr, "trace_run: cannot reach a partner on %s, port %d: %s; start trace_run "
			"--path peer --listen there first\n", foreign(partner->address), partner->port,
			strerror(-fd));
		return fd;
	}
	notice_loss(fd);
	fault = ask(fd, kernel, offer, line, sizeof(line));
	if (!fault)
		return fd;
	fprintf(stderr, "trace_run: no run with %s, port %d: %s\n", foreign(partner->address),
		partner->port, foreign(fault));
	close(fd);
	return -EPROTO;
}
