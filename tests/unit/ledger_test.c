// SPDX-License-Identifier: GPL-2.0
/* Claims about two readings of one window: what their difference counts, and what it cannot know. */
#include "tests/unit/made_record.h"

#include <errno.h>

/* A reading with room for as much as a test adds. */
struct reading {
	struct ledger ledger;
	struct socket_books sockets[4];
	struct copy_stack stacks[4];
};

static void reading_init(struct reading *r)
{
	memset(r, 0, sizeof(*r));
	r->ledger.sockets = r->sockets;
	r->ledger.stacks = r->stacks;
}

static void read_socket(struct reading *r, uint64_t cookie, uint64_t bytes)
{
	struct socket_books *s = &r->sockets[r->ledger.socket_count++];

	*s = (struct socket_books){ .cookie = cookie };
	s->books.count[COUNT_accepted_bytes] = bytes;
	s->books.site[SITE_tx_copy] = (struct tally){ bytes, 1 };
	books_sum(&r->ledger.total, &s->books);
}

static void read_stack(struct reading *r, enum site site, const char *frames, uint64_t bytes)
{
	struct copy_stack *s = &r->stacks[r->ledger.stack_count++];

	*s = (struct copy_stack){ .site = site, .tally = { bytes, bytes } };
	strcpy(s->frames, frames);
}

static void what_counts_is_subtracted_socket_by_socket(void **state)
{
	struct reading earlier, later;
	struct ledger between;

	reading_init(&earlier);
	reading_init(&later);
	read_socket(&earlier, 11, 100);
	read_socket(&later, 22, 7);
	read_socket(&later, 11, 130);
	later.ledger.gauges.lost_updates = 5;
	earlier.ledger.gauges.lost_updates = 3;
	assert_int_equal(ledger_difference(&later.ledger, &earlier.ledger, &between), 0);
	assert_int_equal(between.total.count[COUNT_accepted_bytes], 37);
	assert_int_equal(between.total.site[SITE_tx_copy].bytes, 37);
	assert_int_equal(between.total.site[SITE_tx_copy].calls, 1);
	assert_int_equal(between.socket_count, 2);
	assert_int_equal(between.sockets[0].books.count[COUNT_accepted_bytes], 7);
	assert_int_equal(between.sockets[1].books.count[COUNT_accepted_bytes], 30);
	assert_int_equal(between.gauges.lost_updates, 2);
	/* Neither reading was touched. */
	assert_int_equal(later.sockets[1].books.count[COUNT_accepted_bytes], 130);
	ledger_free(&between);
}

static void a_reading_less_itself_is_nothing(void **state)
{
	struct ledger between;
	struct reading r;

	reading_init(&r);
	read_socket(&r, 11, 100);
	read_stack(&r, SITE_late_copy, "a < b", 100);
	assert_int_equal(ledger_difference(&r.ledger, &r.ledger, &between), 0);
	assert_int_equal(between.total.count[COUNT_accepted_bytes], 0);
	assert_int_equal(between.stack_count, 0);
	assert_int_equal(between.socket_count, 1);
	assert_int_equal(between.sockets[0].books.site[SITE_tx_copy].calls, 0);
	ledger_free(&between);
}

static void stacks_that_read_alike_are_one(void **state)
{
	struct reading earlier, later;
	struct ledger between;

	reading_init(&earlier);
	reading_init(&later);
	/* The map may give them in any order, and one function may copy from two places. */
	read_stack(&earlier, SITE_late_copy, "a < b", 10);
	read_stack(&earlier, SITE_reshape, "c", 5);
	read_stack(&later, SITE_reshape, "c", 5);
	read_stack(&later, SITE_late_copy, "a < b", 1);
	read_stack(&later, SITE_late_copy, "a < b", 12);
	read_stack(&later, SITE_reshape, "a < b", 4);
	assert_int_equal(ledger_difference(&later.ledger, &earlier.ledger, &between), 0);
	assert_int_equal(between.stack_count, 2);
	assert_string_equal(between.stacks[0].frames, "a < b");
	assert_int_equal(between.stacks[0].site, SITE_late_copy);
	assert_int_equal(between.stacks[0].tally.bytes, 3);
	assert_int_equal(between.stacks[1].site, SITE_reshape);
	assert_int_equal(between.stacks[1].tally.bytes, 4);
	ledger_free(&between);
}

