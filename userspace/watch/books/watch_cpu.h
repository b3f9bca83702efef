/* SPDX-License-Identifier: GPL-2.0 */
/* What samples of the clock say of processes and of their threads; pure. */
#ifndef COPYSCOPE_WATCH_CPU_H
#define COPYSCOPE_WATCH_CPU_H

#include "userspace/record/watch_record.h"

/* Of processes that the record has; sorts @samples. 0 or -ENOMEM. */
int watch_cpu_fill(struct watch_record *r, struct cpu_samples *samples);

#endif
