// SPDX-License-Identifier: GPL-2.0
/* Reads JSON of others, and notes the first value that is not what it should be. */
#include "userspace/common/json_read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIME_MOST_NS (1ull << 62)

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* Keys need no check: the code looks up known ones only, and prints none. */
static bool all_printable(json_t *value)
{
	const char *key, *text = json_string_value(value);
	json_t *each;
	size_t i;

	json_object_foreach(value, key, each)
		if (!all_printable(each))
			return false;
	json_array_foreach(value, i, each)
		if (!all_printable(each))
			return false;
	/* jansson takes no string with a 0 inside unless it is told to. */
	return !text || is_printable(text);
}

json_t *printable_object(const char *text, size_t bytes)
{
	json_t *o = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(o) && all_printable(o))
		return o;
	json_decref(o);
	return NULL;
}

json_t *get_member(struct reading *in, const json_t *o, const char *key)
{
	json_t *value = json_object_get(o, key);

	in->wrong |= !value;
	return value;
}

uint64_t get_up_to(struct reading *in, const json_t *o, const char *key, uint64_t most)
{
	json_t *value = get_member(in, o, key);
	uint64_t number = json_integer_value(value);

	in->wrong |= (!json_is_integer(value) && !json_is_null(value)) || number > most;
	return in->wrong ? 0 : number;
}

uint64_t get_count(struct reading *in, const json_t *o, const char *key)
{
	return get_up_to(in, o, key, COUNT_MOST);
}

int get_int(struct reading *in, const json_t *o, const char *key)
{
	return get_up_to(in, o, key, INT_MAX);
}

uint64_t get_time_ns(struct reading *in, const json_t *o, const char *key)
{
	return get_up_to(in, o, key, TIME_MOST_NS);
}

double get_real(struct reading *in, const json_t *o, const char *key, double most)
{
	json_t *value = get_member(in, o, key);
	double number = json_number_value(value);

	in->wrong |= (!json_is_number(value) && !json_is_null(value)) || !isfinite(number) ||
		     number < 0 || number > most;
	return in->wrong ? 0 : number;
}

bool get_bool(struct reading *in, const json_t *o, const char *key)
{
	json_t *value = get_member(in, o, key);

	in->wrong |= !json_is_boolean(value);
	return json_is_true(value);
}

void get_text(struct reading *in, const json_t *o, const char *key, char *to, size_t size)
{
	json_t *value = get_member(in, o, key);
	const char *text = json_string_value(value);

	in->wrong |= (!text && !json_is_null(value)) || (text && strlen(text) >= size);
	if (!in->wrong)
		snprintf(to, size, "%s", text ? text : "");
}

int get_name(struct reading *in, const json_t *o, const char *key, const char *(*name)(int), int count)
{
	const char *text = json_string_value(get_member(in, o, key));

	for (int i = 0; text && i < count; i++)
		if (!strcmp(text, name(i)))
			return i;
	in->wrong = true;
	return 0;
}
