/* SPDX-License-Identifier: GPL-2.0 */
/* What the process that measures gives up once everything is attached. */
#ifndef COPYSCOPE_PRIVILEGES_H
#define COPYSCOPE_PRIVILEGES_H

/* Becomes a user whom no other program has, without capabilities and with the system calls that
 * CONFINE_MEASURE allows. 0 or -errno. */
int privileges_drop(void);

#endif
