/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of two halves of a run, over pipes: a line of JSON for each, an object with one key.
 *
 *   far to near   {"hello": {...}}    the build, and which addresses ssh connects
 *   near to far   {"run": {...}}      what to run
 *   both          {"ready": true}     the gate can be opened
 *                 {"stop": true}      somebody interrupted: end the end that decides
 *                 {"done": true}      the end here has ended
 *   far to near   {"half": {...}}     what was counted there
 *
 * The end of the pipe is the end of the other half. Each wait has a time limit, each line a limit
 * of bytes.
 */
#ifndef COPYSCOPE_CHANNEL_H
#define COPYSCOPE_CHANNEL_H

#include <jansson.h>
#include <stdint.h>

enum word { WORD_HELLO, WORD_RUN, WORD_READY, WORD_STOP, WORD_DONE, WORD_HALF, WORD_COUNT };

/* The most that a line may have, but for a half. */
enum { CHANNEL_WORD_BYTES = 8192, CHANNEL_SAID_BYTES = 1000 };

struct channel {
	int in, out;
	int err;	/* what ssh and the far half write to stderr; -1: not ours to read */
	const char *name;	/* of the other host, for what is passed on from there */
	char *text;	/* received, and not yet heard; owned, ends with 0 */
	size_t bytes, room;
	/* The last whole line of stderr, held back as it may be why the other half ended, and
	 * what came after it. */
	char said[CHANNEL_SAID_BYTES], saying[CHANNEL_SAID_BYTES];
	size_t saying_bytes;
};

/* Takes the descriptors over. From now on writing to a pipe that nobody reads is an error, not
 * SIGPIPE. */
void channel_open(struct channel *c, int in, int out, int err, const char *name);
void channel_close(struct channel *c);

/* From now on every wait of this process also ends (-ETIMEDOUT) when @left_ms returns 0 or less. */
void channel_limit(int64_t (*left_ms)(void));

/* Takes @value over. 0; -ENOMEM; -ECONNRESET: the other half has ended; -ETIMEDOUT. */
int channel_tell(struct channel *c, enum word word, json_t *value, int timeout_ms);

/*
 * Hears one line of @limit bytes at most. *value is the caller's to drop. -EBADMSG for a line that
 * is none of the above, which stays in c->text; else as before. With 0 ms it takes what is there,
 * and never waits.
 */
int channel_hear(struct channel *c, enum word *word, json_t **value, size_t limit, int timeout_ms);

/* Passes on what stderr holds so far. */
void channel_pass_on(struct channel *c);

/* Why @err came, in one line: the last one that the other half wrote to stderr, if it ended. */
const char *channel_why(struct channel *c, int err, char *line, size_t size);

#endif
