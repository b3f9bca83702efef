// SPDX-License-Identifier: GPL-2.0
/* Claims about a record of processes that copyscope did not start: it says what it cannot know. */
#include "tests/unit/expected_laws.h"

#include <jansson.h>

#include "userspace/judge/cost.h"
#include "userspace/judge/outcome.h"
#include "userspace/judge/verdict.h"
#include "userspace/report/json/record_json.h"
#include "userspace/report/report.h"

/* A whole measurement, by either backend, of sockets whose hits nobody checks. */
static void foreign_init(struct made *m, enum backend backend)
{
	made_init(m);
	m->r.experiment = NULL;
	m->r.backend = backend;
	for (int i = 0; i < m->r.derived.socket_count; i++)
		books_sum(&m->r.derived.total, &m->sockets[i].books);
}

static void judge(struct made *m)
{
	made_derive(m);
	outcome_decide(&m->r);
	outcome_excuse_laws(&m->r);
	costs_fill(&m->r);
}

static void laws_of_the_kernels_books_are_judged_and_the_others_say_why_not(void **state)
{
	struct made m;

	foreign_init(&m, BACKEND_TRAMPOLINE);
	judge(&m);
	assert_int_equal(m.r.outcome.status, RUN_COMPLETE);
	assert_string_equal(made_laws(&m, LAW_BALANCED), laws_with(0, OF_EXPERIMENT));
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), laws_with(OF_EXPERIMENT, 0));
	for (int i = 0; i < m.r.law_count; i++)
		if (m.r.laws[i].status == LAW_NOT_TESTABLE)
			assert_non_null(strstr(m.r.laws[i].why, "the process is not the workload"));
}

static void a_byte_amiss_breaks_a_law_without_an_experiment(void **state)
{
	struct made m;

	foreign_init(&m, BACKEND_TRAMPOLINE);
	m.r.derived.total.count[COUNT_returned_bytes]++;
	judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "receive,");
}

/* No path says that a device gathers, so what no tracepoint sees there is not taken for nothing. */
static void an_unknown_path_leaves_the_reference_law_untested(void **state)
{
	struct made m;

	foreign_init(&m, BACKEND_TRACEPOINT);
	made_detach(&m, "reshape");
	judge(&m);
	assert_int_equal(made_law(&m, "reference")->status, LAW_NOT_TESTABLE);
	foreign_init(&m, BACKEND_TRAMPOLINE);
	made_detach(&m, "clean");
	judge(&m);
	assert_int_equal(made_law(&m, "reference")->status, LAW_NOT_TESTABLE);
}

static void packets_kept_from_the_probes_are_told(void **state)
{
	struct made m;

	foreign_init(&m, BACKEND_TRAMPOLINE);
	made_probe(&m, "tx_copy")->missed_hits = 3;
	judge(&m);
	assert_int_equal(m.r.outcome.status, RUN_BLIND);
	assert_true(outcome_is_sound(&m.r));
}

static void the_verdict_is_on_the_process(void **state)
{
	char text[VERDICT_BYTES];
	struct made m;

	foreign_init(&m, BACKEND_TRAMPOLINE);
	judge(&m);
	verdict_sentence(&m.r, text, sizeof(text));
	assert_string_equal(text, "The process copied every byte after all: 0 of 36,837 bytes were sent "
			    "without a copy, because of local delivery.");
	m.r.outcome.status = RUN_INTERRUPTED;
	verdict_sentence(&m.r, text, sizeof(text));
	assert_non_null(strstr(text, "no verdict on the process"));
}

static void json_leaves_out_what_an_experiment_alone_has(void **state)
{
	static const char *const of_experiments[] = { "workload", "path", "passes", "counters", "peer" };
	json_t *o, *socket;
	struct made m;

	foreign_init(&m, BACKEND_TRAMPOLINE);
	judge(&m);
	o = record_json(&m.r);
	assert_string_equal(json_string_value(json_object_get(o, "subject")), "foreign process");
	for (int i = 0; i < 5; i++)
		assert_null(json_object_get(o, of_experiments[i]));
	assert_null(json_object_get(json_object_get(o, "outcome"), "sender"));
	assert_true(json_is_null(json_object_get(json_object_get(o, "timing"), "throughput_gbps")));
	assert_int_equal(json_array_size(json_object_get(o, "sockets")), 2 * FLOWS);
	socket = json_array_get(json_object_get(o, "sockets"), 0);
	assert_true(json_is_null(json_object_get(socket, "end")));
	assert_true(json_is_null(json_object_get(socket, "pid")));
	json_decref(o);
}

static void a_record_of_a_run_does_not_call_itself_foreign(void **state)
{
	struct made m;
	json_t *o;

	made_init(&m);
	made_judge(&m);
	o = record_json(&m.r);
	assert_null(json_object_get(o, "subject"));
	assert_non_null(json_object_get(o, "workload"));
	json_decref(o);
}

static void the_report_prints_what_there_is(void **state)
{
	static const enum backend backends[] = { BACKEND_TRAMPOLINE, BACKEND_TRACEPOINT,
						 BACKEND_NONE };

	for (int i = 0; i < 3; i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);
		struct made m;

		foreign_init(&m, backends[i]);
		judge(&m);
		report_print(&m.r, &(struct report_page){ .out = out, .columns = 80 });
		fclose(out);
		assert_non_null(strstr(text, "4 sockets, kernel"));
		assert_null(strstr(text, "\ncompletions "));
		assert_null(strstr(text, "\ncounters "));
		free(text);
	}
}

static void nothing_at_all_was_counted_and_nothing_falls(void **state)
{
	struct made m;
	char text[VERDICT_BYTES];

	memset(&m, 0, sizeof(m));
	m.r.backend = BACKEND_NONE;
	assert_int_equal(ledger_derive(&m.r), 0);
	sites_fill(&m.r);
	causes_fill(&m.r);
	laws_fill(&m.r);
	outcome_decide(&m.r);
	verdict_sentence(&m.r, text, sizeof(text));
	assert_true(*text);
	assert_false(record_tapped(&m.r));
	assert_null(record_far(&m.r));
	record_free(&m.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laws_of_the_kernels_books_are_judged_and_the_others_say_why_not),
		cmocka_unit_test(a_byte_amiss_breaks_a_law_without_an_experiment),
		cmocka_unit_test(an_unknown_path_leaves_the_reference_law_untested),
		cmocka_unit_test(packets_kept_from_the_probes_are_told),
		cmocka_unit_test(the_verdict_is_on_the_process),
		cmocka_unit_test(json_leaves_out_what_an_experiment_alone_has),
		cmocka_unit_test(a_record_of_a_run_does_not_call_itself_foreign),
		cmocka_unit_test(the_report_prints_what_there_is),
		cmocka_unit_test(nothing_at_all_was_counted_and_nothing_falls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
