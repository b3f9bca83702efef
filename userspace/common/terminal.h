/* SPDX-License-Identifier: GPL-2.0 */
/* What a stream is written to: how wide it is, and whether it takes colours. */
#ifndef COPYSCOPE_TERMINAL_H
#define COPYSCOPE_TERMINAL_H

#include <stdbool.h>

enum { TERMINAL_COLUMNS = 80, TERMINAL_COLUMNS_LEAST = 40, TERMINAL_COLUMNS_MOST = 120 };

enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Columns to print in: those of a terminal; of anything else what the variable COLUMNS says, or 80. */
int terminal_columns(int fd);

/*
 * True if text there may be coloured. COLOUR_AUTO: it is a terminal that knows colours (TERM is neither
 * "dumb" nor unset), and NO_COLOR is unset or empty (no-color.org).
 */
bool terminal_colours(int fd, enum colour_mode mode);

/* What begins a text of that look and what ends it, on a terminal that takes colours. They suit a dark one
 * and a light one. */
enum tint { TINT_BOLD, TINT_GOOD, TINT_BAD, TINT_END };
const char *terminal_tint(enum tint tint);

#endif
