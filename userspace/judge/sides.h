/* SPDX-License-Identifier: GPL-2.0 */
/* Both sides of a law: their sums, and whether they are the same. Pure. */
#ifndef COPYSCOPE_SIDES_H
#define COPYSCOPE_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "userspace/record/record.h"

struct sides {
	int64_t left, right;
};

/* A sum that no int64_t holds. It balances with nothing, not even with itself. */
#define BEYOND INT64_MIN

#define TERMS(...) ((const uint64_t[]){ __VA_ARGS__ })
#define SUM(...) sum_of(TERMS(__VA_ARGS__), sizeof(TERMS(__VA_ARGS__)) / sizeof(uint64_t))

static inline int64_t sum_of(const uint64_t *terms, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(sum, (int64_t)terms[i], &sum))
			return BEYOND;
	return sum;
}

static inline bool balanced(struct sides s)
{
	return s.left == s.right && s.left != BEYOND;
}

/* Why the law is not testable, or what broke it. */
static inline void say_why(struct law *law, const char *why)
{
	snprintf(law->why, WHY_BYTES, "%s", why);
}

/* Notes both sides and whether they are the same. */
static inline void weigh(struct law *law, struct sides s)
{
	law->known = true;
	law->left = s.left;
	law->right = s.right;
	if (__builtin_sub_overflow(s.left, s.right, &law->residual))
		law->residual = s.left < s.right ? INT64_MIN : INT64_MAX;
	law->status = balanced(s) ? LAW_BALANCED : LAW_BROKEN;
	if (s.left == BEYOND || s.right == BEYOND)
		say_why(law, "a sum is beyond what 63 bits hold");
}

#endif
