/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads JSON of a process or a host that may lie: the type of each key, and the range of each number.
 *
 * A reader gets all its values and looks at @wrong once: the first fault fails the whole document, and
 * what was got after it is 0 or empty.
 */
#ifndef COPYSCOPE_JSON_READ_H
#define COPYSCOPE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The object that a text is; NULL if it is none, or if any string in it is not printable ASCII. */
json_t *printable_object(const char *text, size_t bytes);

struct reading {
	bool wrong;
};

/* Far above any count of a run; sums of thousands of them fit an int64_t. */
#define COUNT_MOST (1ll << 53)

/* NULL and wrong if there is no such key. */
json_t *get_member(struct reading *in, const json_t *o, const char *key);

/* null becomes 0, and an empty text: another key tells whether it is known. */
uint64_t get_up_to(struct reading *in, const json_t *o, const char *key, uint64_t most);
uint64_t get_count(struct reading *in, const json_t *o, const char *key);
int get_int(struct reading *in, const json_t *o, const char *key);
/* Of a clock, or of a counter of the processor; a host is never up for centuries. */
uint64_t get_time_ns(struct reading *in, const json_t *o, const char *key);
double get_real(struct reading *in, const json_t *o, const char *key, double most);
void get_text(struct reading *in, const json_t *o, const char *key, char *to, size_t size);

bool get_bool(struct reading *in, const json_t *o, const char *key);

/* The index of a name among @count; wrong if it is none of them. */
int get_name(struct reading *in, const json_t *o, const char *key, const char *(*name)(int), int count);

#endif
