// SPDX-License-Identifier: GPL-2.0
/* Adds up sockets, open ones and those that died: by process, remote address and local port, and in total. */
#include "userspace/watch/books/books_tally.h"

#include "userspace/common/numbers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums by remote address and by local port lie in a table each, found by a hash table of their places. */

static const int groups_most[WATCH_GROUPINGS] = { [WATCH_BY_PEER] = WATCH_PEERS_MAX,
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

static void notes_fill(struct watch_groups *g)
{
	memset(g->note, 0, g->notes * sizeof(*g->note));
	for (int i = 0; i < g->count; i++)
		*note_of(g, &g->group[i].at) = i + 1;
}

/* For so many groups, and for twice as many notes. What is noted is to be noted anew. */
static int room_make(struct watch_groups *g, int room)
{
	struct watch_group *group;
	int *note;

	if (room <= g->room)
		return 0;
	group = realloc(g->group, room * sizeof(*group));
	if (!group)
		return -ENOMEM;
	g->group = group;
	note = realloc(g->note, 2 * room * sizeof(*note));
	if (!note)
		return -ENOMEM;
	g->note = note;
	g->room = room;
	g->notes = 2 * room;
	return 0;
}

/* Room for one more group. */
static int notes_grow(struct watch_groups *g)
{
	int err = 0;

	if (g->count == g->room) {
		err = room_make(g, g->room ? 2 * g->room : 16);
		if (!err)
			notes_fill(g);
	}
	return err;
}

static struct watch_group *append(struct watch_groups *g, const struct watch_address *key)
{
	struct watch_movements nothing = watch_sum_of_nothing().moved;

	if (notes_grow(g))
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
	if (g->count < groups_most[by])
		return append(g, key);
	if (g->count > groups_most[by])
		return &g->group[groups_most[by]];
	group = append(g, &further);
	if (group)
		group->further = true;
	return group;
}

/* 0 or -ENOMEM. */
static int groups_add(struct watch_groups groups[WATCH_GROUPINGS], const struct watch_socket *s)
{
	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++) {
		struct watch_address key = key_of(s, by);
		struct watch_group *group = group_of(&groups[by], by, &key);

		if (!group)
			return -ENOMEM;
		group->sockets++;
		group->sockets_lately += !s->died_before;
		group->other_sockets += s->apart;
		if (s->apart)
			continue;
		watch_movements_add(&group->moved, &s->moved);
		watch_lately_add(&group->lately, s);
	}
	return 0;
}

/* Makes @to, which owns what it holds and keeps its memory, of @from. 0 or -ENOMEM. */
static int groups_copy(const struct watch_groups from[WATCH_GROUPINGS],
		      struct watch_groups to[WATCH_GROUPINGS])
{
	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++) {
		struct watch_groups *g = &to[by];

		g->count = 0;
		if (room_make(g, from[by].room))
			return -ENOMEM;
		g->count = from[by].count;
		if (g->count)
			memcpy(g->group, from[by].group, g->count * sizeof(*g->group));
		if (g->notes)
			notes_fill(g);
	}
	return 0;
}

/* What is in them moved before the reading that begins. */
static void groups_forget(struct watch_groups groups[WATCH_GROUPINGS])
{
	struct watch_movements still = watch_sum_of_nothing().lately;

	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++)
		for (int i = 0; i < groups[by].count; i++) {
			groups[by].group[i].lately = still;
			groups[by].group[i].sockets_lately = 0;
		}
}

/* A hash table of processes: at most half of its room is taken. */
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

int watch_ids_fill(struct watch_ids *ids, const struct watch_record *r)
{
	int err = 0;

	for (int i = 0; i < r->process_count && !err; i++)
		err = watch_ids_put(ids, &r->processes[i].id, i);
	return err;
}

void watch_ids_free(struct watch_ids *ids)
{
	free(ids->items);
	*ids = (struct watch_ids){};
}

enum { DEFAULT_KEPT = 1000 };

