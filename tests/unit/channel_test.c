// SPDX-License-Identifier: GPL-2.0
/* Two halves of a run hear each other's words in whatever pieces, and no wait is without end. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/common/clock.h"
#include "userspace/peer/channel.h"

enum { MOST_BYTES = 100, SOON_MS = 50, NEVER_MS = 60000 };

/* The far ends of the three pipes of a channel. */
struct far {
	int says, hears, complains;
};

static struct far open_one(struct channel *c)
{
	int in[2], out[2], err[2];

	assert_int_equal(pipe(in) | pipe(out) | pipe(err), 0);
	channel_open(c, in[0], out[1], err[0], "lab2");
	return (struct far){ in[1], out[0], err[1] };
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static int hear(struct channel *c, enum word *word, int timeout_ms)
{
	json_t *value = NULL;
	int err = channel_hear(c, word, &value, MOST_BYTES, timeout_ms);

	json_decref(value);
	return err;
}

static void end(struct channel *c, const struct far *far)
{
	close(far->says);
	close(far->hears);
	close(far->complains);
	channel_close(c);
}

TEST(words_come_in_whatever_pieces)
{
	struct channel c;
	struct far far = open_one(&c);
	enum word word;

	say(far.says, "{\"rea");
	assert_int_equal(hear(&c, &word, 0), -ETIMEDOUT);
	say(far.says, "dy\": true}\n{\"stop\": true}\n{\"do");
	assert_int_equal(hear(&c, &word, 0), 0);
	assert_int_equal(word, WORD_READY);
	assert_int_equal(hear(&c, &word, 0), 0);
	assert_int_equal(word, WORD_STOP);
	assert_int_equal(hear(&c, &word, 0), -ETIMEDOUT);
	say(far.says, "ne\": true}\n");
	close(far.says);
	assert_int_equal(hear(&c, &word, NEVER_MS), 0);
	assert_int_equal(word, WORD_DONE);
	assert_int_equal(hear(&c, &word, NEVER_MS), -ECONNRESET);
	end(&c, &far);
}

TEST(what_is_told_is_heard)
{
	char text[64] = "";
	struct channel c;
	struct far far = open_one(&c);

	assert_int_equal(channel_tell(&c, WORD_HALF, json_pack("{s:i}", "bytes", 7), NEVER_MS), 0);
	assert_in_range(read(far.hears, text, sizeof(text) - 1), 1, sizeof(text) - 1);
	assert_string_equal(text, "{\"half\":{\"bytes\":7}}\n");
	end(&c, &far);
}

TEST(a_line_that_is_no_word_is_refused_and_shown)
{
	static const char *const lines[] = { "Welcome\n",
					     "{}\n",
					     "[]\n",
					     "\n",
					     "{\"ready\": true, \"stop\": true}\n",
					     "{\"go\": true}\n",
					     "{\"hello\": \"\\u001b[2J\"}\n" };
	char why[300], much[2 * MOST_BYTES];
	enum word word;

	memset(much, 'x', sizeof(much));
	much[sizeof(much) - 1] = '\0';
	for (size_t i = 0; i <= sizeof(lines) / sizeof(*lines); i++) {
		const char *line = i < sizeof(lines) / sizeof(*lines) ? lines[i] : much;
		struct channel c;
		struct far far = open_one(&c);

		say(far.says, line);
		assert_int_equal(hear(&c, &word, NEVER_MS), -EBADMSG);
		channel_why(&c, -EBADMSG, why, sizeof(why));
		assert_non_null(strstr(why, "never says: "));
		assert_null(strchr(why, '\n'));
		if (!i)
			assert_non_null(strstr(why, "Welcome"));
		end(&c, &far);
	}
}

TEST(the_last_line_of_stderr_is_why_it_ended)
{
	char why[300];
	struct channel c;
	struct far far = open_one(&c);
	enum word word;

	say(far.complains, "stty: not a tty\ntrace_run: this root lacks CAP_BPF");
	close(far.complains);
	close(far.says);
	assert_int_equal(hear(&c, &word, NEVER_MS), -ECONNRESET);
	assert_string_equal(channel_why(&c, -ECONNRESET, why, sizeof(why)),
			    "this root lacks CAP_BPF");
	assert_string_equal(channel_why(&c, -ECONNRESET, why, sizeof(why)),
			    "it ended without a word");
	end(&c, &far);
}

TEST(a_far_half_sends_a_terminal_nothing_to_obey)
{
	char why[300];
	struct channel c;
	struct far far = open_one(&c);
	enum word word;

	/* U+009B begins a sequence as ESC [ does, and so does the byte alone. */
	say(far.complains, "a\033[2Jb\xc2\x9b" "2Jc\x9b" "31md\r\n");
	close(far.complains);
	close(far.says);
	assert_int_equal(hear(&c, &word, NEVER_MS), -ECONNRESET);
	assert_string_equal(channel_why(&c, -ECONNRESET, why, sizeof(why)), "a[2Jb??2Jc?31md");
	end(&c, &far);
}

static int64_t nothing_left(void)
{
	return 0;
}

TEST(no_wait_is_longer_than_its_limit)
{
	int64_t began_ms = monotonic_ms();
	struct channel c;
	struct far far = open_one(&c);
	enum word word;
	int err = 0;

	assert_int_equal(hear(&c, &word, SOON_MS), -ETIMEDOUT);
	/* Nobody reads: the pipe is full soon. */
	while (!err)
		err = channel_tell(&c, WORD_DONE, json_true(), SOON_MS);
	assert_int_equal(err, -ETIMEDOUT);
	channel_limit(nothing_left);
	assert_int_equal(hear(&c, &word, NEVER_MS), -ETIMEDOUT);
	channel_limit(NULL);
	assert_in_range(monotonic_ms() - began_ms, 2 * SOON_MS - 2, NEVER_MS / 2);
	close(far.hears);
	assert_int_equal(channel_tell(&c, WORD_DONE, json_true(), NEVER_MS), -ECONNRESET);
	end(&c, &far);
}
