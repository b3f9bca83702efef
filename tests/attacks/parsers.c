// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds the parsers of foreign bytes with damaged inputs, thousands a second, in one process.
 *
 * usage: parsers SEED FIRST COUNT
 * Each case comes from its seed and number alone, so that it can be tried again by itself. A
 * sanitizer ends the process; the last line on stdout tells which case it was.
 */
#include "tests/unit/made_half.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "userspace/common/json_read.h"
#include "userspace/judge/causes.h"
#include "userspace/judge/outcome.h"
#include "userspace/peer/channel.h"
#include "userspace/peer/join.h"
#include "userspace/peer/run_request.h"
#include "userspace/report/record_json.h"
#include "userspace/run/ends/app_totals.h"
#include "userspace/run/ends/launch.h"

enum { TEXT_MAX = 1 << 17, DAMAGES_MAX = 4 };

static uint64_t state;

/* splitmix64: every case begins anew. */
static uint64_t dice(uint64_t sides)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % sides;
}

static json_t *any_value(void)
{
	static const json_int_t whole[] = { 0, 1, -1, 2, 63, 64, 65, 1024, 1025, INT32_MAX, INT32_MIN,
					    UINT32_MAX, INT64_MAX, INT64_MIN, 1ll << 40, 1ll << 62 };
	static const double real[] = { 0, -0.0, 0.5, 1e-320, 1e308, -1e308 };

	switch (dice(10)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(dice(2));
	case 2:
		return json_real(real[dice(sizeof(real) / sizeof(*real))]);
	case 3:
		return json_string("");
	case 4:
		return json_string("12345678901234567890123456789012345678901234567890");
	case 5:
		return dice(2) ? json_array() : json_object();
	default:
		return json_integer(whole[dice(sizeof(whole) / sizeof(*whole))]);
	}
}

/* The @index-th value below an object or array, replaced, dropped or doubled. */
static void damage_child(json_t *o, size_t index, json_t *with)
{
	void *at = json_is_object(o) ? json_object_iter(o) : NULL;

	if (json_is_array(o)) {
		if (dice(4))
			json_array_set(o, index, with);
		else if (dice(2))
			json_array_remove(o, index);
		else
			json_array_insert(o, index, json_array_get(o, index));
		return;
	}
	while (at && index--)
		at = json_object_iter_next(o, at);
	if (at && dice(4))
		json_object_iter_set(o, at, with);
	else if (at)
		json_object_del(o, json_object_iter_key(at));
}

static size_t size_of(const json_t *o)
{
	return json_is_array(o) ? json_array_size(o) : json_object_size(o);
}

static const json_t *child_of(const json_t *o, size_t index)
{
	void *at;

	if (json_is_array(o))
		return json_array_get(o, index);
	at = json_object_iter((json_t *)o);
	while (at && index--)
		at = json_object_iter_next((json_t *)o, at);
	return at ? json_object_iter_value(at) : NULL;
}

static void damage_tree(json_t *o)
{
	json_t *with = any_value();

	for (size_t size = size_of(o); size; size = size_of(o)) {
		size_t index = dice(size);
		const json_t *next = child_of(o, index);

		if (!size_of(next) || !dice(5)) {
			damage_child(o, index, with);
			break;
		}
		o = (json_t *)next;
	}
	json_decref(with);
}

static size_t damage_text(char *text, size_t size)
{
	size_t at = dice(size), length = 1 + dice(16);

	switch (dice(5)) {
	case 0:
		text[at] ^= 1 << dice(8);
		return size;
	case 1:
		return at + 1;
	case 2:
		length = at + length > size ? size - at : length;
		memmove(text + at, text + at + length, size - at - length);
		return size - length ? size - length : 1;
	case 3:
		text[at] = "{}[]\",:0-\\ue"[dice(12)];
		return size;
	default:
		length = size + length > TEXT_MAX ? 0 : at + length > size ? size - at : length;
		memmove(text + at + length, text + at, size - at);
		return size + length;
	}
}

/* Takes @o; what comes of it is text with some damage to its tree, its bytes or both. */
static size_t damaged(json_t *o, char *text)
{
	size_t size;

	for (int left = dice(DAMAGES_MAX); left > 0; left--)
		damage_tree(o);
	size = json_dumpb(o, text, TEXT_MAX, JSON_COMPACT);
	json_decref(o);
	if (size > TEXT_MAX)
		return 1;
	for (int left = dice(3) ? 0 : dice(DAMAGES_MAX); left > 0 && size; left--)
		size = damage_text(text, size);
	return size;
}

