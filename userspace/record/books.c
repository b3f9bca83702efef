// SPDX-License-Identifier: GPL-2.0
/* Sums of what sites and counts hold. */
#include "userspace/record/books.h"

#include <stdint.h>

bool count_add(unsigned long long *into, unsigned long long more)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)*into, (int64_t)more, &sum))
		return false;
	*into = sum;
	return true;
}

bool tally_add(struct tally *into, const struct tally *more)
{
	return count_add(&into->bytes, more->bytes) && count_add(&into->calls, more->calls);
}

bool books_add(struct books *into, const struct books *more)
{
	bool fits = true;

	for (int s = 0; s < SITE_COUNT; s++)
		fits &= tally_add(&into->site[s], &more->site[s]);
	for (int c = 0; c < COUNT_COUNT; c++)
		fits &= count_add(&into->count[c], more->count[c]);
	return fits;
}
