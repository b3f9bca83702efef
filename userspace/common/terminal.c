// SPDX-License-Identifier: GPL-2.0
/* Asks a terminal how wide it is, and the environment whether it takes colours. */
#include "userspace/common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int within_bounds(long columns)
{
	return columns < TERMINAL_COLUMNS_LEAST ? TERMINAL_COLUMNS_LEAST :
	       columns > TERMINAL_COLUMNS_MOST	? TERMINAL_COLUMNS_MOST : columns;
}

int terminal_columns(int fd)
{
	const char *told = getenv("COLUMNS");
	long columns = told ? strtol(told, NULL, 10) : 0;
	struct winsize size;

	if (isatty(fd))
		columns = ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
	return columns > 0 ? within_bounds(columns) : TERMINAL_COLUMNS;
}

const char *terminal_tint(enum tint tint)
{
	static const char *const codes[] = { [TINT_BOLD] = "\033[1m", [TINT_GOOD] = "\033[32m",
					     [TINT_BAD] = "\033[1;31m", [TINT_END] = "\033[0m" };

	return codes[tint];
}

bool terminal_colours(int fd, enum colour_mode mode)
{
	const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");

	if (mode != COLOUR_AUTO)
		return mode == COLOUR_ALWAYS;
	return isatty(fd) && !(refused && *refused) && kind && *kind && strcmp(kind, "dumb");
}
