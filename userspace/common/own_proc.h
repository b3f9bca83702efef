/* SPDX-License-Identifier: GPL-2.0 */
/* Has /proc show the PID namespace that the calling process lives in. */
#ifndef COPYSCOPE_OWN_PROC_H
#define COPYSCOPE_OWN_PROC_H

/*
 * Where /proc/PID is another process than kill(PID) reaches, or where there is no /proc, mounts the
 * right one for this process and its children alone. To be called before a file is opened that
 * will be named by descriptor, and while there is one thread. 0 or -errno.
 */
int own_proc(void);

#endif
