// SPDX-License-Identifier: GPL-2.0
/* Chooses the processes of the subject that run, and says how many of them still do. */
#include "userspace/watch/choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/watch/options/called.h"

enum { ROUNDS_MOST = 10 };

/* Those that this process added, one walk after the other. */
struct choice {
	struct engine *probes;
	const struct watch_subject *subject;
	int pids_run;	/* of those that were named, in the last walk */
	struct watch_task *added;
	int count, room;
};

/* By its comm in any PID namespace, by the word that started it only where this one sees it. */
static bool is_called(const struct subject_names *names, const struct watch_row *row)
{
	char pid[16], comm[WATCH_TASK_COMM + 1] = "";

	memcpy(comm, row->task.comm, WATCH_TASK_COMM);
	snprintf(pid, sizeof(pid), "%u", row->pid);
	for (unsigned int i = 0; i < names->comm_count; i++)
		if (name_fits(names->comms[i], comm))
			return !row->task.kernel;
	return row->pid && !row->task.kernel && process_is_called(pid, names, NULL);
}

static bool has_pid(const struct watch_subject *s, const struct watch_row *row)
{
	for (int i = 0; i < s->pid_count; i++)
		if (row->pid == (uint32_t)s->pids[i])
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	return numbers_order(((const struct watch_row *)a)->task.tgid, ((const struct watch_row *)b)->task.tgid);
}

/* Was it started by one of them, or by one that was? Who lost its parent has another one. @rows: in order. */
static bool descends(const struct watch_subject *s, const struct watch_row *row, const struct watch_row *rows, int count)
{
	for (int i = 0; row && i < GENERATIONS_MOST; i++) {
		struct watch_row key = { .task.tgid = row->parent };

		if (has_pid(s, row))
			return true;
		row = s->childless ? NULL : bsearch(&key, rows, count, sizeof(*rows), by_number);
	}
	return false;
}

/* Of each kind that was named something must fit. */
static bool is_chosen(const struct watch_subject *s, const struct watch_row *row, const struct watch_row *rows, int count)
{
	bool out = row->left_out || is_called(&s->left_out, row);

	if (!row->running || s->by > WATCH_CGROUP)
		return row->running && out;
	if (s->kinds & 1u << WATCH_PIDS && !descends(s, row, rows, count))
		return false;
	if (s->kinds & 1u << WATCH_COMM && !is_called(&s->named, row))
		return false;
	return (row->in_cgroup || !(s->kinds & 1u << WATCH_CGROUP)) && !out;
}

static int add(struct choice *c, const struct watch_row *row)
{
	int err = engine_add(c->probes, row);

	if (err)
		return err == -EEXIST ? 0 : err;
	if (c->count == c->room) {
		int room = c->room ? 2 * c->room : 64;
		struct watch_task *more = realloc(c->added, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->added = more;
		c->room = room;
	}
	c->added[c->count++] = row->task;
	return 0;
}

/* What was collected before it was added: no program will see it end. @rows: in order. */
static void drop_gone(struct choice *c, const struct watch_row *rows, int count)
{
	int kept = 0;

	for (int i = 0; i < c->count; i++) {
		struct watch_row key = { .task = c->added[i] }, *found;

		found = bsearch(&key, rows, count, sizeof(*rows), by_number);
		if ((found && found->task.started_ns == key.task.started_ns) ||
		    !engine_remove(c->probes, key.task.tgid))
			c->added[kept++] = c->added[i];
	}
	c->count = kept;
}

/* Those that there are now; the programs add what they fork. */
static int choose_round(struct choice *c, char why[WHY_BYTES])
{
	struct watch_row *rows;
	int count = engine_processes(c->probes, &rows), err = count < 0 ? count : 0;

	if (!err) {
		qsort(rows, count, sizeof(*rows), by_number);
		drop_gone(c, rows, count);
	}
	c->pids_run = 0;
	for (int i = 0; i < count; i++)
		c->pids_run += rows[i].running && has_pid(c->subject, &rows[i]);
	for (int i = 0; i < count && !err; i++)
		if (is_chosen(c->subject, &rows[i], rows, count))
			err = add(c, &rows[i]);
	free(rows);
	if (err)
		snprintf(why, WHY_BYTES, "cannot list the processes: %s", strerror(-err));
	return err;
}

/* What was forked by one that was not added yet shows in the next walk, as does what has ended. */
int watch_choose(struct engine *probes, const struct watch_subject *subject, char why[WHY_BYTES])
{
	struct choice c = { .probes = probes, .subject = subject };
	int before, err, rounds = 0;

	if (subject->by > WATCH_CGROUP && !watch_leaves_processes_out(subject))
		return 0;
	do {
		before = c.count;
		err = choose_round(&c, why);
	} while (!err && c.count > before && ++rounds < ROUNDS_MOST);
	free(c.added);
	if (err)
		return err;
	if (subject->by == WATCH_PIDS && c.pids_run < subject->pid_count) {
		snprintf(why, WHY_BYTES, "a process of those named has ended");
		return -ESRCH;
	}
	if (!watch_alive(probes, subject)) {
		snprintf(why, WHY_BYTES, "no process that runs fits all that was named");
		return -ESRCH;
	}
	return 0;
}

int watch_alive(const struct engine *probes, const struct watch_subject *subject)
{
	struct watch_gauges gauges = engine_gauges(probes);

	if (subject->by > WATCH_CGROUP)
		return -1;
	/* Processes may still enter a cgroup that is empty. */
	if (subject->kinds & 1u << WATCH_CGROUP && subject->by != WATCH_PIDS && !gauges.chosen && !gauges.joined)
		return -1;
	return gauges.chosen + gauges.joined - gauges.left;
}