static int by_cookie(const void *a, const void *b)
{
	return numbers_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Room for one more in an array that grows by half. */
static void *room_for_one(void *items, int count, int *room, size_t size)
{
	int more = *room + *room / 2 + 16;
	void *grown = items;

	if (count < *room)
		return items;
	grown = realloc(items, more * size);
	if (grown)
		*room = more;
	return grown;
}

static struct watch_process *process_of(struct watch_sums *sums, const struct watch_socket *s)
{
	struct watch_process *process, *grown;
	int at = watch_ids_find(&sums->index, &s->owner);

	if (at >= 0)
		return &sums->processes[at];
	grown = room_for_one(sums->processes, sums->process_count, &sums->process_room, sizeof(*grown));
	if (!grown)
		return NULL;
	sums->processes = grown;
	if (watch_ids_put(&sums->index, &s->owner, sums->process_count))
		return NULL;
	process = &grown[sums->process_count++];
	*process = (struct watch_process){ .id = s->owner, .cgroup = s->cgroup, .uid = s->uid,
					   .sum = watch_sum_of_nothing() };
	memcpy(process->comm, s->comm, sizeof(process->comm));
	return process;
}

static void reason_add(struct watch_law_sum *sum, const char *why)
{
	for (int i = 0; i < LAW_REASONS; i++) {
		if (sum->reasons[i].why && strcmp(sum->reasons[i].why, why))
			continue;
		sum->reasons[i].why = why;
		sum->reasons[i].sockets++;
		return;
	}
}

void watch_law_add(struct watch_law_sum *sum, const struct watch_sides *sides)
{
	if (!sides->known) {
		sum->not_testable++;
		reason_add(sum, sides->why);
		return;
	}
	sum->testable++;
	sum->left += sides->left;
	sum->right += sides->right;
	sum->broken += sides->left != sides->right;
}

/* The total alone has its sockets. */
static bool is_folded(const struct watch_tally *t, const struct watch_process_id *id)
{
	return watch_ids_find(&t->folded_ids[0], id) >= 0 || watch_ids_find(&t->folded_ids[1], id) >= 0;
}

static int sums_add(const struct watch_tally *t, struct watch_sums *sums, const struct watch_socket *s)
{
	struct watch_process *process;
	int err;

	if (!is_folded(t, &s->owner)) {
		process = process_of(sums, s);
		if (!process)
			return -ENOMEM;
		watch_sum_add(&process->sum, s);
	}
	err = groups_add(sums->groups, s);
	sums->unopened += s->unopened || s->late;
	if (!s->unopened) {
		watch_sum_add(&sums->total, s);
		return err;
	}
	sums->total.sockets++;
	sums->total.died += s->died;
	sums->total.stacked_bytes += s->stacked_bytes;
	sums->total.unstacked_bytes += s->unstacked_bytes;
	return err;
}

void watch_tally_open(const struct watch_tally *t, struct watch_socket *s,
		      const struct watch_book *book, const struct watch_hooked *hooked)
{
	const struct watch_past *past;

	watch_socket_fill(s, book, hooked);
	s->lately = s->moved;
	past = t->past_count ? bsearch(&s->cookie, t->past, t->past_count, sizeof(*past), by_cookie) :
			       NULL;
	if (past)
		watch_movements_subtract(&s->lately, &past->moved);
	s->rested = watch_moved_nothing(&s->lately);
	for (int law = 0; law < WATCH_LAW_COUNT; law++)
		s->laws[law] = watch_law_sides(law, s, book, hooked);
}

void watch_tally_begin(struct watch_tally *t, int kept_max)
{
	*t = (struct watch_tally){ .kept_max = kept_max ? kept_max : DEFAULT_KEPT };
	t->dead[0].sums.total = t->dead[1].sums.total = watch_sum_of_nothing();
}

static void laws_of_socket(struct watch_law_sum *sums, const struct watch_socket *s)
{
	for (int law = 0; law < WATCH_LAW_COUNT; law++)
		watch_law_add(&sums[law], &s->laws[law]);
}

static int dead_add(const struct watch_tally *t, struct watch_dead *dead, const struct watch_socket *socket)
{
	struct watch_socket *kept;
	int err = sums_add(t, &dead->sums, socket);

	if (err)
		return err;
	laws_of_socket(dead->sums.laws, socket);
	if (dead->kept_count == t->kept_max)
		return 0;
	kept = room_for_one(dead->kept, dead->kept_count, &dead->kept_room, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	dead->kept = kept;
	kept[dead->kept_count++] = *socket;
	return 0;
}

int watch_tally_death(struct watch_tally *t, const struct watch_book *book,
		      const struct watch_hooked *hooked)
{
	struct watch_hooked as = *hooked;
	int err = 0;

	t->folded += t->dead[0].kept_count == t->kept_max;
	for (int skipped = 0; skipped < 2 && !err; skipped++) {
		struct watch_socket socket;

		as.skipped = skipped;
		watch_tally_open(t, &socket, book, &as);
		err = dead_add(t, &t->dead[skipped], &socket);
	}
	return err;
}

static void sum_forget(struct watch_sum *sum)
{
	sum->lately = watch_sum_of_nothing().lately;
	sum->sockets_lately = 0;
}

/* A reading begins anew: what died before it moves nothing more. */
static void lately_forget(struct watch_dead *dead)
{
	sum_forget(&dead->sums.total);
	groups_forget(dead->sums.groups);
	for (int i = 0; i < dead->sums.process_count; i++)
		sum_forget(&dead->sums.processes[i].sum);
	for (int i = 0; i < dead->kept_count; i++) {
		dead->kept[i].lately = watch_sum_of_nothing().lately;
		dead->kept[i].died_before = true;
	}
}

static int past_note(struct watch_tally *t, const struct watch_socket *open, int count)
{
	struct watch_past *past = realloc(t->past, (count + !count) * sizeof(*past));

	if (!past)
		return -ENOMEM;
	t->past = past;
	t->past_count = count;
	for (int i = 0; i < count; i++)
		past[i] = (struct watch_past){ open[i].cookie, open[i].moved };
	return 0;
}

/* Nothing on both sides holds nothing, if the sockets that had something could not be tested. */
static bool was_tested(const struct watch_law_sum *sum)
{
	return sum->testable && (sum->left || sum->right || !sum->not_testable);
}

/* The reason of most of them; how many have others. */
static void tell_reasons(char why[WHY_BYTES], const struct watch_law_sum *sum)
{
	int most = 0, used;

	for (int i = 1; i < LAW_REASONS; i++)
		if (sum->reasons[i].sockets > sum->reasons[most].sockets)
			most = i;
	used = snprintf(why, WHY_BYTES, "not testable for %llu of %llu sockets: %.140s",
			(unsigned long long)sum->not_testable, (unsigned long long)(sum->testable + sum->not_testable),
			sum->reasons[most].why);
	if (sum->reasons[most].sockets < sum->not_testable)
		snprintf(why + used, WHY_BYTES - used, " (%llu of them; others for other reasons)",
			 (unsigned long long)sum->reasons[most].sockets);
}

/* A run that the kernel skipped was one socket's: it explains sides that differ for as many sockets, of whomever. */
static bool is_excused(const struct watch_law_sum *sum, uint64_t unseen)
{
	return sum->broken && sum->broken <= unseen;
}

void watch_law_tell(struct law *law, enum law_id id, const struct watch_law_sum *sum, uint64_t unseen)
{
	bool excused = is_excused(sum, unseen);

	*law = law_untested(id);
	law->known = sum->testable;
	law->left = sum->left;
	law->right = sum->right;
	law->residual = sum->left - sum->right;
	law->at_any_end = true;
	law->status = excused		? LAW_NOT_TESTABLE :
		      sum->broken	? LAW_BROKEN :
		      was_tested(sum)	? LAW_BALANCED :
					  LAW_NOT_TESTABLE;
	if (excused)
		snprintf(law->why, WHY_BYTES, "its sides differ for %llu of %llu sockets, and " MOMENTS_UNSEEN,
			 (unsigned long long)sum->broken, (unsigned long long)sum->testable, (unsigned long long)unseen);
	else if (sum->broken)
		snprintf(law->why, WHY_BYTES, "broken for %llu of %llu sockets",
			 (unsigned long long)sum->broken, (unsigned long long)sum->testable);
	else if (sum->not_testable)
		tell_reasons(law->why, sum);
	else if (!sum->testable)
		snprintf(law->why, WHY_BYTES, "no socket of the subject was seen");
}

/* No row tells of a law as broken that the record does not. */
static void rows_excuse(struct watch_record *r, uint32_t excused)
{
	r->total.laws_broken &= ~excused;
	for (int i = 0; i < r->process_count; i++)
		r->processes[i].sum.laws_broken &= ~excused;
	for (int i = 0; i < r->socket_count; i++)
		for (enum watch_law law = 0; law < WATCH_LAW_COUNT; law++)
			if (excused >> law & 1 && watch_law_status(&r->sockets[i].laws[law]) == LAW_BROKEN)
				r->sockets[i].laws[law] = watch_not_known("its sides differ, and moments of sockets of this machine were not seen");
}

static void laws_of_record(struct watch_record *r, const struct watch_law_sum *sums)
{
	uint32_t excused = 0;

	r->law_count = WATCH_LAW_COUNT;
	for (enum watch_law law = 0; law < WATCH_LAW_COUNT; law++) {
		watch_law_tell(&r->laws[law], law_of_watch(law), &sums[law], r->unseen_events);
		excused |= is_excused(&sums[law], r->unseen_events) << law;
	}
	/* There may be 10,000 rows, at each reading. */
	if (excused)
		rows_excuse(r, excused);
}

/* From here on the processes of these sums are others, in @memory, which they take over, with room for @room. */
static int sums_copy(struct watch_sums *sums, struct watch_process *memory, int room)
{
	const struct watch_process *from = sums->processes;

	sums->index = (struct watch_ids){};
	sums->process_room = room > sums->process_count ? room : sums->process_count;
	sums->processes = realloc(memory, (sums->process_room + 1) * sizeof(*sums->processes));
	if (!sums->processes) {
		free(memory);
		return -ENOMEM;
	}
	for (int i = 0; i < sums->process_count; i++) {
		sums->processes[i] = from[i];
		if (watch_ids_put(&sums->index, &from[i].id, i)) {
			free(sums->processes);
			sums->processes = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

void watch_tally_free(struct watch_tally *t)
{
	for (int skipped = 0; skipped < 2; skipped++) {
		free(t->dead[skipped].sums.processes);
		watch_groups_free(t->dead[skipped].sums.groups, WATCH_GROUPINGS);
		free(t->dead[skipped].kept);
		watch_ids_free(&t->dead[skipped].sums.index);
		watch_ids_free(&t->folded_ids[skipped]);
	}
	free(t->gone);
	free(t->past);
}

/* So many are remembered for a socket that dies long after its process: then as many again. */
enum { FOLDED_REMEMBERED = 1 << 15 };

static struct watch_process_id id_of(const struct watch_task *task)
{
	return (struct watch_process_id){ .pid = task->tgid, .started_ns = task->started_ns };
}

static int remember(struct watch_tally *t, const struct watch_process_id *id)
{
	if (t->folded_ids[0].count >= FOLDED_REMEMBERED) {
		watch_ids_free(&t->folded_ids[1]);
		t->folded_ids[1] = t->folded_ids[0];
		t->folded_ids[0] = (struct watch_ids){};
	}
	return watch_ids_put(&t->folded_ids[0], id, 0);
}

static uint64_t moved_by(const struct watch_sums *sums, const struct watch_member *m)
{
	struct watch_process_id id = id_of(&m->task);
	int at = watch_ids_find(&sums->index, &id);
	const unsigned long long *count = at < 0 ? NULL : sums->processes[at].sum.moved.count;

	return count ? 1 + count[COUNT_accepted_bytes] + count[COUNT_returned_bytes] : 0;
}

struct weighed {
	struct watch_member member;
	uint64_t moved;
};

/* Those that moved most first, then those that ended last. */
static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;
	uint64_t left = x->moved, right = y->moved;

	if (left == right) {
		left = x->member.ended_ns;
		right = y->member.ended_ns;
	}
	return left < right ? 1 : left > right ? -1 : 0;
}

/* Processes that are in one of @count sets; their bytes stay in the total. */
static int drop(struct watch_sums *sums, const struct watch_ids sets[], int count)
{
	struct watch_ids index = {};
	int kept = 0, err = 0;

	for (int i = 0; i < sums->process_count && !err; i++) {
		bool dropped = false;

		for (int at = 0; at < count; at++)
			dropped |= watch_ids_find(&sets[at], &sums->processes[i].id) >= 0;
		if (dropped)
			continue;
		sums->processes[kept] = sums->processes[i];
		err = watch_ids_put(&index, &sums->processes[kept].id, kept);
		kept++;
	}
	if (err) {
		watch_ids_free(&index);
		return err;
	}
	sums->process_count = kept;
	watch_ids_free(&sums->index);
	sums->index = index;
	return 0;
}

static int fold(struct watch_tally *t)
{
	struct weighed *all = malloc(t->gone_count * sizeof(*all));
	int count = t->gone_count, err = all ? 0 : -ENOMEM;

	for (int i = 0; !err && i < count; i++)
		all[i] = (struct weighed){ t->gone[i], moved_by(&t->dead[0].sums, &t->gone[i]) };
	if (!err)
		qsort(all, count, sizeof(*all), by_weight);
	t->gone_count = 0;
	for (int i = 0; i < count && !err; i++) {
		struct watch_process_id id = id_of(&all[i].member.task);

		if (i < t->kept_max) {
			t->gone[t->gone_count++] = all[i].member;
			continue;
		}
		t->folded_processes++;
		err = remember(t, &id);
	}
	free(all);
	for (int skipped = 0; skipped < 2 && !err; skipped++)
		err = drop(&t->dead[skipped].sums, t->folded_ids, 2);
	return err;
}

int watch_tally_gone(struct watch_tally *t, const struct watch_member *member)
{
	if (!t->gone)
		t->gone = malloc(2 * t->kept_max * sizeof(*t->gone));
	if (!t->gone)
		return -ENOMEM;
	t->gone[t->gone_count++] = *member;
	return t->gone_count == 2 * t->kept_max ? fold(t) : 0;
}

/* Where nobody tells which processes are gone, as in a watch of everything: those that have no open socket, and none
 * that died lately, but for the ones that moved most. One that comes back begins anew. */
static int idle_find(const struct watch_tally *t, const struct watch_socket *open, int count, struct watch_ids *idle)
{
	const struct watch_sums *sums = &t->dead[0].sums;
	struct weighed *all = malloc((sums->process_count + 1) * sizeof(*all));
	struct watch_ids busy = {};
	int found = 0, err = all ? 0 : -ENOMEM;

	for (int i = 0; i < count && !err; i++)
		if (watch_ids_find(&busy, &open[i].owner) < 0)
			err = watch_ids_put(&busy, &open[i].owner, 0);
	for (int i = 0; i < sums->process_count && !err; i++) {
		const struct watch_process *p = &sums->processes[i];
		const unsigned long long *moved = p->sum.moved.count;

		if (!p->sum.sockets_lately && watch_ids_find(&busy, &p->id) < 0)
			all[found++] = (struct weighed){
				{ .task = { .tgid = p->id.pid, .started_ns = p->id.started_ns } },
				moved[COUNT_accepted_bytes] + moved[COUNT_returned_bytes] };
	}
	if (!err)
		qsort(all, found, sizeof(*all), by_weight);
	for (int i = t->kept_max; i < found && !err; i++) {
		struct watch_process_id id = id_of(&all[i].member.task);

		err = watch_ids_put(idle, &id, 0);
	}
	watch_ids_free(&busy);
	free(all);
	return err;
}

static int forget_idle(struct watch_tally *t, const struct watch_socket *open, int count)
{
	struct watch_ids idle = {};
	int err;

	if (!t->forgets || t->dead[0].sums.process_count < 4 * t->kept_max)
		return 0;
	err = idle_find(t, open, count, &idle);
	t->folded_processes += idle.count;
	for (int skipped = 0; skipped < 2 && !err; skipped++)
		err = drop(&t->dead[skipped].sums, &idle, 1);
	watch_ids_free(&idle);
	return err;
}

int watch_tally_read(struct watch_tally *t, const struct watch_socket *open, int count, bool skipped,
		     struct watch_record *r)
{
	const struct watch_dead *dead = &t->dead[skipped];
	struct watch_sums sums = dead->sums;
	struct watch_process *memory = r->processes;
	bool owned = open == r->sockets;
	struct watch_socket *sockets = realloc(r->sockets, (count + dead->kept_count + 1) * sizeof(*sockets));
	int err = 0;

	if (!sockets)
		return -ENOMEM;
	r->sockets = sockets;
	if (owned)
		open = sockets;
	r->processes = NULL;
	if (sums_copy(&sums, memory, t->processes_read) || groups_copy(dead->sums.groups, r->groups)) {
		watch_ids_free(&sums.index);
		if (sums.processes != dead->sums.processes)
			free(sums.processes);
		return -ENOMEM;
	}
	memcpy(sums.groups, r->groups, sizeof(sums.groups));
	for (int i = 0; i < count && !err; i++) {
		if (!owned)
			sockets[i] = open[i];
		err = sums_add(t, &sums, &open[i]);
		laws_of_socket(sums.laws, &open[i]);
	}
	for (int i = 0; i < dead->kept_count; i++)
		sockets[count + i] = dead->kept[i];
	r->socket_count = count + dead->kept_count;
	watch_ids_free(&sums.index);
	r->folded_sockets = t->folded;
	r->folded_processes = t->folded_processes;
	r->processes = sums.processes;
	r->process_count = t->processes_read = sums.process_count;
	memcpy(r->groups, sums.groups, sizeof(r->groups));
	r->total = sums.total;
	r->unopened_sockets = sums.unopened;
	laws_of_record(r, sums.laws);
	if (!err)
		err = forget_idle(t, open, count);
	lately_forget(&t->dead[0]);
	lately_forget(&t->dead[1]);
	return err ? err : past_note(t, open, count);
}
