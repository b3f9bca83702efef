// SPDX-License-Identifier: GPL-2.0
/* Reports of a watch keep to their page, escape what is foreign, and print no 0 for the unknown. */
#include "tests/unit/made_watch.h"
#include "tests/unit/unit.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/report.h"

static void expect_within(const char *text, size_t columns)
{
	for (; *text; text += strcspn(text, "\n") + 1)
		assert_true(strcspn(text, "\n") <= columns);
}

static void busy(struct made_watch *m)
{
	made_watch(m);
	made_moved(m)->count[COUNT_accepted_bytes] = 9000000;
	made_moved(m)->count[COUNT_zerocopy_asked_sends] = 41200;
	made_moved(m)->count[COUNT_enobufs] = 3;
	made_moved(m)->site_bytes[SITE_tx_reference] = 9000000;
	made_moved(m)->site_bytes[SITE_late_copy] = 9000000;
	made_moved(m)->fate.later = 9000000;
	made_watch_sum(m);
	m->r.sites[SITE_tx_reference].tally.bytes = m->r.sites[SITE_late_copy].tally.bytes = 9000000;
	m->r.total.opening.item[WATCH_unread_bytes] = 77;
	m->r.causes[0] = (struct cause){ .name = "local delivery", .site = SITE_late_copy,
					 .bytes_known = true, .tally = { 9000000, 3 },
					 .remedy = "the receiver is on this machine: use plain send" };
	m->r.causes[1] = (struct cause){ .name = "ENOBUFS, optmem", .site = SITE_tx_reference, .tally = { 0, 3 },
					 .remedy = "read completions sooner" };
	m->r.cause_count = 2;
	m->process[0].verdict = VERDICT_IN_VAIN;
	m->r.not_covered[0] = (struct watch_gap){ .what = "MPTCP", .seen = true };
	m->r.gap_count = 1;
}

static struct made_watch m;
static char *text;

static int busy_watch(void **state)
{
	busy(&m);
	return 0;
}

static int forget_text(void **state)
{
	free(text);
	text = NULL;
	return 0;
}

#define TEST_OF_WATCH(name) TEST_BETWEEN(name, busy_watch, forget_text)

/* Leaves in text what is printed on a page of @columns. */
static void print(enum watch_rows rows, int columns, void (*how)(const struct watch_record *, const struct watch_page *))
{
	struct watch_page page = { .on.columns = columns, .rows = rows, .top = 10 };
	size_t bytes;

	forget_text(NULL);
	page.on.out = open_memstream(&text, &bytes);
	assert_non_null(page.on.out);
	how(&m.r, &page);
	fclose(page.on.out);
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
	watch_sizes_fill(&m.r, 0);
}

TEST_OF_WATCH(sizes_of_calls_are_a_bar_for_each_power_of_two)
{
	struct call_sizes sizes[2];

	sized(sizes);
	print(ROWS_PROCESSES, 80, watch_report_print);
	expect_within(text, 80);
	assert_non_null(strstr(text, "plain sends: 24, 94.1 kB"));
	assert_non_null(strstr(text, "2 KiB to below 4 KiB            23 calls   94.1 kB  ####################"));
	assert_non_null(strstr(text, "nothing                          1 call        0 B  #"));
	assert_non_null(strstr(text, "add up to the 94,139 bytes"));
}

TEST_OF_WATCH(sizes_that_do_not_add_up_break_a_law)
{
	struct call_sizes sizes[2];

	sized(sizes);
	assert_int_equal(m.r.sizes.law, LAW_BALANCED);
	assert_int_equal(watch_laws_broken(&m.r), 0);
	m.r.total.called_bytes++;
	m.r.total.sockets = m.r.total.died = 1;
	watch_sizes_fill(&m.r, 0);
	assert_int_equal(m.r.sizes.law, LAW_BROKEN);
	assert_int_equal(watch_laws_broken(&m.r), 1);
	/* A call under way explains it, and so does a socket that was not known to be the subject's. */
	m.r.total.died = 0;
	watch_sizes_fill(&m.r, 0);
	assert_int_equal(m.r.sizes.law, LAW_NOT_TESTABLE);
	m.r.total.died = 1;
	watch_sizes_fill(&m.r, 1);
	assert_int_equal(m.r.sizes.law, LAW_NOT_TESTABLE);
	watch_sizes_fill(&m.r, 0);
	assert_int_equal(m.r.sizes.law, LAW_BROKEN);
}

