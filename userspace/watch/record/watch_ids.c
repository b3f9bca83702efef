// SPDX-License-Identifier: GPL-2.0
/* A hash table of processes: at most half of its room is taken. */
#include "userspace/watch/record/watch_ids.h"

#include <errno.h>
#include <stdlib.h>

enum { ROOM_MIN = 64 };

static unsigned int start_of(const struct watch_ids *ids, const struct watch_process_id *id)
{
	uint64_t mixed = (id->started_ns ^ (uint64_t)id->pid << 40) * 0x9e3779b97f4a7c15ull;

	return (mixed >> 32) & (ids->room - 1);
}

/* Where the process is, or the free place where it would be. */
static struct watch_id_place *place_of(const struct watch_ids *ids, const struct watch_process_id *id)
{
	unsigned int at = start_of(ids, id);

	while (ids->items[at].place &&
	       (ids->items[at].id.pid != id->pid || ids->items[at].id.started_ns != id->started_ns))
		at = (at + 1) & (ids->room - 1);
	return &ids->items[at];
}

int watch_ids_find(const struct watch_ids *ids, const struct watch_process_id *id)
{
	return ids->count ? place_of(ids, id)->place - 1 : -1;
}

static int grow(struct watch_ids *ids)
{
	struct watch_ids more = { .room = ids->room ? 2 * ids->room : ROOM_MIN, .count = ids->count };

	more.items = calloc(more.room, sizeof(*more.items));
	if (!more.items)
		return -ENOMEM;
	for (int i = 0; i < ids->room; i++)
		if (ids->items[i].place)
			*place_of(&more, &ids->items[i].id) = ids->items[i];
	free(ids->items);
	*ids = more;
	return 0;
}

int watch_ids_put(struct watch_ids *ids, const struct watch_process_id *id, int place)
{
	int err = 2 * ids->count >= ids->room ? grow(ids) : 0;

	if (err)
		return err;
	*place_of(ids, id) = (struct watch_id_place){ *id, place + 1 };
	ids->count++;
	return 0;
}

void watch_ids_free(struct watch_ids *ids)
{
	free(ids->items);
	*ids = (struct watch_ids){};
}
