// SPDX-License-Identifier: GPL-2.0
/* Each verdict on a watched process has numbers that lead there; each missing number has its reason. */
#include "tests/unit/made_watch.h"
#include "tests/unit/unit.h"
#include "userspace/watch/books/watch_judge.h"

enum { SENT = 9000 };

/* What moved, and which verdict it is to get. */
struct made_case {
	const char *what;
	enum verdict_of_process verdict;
	uint64_t sent, received, referenced, spliced, mapped, map_calls, refused, unset, passed_unknown;
	struct watch_fate fate;
	uint32_t no_sites;	/* not measured */
	uint64_t no_counts;
	enum watch_layer layer;	/* it has a socket of that, too */
	uint64_t encrypted, carried, decrypted;	/* by kernel TLS; as records, among .spliced */
};

static const struct made_case cases[] = {
	{ "idle", VERDICT_MOVED_NOTHING, .sent = 0 },
	{ "refused alone", VERDICT_REFUSED, .refused = 3 },
	{ "refused, and sent plainly instead", VERDICT_REFUSED, SENT, .refused = 3 },
	{ "copied late", VERDICT_IN_VAIN, SENT, .referenced = SENT, .fate = { .later = SENT } },
	{ "copied late but for what waits", VERDICT_IN_VAIN, SENT, .referenced = SENT,
	  .fate = { .later = SENT - 100, .unknown = 100, .held = 100 } },
	{ "ignored without SO_ZEROCOPY", VERDICT_IN_VAIN, SENT, .unset = 4 },
	{ "half copied late", VERDICT_PARTLY, SENT, .referenced = SENT,
	  .fate = { .later = 4000, .uncopied = 5000 } },
	{ "half copied late, the rest unknown", VERDICT_PARTLY, SENT, .referenced = SENT,
	  .fate = { .later = 4000, .unknown = 5000 } },
	{ "taken by a device", VERDICT_CLEAN, SENT, .referenced = SENT, .fate = { .uncopied = SENT } },
	{ "spliced and delivered as pages", VERDICT_CLEAN, SENT, .spliced = SENT - 9,
	  .fate = { .uncopied = SENT - 9 } },
	{ "received as a map", VERDICT_CLEAN, .received = SENT, .mapped = SENT },
	{ "received as a map, and the rest by recv", VERDICT_CLEAN, .received = SENT, .mapped = 4096, .map_calls = 3 },
	{ "asked for a map of what cannot be mapped", VERDICT_IN_VAIN, .received = SENT, .map_calls = 3 },
	{ "maps were not counted", VERDICT_COPIES, .received = SENT, .map_calls = 3,
	  .no_counts = 1ull << COUNT_map_calls },
	{ "what a sockmap took is not known", VERDICT_NOT_KNOWN, SENT, .received = SENT,
	  .no_counts = 1ull << COUNT_returned_bytes },
	{ "plain", VERDICT_COPIES, SENT, .received = 70 },
	{ "plain, and refusals unknown", VERDICT_COPIES, SENT, .no_counts = 1ull << COUNT_enobufs },
	{ "clean, and refused at times", VERDICT_MIXED, SENT, .referenced = SENT, .refused = 1,
	  .fate = { .uncopied = SENT } },
	{ "sent in vain, received as a map", VERDICT_MIXED, SENT, .received = SENT, .referenced = SENT, .mapped = SENT,
	  .fate = { .later = SENT } },
	{ "behind a device without scatter-gather", VERDICT_NOT_KNOWN, SENT, .referenced = SENT,
	  .fate = { .unknown = SENT } },
	{ "nothing left yet", VERDICT_NOT_KNOWN, SENT, .referenced = SENT,
	  .fate = { .unknown = SENT, .held = SENT } },
	{ "beyond the table of slots", VERDICT_NOT_KNOWN, SENT, .no_sites = ~0u },
	{ "read with peeks, where splices hide", VERDICT_NOT_KNOWN, .received = 70,
	  .passed_unknown = 1, .no_sites = 1u << SITE_rx_splice | 1u << SITE_rx_map },
	{ "passed on as pages, spliced or mapped", VERDICT_CLEAN, .received = 70, .mapped = 70,
	  .no_sites = 1u << SITE_rx_splice | 1u << SITE_rx_map },
	{ "encrypted after a handshake", VERDICT_ENCRYPTED, SENT, .spliced = SENT - 500, .carried = SENT - 500,
	  .encrypted = SENT - 522 },
	{ "decrypted", VERDICT_ENCRYPTED, 70, .received = SENT, .decrypted = SENT },
	{ "encrypted, and spliced in plain beside", VERDICT_MIXED, SENT, .spliced = SENT - 500, .carried = 1000,
	  .encrypted = 978, .fate = { .uncopied = SENT - 1500 } },
	{ "encrypted, and nobody knows what became of a splice", VERDICT_NOT_KNOWN, SENT, .spliced = SENT - 500,
	  .carried = 1000, .encrypted = 978, .fate = { .unknown = SENT - 1500 } },
	{ "kernel TLS that is not counted", VERDICT_NOT_KNOWN, .layer = WATCH_LAYER_KTLS },
	{ "plain, and kernel TLS besides", VERDICT_COPIES, SENT, .layer = WATCH_LAYER_KTLS },
};

