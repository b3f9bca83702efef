/* SPDX-License-Identifier: GPL-2.0 */
/* What the oracle's programs and its loader share: the sums of one process. */
#ifndef COPYSCOPE_ORACLE_H
#define COPYSCOPE_ORACLE_H

/* X(name): name is what is printed. checked_*: bytes that hardened usercopy was asked to check;
 * copied_*: bytes that the copying function was asked for; copies_*: how often it was called. */
#define ORACLE_SUMS(X) \
	X(calls) \
	X(checked_from_user) X(checked_to_user) \
	X(copied_from_user) X(copied_to_user) \
	X(copies_from_user) X(copies_to_user)

#define ORACLE_MEMBER(name) __u64 name;
struct sums {
	ORACLE_SUMS(ORACLE_MEMBER)
};
#undef ORACLE_MEMBER

enum { PROCESSES_MAX = 256 };

#endif
