/* SPDX-License-Identifier: GPL-2.0 */
/* The table of verdicts on a watched process: what became of what it wanted. */
#ifndef COPYSCOPE_WATCH_VERDICTS_H
#define COPYSCOPE_WATCH_VERDICTS_H

/* X(symbol, name, meaning) */
#define WATCH_VERDICTS(X)                                                                     \
	X(MOVED_NOTHING, "moved nothing", "no byte of payload was sent or received")          \
	X(REFUSED, "refused", "it asked for zero copy, and the kernel refused with ENOBUFS")  \
	X(IN_VAIN, "in vain", "it asked for zero copy, and all of it was copied after all")   \
	X(PARTLY, "partly", "some of what was to go without a copy was copied after all")     \
	X(CLEAN, "clean", "all that was to go without a copy was handed over as pages")                    \
	X(COPIES, "copies", "plain sends and receives alone, which copy every byte")          \
	X(MIXED, "mixed", "several of these, as refused and clean")                           \
	X(NOT_KNOWN, "not known", "a number that decides was not measured, or its bytes are not plain TCP")

#define WATCH_VERDICT_ENUM(symbol, name, meaning) VERDICT_##symbol,
enum verdict_of_process { WATCH_VERDICTS(WATCH_VERDICT_ENUM) VERDICT_COUNT };
#undef WATCH_VERDICT_ENUM

#endif
