// SPDX-License-Identifier: GPL-2.0
/* The verdict on a watched process says what was counted, and never more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/made_watch.h"
#include "userspace/watch/summary/sentence.h"

static void expect(struct made_watch *m, enum verdict_of_process verdict, const char *sentence)
{
	char text[SENTENCE_BYTES];

	m->process[0].verdict = verdict;
	sentence_of_process(&m->r, &m->process[0], text);
	assert_string_equal(text, sentence);
}

static void what_moved_nothing_is_said_to(void **state)
{
	struct made_watch m;

	made_watch(&m);
	expect(&m, WATCH_MOVED_NOTHING, "moved no TCP payload.");
}

static void plain_calls_copy_everything(void **state)
{
	struct made_watch m;

	made_watch(&m);
	made_moved(&m)->count[COUNT_accepted_bytes] = 3000000;
	made_moved(&m)->site_bytes[SITE_tx_copy] = 3000000;
	expect(&m, WATCH_COPIES, "send copied all of 3.00 MB; it asked for no zero copy.");
	made_moved(&m)->count[COUNT_returned_bytes] = 1000;
	made_moved(&m)->site_bytes[SITE_rx_copy] = 1000;
	expect(&m, WATCH_COPIES, "send copied all of 3.00 MB; it asked for no zero copy. It received "
	       "1.00 kB, all copied by recv.");
	made_moved(&m)->count[COUNT_accepted_bytes] = 0;
	expect(&m, WATCH_COPIES, "received 1.00 kB, all copied by recv.");
}

static void a_flag_without_the_option_is_named(void **state)
{
	struct made_watch m;

	made_watch(&m);
	made_moved(&m)->count[COUNT_accepted_bytes] = 3000000;
	made_moved(&m)->count[COUNT_unset_sends] = 1234;
	expect(&m, WATCH_COPIES, "send copied all of 3.00 MB; MSG_ZEROCOPY was ignored in 1,234 sends, "
	       "because SO_ZEROCOPY is not set.");
}

static void a_splice_left_without_a_copy_only_if_somebody_looked(void **state)
{
	struct made_watch m;

	made_watch(&m);
	made_moved(&m)->count[COUNT_accepted_bytes] = 12300000000;
	made_moved(&m)->site_bytes[SITE_tx_splice] = 12079000000;
	made_moved(&m)->site_bytes[SITE_tx_copy] = 221000000;
	expect(&m, WATCH_SPLICES, "98.2 % of 12.3 GB was spliced from the page cache or a pipe and left "
	       "without a CPU copy; 1.8 %, 221 MB, was copied by send.");
	made_moved(&m)->site_bytes[SITE_reshape] = 5000;
	expect(&m, WATCH_SPLICES, "98.2 % of 12.3 GB was spliced from the page cache or a pipe, and the "
	       "kernel moved 5.00 kB on the way; 1.8 %, 221 MB, was copied by send.");
	made_moved(&m)->sites_known &= ~(1u << SITE_reshape);
	expect(&m, WATCH_SPLICES, "98.2 % of 12.3 GB was spliced from the page cache or a pipe, not "
	       "copied by send; 1.8 %, 221 MB, was copied by send.");
}

static void in_vain(struct made_watch *m)
{
	made_watch(m);
	made_moved(m)->count[COUNT_accepted_bytes] = 9000000;
	made_moved(m)->count[COUNT_zerocopy_asked_sends] = 41200;
	made_moved(m)->site_bytes[SITE_tx_reference] = 9000000;
	made_moved(m)->site_bytes[SITE_late_copy] = 9000000;
	m->r.causes[0] = (struct cause){ .name = "local delivery", .site = SITE_late_copy,
					 .bytes_known = true, .remedy = "use plain send" };
	m->r.cause_count = 1;
}

static void zero_copy_in_vain_has_its_cause(void **state)
{
	struct made_watch m;

	in_vain(&m);
	expect(&m, WATCH_IN_VAIN, "asked for zero copy in 41,200 sends, and all of it was copied after "
	       "all, because the receiver is local: plain send would be cheaper.");
	m.r.causes[0].name = "local delivery or packet tap";
	expect(&m, WATCH_IN_VAIN, "asked for zero copy in 41,200 sends, and all of it was copied after "
	       "all, because the receiver is local, unless a packet capture runs: plain send would be "
	       "cheaper.");
	m.r.causes[0].name = "tun";
	m.r.causes[0].tally.bytes = 5000000;
	expect(&m, WATCH_IN_VAIN, "asked for zero copy in 41,200 sends, and all of it was copied after "
	       "all, most of it because of tun: use plain send.");
}

/* Without a hook in each call only those are known that the kernel granted. */
static void sends_that_nobody_counted_are_those_that_got_it(void **state)
{
	struct made_watch m;

	in_vain(&m);
	made_moved(&m)->counts_known &= ~(1ull << COUNT_zerocopy_asked_sends);
	made_moved(&m)->count[COUNT_zerocopy_asked_sends] = 0;
	made_moved(&m)->count[COUNT_zerocopy_sends] = 41199;
	expect(&m, WATCH_IN_VAIN, "asked for zero copy in 41,199 sends, and all of it was copied after "
	       "all, because the receiver is local: plain send would be cheaper.");
}

/* Causes are known of all processes together. */
static void a_cause_is_charged_to_no_one_of_two(void **state)
{
	struct made_watch m;

	in_vain(&m);
	m.process[1] = m.process[0];
	m.r.process_count = 2;
	expect(&m, WATCH_IN_VAIN, "asked for zero copy in 41,200 sends, and all of it was copied after "
	       "all.");
}

static void references_that_nobody_followed_are_not_called_clean(void **state)
{
	struct made_watch m;

	in_vain(&m);
	made_moved(&m)->site_bytes[SITE_late_copy] = 0;
	expect(&m, WATCH_REFERENCES, "asked for zero copy in 41,200 sends: all of 9.00 MB was sent by "
	       "reference and not copied later.");
	made_moved(&m)->sites_known &= ~(1u << SITE_reshape);
	expect(&m, WATCH_REFERENCES, "asked for zero copy in 41,200 sends: all of 9.00 MB was sent by "
	       "reference and not copied later, as far as was measured.");
	made_moved(&m)->sites_known &= ~(1u << SITE_late_copy);
	expect(&m, WATCH_REFERENCES, "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; "
	       "whether it was copied later was not measured.");
}

static void a_refusal_names_its_limit(void **state)
{
	struct made_watch m;

	made_watch(&m);
	made_moved(&m)->count[COUNT_zerocopy_asked_sends] = 100;
	made_moved(&m)->count[COUNT_enobufs] = 60;
	made_moved(&m)->count[COUNT_refused_optmem] = 60;
	expect(&m, WATCH_REFUSED, "asked for zero copy in 100 sends, and the kernel refused 60 of them "
	       "with ENOBUFS, for want of option memory: read completions sooner, or raise "
	       "net.core.optmem_max.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_moved_nothing_is_said_to),
		cmocka_unit_test(plain_calls_copy_everything),
		cmocka_unit_test(a_flag_without_the_option_is_named),
		cmocka_unit_test(a_splice_left_without_a_copy_only_if_somebody_looked),
		cmocka_unit_test(zero_copy_in_vain_has_its_cause),
		cmocka_unit_test(sends_that_nobody_counted_are_those_that_got_it),
		cmocka_unit_test(a_cause_is_charged_to_no_one_of_two),
		cmocka_unit_test(references_that_nobody_followed_are_not_called_clean),
		cmocka_unit_test(a_refusal_names_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
