/* SPDX-License-Identifier: GPL-2.0 */
/* What must the system allow for a run, and which part of it does it refuse? */
#ifndef COPYSCOPE_PERMITS_H
#define COPYSCOPE_PERMITS_H

#include <stdbool.h>

/*
 * Both return 0, or -errno after one line that says what is missing and what to do.
 *
 * The first looks at what is there: root, /proc, BTF. To be called before any file is opened.
 */
int permits_look(void);

/* The second asks for all that a run will ask for, with probes and captures or without, and touches
 * nothing. */
int permits_check(bool probes, bool captures);

#endif
