// SPDX-License-Identifier: GPL-2.0
/* Reads from one caller at an open port, a piece at a time, from greeting to plan. */
#include "userspace/peer/handshake/caller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/peer/channel/limits.h"

/* An answer is shorter than any socket's queue: sending it never waits. */
enum { AT_ONCE_MS = 100 };

struct caller *caller_new(int fd, int64_t deadline_ms)
{
	struct caller *c = calloc(1, sizeof(*c));
	char address[ADDRESS_BYTES];

	if (!c)
		return NULL;
	c->fd = fd;
	c->deadline_ms = deadline_ms;
	c->want = sizeof(struct greeting);
	handshake_address(fd, true, address, c->name);
	return c;
}

void caller_free(struct caller *c)
{
	if (c->fd >= 0)
		close(c->fd);
	explicit_bzero(c, sizeof(*c));
	free(c);
}

static const char *answer(struct caller *c, const void *bytes, size_t size)
{
	int err = bytes_send(c->fd, bytes, size, AT_ONCE_MS);

	return err ? frame_why(err) : NULL;
}

static const char *say(struct caller *c, enum word word, const char *text)
{
	int err = frame_send(c->fd, &c->session, word, text, AT_ONCE_MS);

	return err ? frame_why(err) : NULL;
}

static const char *on_greeting(struct caller *c, const struct handshake *m)
{
	const char *fault;

	memcpy(&c->theirs, c->said, sizeof(c->theirs));
	if (!m->key->bytes && !handshake_is_local(c->fd, true))
		return "it is on another machine, and this host has no key";
	if (session_greet(&c->mine, m->key))
		return "there are no random numbers yet";
	fault = session_greeting_fault(&c->theirs, &c->mine);
	/* A caller of another build or without a key may learn why; any other gets no answer. */
	if (memcmp(c->theirs.magic, c->mine.magic, sizeof(c->mine.magic)))
		return fault;
	c->stage = STAGE_PROVES;
	c->want = MARK_BYTES;
	return answer(c, &c->mine, sizeof(c->mine)) ?: fault;
}

static const char *on_proof(struct caller *c, const struct handshake *m)
{
	struct answer given = {};
	uint8_t proof[MARK_BYTES];

	session_prove(m->key, &c->theirs, &c->mine, SIDE_CONNECTOR, proof);
	given.accepted = session_same(proof, c->said);
	if (!given.accepted) {
		answer(c, &given, sizeof(given));
		return "its key is another one; give both hosts the same --key-file";
	}
	session_prove(m->key, &c->theirs, &c->mine, SIDE_LISTENER, given.proof);
	session_open(&c->session, m->key, &c->theirs, &c->mine, SIDE_LISTENER);
	c->stage = STAGE_HELLO;
	c->want = FRAME_HEADER_BYTES;
	return answer(c, &given, sizeof(given));
}

static const char *on_hello(struct caller *c, const struct handshake *m, const char *text, size_t bytes)
{
	char *mine = hello_text(m->kernel);
	const char *fault = mine ? say(c, WORD_HELLO, mine) : strerror(ENOMEM);

	free(mine);
	c->stage = STAGE_PLAN;
	return fault ? fault : hello_fault(text, bytes, c->line, sizeof(c->line));
}

static const char *on_plan(struct caller *c, const struct handshake *m, const char *text, size_t bytes)
{
	const char *fault = run_request_read(text, bytes, &c->request);

	if (!fault)
		fault = limits_fault(&m->partner->limits, &c->request.plan, c->line, sizeof(c->line));
	if (fault) {
		say(c, WORD_REFUSE, fault);
		return fault;
	}
	c->stage = STAGE_ACCEPTED;
	return say(c, WORD_ACCEPT, NULL);
}

/* The header gives the length of the frame; then the whole frame must come. */
static const char *on_frame(struct caller *c, const struct handshake *m)
{
	const uint8_t *text = c->said + FRAME_HEADER_BYTES;
	bool hello = c->stage == STAGE_HELLO;
	enum word word;
	size_t bytes;

	if (!frame_header_read(c->said, FRAME_WORD_BYTES, &word, &bytes) ||
	    word != (hello ? WORD_HELLO : WORD_PLAN))
		return frame_why(-EBADMSG);
	if (c->want == FRAME_HEADER_BYTES) {
		c->want += bytes + MARK_BYTES;
		return NULL;
	}
	if (!session_mark_fits(&c->session, c->said, FRAME_HEADER_BYTES, text, bytes, text + bytes))
		return frame_why(-EKEYREJECTED);
	c->have = 0;
	c->want = FRAME_HEADER_BYTES;
	return hello ? on_hello(c, m, (const char *)text, bytes) : on_plan(c, m, (const char *)text, bytes);
}

static const char *on_message(struct caller *c, const struct handshake *m)
{
	if (c->stage >= STAGE_HELLO)
		return on_frame(c, m);
	c->have = 0;
	return c->stage == STAGE_GREETS ? on_greeting(c, m) : on_proof(c, m);
}

const char *caller_hear(struct caller *c, const struct handshake *m)
{
	const char *fault = NULL;

	while (!fault && c->stage != STAGE_ACCEPTED) {
		ssize_t got = recv(c->fd, c->said + c->have, c->want - c->have, MSG_DONTWAIT);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return NULL;
		if (got <= 0)
			return frame_why(-ECONNRESET);
		c->have += got;
		if (c->have == c->want)
			fault = on_message(c, m);
	}
	return fault;
}
