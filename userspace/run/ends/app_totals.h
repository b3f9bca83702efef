/* SPDX-License-Identifier: GPL-2.0 */
/* The totals that the workload prints of itself, parsed by a process that can do nothing else. */
#ifndef COPYSCOPE_APP_TOTALS_H
#define COPYSCOPE_APP_TOTALS_H

#include <stdbool.h>

#include "userspace/common/system/aside.h"
#include "userspace/record/experiment.h"
#include "userspace/run/ends/launch.h"

/* Starts the process that parses what one child prints, before the child runs. 0 or -errno. */
int app_totals_prepare(struct aside *parser);

/* Parses the totals that a child printed. 0, or -EINVAL if they are incomplete or invalid. */
int app_totals_parse(struct aside *parser, const struct child *c, struct app_totals *totals);

/* Reads them from the document itself, but for the pid; only in a process that can do nothing else. */
struct json_t;
int app_totals_read(const struct json_t *root, struct app_totals *totals);

/* True if each field is valid; socket_count was checked, and t->sockets is not read. */
bool app_totals_sound(const struct app_totals *t, const struct app_socket *sockets);

#endif
