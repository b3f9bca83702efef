// SPDX-License-Identifier: GPL-2.0
/* Processes that are gone: as many of them are kept one by one as there is room for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/watch/books/books_tally.h"

/* So many are remembered for a socket that dies long after its process: then as many again. */
enum { FOLDED_REMEMBERED = 1 << 15 };

static struct watch_process_id id_of(const struct watch_task *task)
{
	return (struct watch_process_id){ task->tgid, task->started_ns };
}

bool watch_tally_folded(const struct watch_tally *t, const struct watch_process_id *id)
{
	return watch_ids_find(&t->folded_ids[0], id) >= 0 || watch_ids_find(&t->folded_ids[1], id) >= 0;
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
	const uint64_t *count = at < 0 ? NULL : sums->processes[at].sum.moved.count;

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

/* Their bytes stay in the total. */
static int drop_folded(struct watch_tally *t, struct watch_sums *sums)
{
	struct watch_ids index = {};
	int kept = 0, err = 0;

	for (int i = 0; i < sums->process_count && !err; i++) {
		if (watch_tally_folded(t, &sums->processes[i].id))
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
		err = drop_folded(t, &t->dead[skipped].sums);
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
