// SPDX-License-Identifier: GPL-2.0
/* Tests every law of a measurement in order: pure arithmetic on the record, no libbpf and no I/O. */
#include "userspace/judge/laws/laws.h"

#include <inttypes.h>
#include <stdio.h>

#include "userspace/judge/laws/laws_parts.h"

static const struct {
	const char *name;
	bool at_any_end;
	void (*test)(const struct record *r, struct law *law);
} laws[] = {
#define LAW_ROW(function, name, at_any_end) { name, at_any_end, law_##function },
	LAWS(LAW_ROW)
#undef LAW_ROW
};

static const int law_count = sizeof(laws) / sizeof(*laws);
_Static_assert(sizeof(laws) / sizeof(*laws) <= LAWS_MAX, "a law may find no room");

int64_t sum_of(const uint64_t *terms, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(sum, (int64_t)terms[i], &sum))
			return BEYOND;
	return sum;
}

static bool balanced(struct sides s)
{
	return s.left == s.right && s.left != BEYOND;
}

void law_say_why(struct law *law, const char *why)
{
	snprintf(law->why, WHY_BYTES, "%s", why);
}

void law_weigh(struct law *law, struct sides s)
{
	law->known = true;
	law->left = s.left;
	law->right = s.right;
	if (__builtin_sub_overflow(s.left, s.right, &law->residual))
		law->residual = s.left < s.right ? INT64_MIN : INT64_MAX;
	law->status = balanced(s) ? LAW_BALANCED : LAW_BROKEN;
	if (s.left == BEYOND || s.right == BEYOND)
		law_say_why(law, "a sum is beyond what 63 bits hold");
}

void law_weigh_books(const struct record *r, struct law *law,
		     struct sides (*sides)(const struct books *b), const char *obstacle)
{
	if (obstacle) {
		law_say_why(law, obstacle);
		return;
	}
	law_weigh(law, sides(&r->derived.total));
	for (int i = 0; i < r->derived.socket_count; i++) {
		struct sides s = sides(&r->derived.sockets[i].books);

		if (balanced(s))
			continue;
		law->status = LAW_BROKEN;
		snprintf(law->why, WHY_BYTES, "socket %" PRIu64 ": %" PRId64 " against %" PRId64,
			 r->derived.sockets[i].cookie, s.left, s.right);
		return;
	}
}

void laws_fill(struct record *r)
{
	for (r->law_count = 0; r->law_count < law_count; r->law_count++) {
		struct law *law = &r->laws[r->law_count];

		*law = (struct law){ .name = laws[r->law_count].name, .status = LAW_NOT_TESTABLE,
				     .at_any_end = laws[r->law_count].at_any_end };
		laws[r->law_count].test(r, law);
	}
}

int laws_broken(const struct record *r)
{
	int broken = 0;

	for (int i = 0; i < r->law_count; i++)
		broken += r->laws[i].status == LAW_BROKEN;
	return broken;
}
