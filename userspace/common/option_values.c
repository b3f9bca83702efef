// SPDX-License-Identifier: GPL-2.0
/* Reads the values of options, strictly: numbers, seconds, one of several names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/printable.h"
#include "userspace/common/numbers.h"
#include "userspace/common/option_values.h"

static const char *program = "copyscope";

void options_of(const char *name)
{
	program = name;
}

void options_fail(const char *format, const char *what)
{
	fprintf(stderr, "%s: ", program);
	fprintf(stderr, format, printable(what));
	fprintf(stderr, "; see %s --help\n", program);
	exit(2);
}

static uint64_t whole(const char *value, enum number_suffix suffix, uint64_t min, uint64_t max,
		      const char *what)
{
	char message[200];
	uint64_t number;

	if (whole_parse(value, suffix, min, max, &number)) {
		snprintf(message, sizeof(message),
			 "%s '%%s' must be a whole number from %llu to %llu%s", what,
			 (unsigned long long)min, (unsigned long long)max,
			 suffix == NUMBER_WITH_SUFFIX ? "; k, KB, KiB are 1024, M, MB, MiB 1048576" : "");
		options_fail(message, value);
	}
	return number;
}

uint64_t options_whole(const char *value, uint64_t min, uint64_t max, const char *what)
{
	return whole(value, NUMBER_WITH_SUFFIX, min, max, what);
}

uint64_t options_plain(const char *value, uint64_t min, uint64_t max, const char *what)
{
	return whole(value, NUMBER_PLAIN, min, max, what);
}

double options_seconds(const char *value, int max, const char *what)
{
	char message[96];
	double seconds;

	if (decimal_parse(value, &seconds) || !(seconds > 0 && seconds <= max)) {
		snprintf(message, sizeof(message), "%s '%%s' must be a number above 0 and up to %d",
			 what, max);
		options_fail(message, value);
	}
	return seconds;
}

const char *options_file(const char *value, const char *option)
{
	if (!*value)
		options_fail("%s names no file", option);
	return value;
}

int options_one_of(const char *const *names, const char *value, const char *format)
{
	char message[300];
	size_t used;

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], value))
			return i;
	used = snprintf(message, sizeof(message), "%s; it must be one of", format);
	for (const char *const *name = names; *name; name++)
		used += snprintf(message + used, sizeof(message) - used, " %s", *name);
	options_fail(message, value);
}

/* Finds the option that is most like a mistyped one. */

enum { NAME_MOST = 32, SLIPS_MOST = 2 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

int options_slips(const char *a, int a_len, const char *b)
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
			int differ = o->name ? options_slips(word, len, o->name) : NAME_MOST;

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
