// SPDX-License-Identifier: GPL-2.0
/* Appends a phrase to a sentence, unless a number is missing that the phrase needs. */
#include "userspace/watch/summary/phrases.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t sites;
	uint64_t counts;
	const char *text;
} phrases[] = {
#define PHRASE_ROW(symbol, sites, counts, text) { sites, counts, text },
	PHRASES(PHRASE_ROW)
#undef PHRASE_ROW
};

bool phrase_is_backed(enum phrase which, const struct watch_movements *m)
{
	uint64_t known = (m->counts_known & ~OF_PASSED) | (m->passed_unknown ? 0 : OF_PASSED);

	return (m->sites_known & phrases[which].sites) == phrases[which].sites &&
	       (known & phrases[which].counts) == phrases[which].counts;
}

/* A sentence does not begin with a joint. */
static const char *without_joint(const char *text)
{
	return text + strspn(text, ",;: ");
}

bool say(struct sentence *s, enum phrase which, ...)
{
	const char *at = *s->text ? phrases[which].text : without_joint(phrases[which].text);
	size_t used = strlen(s->text);
	va_list words;

	if (!phrase_is_backed(which, s->moved))
		return false;
	va_start(words, which);
	for (; *at && used < SENTENCE_BYTES - 1; at++) {
		const char *word = *at == '%' ? va_arg(words, const char *) : NULL;

		if (word)
			used += snprintf(s->text + used, SENTENCE_BYTES - used, "%s", word);
		else
			s->text[used++] = *at;
	}
	va_end(words);
	s->text[used < SENTENCE_BYTES ? used : SENTENCE_BYTES - 1] = '\0';
	return true;
}
