// SPDX-License-Identifier: GPL-2.0
/* Books of kernel TLS in a watch: two books balance, from opening balances on, or a law says why not. */
#include "tests/unit/unit.h"
#include "userspace/watch/books/books_socket.h"

enum { ESTABLISHED = 1, RECORD = 4093, RECORDS = 23, PRIME = RECORDS * RECORD, LONGER = RECORDS * 22, PLAIN = 529 };

static const struct watch_hooked hooks = {
	.sends = true, .discards = true, .completions = true, .rx_calls = true, .packets = true, .devices = true,
	.late_copies = true, .no_onward = true, .no_orphans = true, .tls = true,
};

/* Two directions of one socket: 529 bytes in plain, then 23 records each way. */
struct made {
	struct watch_book book;
	struct tls_book tls;
	struct watch_hooked hooked;
	struct watch_socket socket;
};

static void made(struct made *m)
{
	const unsigned int moved = PLAIN + PRIME + LONGER;

	*m = (struct made){ .hooked = hooks };
	m->book = (struct watch_book){
		.cookie = 1, .slot_at = 1, .flags = WATCH_BORN | WATCH_DIED, .layers = 1u << WATCH_LAYER_KTLS,
		.now = { .accepted = moved, .sent = moved, .received = moved, .state = ESTABLISHED },
		.slot = { .sent_as = { [WATCH_KIND_COPY] = PLAIN, [WATCH_KIND_SPLICE] = PRIME + LONGER },
			  .since = moved, .tls = SLOT_HAS_TLS_BOOK | SLOT_TLS_RECEIVES },
	};
	m->tls = (struct tls_book){
		.accepted = PRIME, .copied = 93, .referenced = RECORD - 93, .spliced = PRIME - RECORD,
		.encrypted = PRIME, .sent_overhead = LONGER, .sent_records = RECORDS, .sent_before = PLAIN,
		.returned = PRIME, .decrypted = PRIME, .decryptions = RECORDS, .opened = PRIME, .received_overhead = LONGER,
		.received_records = RECORDS, .received_before = PLAIN, .direct = RECORD,
		.now = { .accepted = moved, .returned = moved }, .sends = 1, .receives = 1, .sends_ended = 1,
		.receives_ended = 1,
	};
	m->hooked.tls_book = &m->tls;
}

static void fill(struct made *m)
{
	watch_socket_fill(&m->socket, &m->book, &m->hooked);
}

static struct watch_sides sides(const struct made *m, enum watch_law law)
{
	return watch_law_sides(law, &m->socket, &m->book, &m->hooked);
}

static const enum watch_law laws[] = { WATCH_LAW_tls_send, WATCH_LAW_tls_encryption, WATCH_LAW_tls_sent,
				       WATCH_LAW_tls_received, WATCH_LAW_send_queue };

enum { LAWS = sizeof(laws) / sizeof(*laws) };

static void all_balance(const struct made *m)
{
	for (int i = 0; i < LAWS; i++) {
		assert_true(sides(m, laws[i]).known);
		assert_int_equal(sides(m, laws[i]).left, sides(m, laws[i]).right);
	}
}

static void breaks(const struct made *m, enum watch_law law)
{
	assert_true(sides(m, law).known);
	assert_int_not_equal(sides(m, law).left, sides(m, law).right);
}

TEST(plaintext_at_tls_and_records_at_tcp)
{
	const struct watch_movements *moved;
	struct made m;

	made(&m);
	fill(&m);
	moved = &m.socket.moved;
	assert_false(m.socket.apart);
	all_balance(&m);
	assert_int_equal(moved->count[COUNT_accepted_bytes], PLAIN + PRIME + LONGER);
	assert_int_equal(moved->count[COUNT_tls_accepted_bytes], PRIME);
	assert_int_equal(moved->count[COUNT_tls_carried_bytes], PRIME + LONGER);
	assert_int_equal(moved->count[COUNT_returned_bytes], PLAIN + PRIME);
	assert_int_equal(moved->site[SITE_tls_splice].bytes, PRIME - RECORD);
	assert_int_equal(moved->site[SITE_tx_copy].bytes, PLAIN);
	assert_int_equal(moved->site[SITE_rx_direct].bytes, RECORD);
	assert_int_equal(moved->site[SITE_rx_copy].bytes, PLAIN + PRIME - RECORD);
	/* Records are the kernel's own pages: nobody asked for them to be handed over. */
	assert_int_equal(moved->fate.uncopied + moved->fate.later + moved->fate.unknown, 0);
}

