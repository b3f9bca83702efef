/* SPDX-License-Identifier: GPL-2.0 */
/* Short names for writing JSON: null for an unknown number, a string where a double would round. */
#ifndef COPYSCOPE_JSON_H
#define COPYSCOPE_JSON_H

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "userspace/common/numbers.h"

/* Bytes that are not UTF-8 pass as they are: a record shows what the kernel gave. */
static inline json_t *text(const char *s)
{
	return json_stringn_nocheck(s, strlen(s));
}

static inline json_t *text_or_null(const char *s)
{
	return s && *s ? text(s) : json_null();
}

static inline json_t *integer_if(bool known, uint64_t value)
{
	return known ? json_integer(value) : json_null();
}

static inline json_t *real_if(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

/* Cookies have 64 bits: a reader that parses numbers as doubles would round them. */
static inline json_t *cookie_json(uint64_t cookie)
{
	return json_sprintf("%" PRIu64, cookie);
}

/* 0 if @value is no cookie. */
static inline uint64_t cookie_of(const json_t *value)
{
	const char *digits = json_string_value(value);
	uint64_t cookie;

	return digits && !whole_parse(digits, NUMBER_PLAIN, 1, UINT64_MAX, &cookie) ? cookie : 0;
}

static inline void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

/* A key that only some documents have. */
static inline void put_if(json_t *object, const char *key, json_t *value)
{
	if (value)
		put(object, key, value);
}

/* One line, the caller's to free; takes @o over. NULL without memory. */
static inline char *json_line(json_t *o)
{
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	return line;
}

#endif
