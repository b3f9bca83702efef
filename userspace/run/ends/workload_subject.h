/* SPDX-License-Identifier: GPL-2.0 */
/* Describes the workload's two ends to the probes. */
#ifndef COPYSCOPE_WORKLOAD_SUBJECT_H
#define COPYSCOPE_WORKLOAD_SUBJECT_H

#include "userspace/record/experiment.h"
#include "userspace/run/ends/launch.h"

/* Fills a zeroed subject. @workload, the file with its USDT probe, must outlive it. 0, or -EPERM if
 * the kernel does not return the number by which programs know an end. */
int workload_subject(struct subject *s, const struct child children[END_COUNT],
		     const struct experiment *x, const char *workload);

#endif
