// SPDX-License-Identifier: GPL-2.0
/* Claims about the end of a run: what it is called, and that no number of a failed one is praised. */
#include "tests/unit/expected_laws.h"
#include "tests/unit/unit.h"

#include <signal.h>

#include "userspace/judge/outcome.h"
#include "userspace/judge/verdict.h"

/* What waitpid gives. */
static int exited(int status) { return status << 8; }
static int killed(int number) { return number; }

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
	char verdict[VERDICT_BYTES];

	assert_int_equal(m->r.outcome.status, status);
	assert_string_equal(m->r.outcome.reason, reason);
	verdict_sentence(&m->r, verdict, sizeof(verdict));
	if (status == RUN_COMPLETE)
		return;
	assert_null(strstr(verdict, "copied"));
	assert_non_null(strstr(verdict, reason));
	assert_non_null(strstr(verdict, "no verdict"));
}

TEST(two_good_ends_make_a_complete_run)
{
	struct made m;

	made_init(&m);
	judge(&m, exited(0), exited(0));
	says(&m, RUN_COMPLETE, "");
	assert_true(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "");
}

TEST(a_run_that_never_began_is_told_in_one_sentence)
{
	struct made m;

	made_init(&m);
	m.r.experiment->ends.before_gate = true;
	m.r.experiment->ends.interrupt_signal = SIGTERM;
	outcome_decide(&m.r);
	says(&m, RUN_INTERRUPTED, "signal 15 (SIGTERM) ended it before it began");
	m.r.experiment->ends.interrupt_signal = 0;
	end_outcome_read(&m.r.experiment->ends.end[END_RECEIVER], killed(SIGKILL));
	outcome_decide(&m.r);
	says(&m, RUN_FAILED, "the client was killed by signal 9 (SIGKILL) before the run began");
}

TEST(a_broken_law_alone_leaves_a_run_complete)
{
	struct made m;

	made_init(&m);
	made_tx(&m, 0)->count[COUNT_released_pages]--;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_COMPLETE, "");
	assert_int_equal(laws_broken(&m.r), 1);
}

TEST(a_killed_server_is_told_first_and_its_laws_say_nothing)
{
	struct made m;

	made_init(&m);
	m.r.experiment->app[END_SENDER].known = false;
	judge(&m, killed(SIGKILL), exited(1));
	says(&m, RUN_FAILED, "the server was killed by signal 9 (SIGKILL); the client ended with status 1");
	assert_false(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_BALANCED), laws_with(AT_ANY_END, NEEDS_TOTALS));
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
}

TEST(a_killed_client_comes_before_the_status_of_the_server)
{
	struct made m;

	made_init(&m);
	judge(&m, exited(1), killed(SIGKILL));
	says(&m, RUN_FAILED, "the client was killed by signal 9 (SIGKILL); the server ended with status 1");
}

TEST(an_end_that_we_killed_comes_after_what_made_us)
{
	struct made m;

	made_init(&m);
	m.r.experiment->ends.end[END_SENDER].hurried = true;
	judge(&m, killed(SIGKILL), exited(1));
	says(&m, RUN_FAILED,
	     "the client ended with status 1; the server did not end when told, and was killed");
}

TEST(a_failed_run_that_was_blind_too_has_failed)
{
	struct made m;

	made_init(&m);
	made_probe(&m, "tx_copy")->missed_hits = 3;
	judge(&m, exited(0), killed(SIGKILL));
	says(&m, RUN_FAILED, "the client was killed by signal 9 (SIGKILL)");
}

TEST(packets_kept_from_the_probes_make_it_blind)
{
	struct made m;

	made_init(&m);
	made_probe(&m, "tx_copy")->missed_hits = 3;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_BLIND, "the probes missed 3 packets");
	assert_true(outcome_is_sound(&m.r));
}

TEST(a_run_that_sent_nothing_has_failed)
{
	struct made m;

	made_init(&m);
	memset(m.app, 0, sizeof(m.app));
	judge(&m, exited(0), exited(0));
	says(&m, RUN_FAILED, "no byte was sent: give the run more --seconds");
}

TEST(a_signal_interrupts_and_what_arrived_is_still_judged)
{
	struct made m;

	made_init(&m);
	m.r.experiment->ends.interrupt_signal = SIGINT;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_INTERRUPTED, "signal 2 (SIGINT) ended it before its time");
	assert_true(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "");
	/* As a run does, which knows its outcome before its laws are tested. */
	laws_fill(&m.r);
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "passes,");
}

TEST(an_interrupted_run_with_bytes_on_their_way_is_not_judged_by_both_ends)
{
	struct made m;

	made_init(&m);
	m.r.experiment->ends.interrupt_signal = SIGTERM;
	m.app[END_RECEIVER][0].received_bytes -= 93;
	m.app[END_RECEIVER][0].tcp_returned_bytes -= 93;
	made_rx(&m, 0)->count[COUNT_returned_bytes] -= 93;
	made_rx(&m, 0)->site[SITE_rx_copy].bytes -= 93;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_INTERRUPTED,
	     "signal 15 (SIGTERM) ended it before its time; 93 bytes were still on their way");
	assert_false(outcome_is_sound(&m.r));
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	assert_int_equal(made_law(&m, "end to end")->status, LAW_NOT_TESTABLE);
	assert_int_equal(made_law(&m, "end to end")->residual, 93);
}

TEST(a_signal_before_the_first_byte_leaves_nothing_to_judge)
{
	struct made m;

	made_init(&m);
	memset(m.app, 0, sizeof(m.app));
	m.r.experiment->ends.interrupt_signal = SIGINT;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_INTERRUPTED, "signal 2 (SIGINT) ended it before its time; no byte had been sent");
	assert_false(outcome_is_sound(&m.r));
}

TEST(an_end_that_somebody_else_stopped_interrupts)
{
	struct made m;

	made_init(&m);
	m.r.experiment->app[END_RECEIVER].stopped_by = SIGTERM;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_INTERRUPTED, "signal 15 (SIGTERM) to the client ended it before its time");
	/* Unless that was us, as it did not end by itself: then that is what failed. */
	m.r.experiment->ends.end[END_RECEIVER].hurried = true;
	outcome_note_hurried(&m.r.experiment->ends);
	outcome_decide(&m.r);
	says(&m, RUN_FAILED, "the client did not end by itself");
}

TEST(an_interrupted_run_that_was_blind_says_both)
{
	struct made m;

	made_init(&m);
	made_probe(&m, "tx_copy")->missed_hits = 3;
	m.r.experiment->ends.interrupt_signal = SIGINT;
	judge(&m, exited(0), exited(0));
	says(&m, RUN_INTERRUPTED,
	     "signal 2 (SIGINT) ended it before its time; the probes missed 3 packets");
}

TEST(the_exit_status_tells_how_it_ended)
{
	struct made m;

	made_init(&m);
	judge(&m, exited(0), exited(0));
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

TEST(what_failed_before_a_signal_has_failed)
{
	struct made m;

	made_init(&m);
	m.r.experiment->ends.interrupt_signal = SIGTERM;
	strcpy(m.r.experiment->ends.failure, "no progress");
	judge(&m, exited(0), exited(0));
	says(&m, RUN_FAILED, "no progress");
}
