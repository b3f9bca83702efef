/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of a watch's record as JSON; watch_json.h is for everyone else. */
#ifndef COPYSCOPE_WATCH_PARTS_JSON_H
#define COPYSCOPE_WATCH_PARTS_JSON_H

#include <jansson.h>

#include "userspace/watch/record/watch_record.h"

json_t *watched_sites_json(const struct watch_record *r, const struct watch_movements *m);
json_t *watched_counts_json(const struct watch_movements *m);
void put_watched_name(json_t *o, const struct watch_process_id *id, const char *comm);
json_t *watched_socket_json(const struct watch_record *r, const struct watch_socket *s);
json_t *watched_process_json(const struct watch_record *r, const struct watch_process *p);
json_t *watched_groups_json(const struct watch_groups *groups, enum watch_grouping by);
json_t *watched_sum_json(const struct watch_record *r, const struct watch_sum *sum);

#endif
