/* SPDX-License-Identifier: GPL-2.0 */
/* The table of laws, and how two sides are compared; laws.h is for everyone else. */
#ifndef COPYSCOPE_LAWS_PARTS_H
#define COPYSCOPE_LAWS_PARTS_H

#include "userspace/record/record.h"

/*
 * X(function, name, whether it holds however the two ends ended, as long as the calls returned):
 * every law, in the order of records and reports. The function law_* fills in the rest.
 */
#define LAWS(X)                                                    \
	X(send, "send", false)                                     \
	X(reference, "reference", false)                           \
	X(receive, "receive", true)                                \
	X(end_to_end, "end to end", false)                         \
	X(completion, "completion", false)                         \
	X(pin, "pin", false)                                       \
	X(refusal, "refusal", true)                                \
	X(causes_of_late_copy, "causes of late_copy", true)        \
	X(causes_of_reshape, "causes of reshape", true)            \
	X(sent, "witness sent", false)                             \
	X(received, "witness received", false)                     \
	X(gathered, "witness gathered", false)                     \
	X(zerocopy_sends, "witness zero-copy sends", false)        \
	X(completions, "witness completions", false)               \
	X(sequence_accepted, "sequence accepted", true)            \
	X(sequence_returned, "sequence returned", true)            \
	X(passes, "passes", false)                                 \
	X(content, "content", true)                                \
	X(probes, "probes", true)

#define LAW_DECLARATION(function, name, at_any_end) \
	void law_##function(const struct record *r, struct law *law);
LAWS(LAW_DECLARATION)
#undef LAW_DECLARATION

struct sides {
	int64_t left, right;
};

/* A sum that no int64_t holds. It balances with nothing, not even with itself. */
#define BEYOND INT64_MIN

int64_t sum_of(const uint64_t *terms, size_t count);

#define TERMS(...) ((const uint64_t[]){ __VA_ARGS__ })
#define SUM(...) sum_of(TERMS(__VA_ARGS__), sizeof(TERMS(__VA_ARGS__)) / sizeof(uint64_t))

/* Notes both sides and whether they are the same. */
void law_weigh(struct law *law, struct sides s);

/* Compares the sums, then each socket: if two errors cancel out in the sum, the sockets show them.
 * With an @obstacle the law is not testable for that reason. */
void law_weigh_books(const struct record *r, struct law *law,
		     struct sides (*sides)(const struct books *b), const char *obstacle);

/* Why the law is not testable, or what broke it. */
void law_say_why(struct law *law, const char *why);

#endif
