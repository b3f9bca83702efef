/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers out of text, strictly: what is not wholly a number in its range is none; and their order. */
#ifndef COPYSCOPE_NUMBERS_H
#define COPYSCOPE_NUMBERS_H

#include <stdint.h>

/* With a suffix, k (1024) or M (1024 * 1024) may follow, in either case, and behind it B or iB. */
enum number_suffix { NUMBER_PLAIN, NUMBER_WITH_SUFFIX };

/*
 * A whole number from @min to @max: 0, -EINVAL if @text is no whole number, -ERANGE if it lies
 * outside. A sign or a blank makes it none.
 */
int whole_parse(const char *text, enum number_suffix suffix, uint64_t min, uint64_t max,
		uint64_t *number);

/* A number like 2, 0.25 or 1e-3: 0, or -EINVAL, also for signs, blanks, hexadecimal, inf and nan. */
int decimal_parse(const char *text, double *number);

/* The whole number that a file of the kernel begins with; @otherwise if there is none. */
uint64_t number_in_file(const char *path, uint64_t otherwise);

/* Below, at or above 0 as @x is below, at or above @y: for qsort() and bsearch(). */
static inline int numbers_order(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

#endif