TEST_OF_WATCH(sizes_of_a_process_that_the_record_lacks_are_told_with_others)
{
	struct call_sizes sizes[2];

	sized(sizes);
	assert_ptr_equal(m.process[0].sizes, &sizes[1]);
	assert_int_equal(size_sum(&sizes[0], CALL_SEND_PLAIN).calls, 0);
	/* The number is another process's by now. */
	sizes[1].task.started_ns = 7;
	watch_sizes_fill(&m.r, 0);
	assert_int_equal(size_sum(&sizes[0], CALL_SEND_PLAIN).bytes, 94139);
}

TEST_OF_WATCH(it_keeps_to_the_width_of_the_page)
{
	memset(m.process[0].comm, '\xff', WATCH_COMM_BYTES);
	memset(m.socket[0].remote.ip, 0xfe, 16);
	memset(m.socket[0].local.ip, 0xfe, 16);
	for (int columns = 80; columns <= 120; columns += 40)
		for (enum watch_rows rows = ROWS_SOCKETS; rows <= ROWS_PORTS; rows++) {
			print(rows, columns, watch_report_print);

			expect_within(text, columns);
			print(rows, columns, watch_block_print);
			expect_within(text, columns);
		}
}

TEST_OF_WATCH(the_parts_come_in_their_order)
{
	static const char *const parts[] = {
		"nginx, pid 812: ", "\nsite ", "\nlate_copy ", "\nwhy it was copied", "\nzero copy",
		"\nENOBUFS", "processes\n", "remote peers\n", "\nwhat sockets held", "\nlaws ",
		"\ncost of looking", "\nnot seen",
	};
	const char *at;

	print(ROWS_PROCESSES, 80, watch_report_print);
	at = text;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("'%s' is missing or too early in:\n%s", parts[i], text);
	}
}

TEST_OF_WATCH(a_name_cannot_command_the_terminal)
{
	memcpy(m.process[0].comm, "\033[2J\nevil", 10);
	print(ROWS_PROCESSES, 80, watch_report_print);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "\\x1b[2J\\nevil, pid 812: "));
}

TEST_OF_WATCH(what_is_not_known_is_no_0)
{
	m.r.total.moved.sites_known &= ~(1u << SITE_late_copy);
	m.process[0].sum.moved.sites_known &= ~(1u << SITE_late_copy);
	m.process[0].sum.moved.fate.unknown = 9000000;
	m.r.sites[SITE_late_copy].how = HOW_NOT_MEASURED;
	strcpy(m.r.sites[SITE_late_copy].why, "nobody looked");
	m.r.total.opening.known &= ~(1u << WATCH_unread_bytes);
	m.r.total.moved.counts_known &= ~(1ull << COUNT_copied_sends);
	strcpy(m.r.count_why[COUNT_copied_sends], "nobody read it");
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_non_null(strstr(text, "\nnot seen       late_copy: nobody looked\n"));
	assert_non_null(strstr(text, "of them as COPIED not measured (nobody read it)"));
	assert_non_null(strstr(text, "cannot be read               0  received, and not read"));
	assert_non_null(strstr(text, "-: not measured"));
	/* Sent, received, without a copy, needless. */
	assert_non_null(strstr(text, "  9.00 MB       0 B         -         -         -        1  nginx"));
}

TEST_OF_WATCH(completions_that_nobody_saw_all_of_are_told_as_the_least)
{
	print(ROWS_PROCESSES, 200, watch_report_print);
	assert_null(strstr(text, " completed, at least "));
	m.r.total.moved.unseen_completions = 1;
	print(ROWS_PROCESSES, 200, watch_report_print);
	assert_non_null(strstr(text, " made, at least "));
	assert_non_null(strstr(text, " completed, at least "));
}

TEST_OF_WATCH(a_refused_send_is_no_copy_of_unknown_bytes)
{
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_null(strstr(text, "tx_reference           -"));
	assert_non_null(strstr(text, "\nENOBUFS        3 sends refused, 0 by option memory (net.core.optmem_max), "
			       "0 by RLIMIT_MEMLOCK\n               read completions sooner\n"));
	m.r.cause_count = 0;
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_null(strstr(text, "why it was copied"));
}

