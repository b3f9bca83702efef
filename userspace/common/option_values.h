/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the values of options, strictly. What is wrong ends the program: one line, exit status 2. */
#ifndef COPYSCOPE_OPTION_VALUES_H
#define COPYSCOPE_OPTION_VALUES_H

#include <argp.h>
#include <stdint.h>

/* The program that messages begin with and whose --help they name. Call it before the others. */
void options_of(const char *program);

/* Prints one line, @what put into @format, and exits with 2. */
void options_fail(const char *format, const char *what) __attribute__((noreturn));

/* A whole number with an optional k or M, between @min and @max; fails naming @what. */
uint64_t options_whole(const char *value, uint64_t min, uint64_t max, const char *what);

/* The same without k and M, for what is no amount: a port, the number of a process. */
uint64_t options_plain(const char *value, uint64_t min, uint64_t max, const char *what);

/* A number of seconds above 0 and up to @max; fails naming @what. */
double options_seconds(const char *value, int max, const char *what);

/* The name of a file; fails if it is empty, as from an unset variable. */
const char *options_file(const char *value, const char *option);

/* The index of @value in @names, which end with NULL; fails with @format, and lists them. */
int options_one_of(const char *const *names, const char *value, const char *format);

/* Letters to insert, drop or change to make @b of @a's first @a_len: Levenshtein's distance; of long words 32. */
int options_slips(const char *a, int a_len, const char *b);

/* Fails: @word lacks its value, or is no option of the @tables (the last is NULL) but may mean one. */
void options_mistyped(const char *word, const struct argp_option *const *tables)
	__attribute__((noreturn));

#endif
