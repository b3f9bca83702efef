/* SPDX-License-Identifier: GPL-2.0 */
/* Child processes that do a part of the work, and the memory that they share with this one. */
#ifndef WORKLOAD_PROCESS_H
#define WORKLOAD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zeroed memory that later children share; never freed. NULL: there is no more. */
void *shared_alloc(size_t bytes);

/*
 * Starts a process that calls @work(data) and ends. The kernel kills it when this process dies.
 * Returns its number, or -errno.
 */
pid_t process_start(void *(*work)(void *), void *data);

/* Waits for its end, but no longer than a second. True when it has ended; @well: by itself. */
bool process_join(pid_t pid, bool *well);

#endif
