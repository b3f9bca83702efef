/* SPDX-License-Identifier: GPL-2.0 */
/* What a report tells of the sockets of a watch, without all of them: there may be thousands. */
#ifndef COPYSCOPE_WATCH_REPORT_SOCKETS_JSON_H
#define COPYSCOPE_WATCH_REPORT_SOCKETS_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "userspace/watch/options/options.h"

/* Sums over them that no other part of the record has. */
json_t *socket_sums_json(const struct watch_record *r);

/* Which of them a report names: the first rows of its table, if that is of sockets, and of a process that broke a law the
 * first socket that did. The caller's to free; NULL without memory. */
bool *sockets_named(const struct watch_record *r, const struct watch_options *o);

#endif
