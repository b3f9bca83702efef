/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of the command line: a bad one ends the program. */
#ifndef WORKLOAD_NUMBER_ARGS_H
#define WORKLOAD_NUMBER_ARGS_H

#include <stdint.h>

#include "userspace/common/numbers.h"

/* A whole number from @min to @max; ends the program with EXIT_BAD_USAGE on anything else. */
uint64_t number_parse(const char *what, const char *text, enum number_suffix suffix,
		      uint64_t min, uint64_t max);

/* Seconds like "2" or "0.25", above 0 and up to a million, as ns. */
uint64_t number_parse_seconds_ns(const char *what, const char *text);

#endif