TEST(what_lay_there_when_the_window_opened_is_a_balance)
{
	struct made m;

	made(&m);
	m.book.flags = 0;
	m.tls.sends_ended = m.tls.receives_ended = 0;
	m.tls.first.open = 300;
	m.tls.encrypted += 300;
	m.tls.first.queued = 1000;
	m.tls.now.queued = 1300;
	m.tls.first.collected = m.tls.now.collected = 77;
	m.tls.first.decrypted = 5;
	m.tls.now.decrypted = 9;
	fill(&m);
	assert_int_equal(m.socket.moved.count[COUNT_tls_accepted_bytes], PRIME);
	assert_int_equal(m.socket.moved.count[COUNT_returned_bytes], PLAIN + 5 + PRIME - 9);
	all_balance(&m);
}

#define BREAKS(law, field, by)                  \
	do {                                    \
		struct made slips;              \
						\
		made(&slips);                   \
		slips.field += (by);            \
		fill(&slips);                   \
		breaks(&slips, WATCH_LAW_##law); \
	} while (0)

TEST(each_law_breaks_when_either_side_is_off_by_one)
{
	struct made m;

	made(&m);
	fill(&m);
	for (int i = 0; i < LAWS; i++)
		assert_int_not_equal(sides(&m, laws[i]).left, 0);
	BREAKS(tls_send, tls.accepted, 1);
	BREAKS(tls_send, tls.copied, 1);
	BREAKS(tls_send, tls.referenced, 1);
	BREAKS(tls_send, tls.spliced, 1);
	BREAKS(tls_encryption, tls.accepted, 1);
	BREAKS(tls_encryption, tls.encrypted, 1);
	BREAKS(tls_sent, tls.encrypted, 1);
	BREAKS(tls_sent, tls.sent_overhead, 1);
	BREAKS(tls_sent, tls.now.accepted, -1);
	BREAKS(tls_received, tls.now.returned, 1);
	BREAKS(tls_received, tls.opened, 1);
	BREAKS(tls_received, tls.received_overhead, 1);
	BREAKS(send_queue, book.now.accepted, 1);
	BREAKS(send_queue, book.now.sent, 1);
}

/* A record that nobody counted may make a sum less than nothing: its law must tell. */
TEST(a_sum_below_nothing_hides_no_law_of_what_was_counted)
{
	struct made m;

	made(&m);
	m.tls.copied += m.tls.spliced;
	m.tls.spliced = 0;
	m.tls.encrypted -= RECORD;
	fill(&m);
	assert_true(m.socket.moved.implausible);
	breaks(&m, WATCH_LAW_tls_encryption);
}

/* One that both ends have closed before TLS gave it up: its FIN was accepted, and is no byte. */
TEST(a_fin_is_no_byte_of_a_record)
{
	struct made m;

	made(&m);
	m.book.flags |= WATCH_CLOSED;
	m.book.now.accepted++;
	m.book.closed = m.book.now;
	m.book.closed.fin_queued = 1;
	m.tls.now.accepted++;
	fill(&m);
	all_balance(&m);
}

/* Where the kernel keeps no number, nothing is guessed. */
TEST(a_law_that_cannot_be_tested_says_why)
{
	struct made m;

	made(&m);
	m.book.flags = 0;
	m.tls.accepted++;
	fill(&m);
	assert_false(sides(&m, WATCH_LAW_tls_send).known);
	assert_non_null(sides(&m, WATCH_LAW_tls_send).why);
	made(&m);
	m.book.opened.calls_sleep = 1;
	m.tls.now.queued = 5;
	fill(&m);
	assert_non_null(sides(&m, WATCH_LAW_tls_sent).why);
	made(&m);
	m.tls.walk_short = 1;
	fill(&m);
	assert_non_null(sides(&m, WATCH_LAW_tls_received).why);
	made(&m);
	m.tls.sends_ended = 0;
	fill(&m);
	assert_non_null(sides(&m, WATCH_LAW_tls_sent).why);
}

/* No hooks, a device, no room: as any layer that is not counted. */
TEST(what_is_not_counted_is_told_apart)
{
	struct made m;

	for (int i = 0; i < 3; i++) {
		made(&m);
		m.hooked.tls = i != 0;
		m.tls.device = i == 1;
		m.hooked.tls_book = i == 2 ? NULL : &m.tls;
		fill(&m);
		assert_true(m.socket.apart);
		assert_int_equal(m.socket.moved.sites_known, 0);
		assert_false(sides(&m, WATCH_LAW_tls_sent).known);
	}
	/* A socket without keys is plain TCP. */
	made(&m);
	m.book.slot.tls = 0;
	m.hooked.tls_book = NULL;
	fill(&m);
	assert_false(m.socket.apart);
	assert_int_equal(m.socket.moved.count[COUNT_tls_accepted_bytes], 0);
	assert_int_equal(sides(&m, WATCH_LAW_tls_sent).left, 0);
}
