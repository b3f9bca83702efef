// SPDX-License-Identifier: GPL-2.0
/* The report of a run keeps to its page, has its order, and says once what lacks for one reason. */
#include "tests/unit/made_record.h"
#include "tests/unit/unit.h"
#include "userspace/judge/outcome.h"
#include "userspace/report/report.h"

enum { REFUSED = 1204 };

/* A run with times, as its workload leaves it, and a send that was refused. */
static void busy(struct made *m)
{
	made_init(m);
	strcpy(m->experiment.plan.pattern, "stream");
	strcpy(m->r.machine.kernel, "6.12.95+deb12-cloud-amd64");
	m->r.machine.cpus = 2;
	m->experiment.plan.bytes = 4093;
	m->experiment.plan.threads = FLOWS;
	m->timed.app[END_RECEIVER].elapsed_ns = 1500000000;
	m->timed.app[END_RECEIVER].latency = (struct latency){
		.known = true, .what = "interval between whole messages", .mean_us = 312.5, .p50_us = 13.1,
		.p99_us = 6717.4 };
	m->timed.counters[END_SENDER][COUNTER_CONTEXT_SWITCHES] =
		(struct counter_value){ .known = true, .value = 7 };
	for (int i = 0; i < COUNTER_COUNT; i++)
		for (int e = 0; e < END_COUNT; e++)
			if (!m->timed.counters[e][i].known)
				strcpy(m->timed.counters[e][i].why, "this machine has no such counter");
	for (int flow = 0; flow < FLOWS; flow++)
		made_tx(m, flow)->count[COUNT_refused_memlock] = made_tx(m, flow)->count[COUNT_enobufs] =
			REFUSED / FLOWS;
	m->r.derived.gauges.peak_pages = 5;
	made_judge(m);
	outcome_decide(&m->r);
}

static struct made m;
static char *text;

static int busy_record(void **state)
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

#define TEST_OF_RECORD(name) TEST_BETWEEN(name, busy_record, forget_text)

/* Leaves the report in text. */
static void print(struct report_page page)
{
	size_t bytes;

	forget_text(NULL);
	page.out = open_memstream(&text, &bytes);
	assert_non_null(page.out);
	report_print(&m.r, &page);
	fclose(page.out);
}

#define assert_has(text, part)                                              \
	do {                                                                \
		if (!strstr(text, part))                                    \
			fail_msg("'%s' is missing in:\n%s", (part), (text)); \
	} while (0)

TEST_OF_RECORD(it_keeps_to_the_width_of_the_page)
{
	made_stack(&m, SITE_reshape, "a_function_that_nobody_knows < another_one < a_third_one < a_fourth", 9);
	made_tx(&m, 0)->count[COUNT_released_pages]--;
	memset(&m.r.derived.total, 0, sizeof(m.r.derived.total));
	made_judge(&m);
	assert_true(laws_broken(m.r.laws, m.r.law_count));
	for (int look = 0; look < 8; look++) {
		struct report_page page = { .columns = look & 1 ? 120 : 80, .exact = look & 2, .laws = look & 4 };
		print(page);

		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			if ((int)strcspn(line, "\n") > page.columns)
				fail_msg("%zu columns: %s", strcspn(line, "\n"), line);
	}
}

TEST_OF_RECORD(the_parts_come_in_their_order)
{
	static const char *const parts[] = {
		"A3", "\n\n6 messages of 4,093 bytes, 2 connections, stream, path veth, kernel\n6.12.95",
		"\n\nthroughput     ", "\nlatency        ", "\n\nsite ", "\ntx_reference ", "\nnothing at     ",
		"\n\nwhy it was copied ", "\nlocal delivery ", "\n\npins           ", "\ncompletions    ", "\nsent again     ",
		"\nENOBUFS        ", "\n\nlaws           ", "\n\ncounters ", "\n\nnot seen       ",
	};
	const char *at;

	print((struct report_page){ .columns = 80 });
	at = text;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("'%s' is missing or too early in:\n%s", parts[i], text);
	}
}

TEST_OF_RECORD(each_pass_tells_how_many_messages_it_had)
{
	print((struct report_page){ .columns = 80 });
	assert_has(text, ": 36.8 kB in 1.50 s\n");
	m.timed.app[END_RECEIVER].sum.messages = 1099;
	print((struct report_page){ .columns = 80 });
	assert_has(text, "\n\n6 messages of 4,093 bytes");
	assert_has(text, ": 36.8 kB, 1,099 messages, in 1.50 s\n");
	assert_has(text, "of a pass of its own, without probes; counters, too\n");
}

TEST_OF_RECORD(what_left_again_is_told_where_late_copies_are_more_than_was_sent)
{
	print((struct report_page){ .columns = 120 });
	assert_has(text, " of your pages left twice (retransmissions): what is copied on its way is at late_copy twice\n");
	m.r.derived.total.count[COUNT_retrans_referenced_bytes] = 0;
	print((struct report_page){ .columns = 80 });
	assert_null(strstr(text, "sent again"));
}

