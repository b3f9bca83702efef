/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of plain data that came from a process or a host that may lie. Pure. */
#ifndef COPYSCOPE_SOUND_H
#define COPYSCOPE_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No count of a run comes near; sums of thousands of them fit an int64_t. */
#define SOUND_MOST (1ll << 53)

/* Within the bound; a number below 0 is far beyond it. */
bool sound_count(uint64_t count);

/* A time of a clock in nanoseconds: centuries are no time that a host is up. */
bool sound_time_ns(uint64_t ns);

/* A number that is none, infinite, below 0 or above @most is not sound. */
bool sound_real(double value, double most);

/* Ends within its room, and nothing in it could move a terminal's cursor. */
bool sound_text(const char *text, size_t size);

/* The byte of a bool is 0 or 1: C must not look at it otherwise. */
bool sound_flag(const bool *flag);

#endif
