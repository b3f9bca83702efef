// SPDX-License-Identifier: GPL-2.0
/* Rows of services say what the rows of their processes do, added up. */
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/watch/report/line_rows.h"

enum { PROCESSES = 6, SERVICES = 2, BYTES = 100 };

struct told {
	int rows, processes;
	uint64_t open, accepted, copied, sampled;
	bool needless_known[PROCESSES];
};

static void note_row(void *arg, const struct line_row *row)
{
	struct told *told = arg;

	told->needless_known[told->rows++] = row->needless.known;
	told->processes += row->processes;
	told->open += row->open;
	told->accepted += row->sum.moved.count[COUNT_accepted_bytes];
	told->copied += row->copied.bytes;
	told->sampled += row->cpu[0];
}

static struct told tell(const struct line_notes *before, const struct watch_record *r, bool fold)
{
	struct told told = {};

	assert_int_equal(line_rows(before, r, fold, note_row, &told), 0);
	return told;
}

/* Processes of two services, each with a socket that sent bytes lately. */
static void make(struct watch_record *r, struct watch_process processes[PROCESSES])
{
	*r = (struct watch_record){ .processes = processes, .process_count = PROCESSES, .cpu_clock = "cpu-clock" };
	for (int i = 0; i < PROCESSES; i++) {
		struct watch_process *p = &processes[i];

		*p = (struct watch_process){ .id = { .pid = 100 + i }, .cgroup = 1 + i % SERVICES, .comm = "nginx",
					     .cpu.samples = { i }, .sum = watch_sum_of_nothing() };
		p->sum.sockets = 1;
		watch_set_count(&p->sum.lately, COUNT_accepted_bytes, true, BYTES);
		watch_set_site(&p->sum.lately, SITE_tx_copy, true, BYTES);
		watch_movements_add(&p->sum.moved, &p->sum.lately);
	}
}

static void rest(struct watch_record *r)
{
	for (int i = 0; i < r->process_count; i++)
		r->processes[i].sum.lately = watch_sum_of_nothing().lately;
}

TEST(a_row_of_a_service_is_the_sum_of_its_processes)
{
	struct watch_process processes[PROCESSES];
	struct line_notes none = {};
	struct watch_record r;
	struct told each, folded;

	make(&r, processes);
	each = tell(&none, &r, false);
	folded = tell(&none, &r, true);
	assert_int_equal(each.rows, PROCESSES);
	assert_int_equal(folded.rows, SERVICES);
	assert_int_equal(folded.accepted, PROCESSES * BYTES);
	assert_int_equal(folded.copied, PROCESSES * BYTES);
	folded.rows = each.rows;
	memcpy(folded.needless_known, each.needless_known, sizeof(each.needless_known));
	assert_memory_equal(&folded, &each, sizeof(each));
}

TEST(a_number_that_one_process_lacks_does_not_spoil_the_others)
{
	struct watch_process processes[PROCESSES];
	struct line_notes none = {};
	struct watch_record r;
	struct told folded;

	make(&r, processes);
	processes[0].sum.lately.sites_known &= ~(1u << SITE_tx_reference);
	processes[0].sum.moved.sites_known &= ~(1u << SITE_tx_reference | 1u << SITE_late_copy);
	folded = tell(&none, &r, true);
	assert_int_equal(folded.rows, SERVICES + 1);
	assert_int_equal(folded.needless_known[0] + folded.needless_known[1] + folded.needless_known[2], SERVICES);
	assert_int_equal(folded.open, PROCESSES);
	assert_int_equal(folded.accepted, PROCESSES * BYTES);
}

TEST(who_does_nothing_has_no_row_and_is_open_all_the_same)
{
	struct watch_process processes[PROCESSES];
	struct line_notes notes = {};
	struct watch_record r;
	struct told told;

	make(&r, processes);
	assert_int_equal(line_notes_take(&notes, &r), 0);
	rest(&r);
	assert_int_equal(tell(&notes, &r, true).rows, 0);
	assert_int_equal(tell(&notes, &r, false).rows, 0);
	/* One of three moves; then a socket of another closes. */
	watch_set_count(&processes[0].sum.lately, COUNT_accepted_bytes, true, 1);
	told = tell(&notes, &r, true);
	assert_int_equal(told.rows, 1);
	assert_int_equal(told.open, PROCESSES / SERVICES);
	rest(&r);
	processes[2].sum.died = 1;
	told = tell(&notes, &r, true);
	assert_int_equal(told.rows, 1);
	assert_int_equal(told.open, PROCESSES / SERVICES - 1);
	line_notes_free(&notes);
}

TEST(sockets_of_who_is_gone_or_has_another_name_are_open_there_no_more)
{
	struct watch_process processes[PROCESSES];
	struct line_notes notes = {};
	struct watch_record r;
	struct told told;

	make(&r, processes);
	assert_int_equal(line_notes_take(&notes, &r), 0);
	rest(&r);
	/* Both services have one less, and a new one has one. */
	strcpy(processes[0].comm, "worker");
	r.process_count--;
	told = tell(&notes, &r, true);
	assert_int_equal(told.rows, SERVICES + 1);
	assert_int_equal(told.open, PROCESSES - 1);
	/* Of processes the one that is gone alone has a row: it has none open. */
	told = tell(&notes, &r, false);
	assert_int_equal(told.rows, 1);
	assert_int_equal(told.open, 0);
	line_notes_free(&notes);
}
