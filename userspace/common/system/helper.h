/* SPDX-License-Identifier: GPL-2.0 */
/* Runs programs of the system, such as ip(8), that a hostile PATH or environment cannot replace. */
#ifndef COPYSCOPE_HELPER_H
#define COPYSCOPE_HELPER_H

#include <stdbool.h>

/* Is there such a program in one of the system's folders? */
bool helper_exists(const char *name);

/*
 * Becomes the program argv[0], which is found in the system's folders and nowhere else, with an
 * environment of its own and no descriptor but 0, 1, 2 and the @count in @extra. For a child that was
 * just forked. Returns -errno if it cannot.
 */
int helper_become(const char *const *argv, const int *extra, int count);

#endif
