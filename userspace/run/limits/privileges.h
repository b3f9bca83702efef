/* SPDX-License-Identifier: GPL-2.0 */
/* What the process that measures gives up once everything is attached. */
#ifndef COPYSCOPE_PRIVILEGES_H
#define COPYSCOPE_PRIVILEGES_H

#include <stdbool.h>

/*
 * Becomes nobody, without capabilities and with the system calls that CONFINE_MEASURE allows.
 * @readable returns whether the counts can be read now; if not, CAP_BPF stays until
 * privileges_drop_last(). 0 or -errno.
 */
int privileges_drop(bool (*readable)(void *arg), void *arg);

/* Call it when everything has been read. 0 or -errno. */
int privileges_drop_last(void);

#endif
