// SPDX-License-Identifier: GPL-2.0
/* Claims about the end of a run: what it is called, and that no number of a failed one is praised. */
#include "tests/unit/expected_laws.h"
#include "tests/unit/record_fixture.h"

#include <signal.h>

#include "userspace/judge/outcome.h"
#include "userspace/judge/verdict.h"

/* What waitpid gives; of a process that was killed, the signal. */
#define EXITED(status) ((status) << 8)

static void judge(struct made *m, int server, int client)
{
	end_outcome_read(&m->r.experiment->ends.end[END_SENDER], server);
	end_outcome_read(&m->r.experiment->ends.end[END_RECEIVER], client);
	made_judge(m);
	outcome_decide(&m->r);
	outcome_excuse_laws(&m->r);
}

static void says(const struct made *m, enum run_status status, const char *reason)
{
	struct verdict v;

	assert_int_equal(m->r.outcome.status, status);
	assert_string_equal(m->r.outcome.reason, reason);
	verdict_fill(&m->r, &v);
	assert_true(status == RUN_COMPLETE || !(v.passed || v.copies_known || v.referenced_known));
}

static const struct {
	int server, client, signal;
	bool blind, told_server, nothing_sent;
	const char *failure;
	enum run_status status;
	bool sound;
	const char *reason;
} endings[] = {
	{ EXITED(1), SIGKILL, .status = RUN_FAILED,
	  .reason = "the client was killed by signal 9 (SIGKILL); the server ended with status 1" },
	{ SIGKILL, EXITED(1), .told_server = true, .status = RUN_FAILED,
	  .reason = "the client ended with status 1; the server did not end when told, and was killed" },
	{ 0, SIGKILL, .blind = true, .status = RUN_FAILED, .reason = "the client was killed by signal 9 (SIGKILL)" },
	{ .blind = true, .status = RUN_BLIND, .sound = true, .reason = "the probes missed 3 packets" },
	{ .nothing_sent = true, .status = RUN_FAILED, .reason = "no byte was sent: give the run more --seconds" },
	{ .nothing_sent = true, .signal = SIGINT, .status = RUN_INTERRUPTED,
	  .reason = "signal 2 (SIGINT) ended it before its time; no byte had been sent" },
	{ .blind = true, .signal = SIGINT, .status = RUN_INTERRUPTED, .sound = true,
	  .reason = "signal 2 (SIGINT) ended it before its time; the probes missed 3 packets" },
	{ .failure = "no progress", .signal = SIGTERM, .status = RUN_FAILED, .reason = "no progress" },
};

TEST(each_ending_has_its_name_and_its_first_reason)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		struct run_ends *ends;

		made_init(&m);
		ends = &m.r.experiment->ends;
		ends->interrupt_signal = endings[i].signal;
		ends->end[END_SENDER].told_to_end = endings[i].told_server;
		strcpy(ends->failure, endings[i].failure ?: "");
		if (endings[i].nothing_sent)
			memset(m.app, 0, sizeof(m.app));
		made_probe(&m, "tx_copy")->missed_hits = endings[i].blind ? 3 : 0;
		judge(&m, endings[i].server, endings[i].client);
		says(&m, endings[i].status, endings[i].reason);
		assert_int_equal(outcome_is_sound(&m.r), endings[i].sound);
	}
}

TEST_OF_RECORD(two_good_ends_make_a_complete_run)
{
	judge(&m, 0, 0);
	says(&m, RUN_COMPLETE, "");
	assert_true(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "");
}

TEST_OF_RECORD(a_run_that_never_began_has_its_reason)
{
	m.r.experiment->ends.before_gate = true;
	m.r.experiment->ends.interrupt_signal = SIGTERM;
	outcome_decide(&m.r);
	says(&m, RUN_INTERRUPTED, "signal 15 (SIGTERM) ended it before it began");
	m.r.experiment->ends.interrupt_signal = 0;
	end_outcome_read(&m.r.experiment->ends.end[END_RECEIVER], SIGKILL);
	outcome_decide(&m.r);
	says(&m, RUN_FAILED, "the client was killed by signal 9 (SIGKILL) before the run began");
}

TEST_OF_RECORD(a_broken_law_alone_leaves_a_run_complete)
{
	made_tx(&m, 0)->count[COUNT_released_pages]--;
	judge(&m, 0, 0);
	says(&m, RUN_COMPLETE, "");
	assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 1);
}

