/* SPDX-License-Identifier: GPL-2.0 */
/* Checks whether the system allows what a run needs, and names what it refuses. */
#ifndef COPYSCOPE_PERMITS_H
#define COPYSCOPE_PERMITS_H

#include <stdbool.h>

/*
 * Both return 0, or -errno after one line that names what is missing and what to do.
 *
 * The first checks what is there: root, /proc, BTF. Call it before any file is opened.
 */
int permits_look(void);

/* The second checks all that a run will need, with probes and captures or without, and changes
 * nothing. */
int permits_check(bool probes, bool captures);

#endif
