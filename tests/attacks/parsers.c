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

#include "userspace/peer/frame.h"
#include "userspace/peer/half_json.h"
#include "userspace/peer/join.h"
#include "userspace/peer/offer.h"
#include "userspace/trace/outcome.h"
#include "userspace/trace/record_json.h"

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

static json_t *good_half(enum end end)
{
	struct child child = { .pid = 1 };
	struct made m;
	json_t *o;

	made_half(&m, end, &child);
	o = half_json(&m.r, end, &child);
	free(child.text);
	return o;
}

/* What a run does with the half of a stranger, until it is printed. */
static bool try_half(char *text)
{
	enum end far_end = dice(2) ? END_SENDER : END_RECEIVER;
	struct record *r = calloc(1, sizeof(*r)), *far = calloc(1, sizeof(*far));
	json_t *mine = good_half(END_COUNT - 1 - far_end);
	size_t size = damaged(good_half(far_end), text);
	json_t *theirs = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	FILE *out = fopen("/dev/null", "w");
	bool taken = theirs && !half_read(theirs, far_end, far);

	if (half_read(mine, END_COUNT - 1 - far_end, r))
		abort();
	if (taken && far_end == END_RECEIVER) {
		taken = !join_halves(r, far);
		far = taken ? NULL : far;
	} else if (taken) {
		taken = !join_halves(far, r);
		r = taken ? far : r;
		far = taken ? NULL : far;
	}
	if (taken) {
		causes_fill(r);
		laws_fill(r);
		record_write(r, out);
	}
	fclose(out);
	json_decref(mine);
	json_decref(theirs);
	record_free(r);
	if (far)
		record_free(far);
	free(r);
	free(far);
	return taken;
}

static bool try_offer(char *text)
{
	struct offer offer = { .plan = { .variant = "A3", .pattern = "stream", .receiver = "recv",
					 .bytes = 65536, .threads = 4, .seconds = 2 },
			       .port = 9000, .connector = END_RECEIVER };
	size_t size = damaged(offer_json(&offer), text);
	json_t *o = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	struct offer got;
	bool taken = o && !offer_read(o, &got);

	json_decref(o);
	return taken;
}

static bool try_hello(char *text)
{
	size_t size = damaged(hello_json("6.12.0"), text);
	json_t *o = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	char line[300];
	bool taken = o && hello_is(o) && !hello_fault(o, line, sizeof(line));

	json_decref(o);
	return taken;
}

/* As it comes over the network: lengths that lie, frames that end early. */
static bool try_frame(char *text)
{
	size_t size = damaged(hello_json("6.12.0"), text), said = dice(8) ? size : dice(1u << 20);
	unsigned char head[4] = { dice(16) ? 0 : dice(256), said >> 16, said >> 8, said };
	int pair[2], err = 0;
	json_t *o;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	if (write(pair[0], head, sizeof(head)) < 0 || (size < 60000 && write(pair[0], text, size) < 0))
		abort();
	close(pair[0]);
	o = frame_receive(pair[1], dice(2) ? FRAME_WORD_BYTES : FRAME_HALF_BYTES, 1000, &err);
	close(pair[1]);
	if (!o && !err)
		abort();
	json_decref(o);
	return o;
}

static bool try_totals(char *text)
{
	struct child child = { .pid = 1 };
	struct app_totals totals = {};
	struct made m;
	size_t size;
	json_t *o;

	made_half(&m, dice(2), &child);
	o = json_loads(child.text, 0, NULL);
	free(child.text);
	size = damaged(o, text);
	child.text = text;
	child.text[size] = '\0';
	app_totals_parse(&child, &totals);
	free(totals.sockets);
	return totals.known;
}

int main(int argc, char **argv)
{
	static bool (*const tries[])(char *) = { try_half, try_half, try_half, try_half, try_offer,
						 try_hello, try_frame, try_totals };
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
		taken += tries[dice(8)](text);
	}
	printf("%lu inputs, %lu taken\n", count, taken);
	return 0;
}