TEST_OF_RECORD(numbers_are_for_people_unless_they_are_to_be_exact)
{
	print((struct report_page){ .columns = 80 });
	assert_null(strstr(text, "36,837"));
	assert_has(text, "\nthroughput     196 kbit/s: 36.8 kB in 1.50 s\n");
	assert_has(text, "\nlatency        mean 312 us, p50 13.1 us, p99 6.72 ms (interval between");
	assert_has(text, "\ntx_reference     36.8 kB     1.000  measured  sent from your own pages, by\n");
	assert_has(text, "\nnothing at     user_gather, tx_splice, reshape, rx_map, rx_splice, rx_discard\n"
			 "               (measured); tx_copy (derived)\n");
	print((struct report_page){ .columns = 120 });
	assert_has(text, "copied every byte after all: 0 of 36.8 kB were sent without a copy, because of");
	print((struct report_page){ .columns = 120, .exact = true });
	assert_has(text, "copied every byte after all: 0 of 36,837 bytes were sent without a copy,");
	print((struct report_page){ .columns = 80, .exact = true });
	assert_has(text, "\nthroughput     0.000196 Gbit/s: 36,837 bytes in 1.500000000 s\n");
	assert_has(text, "p99 6717.400 us");
	assert_has(text, "\ntx_copy                        0     0.000  derived   copied from your buffer\n");
	assert_null(strstr(text, "nothing at"));
	assert_null(strstr(text, "kB"));
}

TEST_OF_RECORD(a_sum_of_references_is_told_from_what_was_held_at_once)
{
	print((struct report_page){ .columns = 120 });
	assert_has(text, "\npins           18 page references in all, 3.0 a send, 5 at once at most; all were released\n");
	assert_has(text, "\ncompletions    6 read for 6 zero-copy sends, 6 said COPIED\n");
}

TEST_OF_RECORD(a_refused_send_is_no_cause_of_copies)
{
	print((struct report_page){ .columns = 120 });
	assert_has(text, "\nENOBUFS        1,204 sends were refused and repeated (ENOBUFS, memlock): too many pages");
	assert_null(strstr(text, "\nENOBUFS, memlock"));
}

TEST(laws_that_balance_take_a_line)
{
	char line[128];
	int balanced = 0;

	made_init(&m);
	made_judge(&m);
	for (int i = 0; i < m.r.law_count; i++)
		balanced += m.r.laws[i].status == LAW_BALANCED;
	snprintf(line, sizeof(line), "\n\nlaws           all %d laws that can be tested balance to the byte; --laws "
		 "lists\n               them\n", balanced);
	print((struct report_page){ .columns = 80 });
	assert_has(text, line);
	assert_null(strstr(text, "residual"));
	print((struct report_page){ .columns = 80, .laws = true });
	assert_has(text, "\nreceive                 balanced            36,837            36,837          0\n"
			 "    left: returned by recv + peeked; right: ");
	assert_null(strstr(text, "--laws lists"));
}

TEST(a_broken_law_has_both_sides_and_its_residual)
{
	made_init(&m);
	made_rx(&m, 0)->count[COUNT_returned_bytes] += 2;
	made_judge(&m);
	print((struct report_page){ .columns = 80 });
	assert_has(text, "that can be tested are broken: do not trust this run\n");
	assert_has(text, "\nreceive                 broken              36,839            36,837          2\n"
			 "    left: returned by recv + peeked; right: ");
	assert_null(strstr(text, "\nsend "));
}

TEST_OF_RECORD(what_lacks_for_one_reason_is_one_line)
{
	m.r.backend = BACKEND_TRACEPOINT;
	for (enum site s = SITE_tx_splice; s < SITE_COUNT; s++)
		if (s == SITE_tx_splice || s == SITE_reshape || (s > SITE_rx_copy && !site_has(s, SITE_OF_TLS))) {
			m.r.sites[s].how = HOW_NOT_MEASURED;
			strcpy(m.r.sites[s].why, "no tracepoint sees it; needs the trampoline backend: run with");
		}
	for (int i = 0; i < m.r.law_count; i++)
		if (!strcmp(m.r.laws[i].name, "pin") || !strcmp(m.r.laws[i].name, "completion")) {
			m.r.laws[i].status = LAW_NOT_TESTABLE;
			strcpy(m.r.laws[i].why, "it is not measured: needs the trampoline backend");
		}
	m.r.laws[0].status = LAW_NOT_TESTABLE;
	strcpy(m.r.laws[0].why, "nobody looked");
	for (int i = 0; i < m.r.law_count; i++)
		if (!strcmp(m.r.laws[i].name, "causes of reshape")) {
			m.r.laws[i].status = LAW_NOT_TESTABLE;
			strcpy(m.r.laws[i].why, "reshape is not measured");
		}
	print((struct report_page){ .columns = 120 });
	assert_has(text, "\n\nnot seen       tx_splice, reshape, rx_map, rx_splice, rx_discard; laws completion, "
			 "pin, causes of reshape: this kernel's\n               tracepoints do not show that: "
			 "run with --kernel 6.12\n"
			 "               law send: nobody looked\n"
			 "               counters cycles, instructions, ");
}

TEST_OF_RECORD(packets_that_perf_does_not_count_are_told)
{
	for (int checked = 0; checked < 2; checked++) {
		struct probe *wire = made_probe(&m, "tx_copy");

		wire->perf_checked = checked;
		print((struct report_page){ .columns = 120 });
		assert_int_equal(!strstr(text, "whether a program ran for every packet: perf counts"), checked);
	}
}

TEST_OF_RECORD(colours_are_there_only_if_wanted)
{
	print((struct report_page){ .columns = 80 });
	assert_null(strchr(text, '\033'));
	print((struct report_page){ .columns = 80, .colours = true });
	assert_memory_equal(text, "\033[1mA3", 6);
	assert_has(text, "\033[32mlaws ");
	assert_null(strstr(text, "\033[1;31m"));
	m.r.laws[0].status = LAW_BROKEN;
	print((struct report_page){ .columns = 80, .colours = true });
	assert_memory_equal(text, "\033[1;31mA3", 9);
	assert_has(text, "\033[1;31msend ");
}
