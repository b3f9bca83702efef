// SPDX-License-Identifier: GPL-2.0
/* Tells and hears the words of two halves of a run, within limits of size and time. */
#include "userspace/peer/channel.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/printable.h"
#include "userspace/common/json.h"
#include "userspace/common/json_read.h"

/* LAST_WORDS_MS: from the end of a half's stdout to that of its stderr. */
enum { PIECE_BYTES = 65536, SLICE_MS = 100, LAST_WORDS_MS = 1000 };

static const char *const words[WORD_COUNT] = { "hello", "run", "ready", "stop", "done", "half" };
static const char program[] = "trace_run: ";

static int64_t (*limit_ms)(void);

void channel_limit(int64_t (*left_ms)(void))
{
	limit_ms = left_ms;
}

void channel_open(struct channel *c, int in, int out, int err, const char *name)
{
	*c = (struct channel){ .in = in, .out = out, .err = err, .name = name };
	signal(SIGPIPE, SIG_IGN);
}

void channel_close(struct channel *c)
{
	close(c->in);
	close(c->out);
	close(c->err);
	free(c->text);
	*c = (struct channel){ .in = -1, .out = -1, .err = -1 };
}

void channel_pass_on(struct channel *c)
{
	if (*c->said)
		fprintf(stderr, "%s: %s\n", c->name, c->said);
	*c->said = '\0';
}

/* A line is held back until the next one comes. */
static void end_line(struct channel *c)
{
	if (!c->saying_bytes)
		return;
	channel_pass_on(c);
	memcpy(c->said, c->saying, c->saying_bytes);
	c->said[c->saying_bytes] = '\0';
	c->saying_bytes = 0;
}

/* Printable ASCII: a terminal obeys the others, or they are no UTF-8, which a record has to be. */
static void hear_stderr(struct channel *c)
{
	char piece[512];
	ssize_t got = read(c->err, piece, sizeof(piece));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	for (ssize_t i = 0; i < got; i++) {
		unsigned char letter = piece[i];

		if (letter == '\n')
			end_line(c);
		else if (letter >= ' ' && letter != 0x7f && c->saying_bytes < sizeof(c->saying) - 1)
			c->saying[c->saying_bytes++] = letter <= '~' ? letter : '?';
	}
	if (got > 0)
		return;
	end_line(c);
	close(c->err);
	c->err = -1;
}

/* Waits for @events on @fd, and hears stderr meanwhile. A descriptor of -1 has no events. */
static int await(struct channel *c, int fd, short events, int64_t deadline_ms)
{
	int64_t left;

	do {
		struct pollfd wait[] = { { .fd = fd, .events = events },
					 { .fd = c->err, .events = POLLIN } };
		int ready;

		left = deadline_ms - monotonic_ms();
		if (limit_ms && limit_ms() < left)
			left = limit_ms();
		/* A signal that comes just before a wait changes the limit, but does not end the
		 * wait. */
		ready = poll(wait, 2, left <= 0 ? 0 : left < SLICE_MS ? left : SLICE_MS);
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready > 0 && wait[1].revents)
			hear_stderr(c);
		if (ready > 0 && wait[0].revents)
			return 0;
	} while (left > 0 && (fd >= 0 || c->err >= 0));
	return -ETIMEDOUT;
}

/* A pipe that can be written to takes PIPE_BUF bytes without a wait. */
static int write_all(struct channel *c, const char *from, size_t bytes, int64_t deadline_ms)
{
	while (bytes) {
		int err = await(c, c->out, POLLOUT, deadline_ms);
		ssize_t put;

		if (err)
			return err;
		put = write(c->out, from, bytes < PIPE_BUF ? bytes : PIPE_BUF);
		if (put < 0 && errno != EINTR && errno != EAGAIN)
			return -ECONNRESET;
		if (put > 0) {
			from += put;
			bytes -= put;
		}
	}
	return 0;
}

int channel_tell(struct channel *c, enum word word, json_t *value, int timeout_ms)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	char *line = json_line(json_pack("{s:o}", words[word], value));
	int err = line ? write_all(c, line, strlen(line), deadline_ms) : -ENOMEM;

	free(line);
	return err ? err : write_all(c, "\n", 1, deadline_ms);
}

/* Receives some more. */
static int receive(struct channel *c, int64_t deadline_ms)
{
	ssize_t got;
	int err;

	if (c->room < c->bytes + PIECE_BYTES + 1) {
		size_t room = 2 * (c->bytes + PIECE_BYTES);
		char *grown = realloc(c->text, room);

		if (!grown)
			return -ENOMEM;
		c->text = grown;
		c->room = room;
	}
	err = await(c, c->in, POLLIN, deadline_ms);
	if (err)
		return err;
	got = read(c->in, c->text + c->bytes, PIECE_BYTES);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (got <= 0)
		return -ECONNRESET;
	c->bytes += got;
	c->text[c->bytes] = '\0';
	return 0;
}

static int read_line(const char *line, size_t bytes, enum word *word, json_t **value)
{
	json_t *o = printable_object(line, bytes);

	*value = NULL;
	for (*word = 0; *word < WORD_COUNT; (*word)++) {
		*value = json_object_get(o, words[*word]);
		if (*value)
			break;
	}
	if (json_object_size(o) != 1)
		*value = NULL;
	json_incref(*value);
	json_decref(o);
	return *value ? 0 : -EBADMSG;
}

int channel_hear(struct channel *c, enum word *word, json_t **value, size_t limit, int timeout_ms)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	size_t searched = 0, line_bytes;
	char *end = NULL;
	int err;

	while (!end) {
		end = c->bytes ? memchr(c->text + searched, '\n', c->bytes - searched) : NULL;
		if (end)
			break;
		searched = c->bytes;
		err = c->bytes > limit ? -EBADMSG : receive(c, deadline_ms);
		if (err)
			return err;
	}
	line_bytes = end - c->text;
	err = line_bytes > limit ? -EBADMSG : read_line(c->text, line_bytes, word, value);
	if (err) {
		*end = '\0';
		return err;
	}
	c->bytes -= line_bytes + 1;
	memmove(c->text, end + 1, c->bytes + 1);
	return 0;
}

const char *channel_why(struct channel *c, int err, char *line, size_t size)
{
	const char *said = c->said;

	if (err == -ECONNRESET)
		await(c, -1, 0, monotonic_ms() + LAST_WORDS_MS);
	if (err == -ECONNRESET && *said) {
		if (!strncmp(said, program, strlen(program)))
			said += strlen(program);
		snprintf(line, size, "%s", said);
		*c->said = '\0';
		return line;
	}
	channel_pass_on(c);
	if (err == -EBADMSG)
		snprintf(line, size, "it said what trace_run never says: %s", printable(c->text));
	else
		snprintf(line, size, "%s",
			 err == -ECONNRESET  ? "it ended without a word"
			 : err == -ETIMEDOUT ? "it said nothing in time"
			 : err == -EPROTO    ? "it said a word that was not due"
					     : strerror(-err));
	return line;
}
