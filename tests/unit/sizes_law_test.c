// SPDX-License-Identifier: GPL-2.0
/* The law of sizes balances, breaks by one byte, and gives each process the calls that are its own. */
#include <string.h>

#include "tests/unit/made_watch.h"
#include "tests/unit/unit.h"
#include "userspace/watch/books/watch_judge.h"

static struct made_watch m;

static int a_watch(void **state)
{
	made_watch(&m);
	return 0;
}

#define TEST_OF_WATCH(name) TEST_BETWEEN(name, a_watch, NULL)

/* At each reading, after the laws of sockets. */
static enum law_status fill(uint64_t strays)
{
	m.r.law_count = WATCH_LAW_COUNT;
	watch_sizes_fill(&m.r, strays);
	return m.r.laws[WATCH_LAW_COUNT].status;
}

/* What calls of nginx moved: 23 plain sends of 4,093 bytes, and one that returned nothing. */
static void sized(struct call_sizes sizes[2])
{
	static struct call_holds holds[2];

	memset(sizes, 0, 2 * sizeof(*sizes));
	sizes[1].task.tgid = 812;
	sizes[1].bucket[CALL_SEND_PLAIN][12] = (struct size_bucket){ 23, 94139 };
	sizes[1].bucket[CALL_SEND_PLAIN][0] = (struct size_bucket){ 1, 0 };
	/* What was only looked at was not moved. */
	sizes[1].bucket[CALL_RECV_PEEK][6] = (struct size_bucket){ 1, 64 };
	m.r.total.called_bytes = 94139;
	m.r.sizes = (struct watch_sizes){ .asked = true, .all = sizes, .holds = holds, .count = 2 };
	fill(0);
}

TEST_OF_WATCH(sizes_that_do_not_add_up_break_a_law)
{
	struct call_sizes sizes[2];

	sized(sizes);
	assert_int_equal(fill(0), LAW_BALANCED);
	assert_int_equal(watch_laws_broken(&m.r), 0);
	m.r.total.called_bytes++;
	m.r.total.sockets = m.r.total.died = 1;
	assert_int_equal(fill(0), LAW_BROKEN);
	assert_int_equal(watch_laws_broken(&m.r), 1);
	/* A call under way explains it, and so does a socket that was not known to be the subject's, or began too late:
	 * its bytes are in the sizes alone. */
	m.r.total.died = 0;
	assert_int_equal(fill(0), LAW_NOT_TESTABLE);
	m.r.total.died = 1;
	assert_int_equal(fill(1), LAW_NOT_TESTABLE);
	m.r.sizes.began_since = true;
	assert_int_equal(fill(0), LAW_BROKEN);
	m.r.total.called_bytes -= 2;
	assert_int_equal(fill(0), LAW_NOT_TESTABLE);
	m.r.sizes.began_since = false;
	assert_int_equal(fill(0), LAW_BROKEN);
}

TEST_OF_WATCH(sizes_of_a_process_that_the_record_lacks_are_told_with_others)
{
	struct call_sizes sizes[2];

	sized(sizes);
	assert_ptr_equal(m.process[0].sizes, &sizes[1]);
	assert_int_equal(size_sum(&sizes[0], CALL_SEND_PLAIN).calls, 0);
	/* The number is another process's by now. */
	sizes[1].task.started_ns = 7;
	fill(0);
	assert_int_equal(size_sum(&sizes[0], CALL_SEND_PLAIN).bytes, 94139);
}
