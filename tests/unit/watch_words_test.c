// SPDX-License-Identifier: GPL-2.0
/* No sentence on a watched process claims what is not known, in combinations of unknown numbers. */
#include "tests/unit/made_watch.h"
#include "tests/unit/unit.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/sentence.h"

/* Words that claim, in whichever phrase, and what must be known for them: beside what phrases name themselves. */
static const struct claim {
	const char *words;
	uint32_t sites;
	uint64_t counts;
} claims[] = {
	{ "copied all", OF_SITE(tx_copy), OF_COUNT(accepted_bytes) },
	{ "was copied by send", OF_SITE(tx_copy), 0 },
	{ "not copied by send", OF_SITE(tx_splice), OF_COUNT(accepted_bytes) },
	{ "no zero copy", OF_SITE(tx_reference), OF_COUNT(zerocopy_asked_sends) | OF_COUNT(unset_sends) },
	{ "no byte by reference", OF_SITE(tx_reference), 0 },
	{ "B was sent by reference", OF_SITE(tx_reference), 0 },
	{ "spliced from the page cache", OF_SITE(tx_splice), OF_COUNT(tls_carried_bytes) },
	{ "encrypted", OF_SITE(tls_encrypt), OF_COUNT(tls_accepted_bytes) },
	{ "decrypted", OF_SITE(tls_decrypt), OF_COUNT(tls_received_bytes) },
	{ "copied into records", OF_SITE(tls_copy), 0 },
	{ "from buffers of", OF_SITE(tls_reference), 0 },
	{ "from pages of", OF_SITE(tls_splice), 0 },
	{ "into buffers of", OF_SITE(rx_direct), 0 },
	{ "ignored", 0, OF_COUNT(unset_sends) },
	{ "copied after all", OF_SITE(tx_reference) | OF_SITE(tx_splice), 0 },
	{ "without a copy", OF_SITE(tx_reference) | OF_SITE(tx_splice), 0 },
	{ "notifications say", 0, OF_COUNT(completed_sends) | OF_COUNT(copied_sends) },
	{ "had not left", OF_SITE(tx_reference) | OF_SITE(tx_splice), 0 },
	{ "late_copy", OF_SITE(late_copy) | OF_SITE(tx_reference), 0 },
	{ "refused", 0, OF_COUNT(enobufs) },
	{ "option memory", 0, OF_COUNT(refused_optmem) },
	{ "RLIMIT_MEMLOCK", 0, OF_COUNT(refused_memlock) },
	{ "at least", 0, OF_COUNT(zerocopy_sends) },
	{ "on average", 0, OF_COUNT(send_calls) | OF_COUNT(accepted_bytes) },
	{ "receivers are on this machine", 0, OF_COUNT(accepted_bytes) },
	{ "received ", 0, OF_COUNT(returned_bytes) },
	{ "all copied by recv", OF_READER, OF_READS },
	{ "MSG_PEEK", OF_READER, OF_READS },
	{ "recv copied", OF_SITE(rx_copy), 0 },
	{ "spliced out or", 0, OF_READS },
	{ "spliced out;", OF_SITE(rx_splice), 0 },
	{ "spliced out.", OF_SITE(rx_splice), 0 },
	{ "was mapped", OF_SITE(rx_map), 0 },
	{ "mapped none", OF_SITE(rx_map), OF_COUNT(map_calls) },
	{ "discarded", OF_SITE(rx_discard), 0 },
	{ "moved no", 0, OF_COUNT(accepted_bytes) | OF_COUNT(returned_bytes) },
};

#define OF_TLS_SITES (OF_SITE(rx_direct) | OF_SITE(tls_copy) | OF_SITE(tls_reference) | OF_SITE(tls_splice) | \
		      OF_SITE(tls_encrypt) | OF_SITE(tls_decrypt))
#define OF_TLS_COUNTS (OF_COUNT(tls_accepted_bytes) | OF_COUNT(tls_carried_bytes) | OF_COUNT(tls_received_bytes))

/* Of what the sentence uses, in an order of which sends have the first ones. What kernel TLS did is known or not as
 * one. */
static const uint32_t site_bits[] = { OF_SITE(tx_copy) | OF_TLS_SITES, OF_SITE(tx_reference), OF_SITE(tx_splice),
				      OF_SITE(late_copy), OF_SITE(rx_copy), OF_SITE(rx_map),
				      OF_SITE(rx_splice), OF_SITE(rx_discard) };
