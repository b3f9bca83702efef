/* SPDX-License-Identifier: GPL-2.0 */
/* The totals that the workload prints of itself. */
#ifndef COPYSCOPE_APP_TOTALS_H
#define COPYSCOPE_APP_TOTALS_H

#include "userspace/record/experiment.h"
#include "userspace/run/ends/launch.h"

/*
 * Parses the totals that a child printed, of which launch.c takes so many bytes and no more. 0, or -EINVAL
 * if they are incomplete or invalid. Call it in a process that has given up its privileges.
 */
int app_totals_parse(const struct child *c, struct app_totals *totals);

/* Reads them from the document itself into zeroed ones, but for the pid. 0, or -EINVAL. */
struct json_t;
int app_totals_read(const struct json_t *root, struct app_totals *totals);

#endif