static int read_half(const char *text, size_t bytes, enum end end, const struct workload_plan *plan, struct record *r)
{
	json_t *o = printable_object(text, bytes);
	int err = o ? half_read(o, end, plan, r) : -EBADMSG;

	json_decref(o);
	return err;
}

static int read_good(struct made *m, enum end end, struct record *r)
{
	json_t *half = made_half_json(m, end);
	int err = half_read(half, end, &m->r.experiment->plan, r);

	json_decref(half);
	return err;
}

/* What a run does with the half of the other host, until it is printed. */
static bool try_half(char *text)
{
	struct record *r[END_COUNT] = { calloc(1, sizeof(**r)), calloc(1, sizeof(**r)) };
	enum end far = dice(2) ? END_SENDER : END_RECEIVER, here = END_COUNT - 1 - far;
	struct made mine, theirs;
	FILE *out = fopen("/dev/null", "w");
	size_t bytes;
	bool taken;

	made_half(&mine, here);
	made_half(&theirs, far);
	if (read_good(&mine, here, r[here]))
		abort();
	bytes = damaged(made_half_json(&theirs, far), text);
	taken = !read_half(text, bytes, far, &theirs.r.experiment->plan, r[far]) &&
		!join_halves(r[END_SENDER], r[END_RECEIVER]);
	if (taken) {
		outcome_decide(r[END_SENDER]);
		causes_fill(r[END_SENDER]);
		laws_fill(r[END_SENDER]);
		record_write(r[END_SENDER], out);
	} else {
		record_free(r[END_RECEIVER]);
		free(r[END_RECEIVER]);
	}
	record_free(r[END_SENDER]);
	free(r[END_SENDER]);
	fclose(out);
	return taken;
}

static bool try_run_request(char *text)
{
	struct run_request request = { .plan = { .variant = "A3",
						 .pattern = "stream",
						 .receiver = "recv",
						 .bytes = 65536,
						 .threads = 4,
						 .seconds = 2 },
				       .port = 9000,
				       .far = END_RECEIVER,
				       .address = { "10.0.0.1", "fd00::2" } },
			   got;
	json_t *o = printable_object(text, damaged(run_request_json(&request), text));
	bool taken = o && !run_request_read(o, &got);

	json_decref(o);
	return taken;
}

static bool try_hello(char *text)
{
	json_t *o = printable_object(text, damaged(hello_json("10.0.0.1 50000 10.0.0.2 22", 1), text));
	char near[ADDRESS_BYTES], far[ADDRESS_BYTES], line[300];
	bool taken = o && !hello_read(o, near, far, line, sizeof(line));

	json_decref(o);
	return taken;
}

/* As it comes from ssh: lines that are none, that never end, several at once. */
static bool try_line(char *text)
{
	size_t bytes = damaged(
		json_pack("{s:o}", "hello", hello_json("10.0.0.1 50000 10.0.0.2 22", 1)), text);
	int in[2], out[2], err = 0, heard = 0;
	struct channel c;
	enum word word;
	json_t *value;

	for (int left = dice(3); left > 0 && bytes < TEXT_MAX; left--)
		text[dice(4) ? bytes++ : dice(bytes)] = '\n';
	if (pipe(in) || pipe(out) || write(in[1], text, bytes) < 0)
		abort();
	close(in[1]);
	close(out[0]);
	channel_open(&c, in[0], out[1], -1, "there");
	while (!err) {
		err = channel_hear(&c, &word, &value, dice(2) ? CHANNEL_WORD_BYTES : 64, 1000);
		heard += !err;
		if (!err)
			json_decref(value);
	}
	channel_close(&c);
	return heard;
}

static bool try_totals(char *text)
{
	struct child child = { .pid = 1, .text = text };
	struct app_totals totals = {};
	struct made m;
	bool taken;

	made_half(&m, END_SENDER);
	child.length = damaged(made_totals(&m.experiment.app[END_SENDER]), text);
	text[child.length] = '\0';
	taken = !app_totals_parse(&child, &totals);
	free(totals.sockets);
	return taken;
}

int main(int argc, char **argv)
{
	static bool (*const tries[])(char *) = { try_half,	  try_half,  try_half, try_half,
						 try_run_request, try_hello, try_line, try_totals };
	static char text[TEXT_MAX + 32];
	unsigned long taken = 0, seed, first, count;

	if (argc != 4)
		return 2;
	seed = strtoul(argv[1], NULL, 10);
	first = strtoul(argv[2], NULL, 10);
	count = strtoul(argv[3], NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned long i = first; i < first + count; i++) {
		state = seed * 1000000007 + i;
		printf("case %lu\n", i);
		taken += tries[dice(sizeof(tries) / sizeof(*tries))](text);
	}
	printf("%lu inputs, %lu taken\n", count, taken);
	return 0;
}
