// SPDX-License-Identifier: GPL-2.0
/* Claims about what is counted beside a benchmark: filters as the kernel reads them, warnings once. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "studies/baseline/bench/events.h"
#include "studies/baseline/bench/machine.h"
#include "studies/baseline/bench/proof.h"
#include "tests/unit/unit.h"

enum { CPU = 3 };

static void assert_filter(enum event_id id, const char *expected)
{
	char filter[128];

	event_filter(id, "path0", CPU, filter, sizeof(filter));
	assert_string_equal(filter, expected);
}

TEST(a_filter_has_the_number_of_its_system_call)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "id == %d", SYS_pread64);
	assert_filter(EVENT_preads, expected);
	snprintf(expected, sizeof(expected), "id != %d", SYS_prctl);
	assert_filter(EVENT_syscalls, expected);
}

TEST(a_filter_names_the_device_and_the_cpu)
{
	assert_filter(EVENT_packets, "name == \"path0\"");
	assert_filter(EVENT_wakes_away, "target_cpu != 3");
}

TEST(a_filter_without_signs_stays_as_it_is)
{
	assert_filter(EVENT_voluntary, "prev_state != 0 && prev_state != 256");
	assert_filter(EVENT_switches, "");
}

TEST(no_filter_is_cut_or_left_with_a_sign)
{
	for (int id = 0; id < EVENT_COUNT; id++) {
		char filter[128];

		event_filter(id, "fifteen-letters", CPU, filter, sizeof(filter));
		assert_true(strlen(filter) < sizeof(filter) - 1);
		assert_null(strpbrk(filter, "%@#"));
	}
}

TEST(every_event_is_counted_somewhere)
{
	for (int id = 0; id < EVENT_COUNT; id++)
		assert_true(*event_of(id)->tracepoint || *event_of(id)->filter);
}

TEST(a_warning_is_kept_once)
{
	struct warnings w = {};

	warnings_add(&w, "%d of %d", 1, 2);
	warnings_add(&w, "another");
	warnings_add(&w, "1 of 2");
	assert_int_equal(w.count, 2);
	assert_string_equal(w.sentence[0], "1 of 2");
	for (int i = 0; i < 2 * WARNINGS_MAX; i++)
		warnings_add(&w, "number %d", i);
	assert_int_equal(w.count, WARNINGS_MAX);
}

TEST(a_fault_changes_what_it_names_and_nothing_else)
{
	assert_int_equal(fault_inject_named("near"), INJECT_NEAR);
	assert_int_equal(fault_inject_named("fault"), INJECT_PAGE_FAULT);
	assert_int_equal(fault_inject_named("nothing"), -1);
	assert_int_equal(fault_inject_calls(INJECT_SKIP, 1009), 504);
	assert_int_equal(fault_inject_calls(INJECT_SKIP, 1), 1);
	assert_int_equal(fault_inject_calls(INJECT_NEAR, 1009), 1009);
	assert_true(fault_inject_rtt_ms(INJECT_NEAR, 6) == 0);
	assert_true(fault_inject_rtt_ms(INJECT_SKIP, 6) == 6);
}