static void levels_are_the_later_ones_and_an_old_peak_is_not_known(void **state)
{
	struct reading earlier, later;
	struct ledger between;

	reading_init(&earlier);
	reading_init(&later);
	earlier.ledger.gauges = (struct gauges){ .outstanding_pages = 9, .peak_pages = 10 };
	later.ledger.gauges = (struct gauges){ .outstanding_pages = 4, .peak_pages = 12,
					       .first_byte_ns = 77 };
	assert_int_equal(ledger_difference(&later.ledger, &earlier.ledger, &between), 0);
	assert_int_equal(between.gauges.outstanding_pages, 4);
	assert_int_equal(between.gauges.peak_pages, 12);
	assert_false(between.peak_unknown);
	assert_int_equal(between.gauges.first_byte_ns, 77);
	ledger_free(&between);
	earlier.ledger.gauges.peak_pages = 12;
	earlier.ledger.gauges.first_byte_ns = 77;
	assert_int_equal(ledger_difference(&later.ledger, &earlier.ledger, &between), 0);
	assert_true(between.peak_unknown);
	assert_int_equal(between.gauges.first_byte_ns, 0);
	ledger_free(&between);
}

static void a_peak_that_is_not_known_is_not_told(void **state)
{
	struct made m;

	made_init(&m);
	m.r.derived.peak_unknown = true;
	made_judge(&m);
	assert_int_equal(m.r.pins.peak_how, HOW_NOT_MEASURED);
	assert_true(*m.r.pins.why);
	assert_int_equal(m.r.pins.released_how, HOW_MEASURED);
}

static void readings_in_the_wrong_order_have_no_difference(void **state)
{
	struct reading earlier, later;
	struct ledger between;

	reading_init(&earlier);
	reading_init(&later);
	read_socket(&earlier, 11, 100);
	read_socket(&later, 11, 130);
	assert_int_equal(ledger_difference(&earlier.ledger, &later.ledger, &between), -ERANGE);
	assert_null(between.sockets);
	/* A socket that is gone: of another window. */
	later.sockets[0].cookie = 12;
	assert_int_equal(ledger_difference(&later.ledger, &earlier.ledger, &between), -ERANGE);
}

static void more_sockets_than_maps_hold_by_default_are_read(void **state)
{
	enum { MANY = 1000 };
	struct socket_books *sockets = calloc(MANY, sizeof(*sockets));
	struct ledger later = { .sockets = sockets, .socket_count = MANY }, none = {}, between;

	for (int i = 0; i < MANY; i++) {
		sockets[i].cookie = i + 1;
		sockets[i].books.count[COUNT_accepted_bytes] = i;
		books_sum(&later.total, &sockets[i].books);
	}
	assert_int_equal(ledger_difference(&later, &none, &between), 0);
	assert_int_equal(between.socket_count, MANY);
	assert_memory_equal(between.sockets, sockets, MANY * sizeof(*sockets));
	ledger_free(&between);
	free(sockets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_counts_is_subtracted_socket_by_socket),
		cmocka_unit_test(a_reading_less_itself_is_nothing),
		cmocka_unit_test(stacks_that_read_alike_are_one),
		cmocka_unit_test(levels_are_the_later_ones_and_an_old_peak_is_not_known),
		cmocka_unit_test(a_peak_that_is_not_known_is_not_told),
		cmocka_unit_test(readings_in_the_wrong_order_have_no_difference),
		cmocka_unit_test(more_sockets_than_maps_hold_by_default_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
