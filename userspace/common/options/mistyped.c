// SPDX-License-Identifier: GPL-2.0
/* Finds the option that is most like a mistyped one. */
#include "userspace/common/options/mistyped.h"

#include <stdio.h>
#include <string.h>

#include "userspace/common/options/values.h"

enum { NAME_MOST = 32, SLIPS_MOST = 2 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Letters to insert, drop or change to make @b of @a: Levenshtein's distance. */
static int slips(const char *a, int a_len, const char *b)
{
	int b_len = strlen(b), row[NAME_MOST + 1];

	if (a_len > NAME_MOST || b_len > NAME_MOST)
		return NAME_MOST;
	for (int j = 0; j <= b_len; j++)
		row[j] = j;
	for (int i = 1; i <= a_len; i++) {
		int diagonal = row[0];

		row[0] = i;
		for (int j = 1; j <= b_len; j++) {
			int above = row[j];

			row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

/* The nearest option, and in *@fewest how many letters it differs in; of two, a longer word's slips are
 * more likely. A beginning of an option counts as one slip. */
static const char *nearest(const char *word, int len, const struct argp_option *const *tables, int *fewest)
{
	const char *found = NULL;

	*fewest = NAME_MOST;
	for (; *tables; tables++)
		for (const struct argp_option *o = *tables; o->name || o->doc; o++) {
			int differ = o->name ? slips(word, len, o->name) : NAME_MOST;

			if (o->name && differ > 1 && len > 2 && !strncmp(word, o->name, len - 1))
				differ = 1;
			if (differ < *fewest) {
				*fewest = differ;
				found = o->name;
			}
		}
	return found;
}

void options_mistyped(const char *word, const struct argp_option *const *tables)
{
	const char *name = word + 2 * !strncmp(word, "--", 2), *near;
	int len = strcspn(name, "="), fewest;
	char message[120];

	if (name == word)
		options_fail("'%s' is no option, or lacks its value", word);
	near = nearest(name, len, tables, &fewest);
	if (!fewest)
		options_fail(name[len] ? "'%s': this option takes no value" : "'%s' lacks its value", word);
	if (fewest > SLIPS_MOST || fewest * 2 >= len)
		options_fail("'%s' is no option", word);
	snprintf(message, sizeof(message), "'%%s' is no option: did you mean --%s?", near);
	options_fail(message, word);
}
