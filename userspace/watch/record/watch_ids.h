/* SPDX-License-Identifier: GPL-2.0 */
/* Where in a table each process is, by its pid and its start. Pure. */
#ifndef COPYSCOPE_WATCH_IDS_H
#define COPYSCOPE_WATCH_IDS_H

#include "userspace/watch/record/watch_record.h"

struct watch_ids {
	struct watch_id_place {
		struct watch_process_id id;
		int place;	/* plus 1; 0: nobody is here */
	} *items;	/* owned */
	int count, room;
};

/* -1: it is not there. */
int watch_ids_find(const struct watch_ids *ids, const struct watch_process_id *id);

/* A process that is not there yet. 0 or -ENOMEM. */
int watch_ids_put(struct watch_ids *ids, const struct watch_process_id *id, int place);

/* Frees what it owns and empties it. */
void watch_ids_free(struct watch_ids *ids);

#endif
