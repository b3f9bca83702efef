/* SPDX-License-Identifier: GPL-2.0 */
/* How messages show foreign text: arguments, names of files, what a partner or a program said. */
#ifndef COPYSCOPE_FOREIGN_H
#define COPYSCOPE_FOREIGN_H

/* Room for one text as it is shown, its end included. */
enum { FOREIGN_BYTES = 208 };

/*
 * Returns @text as a message may show it: one line, nothing in it that a terminal obeys or that
 * turns the direction of writing (those bytes become \n, \x1b and the like), and of a long text
 * only its beginning and its end with "..." between. UTF-8 stays as it is.
 *
 * The answer lies in memory of the calling thread and holds until the ninth call after this one, so
 * that one printf() can show several: printf("%s: %s\n", foreign(name), foreign(what)).
 */
const char *foreign(const char *text);

#endif
