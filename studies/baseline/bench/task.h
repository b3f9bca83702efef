/* SPDX-License-Identifier: GPL-2.0 */
/* Children of a pass, and the CPU that it is kept on. */
#ifndef COPYSCOPE_BASELINE_TASK_H
#define COPYSCOPE_BASELINE_TASK_H

#include <sys/types.h>

/* A child that dies with this process. */
pid_t task_fork(void);
/* Kills and collects it; 0 or less is no child. */
void task_reap(pid_t pid);

/* Keeps this process, and children made later, on one CPU: the @index-th it may use. */
void task_pin(int index);

/* The number of that CPU; -1 if the kernel does not tell. */
int task_cpu(int index);

#endif
