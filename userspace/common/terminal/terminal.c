// SPDX-License-Identifier: GPL-2.0
/* Asks a terminal how wide it is, and the environment whether it takes colours. */
#include "userspace/common/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return TERMINAL_COLUMNS;
	return size.ws_col < TERMINAL_COLUMNS_LEAST ? TERMINAL_COLUMNS_LEAST :
	       size.ws_col > TERMINAL_COLUMNS_MOST  ? TERMINAL_COLUMNS_MOST : size.ws_col;
}

bool terminal_colours(int fd, enum colour_wish wish)
{
	const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");

	if (wish != COLOUR_AUTO)
		return wish == COLOUR_ALWAYS;
	return isatty(fd) && !(refused && *refused) && kind && *kind && strcmp(kind, "dumb");
}
