/* SPDX-License-Identifier: GPL-2.0 */
/* Spoils a benchmark on purpose, so that tests see its invariants catch it. */
#ifndef COPYSCOPE_BASELINE_SPOIL_H
#define COPYSCOPE_BASELINE_SPOIL_H

#include <stdint.h>

#include "userspace/baseline/settings.h"

/* Does once, within the counted region, what --break asks for. */
void spoil_region(const struct settings *s);

/* How many of @calls are really made. */
uint64_t spoil_calls(const struct settings *s, uint64_t calls);

/* In the peer of a row of one CPU, where it begins. */
void spoil_peer(const struct settings *s);

/* The delay that the remote path really has. */
double spoil_rtt_ms(const struct settings *s);

/* The word after --break, or -1. */
int spoil_named(const char *word);

#endif