static const uint64_t count_bits[] = {
	OF_COUNT(accepted_bytes) | OF_TLS_COUNTS, OF_COUNT(enobufs), OF_COUNT(zerocopy_asked_sends), OF_COUNT(unset_sends),
	OF_COUNT(zerocopy_sends) | OF_COUNT(completed_sends) | OF_COUNT(copied_sends), OF_COUNT(send_calls), OF_COUNT(refused_optmem),
	OF_COUNT(refused_memlock), OF_COUNT(returned_bytes), OF_PASSED | OF_COUNT(map_calls),
};

enum { SITE_BITS = 8, COUNT_BITS = 10, READ_SITES = 0xf0, READ_COUNTS = 0x300, MB = 1000000 };

/* A claim needs a few of the numbers, whatever is known of the others: of a case each third combination is enough, of
 * the next case those that follow them. Sanitizers look at memory, which is used alike in all: one in seven for them. */
#ifdef __SANITIZE_ADDRESS__
enum { STEP = 7 };
#else
enum { STEP = 3 };
#endif

/* What moved: of several magnitudes, so that each phrase is met. Numbers stay where they are not known. */
struct made_case {
	uint64_t sent, received, referenced, spliced, late, refused, optmem, memlock, at_rest, declined, unset, asked, calls;
	uint64_t mapped, map_calls, passed, discarded, peeked, here;
	uint64_t tls_copied, tls_referenced, tls_spliced, carried, decrypted, direct;
	struct watch_fate fate;
	uint64_t delivered, tun, told;
	enum watch_layer layer;
	uint64_t handed_on;
};