TEST_OF_RECORD(a_killed_server_is_told_first_and_its_laws_say_nothing)
{
	m.r.experiment->app[END_SENDER].known = false;
	judge(&m, SIGKILL, EXITED(1));
	says(&m, RUN_FAILED, "the server was killed by signal 9 (SIGKILL); the client ended with status 1");
	assert_false(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_BALANCED), laws_with(AT_ANY_END, NEEDS_TOTALS));
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
}

TEST_OF_RECORD(a_signal_interrupts_and_what_arrived_is_still_judged)
{
	m.r.experiment->ends.interrupt_signal = SIGINT;
	judge(&m, 0, 0);
	says(&m, RUN_INTERRUPTED, "signal 2 (SIGINT) ended it before its time");
	assert_true(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "");
	/* As a run does, which knows its outcome before its laws are tested. */
	laws_fill(&m.r);
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "passes,");
}

TEST_OF_RECORD(an_interrupted_run_with_bytes_on_their_way_is_not_judged_by_both_ends)
{
	m.r.experiment->ends.interrupt_signal = SIGTERM;
	m.app[END_RECEIVER][0].received_bytes -= 93;
	m.app[END_RECEIVER][0].tcp_returned_bytes -= 93;
	made_rx(&m, 0)->count[COUNT_returned_bytes] -= 93;
	made_rx(&m, 0)->site[SITE_rx_copy].bytes -= 93;
	judge(&m, 0, 0);
	says(&m, RUN_INTERRUPTED,
	     "signal 15 (SIGTERM) ended it before its time; 93 bytes were still on their way");
	assert_false(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	assert_int_equal(made_law(&m, "end to end")->status, LAW_NOT_TESTABLE);
	assert_int_equal(made_law(&m, "end to end")->residual, 93);
}

TEST_OF_RECORD(an_end_that_somebody_else_stopped_interrupts)
{
	m.r.experiment->app[END_RECEIVER].stopped_by = SIGTERM;
	judge(&m, 0, 0);
	says(&m, RUN_INTERRUPTED, "signal 15 (SIGTERM) to the client ended it before its time");
	/* Unless that was us, as it did not end by itself: then that is what failed. */
	m.r.experiment->ends.end[END_RECEIVER].told_to_end = true;
	outcome_note_told(&m.r.experiment->ends);
	outcome_decide(&m.r);
	says(&m, RUN_FAILED, "the client did not end by itself");
}

TEST_OF_RECORD(bytes_that_were_spliced_and_never_left_leave_nothing_to_say_of_copies)
{
	made_tx(&m, 0)->site[SITE_tx_splice].bytes += made_bytes(0) + made_bytes(1) + 1;
	made_derive(&m);
	judge(&m, 0, 0);
	/* Of a run that is whole a law tells. */
	assert_int_equal(m.r.sites[SITE_tx_copy].how, HOW_DERIVED);
	judge(&m, EXITED(1), 0);
	assert_int_equal(m.r.sites[SITE_tx_copy].how, HOW_NOT_MEASURED);
	assert_string_equal(m.r.sites[SITE_tx_copy].why, "the run failed while spliced bytes had not left");
}

TEST_OF_RECORD(the_exit_status_tells_how_it_ended)
{
	judge(&m, 0, 0);
	assert_int_equal(outcome_exit_status(&m.r), 0);
	m.r.experiment->ends.interrupt_signal = SIGINT;
	outcome_decide(&m.r);
	assert_int_equal(outcome_exit_status(&m.r), 130);
	m.r.experiment->ends.interrupt_signal = 0;
	m.r.experiment->app[END_SENDER].stopped_by = SIGTERM;
	outcome_decide(&m.r);
	assert_int_equal(outcome_exit_status(&m.r), 143);
	m.r.experiment->app[END_SENDER].stopped_by = 0;
	made_probe(&m, "tx_copy")->missed_hits = 3;
	outcome_decide(&m.r);
	assert_int_equal(outcome_exit_status(&m.r), EXIT_BLIND);
	/* A law that broke says more than either. */
	m.r.laws[0].status = LAW_BROKEN;
	assert_int_equal(outcome_exit_status(&m.r), 1);
	m.r.laws[0].status = LAW_BALANCED;
	strcpy(m.r.experiment->ends.failure, "no progress");
	outcome_decide(&m.r);
	assert_int_equal(outcome_exit_status(&m.r), 1);
}

