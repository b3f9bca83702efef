/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of plain data that came from a process or a host that may lie. Pure. */
#ifndef COPYSCOPE_SOUND_H
#define COPYSCOPE_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Far above any count of a run; sums of thousands of them fit an int64_t. */
#define SOUND_MOST (1ll << 53)

/* Within the bound; a number below 0 is far beyond it. */
bool sound_count(uint64_t count);

/* A time of a clock in nanoseconds; a host is never up for centuries. */
bool sound_time_ns(uint64_t ns);

/* False for NaN, infinity, a number below 0 or above @most. */
bool sound_real(double value, double most);

/* Ends within its array, and contains nothing that moves a terminal's cursor. */
bool sound_text(const char *text, size_t size);

/* The byte of a bool is 0 or 1: C must not read any other as a bool. */
bool sound_flag(const bool *flag);

#endif
