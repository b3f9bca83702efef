/* SPDX-License-Identifier: GPL-2.0 */
/* Ends a program of the guest tests at the first call that fails, and says which. */
#ifndef TESTS_GUEST_CHECK_H
#define TESTS_GUEST_CHECK_H

#include <err.h>

/* Returns @result; if it is below 0, prints what failed and why by errno, and exits 1. */
static inline long check(long result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
	return result;
}

#endif