static const struct made_case cases[] = {
	{ .layer = WATCH_LAYER_KTLS },
	{ .layer = WATCH_LAYER_MPTCP },
	{ .handed_on = 2 },
	{ .sent = 3 * MB, .received = 500, .calls = 100, .here = 3 * MB, .peeked = 1,
	  .map_calls = 12 },
	{ .sent = 1, .received = 315ull * MB, .unset = 7, .layer = WATCH_LAYER_REPAIR },
	{ .sent = 9ull * MB, .referenced = 9 * MB, .late = 12 * MB, .asked = 41200, .delivered = 12 * MB,
	  .fate = { .later = 9 * MB } },
	{ .sent = 12000ull * MB, .spliced = 11000ull * MB, .fate = { .uncopied = 11000ull * MB, .unsure = MB } },
	{ .sent = 9ull * MB, .referenced = 9 * MB, .late = 18 * MB, .delivered = 9 * MB, .tun = 9 * MB,
	  .fate = { .later = 9 * MB } },
	{ .sent = 9 * MB, .received = 9 * MB, .referenced = 4 * MB, .spliced = 3 * MB, .late = 2 * MB,
	  .refused = 5, .memlock = 4, .optmem = 1, .peeked = 9, .mapped = MB, .passed = 2 * MB, .discarded = 3 * MB,
	  .tun = MB, .fate = { .later = 2 * MB, .uncopied = MB, .unknown = 4 * MB, .held = 7 }, .told = 4 },
	{ .sent = 4 * MB, .spliced = 4 * MB - 300, .carried = 4 * MB - 300, .tls_copied = MB, .tls_referenced = 2 * MB,
	  .tls_spliced = MB - 900, .received = 5 * MB, .decrypted = 5 * MB - 400, .direct = 3 * MB },
	{ .sent = 3 * MB, .refused = 60, .memlock = 60, .at_rest = 60 },
	{ .sent = 3 * MB, .asked = 100, .declined = 2 * MB },
	{ .sent = 3 * MB, .refused = 60, .optmem = 60, .asked = 100, .referenced = 2 * MB,
	  .late = MB, .fate = { .uncopied = MB, .later = MB } },
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

static void fill(struct made_watch *made, const struct made_case *c)
{
	struct watch_movements *m = made_moved(made);
	struct watch_sum *sum = &made->process[0].sum;

	m->count[COUNT_accepted_bytes] = c->sent;
	m->count[COUNT_returned_bytes] = c->received;
	m->count[COUNT_enobufs] = c->refused;
	m->count[COUNT_refused_optmem] = c->optmem;
	m->count[COUNT_refused_memlock] = c->memlock;
	m->refused_at_rest = c->at_rest;
	m->declined_bytes = c->declined;
	m->count[COUNT_unset_sends] = c->unset;
	m->count[COUNT_zerocopy_asked_sends] = c->asked;
	m->count[COUNT_zerocopy_sends] = c->asked ? c->asked - 1 : 0;
	m->count[COUNT_completed_sends] = m->count[COUNT_copied_sends] = c->told;
	m->count[COUNT_send_calls] = c->calls;
	m->site[SITE_tx_copy].bytes = c->sent - c->referenced - c->spliced;
	m->site[SITE_tx_reference].bytes = c->referenced;
	m->site[SITE_tx_splice].bytes = c->spliced;
	m->site[SITE_late_copy].bytes = c->late;
	m->count[COUNT_map_calls] = c->map_calls;
	m->site[SITE_rx_map].bytes = c->mapped;
	m->site[SITE_rx_splice].bytes = c->passed;
	m->site[SITE_rx_discard].bytes = c->discarded;
	m->site[SITE_rx_copy].bytes = c->received - c->mapped - c->passed - c->discarded + c->peeked;
	m->site[SITE_rx_copy].bytes -= c->direct;
	m->site[SITE_rx_direct].bytes = c->direct;
	m->site[SITE_tls_copy].bytes = c->tls_copied;
	m->site[SITE_tls_reference].bytes = c->tls_referenced;
	m->site[SITE_tls_splice].bytes = c->tls_spliced;
	m->count[COUNT_tls_accepted_bytes] = c->tls_copied + c->tls_referenced + c->tls_spliced;
	m->site[SITE_tls_encrypt].bytes = m->count[COUNT_tls_accepted_bytes];
	m->count[COUNT_tls_carried_bytes] = c->carried;
	m->site[SITE_tls_decrypt].bytes = m->count[COUNT_tls_received_bytes] = c->decrypted;
	m->passed_bytes = c->mapped + c->passed;
	m->fate = c->fate;
	sum->other[c->layer] = (struct watch_other){ c->layer != WATCH_LAYER_NONE, 4 * MB, 10000 };
	sum->handed_on = c->handed_on;
	sum->sent_here_bytes = c->here;
	m->late_by_delivery_bytes = c->delivered;
	m->late_by_tun_bytes = c->tun;
}

static const char *const texts[] = {
#define PHRASE_TEXT(symbol, sites, counts, text) text,
	PHRASES(PHRASE_TEXT)
#undef PHRASE_TEXT
};

/* The longest part of a phrase that is the same in every sentence. */
static void constant_part(enum phrase which, char part[200])
{
	size_t longest = 0;

	for (const char *at = texts[which]; *at; at += at[strcspn(at, "%")] ? 1 : 0) {
		size_t length = strcspn(at, "%");

		if (length > longest) {
			longest = length;
			snprintf(part, 200, "%.*s", (int)length, at);
		}
		at += length;
	}
	/* A sentence may begin with it. */
	memmove(part, part + strspn(part, ",;: "), strlen(part + strspn(part, ",;: ")) + 1);
}

struct tried {
	char part[PHRASE_COUNT][200];
	bool met[PHRASE_COUNT];
};

static bool lacks(const struct watch_movements *m, uint32_t sites, uint64_t counts)
{
	return (m->sites_known & sites) != sites || (m->counts_known & counts & ~OF_PASSED) != (counts & ~OF_PASSED) ||
	       (counts & OF_PASSED && m->passed_unknown);
}

/* Another phrase has the same words, may be said, and is. */
static bool is_of_another(enum phrase which, const struct watch_movements *m, const char *text,
			  const struct tried *tried)
{
	for (enum phrase other = 0; other < PHRASE_COUNT; other++)
		if (other != which && phrase_is_backed(other, m) &&
		    strstr(texts[other], tried->part[which]) && strstr(text, tried->part[other]))
			return true;
	return false;
}

static void expect_backed(struct made_watch *made, enum verdict_of_process verdict, struct tried *tried)
{
	struct watch_movements *m = made_moved(made);
	char text[SENTENCE_BYTES];

	made->process[0].verdict = verdict;
	sentence_of_process(&made->r, &made->process[0], text);
	assert_true(strlen(text) < SENTENCE_BYTES - 1);
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++)
		if (lacks(m, claims[i].sites, claims[i].counts) && strstr(text, claims[i].words))
			fail_msg("sites %x, counts %llx: '%s' in: %s", m->sites_known,
				 (unsigned long long)m->counts_known, claims[i].words, text);
	for (enum phrase which = 0; which < PHRASE_COUNT; which++) {
		bool backed = phrase_is_backed(which, m);

		if ((backed && tried->met[which]) || !strstr(text, tried->part[which]))
			continue;
		tried->met[which] |= backed;
		if (!backed && !is_of_another(which, m, text, tried))
			fail_msg("sites %x, counts %llx: '%s' in: %s", m->sites_known,
				 (unsigned long long)m->counts_known, texts[which], text);
	}
}

