/* SPDX-License-Identifier: GPL-2.0 */
/* Checks plain data that may lie, and shows foreign text in messages: arguments, names of files,
 * output of hosts and programs. */
#ifndef COPYSCOPE_FOREIGN_H
#define COPYSCOPE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of one text as it is shown, with its terminating 0. */
enum { FOREIGN_BYTES = 208 };

/*
 * Returns @text as a message may show it: in one line, without anything that a terminal executes or
 * that turns the direction of writing (those bytes become
 *
 * , \x1b and the like), and of a long text only its beginning and its end with "..." between. UTF-8
 * stays as it is.
 *
 * The answer lies in memory of the calling thread and stays valid until the ninth call after this
 * one, so that one printf() can show several: printf("%s: %s
 *
 * ", foreign(name), foreign(what)).
 */
const char *foreign(const char *text);

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
