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
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/judge/causes/causes.h"
#include "userspace/judge/outcome.h"
#include "userspace/peer/channel/frame.h"
#include "userspace/peer/channel/run_request.h"
#include "userspace/peer/channel/session.h"
#include "userspace/peer/half/join.h"
#include "userspace/peer/half/peer_half_json.h"
#include "userspace/report/json/record_json.h"
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

/* Parsed as a process of its own would, then taken over, as if that process were not trusted either. */
static int read_damaged(struct made *m, enum end end, struct record *r, char *text)
{
	char *good = half_text(&m->r, end);
	size_t bytes = damaged(json_loads(good, 0, NULL), text), size;
	void *answer = NULL;
	int err;

	free(good);
	text[bytes] = '\0';
	err = half_parse(text, bytes, &answer, &size);
	if (err)
		return err;
	/* A parser that was taken over answers whatever it likes. */
	for (int left = dice(4) ? 0 : dice(16); left > 0; left--)
		((char *)answer)[dice(size)] ^= 1 << dice(8);
	err = half_take(answer, dice(16) ? size : dice(size), end, r);
	free(answer);
	return err;
}

static int read_good(struct made *m, enum end end, struct record *r)
{
	char *good = half_text(&m->r, end);
	void *answer = NULL;
	size_t size;
	int err = half_parse(good, strlen(good), &answer, &size);

	if (!err)
		err = half_take(answer, size, end, r);
	free(answer);
	free(good);
	r->experiment->plan = m->r.experiment->plan;
	return err;
}

/* What a run does with the half of a stranger, until it is printed. */
static bool try_half(char *text)
{
	struct record *r[END_COUNT] = { calloc(1, sizeof(**r)), calloc(1, sizeof(**r)) };
	enum end far = dice(2) ? END_SENDER : END_RECEIVER, here = END_COUNT - 1 - far;
	struct made mine, theirs;
	FILE *out = fopen("/dev/null", "w");
	bool taken;

	made_half(&mine, here);
	made_half(&theirs, far);
	if (read_good(&mine, here, r[here]))
		abort();
	taken = !read_damaged(&theirs, far, r[far], text) &&
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
	struct run_request request = { .plan = { .variant = "A3", .pattern = "stream", .receiver = "recv",
					 .bytes = 65536, .threads = 4, .seconds = 2 },
			       .port = 9000, .connector = END_RECEIVER };
	char *good = run_request_text(&request);
	size_t bytes = damaged(json_loads(good, 0, NULL), text);
	struct run_request got;

	free(good);
	text[bytes] = '\0';
	return !run_request_read(text, bytes, &got);
}

static bool try_hello(char *text)
{
	char *good = hello_text("6.12.0"), line[300];
	size_t bytes = damaged(json_loads(good, 0, NULL), text);

	free(good);
	text[bytes] = '\0';
	return !hello_fault(text, bytes, line, sizeof(line));
}

/* As it comes over the network: lengths that lie, frames that end early, marks that are wrong. */
static bool try_frame(char *text)
{
	struct greeting greetings[2] = {};
	struct session here, there;
	struct key key = {};
	enum word word;
	char *got = NULL, *good = hello_text("6.12.0");
	size_t bytes;
	int pair[2], err;

	session_open(&here, &key, &greetings[0], &greetings[1], SIDE_CONNECTOR);
	session_open(&there, &key, &greetings[0], &greetings[1], SIDE_LISTENER);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    frame_send(pair[0], &here, WORD_HELLO, good, 1000))
		abort();
	bytes = read(pair[1], text, 8192);
	for (int left = dice(DAMAGES_MAX); left > 0; left--)
		bytes = damage_text(text, bytes);
	if (write(pair[0], text, bytes) < 0)
		abort();
	close(pair[0]);
	err = frame_receive(pair[1], &there, &word, dice(2) ? FRAME_WORD_BYTES : FRAME_HALF_BYTES, &got,
			    &bytes, 1000);
	close(pair[1]);
	free(got);
	free(good);
	return !err;
}

static bool try_totals(char *text)
{
	static const char good[] =
		"{\"accepted_bytes\": 65536, \"received_bytes\": 0, \"zerocopy_sends\": 3, "
		"\"completions\": 3, \"content_errors\": 0, \"elapsed_ns\": 12345, \"latency_ns\": "
		"{\"what\": \"interval\", \"mean\": 2.5, \"p50\": 2, \"p99\": 9}, \"connections\": "
		"[{\"cookie\": \"7\", \"accepted_bytes\": 65536, \"messages\": 3, \"local\": "
		"\"10.0.0.1:9000\", \"remote\": \"10.0.0.2:4711\"}]}";
	struct child child = { .pid = 1, .text = text };
	struct app_totals totals = {};
	struct aside parser = {};
	bool taken;

	child.length = damaged(json_loads(good, 0, NULL), text);
	text[child.length] = '\0';
	if (app_totals_prepare(&parser))
		abort();
	taken = !app_totals_parse(&parser, &child, &totals);
	aside_end(&parser);
	free(totals.sockets);
	return taken;
}

int main(int argc, char **argv)
{
	static bool (*const tries[])(char *) = { try_half, try_half, try_half, try_half, try_run_request,
						 try_hello, try_frame };
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
		/* Asking a process aside takes longest. */
		taken += dice(32) ? tries[dice(7)](text) : try_totals(text);
	}
	printf("%lu inputs, %lu taken\n", count, taken);
	return 0;
}
