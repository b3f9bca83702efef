/* SPDX-License-Identifier: GPL-2.0 */
/* Shows texts of others in messages: arguments, names of files, output of hosts and programs. */
#ifndef COPYSCOPE_PRINTABLE_H
#define COPYSCOPE_PRINTABLE_H

/* Size of one text as it is shown, with its terminating 0. */
enum { PRINTABLE_BYTES = 208 };

/*
 * Returns @text as a message may show it: in one line, without anything that a terminal executes or
 * that turns the direction of writing (those bytes become \n, \x1b and the like), and of a long text
 * only its beginning and its end with "..." between. UTF-8 stays as it is.
 *
 * The answer lies in memory of the calling thread and stays valid until the ninth call after this
 * one, so that one printf() can show several: printf("%s: %s\n", printable(name), printable(what)).
 */
const char *printable(const char *text);

#endif