static void without(struct watch_movements *m, unsigned int sites, unsigned int counts)
{
	m->sites_known = ~0u;
	m->counts_known = ~0ull;
	for (int i = 0; i < SITE_BITS; i++)
		m->sites_known &= ~(sites >> i & 1 ? site_bits[i] : 0);
	for (int i = 0; i < COUNT_BITS; i++)
		m->counts_known &= ~(counts >> i & 1 ? count_bits[i] : 0);
	m->passed_unknown = !(m->counts_known & OF_PASSED);
}

/* Each third of 2^18 combinations for each case with the verdict that it gets; with every other verdict, too, those
 * in which all or none is known of what was received. */
TEST(no_sentence_claims_what_is_not_known)
{
	static struct tried tried;
	struct made_watch made;

	for (enum phrase which = 0; which < PHRASE_COUNT; which++)
		constant_part(which, tried.part[which]);
	for (int i = 0; i < CASES; i++) {
		made_watch(&made);
		for (enum site s = 0; s < SITE_COUNT; s++)
			strcpy(made.r.sites[s].why, "nobody looked");
		strcpy(made.r.count_why[COUNT_returned_bytes], "nobody knows");
		fill(&made, &cases[i]);
		made.r.uncovered[WATCH_UNCOVERED_UNIX] = 2;
		made.r.probe_count = 1;
		made.r.probes[0] = (struct probe){ .metric = "late_copy", .missed_hits = 3 };
		for (unsigned int bits = i % STEP; bits < 1u << (SITE_BITS + COUNT_BITS); bits += STEP) {
			unsigned int sites = bits & ((1 << SITE_BITS) - 1), counts = bits >> SITE_BITS;
			unsigned int reads = (sites & READ_SITES) + (counts & READ_COUNTS);

			without(made_moved(&made), sites, counts);
			expect_backed(&made, watch_verdict(&made.process[0].sum), &tried);
			if (reads && reads != READ_SITES + READ_COUNTS)
				continue;
			for (enum verdict_of_process v = 0; v < VERDICT_COUNT; v++)
				expect_backed(&made, v, &tried);
		}
	}
	for (enum phrase which = 0; which < PHRASE_COUNT; which++)
		if (!tried.met[which])
			fail_msg("no case says '%s'", texts[which]);
}

/* What uses a number of a phrase is in the combinations above. */
TEST(every_number_that_a_phrase_needs_is_tried)
{
	struct watch_movements tried = {};

	for (int i = 0; i < SITE_BITS; i++)
		tried.sites_known |= site_bits[i];
	for (int i = 0; i < COUNT_BITS; i++)
		tried.counts_known |= count_bits[i];
	assert_true(tried.counts_known & OF_PASSED);
	for (enum phrase which = 0; which < PHRASE_COUNT; which++)
		assert_true(phrase_is_backed(which, &tried));
}

/* attacks.md S4: all of it went by MSG_ZEROCOPY, and no site was counted. */
TEST(a_socket_beyond_the_table_of_slots_gets_no_headline)
{
	struct made_watch made;
	char text[SENTENCE_BYTES];

	made_watch(&made);
	made_moved(&made)->count[COUNT_accepted_bytes] = 13100000;
	made_moved(&made)->sites_known = 0;
	made_moved(&made)->passed_unknown = 1;
	made_moved(&made)->counts_known = OF_COUNT(accepted_bytes) | OF_COUNT(returned_bytes);
	strcpy(made.r.sites[SITE_tx_copy].why, "a socket found no room in the table of counts");
	made.process[0].verdict = watch_verdict(&made.process[0].sum);
	assert_string_equal(verdict_name(made.process[0].verdict), "not known");
	sentence_of_process(&made.r, &made.process[0], text);
	assert_string_equal(text, "sent 13.1 MB; how much of it send copied was not measured (a socket found "
			    "no room in the table of counts).");
}
