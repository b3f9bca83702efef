// SPDX-License-Identifier: GPL-2.0
/* Connects to a partner that waits, proves the key and sends the plan. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/common/foreign.h"
#include "userspace/common/sound.h"
#include "userspace/peer/channel/frame.h"
#include "userspace/peer/handshake/handshake.h"

enum { WORD_MS = 5000, CONNECT_TRIES = 50, CONNECT_PAUSE_US = 100000, LINE_BYTES = 300 };

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

/* Two people start the two sides: the one that listens may be a moment late. */
static int connect_patiently(const struct addrinfo *a)
{
	int fd = -EINVAL;

	for (int tries = 0; tries < CONNECT_TRIES; tries++) {
		fd = connect_once(a);
		if (fd != -ECONNREFUSED)
			break;
		usleep(CONNECT_PAUSE_US);
	}
	return fd;
}

/* NULL if both have the same key, or why they cannot go on. */
static const char *prove(int fd, const struct handshake *m, struct session *session)
{
	struct greeting mine, theirs;
	uint8_t proof[MARK_BYTES];
	struct answer answer;
	const char *fault;
	int err = session_greet(&mine, m->key);

	if (!err)
		err = bytes_send(fd, &mine, sizeof(mine), WORD_MS);
	if (!err)
		err = bytes_receive(fd, &theirs, sizeof(theirs), WORD_MS);
	if (err)
		return frame_why(err);
	fault = session_greeting_fault(&theirs, &mine);
	if (fault)
		return fault;
	session_prove(m->key, &mine, &theirs, SIDE_CONNECTOR, proof);
	err = bytes_send(fd, proof, sizeof(proof), WORD_MS);
	if (!err)
		err = bytes_receive(fd, &answer, sizeof(answer), WORD_MS);
	if (err)
		return frame_why(err);
	session_prove(m->key, &mine, &theirs, SIDE_LISTENER, proof);
	if (answer.accepted != 1 || !session_same(proof, answer.proof))
		return "its key is another one; give both hosts the same --key-file";
	session_open(session, m->key, &mine, &theirs, SIDE_CONNECTOR);
	return NULL;
}

static const char *say(int fd, struct session *session, enum word word, char *text)
{
	int err = text ? frame_send(fd, session, word, text, WORD_MS) : -ENOMEM;

	free(text);
	return err ? frame_why(err) : NULL;
}

/* Why the other side refuses, in its own words if they are printable. */
static const char *refusal(const char *text, size_t bytes, char line[LINE_BYTES])
{
	if (!bytes || strlen(text) != bytes || !sound_text(text, bytes + 1))
		return frame_why(-EBADMSG);
	snprintf(line, LINE_BYTES, "it refuses: %.200s", text);
	return line;
}

/* The text of the next frame, which must have this type; NULL with the reason. */
static char *hear(int fd, struct session *session, enum word expected, size_t *bytes,
		  const char **fault, char line[LINE_BYTES])
{
	enum word word;
	char *text;
	int err = frame_receive(fd, session, &word, FRAME_WORD_BYTES, &text, bytes, WORD_MS);

	*fault = NULL;
	if (!err && word == expected)
		return text;
	*fault = err ? frame_why(err) : word == WORD_REFUSE ? refusal(text, *bytes, line) :
		 frame_why(-EBADMSG);
	if (!err)
		free(text);
	return NULL;
}

static const char *ask(int fd, const struct handshake *m, const struct run_request *request,
		       struct session *session, char line[LINE_BYTES])
{
	const char *fault = say(fd, session, WORD_HELLO, hello_text(m->kernel));
	size_t bytes;
	char *text = fault ? NULL : hear(fd, session, WORD_HELLO, &bytes, &fault, line);

	if (!text)
		return fault;
	fault = hello_fault(text, bytes, line, LINE_BYTES);
	free(text);
	if (!fault)
		fault = say(fd, session, WORD_PLAN, run_request_text(request));
	if (!fault)
		free(hear(fd, session, WORD_ACCEPT, &bytes, &fault, line));
	return fault;
}

static int tell_unreachable(const struct path_partner *partner, int err)
{
	fprintf(stderr, "trace_run: cannot reach a partner on %s, port %d: %s; start trace_run "
		"--path peer --listen there first\n", foreign(partner->address), partner->port, strerror(-err));
	return err;
}

int handshake_connect(const struct handshake *m, const struct run_request *request,
		      struct session *session)
{
	const struct path_partner *partner = m->partner;
	struct addrinfo *a = handshake_resolve(partner);
	char line[LINE_BYTES];
	const char *fault;
	int fd = -EINVAL;

	if (a && !m->key->bytes && !address_is_local(a->ai_addr)) {
		freeaddrinfo(a);
		return handshake_lacks_key(partner->address);
	}
	if (a)
		fd = connect_patiently(a);
	if (a)
		freeaddrinfo(a);
	if (fd < 0)
		return tell_unreachable(partner, fd == -EINVAL ? -EADDRNOTAVAIL : fd);
	if (!m->key->bytes && !handshake_is_local(fd, true)) {
		close(fd);
		return handshake_lacks_key(partner->address);
	}
	handshake_notice_loss(fd);
	fault = prove(fd, m, session);
	if (!fault)
		fault = ask(fd, m, request, session, line);
	if (!fault)
		return fd;
	fprintf(stderr, "trace_run: cannot run with %s, port %d: %s\n", foreign(partner->address), partner->port,
		fault);
	close(fd);
	return -EPROTO;
}
