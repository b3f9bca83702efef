// SPDX-License-Identifier: GPL-2.0
/* Keeps a sum for each remote address and each local port, found by a hash table of their places. */
#include "userspace/watch/books/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const int most[WATCH_GROUPINGS] = { [WATCH_BY_PEER] = WATCH_PEERS_MAX,
					   [WATCH_BY_PORT] = WATCH_LOCAL_PORTS_MAX };

static struct watch_address key_of(const struct watch_socket *s, enum watch_grouping by)
{
	struct watch_address key = {};

	if (by == WATCH_BY_PEER)
		memcpy(key.ip, s->remote.ip, sizeof(key.ip));
	else
		key.port = s->local.port;
	return key;
}

/* FNV-1a. */
static uint32_t hash_of(const struct watch_address *key)
{
	const uint8_t *at = (const uint8_t *)key;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ at[i]) * 16777619u;
	return hash;
}

/* Where the place of this key is noted, or is to be; places are noted plus 1. */
static int *note_of(const struct watch_groups *g, const struct watch_address *key)
{
	uint32_t mask = g->notes - 1, at = hash_of(key) & mask;

	while (g->note[at] && memcmp(&g->group[g->note[at] - 1].at, key, sizeof(*key)))
		at = (at + 1) & mask;
	return &g->note[at];
}

/* Room for one more group, and for twice as many notes as there are groups. */
static int grow(struct watch_groups *g)
{
	int room = g->room ? 2 * g->room : 16, *note;
	struct watch_group *group;

	if (g->count < g->room)
		return 0;
	group = realloc(g->group, room * sizeof(*group));
	if (!group)
		return -ENOMEM;
	g->group = group;
	note = calloc(2 * room, sizeof(*note));
	if (!note)
		return -ENOMEM;
	free(g->note);
	g->note = note;
	g->room = room;
	g->notes = 2 * room;
	for (int i = 0; i < g->count; i++)
		*note_of(g, &group[i].at) = i + 1;
	return 0;
}

static struct watch_group *append(struct watch_groups *g, const struct watch_address *key)
{
	struct watch_movements nothing = watch_sum_of_nothing().moved;

	if (grow(g))
		return NULL;
	g->group[g->count] = (struct watch_group){ .at = *key, .moved = nothing, .lately = nothing };
	*note_of(g, key) = g->count + 1;
	return &g->group[g->count++];
}

/* The last one is for all further keys; no socket has its key. */
static struct watch_group *group_of(struct watch_groups *g, enum watch_grouping by,
				    const struct watch_address *key)
{
	static const struct watch_address further = { .ip = { 0xff }, .port = 0xffff };
	struct watch_group *group;
	int *note = g->notes ? note_of(g, key) : NULL;

	if (note && *note)
		return &g->group[*note - 1];
	if (g->count < most[by])
		return append(g, key);
	if (g->count > most[by])
		return &g->group[most[by]];
	group = append(g, &further);
	if (group)
		group->further = true;
	return group;
}

int watch_groups_add(struct watch_groups groups[WATCH_GROUPINGS], const struct watch_socket *s)
{
	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++) {
		struct watch_address key = key_of(s, by);
		struct watch_group *group = group_of(&groups[by], by, &key);

		if (!group)
			return -ENOMEM;
		group->sockets++;
		group->sockets_lately += !s->died_before;
		group->other_sockets += s->layer != WATCH_LAYER_NONE;
		if (s->layer)
			continue;
		watch_movements_add(&group->moved, &s->moved);
		watch_movements_add(&group->lately, &s->lately);
	}
	return 0;
}

int watch_groups_copy(const struct watch_groups from[WATCH_GROUPINGS],
		      struct watch_groups to[WATCH_GROUPINGS])
{
	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++) {
		struct watch_groups *g = &to[by];

		*g = from[by];
		g->group = malloc((g->room + 1) * sizeof(*g->group));
		g->note = malloc((g->notes + 1) * sizeof(*g->note));
		if (!g->group || !g->note) {
			watch_groups_free(to, by + 1);
			return -ENOMEM;
		}
		if (g->count)
			memcpy(g->group, from[by].group, g->count * sizeof(*g->group));
		if (g->notes)
			memcpy(g->note, from[by].note, g->notes * sizeof(*g->note));
	}
	return 0;
}

void watch_groups_forget(struct watch_groups groups[WATCH_GROUPINGS])
{
	struct watch_movements still = watch_sum_of_nothing().lately;

	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++)
		for (int i = 0; i < groups[by].count; i++) {
			groups[by].group[i].lately = still;
			groups[by].group[i].sockets_lately = 0;
		}
}
