/* SPDX-License-Identifier: GPL-2.0 */
/* Strict numbers for the command line. */
#ifndef WORKLOAD_NUMBERS_H
#define WORKLOAD_NUMBERS_H

#include <stdint.h>

/*
 * A whole number from @min to @max; with_suffix allows k (1024) or M (1024 * 1024) after it.
 * Ends the program with EXIT_BAD_USAGE, naming @what, on anything else.
 */
enum number_suffix { NUMBER_PLAIN, NUMBER_WITH_SUFFIX };
uint64_t number_parse(const char *what, const char *text, enum number_suffix suffix,
		      uint64_t min, uint64_t max);

/* Seconds like "2" or "0.25", above 0 and up to a million, as ns. */
uint64_t number_parse_seconds_ns(const char *what, const char *text);

#endif
