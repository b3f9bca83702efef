// SPDX-License-Identifier: GPL-2.0
/* Parses JSON that came from another host; its strings may end up on a terminal. */
#include "userspace/common/json.h"

#include <stdbool.h>

#include "userspace/common/foreign.h"

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
	return !text || sound_text(text, json_string_length(value) + 1);
}

json_t *foreign_object(const char *text, size_t bytes)
{
	json_t *o = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(o) && all_printable(o))
		return o;
	json_decref(o);
	return NULL;
}