static struct watch_sum sum_of(const struct made_case *c)
{
	struct watch_sum sum = watch_sum_of_nothing();
	struct watch_movements *m = &sum.moved;

	m->count[COUNT_accepted_bytes] = c->sent;
	m->count[COUNT_returned_bytes] = c->received;
	m->count[COUNT_enobufs] = c->refused;
	m->count[COUNT_unset_sends] = c->unset;
	m->site[SITE_tx_reference].bytes = c->referenced;
	m->site[SITE_tx_splice].bytes = c->spliced;
	m->site[SITE_tx_copy].bytes = c->sent - c->referenced - c->spliced;
	m->count[COUNT_map_calls] = c->map_calls;
	m->site[SITE_rx_map].bytes = c->mapped;
	m->site[SITE_rx_copy].bytes = c->received - c->mapped;
	m->passed_bytes = c->mapped;
	m->passed_unknown = c->passed_unknown;
	m->site[SITE_tls_encrypt].bytes = m->count[COUNT_tls_accepted_bytes] = c->encrypted;
	m->count[COUNT_tls_carried_bytes] = c->carried;
	m->site[SITE_tls_decrypt].bytes = m->count[COUNT_tls_received_bytes] = c->decrypted;
	m->fate = c->fate;
	m->sites_known &= ~c->no_sites;
	m->counts_known &= ~c->no_counts;
	sum.other[c->layer].sockets = c->layer != WATCH_LAYER_NONE;
	return sum;
}

TEST(each_verdict_has_its_numbers)
{
	bool met[VERDICT_COUNT] = {};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct watch_sum sum = sum_of(&cases[i]);
		enum verdict_of_process found = watch_verdict(&sum);

		met[found] = true;
		if (found != cases[i].verdict)
			fail_msg("%s: %s, not %s", cases[i].what, verdict_name(found),
				 verdict_name(cases[i].verdict));
	}
	for (int i = 0; i < VERDICT_COUNT; i++)
		assert_true(met[i]);
}

/* Whatever is missing: no verdict that needs both is given without what send referenced or spliced. */
TEST(no_verdict_on_zero_copy_comes_of_sites_that_nobody_measured)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct watch_sum sum = sum_of(&cases[i]);

		if (!cases[i].sent)
			continue;
		sum.moved.sites_known = 0;
		assert_int_equal(watch_verdict(&sum), VERDICT_NOT_KNOWN);
		sum.moved.counts_known = 0;
		assert_int_equal(watch_verdict(&sum), VERDICT_NOT_KNOWN);
	}
}

/* How each site and count is known, or why it is not. */
TEST(every_site_and_count_that_is_not_known_has_its_reason)
{
	static const enum backend backends[] = { BACKEND_TRAMPOLINE, BACKEND_TRACEPOINT };
	static struct made_watch m;

	for (int i = 0; i < 2; i++) {
		made_watch(&m);
		m.r.backend = backends[i];
		m.r.total.moved.sites_known = 0;
		m.r.total.moved.counts_known = 0;
		watch_sites_fill(&m.r);
		for (enum site s = 0; s < SITE_COUNT; s++) {
			assert_int_equal(m.r.sites[s].how, HOW_NOT_MEASURED);
			assert_true(*m.r.sites[s].why && !strstr(m.r.sites[s].why, "null"));
		}
		for (enum count c = 0; c < COUNT_COUNT; c++)
			assert_true(*m.r.count_why[c]);
	}
}