TEST_OF_WATCH(sites_and_causes_are_told_as_those_of_a_run)
{
	m.r.sites[SITE_tx_copy].how = HOW_DERIVED;
	m.r.causes[0].name = "unknown";
	strcpy(m.r.causes[0].stack, "skb_copy < somewhere");
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_non_null(strstr(text, "\nlate_copy        9.00 MB     100 %  measured  sent by reference"));
	assert_non_null(strstr(text, "rx_discard (measured); tx_copy (derived)\n"));
	assert_non_null(strstr(text, "\nunknown                      late_copy      9.00 MB     100 %          3\n"));
	assert_non_null(strstr(text, "\n    stack: skb_copy < somewhere\n"));
}

/* A shell that a server was started by has no socket. */
TEST_OF_WATCH(who_has_no_socket_has_no_row)
{
	m.process[1] = (struct watch_process){ .id.pid = 4, .comm = "sh", .sum = watch_sum_of_nothing() };
	m.r.process_count = 2;
	print(ROWS_PROCESSES, 80, watch_report_print);
	assert_null(strstr(text, "sh, pid 4"));
	assert_non_null(strstr(text, "events were not counted"));
}

TEST_OF_WATCH(a_broken_law_is_told_at_once_and_with_its_sides)
{
	m.r.laws[WATCH_LAW_receive_queue] = (struct law){ .name = "receive queue", .left_is = "the one",
		.right_is = "the other", .known = true, .left = 7, .right = 9, .residual = -2,
		.status = LAW_BROKEN, .why = "socket 12" };
	m.r.laws[WATCH_LAW_reference_queue].status = LAW_NOT_TESTABLE;
	strcpy(m.r.laws[WATCH_LAW_reference_queue].why, "no iterator");
	assert_int_equal(watch_laws_broken(&m.r), 1);
	print(ROWS_PROCESSES, 80, watch_report_print);
	assert_non_null(strstr(text, "Do not trust these numbers"));
	assert_non_null(strstr(text, "\nreceive queue           broken                   7                 9         "
			       "-2\n    left: the one; right: the other\n    socket 12\n"));
	assert_non_null(strstr(text, "6 of 8 balance to the byte, for every socket: send queue,"));
	assert_non_null(strstr(text, "\nnot seen       law reference queue: no iterator\n"));
}

TEST_OF_WATCH(a_broken_law_condemns_the_process_whose_socket_broke_it_and_no_other)
{
	m.process[1] = (struct watch_process){ .id.pid = 99, .comm = "fuzzer", .sum = watch_sum_of_nothing() };
	m.r.process_count = 2;
	m.socket[1] = m.socket[0];
	m.socket[1].owner.pid = 99;
	m.socket[1].laws[WATCH_LAW_completion] = LAW_BROKEN;
	m.socket[1].left[WATCH_LAW_completion] = 10;
	m.socket[1].right[WATCH_LAW_completion] = 5;
	m.r.socket_count = 2;
	watch_sum_add(&m.process[0].sum, &m.socket[0]);
	watch_sum_add(&m.process[1].sum, &m.socket[1]);
	m.r.laws[WATCH_LAW_completion].status = LAW_BROKEN;
	print(ROWS_PROCESSES, 200, watch_report_print);
	assert_ptr_equal(strstr(text, "Do not trust the numbers of fuzzer, pid 99: the law completion is broken at its "
				"socket 10.0.0.1:80 - 10.0.0.1:40000 (10 on one side, 5 on the other).\n"
				"No law is broken at the sockets of 1 other process.\n"), text);
	assert_null(strstr(text, "Do not trust these numbers"));
	/* One that is of no process condemns all. */
	m.r.laws[WATCH_LAW_probes].status = LAW_BROKEN;
	print(ROWS_PROCESSES, 200, watch_report_print);
	assert_non_null(strstr(text, "Do not trust these numbers: a law is broken (below)."));
	m.r.laws[WATCH_LAW_probes].status = LAW_BALANCED;
	m.r.laws[WATCH_LAW_completion].status = LAW_BALANCED;
}

TEST_OF_WATCH(a_law_that_balances_for_some_sockets_is_not_said_to_balance_for_every_one)
{
	strcpy(m.r.laws[WATCH_LAW_reference_queue].why, "not testable for 1 of 2 sockets: a reason");
	print(ROWS_PROCESSES, 80, watch_report_print);
	assert_non_null(strstr(text, "7 of 8 balance to the byte, for every socket: send queue,"));
	assert_non_null(strstr(text, "partly tested  reference queue\n               not testable for 1 of 2 "
				     "sockets: a reason; balanced for the"));
}

/* Sockets are those that were open in the interval: of two, one had died before it. */
TEST_OF_WATCH(a_block_is_a_rate)
{
	m.r.lately_ns = 500000000;
	m.process[0].sum.sockets = 2;
	m.socket[1] = m.socket[0];
	m.socket[1].local.port = 8080;
	m.socket[1].died_before = true;
	m.r.socket_count = 2;
	print(ROWS_PROCESSES, 80, watch_block_print);
	assert_non_null(strstr(text, "   sent/s    recv/s  copied/s no copy/s needless/s  sockets  processes\n"
				     "  18.0 MB       0 B   18.0 MB       0 B    18.0 MB        1  nginx, pid 812\n"));
	/* Of a longer name it makes room for what identifies the row. */
	strcpy(m.process[0].comm, "nginx-of-others");
	print(ROWS_PROCESSES, 80, watch_block_print);
	assert_non_null(strstr(text, "   sent/s    recv/s no copy/s needless/s  sockets  processes\n"
				     "  18.0 MB       0 B       0 B    18.0 MB        1  nginx-of-others, pid 812\n"));
	print(ROWS_SOCKETS, 120, watch_block_print);
	assert_non_null(strstr(text, "10.0.0.1:80 - "));
	assert_null(strstr(text, "10.0.0.1:8080 - "));
}

/* On a narrow page the name stands above its numbers. */
TEST_OF_WATCH(a_table_without_room_is_told_at_each_reading)
{
	print(ROWS_PROCESSES, 80, watch_block_print);
	assert_null(strstr(text, "Sums may be short"));
	m.r.unbooked_sockets = 3;
	print(ROWS_PROCESSES, 80, watch_block_print);
	assert_non_null(strstr(text, "5.0 s\nSums may be short: 3 sockets were not counted\n"));
	print(ROWS_PROCESSES, 80, watch_report_print);
	assert_ptr_equal(strstr(text, "Sums may be short: 3 sockets were not counted\n"), text);
}

TEST_OF_WATCH(a_row_has_its_whole_name)
{
	static const char name[] = "10.0.0.1:80 - 10.0.0.1:40000, nginx, pid 812, handed on to it\n";

	m.socket[0].handed_on = true;
	print(ROWS_SOCKETS, 80, watch_report_print);
	assert_non_null(strstr(text, "\nsockets\n     sent  received    copied   no copy  needless\n10.0.0.1:80 - "));
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, "\n  9.00 MB       0 B   9.00 MB       0 B   9.00 MB\n"));
	print(ROWS_SOCKETS, 120, watch_report_print);
	assert_non_null(strstr(text, "  9.00 MB       0 B   9.00 MB       0 B   9.00 MB  10.0.0.1:80 - "));
	assert_non_null(strstr(text, name));
	print(ROWS_PORTS, 80, watch_report_print);
	assert_non_null(strstr(text, "        1  port 80\n"));
}

TEST_OF_WATCH(of_a_sum_with_unknown_terms_the_known_ones_are_the_least)
{
	m.process[0].sum.moved.site_bytes[SITE_tx_copy] = 1234567;
	m.process[0].sum.moved.site_bytes[SITE_rx_copy] = 100000;
	m.process[0].sum.moved.site_bytes[SITE_late_copy] = 0;
	m.process[0].sum.moved.fate.unknown = 9000000;
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_non_null(strstr(text, "  9.00 MB       0 B >=1.33 MB "));
	m.process[0].sum.moved.fate.unknown = 0;
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_non_null(strstr(text, "  9.00 MB       0 B   1.33 MB "));
}

TEST_OF_WATCH(numbers_of_sockets_have_their_commas)
{
	m.r.total.sockets = m.r.total.born = 10000;
	m.r.total.died = 9999;
	m.process[0].sum.sockets = 10000;
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_non_null(strstr(text, "5.0 s, 10,000 sockets, 10,000 opened and 9,999 closed in that time"));
	assert_non_null(strstr(text, "   10,000  nginx, pid 812\n"));
}

TEST_OF_WATCH(what_was_lost_with_a_socket_is_not_to_be_sent_yet)
{
	m.r.total.closing.item[WATCH_unsent_bytes] = 1100;
	m.socket[0].closing.item[WATCH_unsent_bytes] = 100;
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_non_null(strstr(text, "accepted, and not sent yet; 1,000 of these were lost with"));
	m.socket[0].closing.item[WATCH_unsent_bytes] = 1100;
	print(ROWS_PROCESSES, 120, watch_report_print);
	assert_null(strstr(text, "were lost with"));
}
