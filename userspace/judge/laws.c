// SPDX-License-Identifier: GPL-2.0
/*
 * Every law of a run, tested in order: pure arithmetic on the record, no libbpf and no I/O. A law's function
 * says what both sides are, weighs them, and says why it is not testable where a number is not measured.
 */
#include "userspace/judge/laws.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/judge/copied.h"
#include "userspace/judge/sides.h"
#include "userspace/judge/sites.h"
#include "userspace/record/experiment.h"

/* Compares the sums, then each socket: if two errors cancel out in the sum, the sockets show them. With an
 * @obstacle the law is not testable for that reason. */
static void weigh_books(const struct record *r, struct law *law,
			struct sides (*sides)(const struct books *b), const char *obstacle)
{
	if (obstacle) {
		say_why(law, obstacle);
		return;
	}
	weigh(law, sides(&r->derived.total));
	for (int i = 0; i < r->derived.socket_count; i++) {
		struct sides s = sides(&r->derived.sockets[i].books);

		if (balanced(s))
			continue;
		law->status = LAW_BROKEN;
		snprintf(law->why, WHY_BYTES, "socket %" PRIu64 ": %" PRId64 " against %" PRId64,
			 r->derived.sockets[i].cookie, s.left, s.right);
		return;
	}
}

/* Laws of the kernel's counts alone. */

/* The bytes of all sites with these traits. */
static int64_t sum_of_sites(const struct books *b, unsigned int traits)
{
	uint64_t terms[SITE_COUNT];
	size_t count = 0;

	for (enum site s = 0; s < SITE_COUNT; s++)
		if (site_has(s, traits))
			terms[count++] = b->site[s].bytes;
	return sum_of(terms, count);
}

static struct sides send_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_accepted_bytes], sum_of_sites(b, SITE_SENDS) };
}

static struct sides reference_sides(const struct books *b)
{
	const unsigned long long *n = b->count;

	/* A capture's clone is one more set of references, which ends as a copy like any other. */
	return (struct sides){ SUM(b->site[SITE_late_copy].bytes,
				   n[COUNT_reshaped_referenced_bytes], n[COUNT_clean_bytes],
				   n[COUNT_dropped_referenced_bytes]),
			       SUM(b->site[SITE_tx_reference].bytes,
				   n[COUNT_retrans_referenced_bytes], n[COUNT_tapped_bytes],
				   n[COUNT_mixed_bytes]) };
}

static struct sides receive_sides(const struct books *b)
{
	return (struct sides){ SUM(b->count[COUNT_returned_bytes], b->count[COUNT_peeked_bytes]),
			       sum_of_sites(b, SITE_READS) };
}

static struct sides completion_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_zerocopy_sends], b->count[COUNT_completed_sends] };
}

static struct sides pin_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_pinned_pages], b->count[COUNT_released_pages] };
}

static struct sides refusal_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_enobufs],
			       SUM(b->count[COUNT_refused_optmem],
				   b->count[COUNT_refused_memlock]) };
}

static const char missed[] = "the probes missed packets (see the law of the probes)";

static const char *obstacle_to_send(const struct record *r)
{
	if (!record_probe_attached(r, "accepted"))
		return "accepted bytes are not measured";
	if (r->sites[SITE_tx_copy].how == HOW_NOT_MEASURED)
		return "tx_copy is not measured";
	if (record_missed_hits(r, "tx_copy"))
		return missed;
	if (!record_wire_known(r))
		return "true by construction: tx_copy is the rest, as no probe sees packets";
	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	return NULL;
}

static const char *obstacle_to_reference(const struct record *r)
{
	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	if (r->sites[SITE_late_copy].how == HOW_NOT_MEASURED)
		return "late_copy is not measured";
	if (!record_probe_attached(r, "tx_copy"))
		return "bytes that left the socket again are not measured";
	if (record_missed_hits(r, NULL))
		return missed;
	if (!record_probe_attached(r, "drops"))
		return "packets dropped on the way are not measured";
	if (r->experiment->path.hardware_dma && !record_probe_attached(r, "clean"))
		return "bytes handed to the device clean are not measured";
	if (r->backend == BACKEND_TRAMPOLINE && !record_probe_attached(r, "taps"))
		return "bytes shown to packet captures are not measured";
	if (r->backend == BACKEND_TRAMPOLINE ? !record_probe_attached(r, "reshape") :
					       !r->experiment->path.scatter_gather)
		return "reshape is not measured: for a device that cannot gather the kernel copies pages there";
	if (!record_probe_attached(r, "late_copy") ||
	    (r->backend == BACKEND_TRACEPOINT && !record_wire_known(r)))
		return "true by construction: no probe sees the packets that arrive";
	return NULL;
}

static const char *obstacle_to_completion(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT && !plan_notified_by_ring(&r->experiment->plan))
		return "completions inside the kernel are not measured: needs the trampoline backend";
	if (!record_probe_attached(r, metric_of_completions(r)) || !record_probe_attached(r, "accepted"))
		return "completions are not measured";
	/* A completion finds its socket by the pin that a reference left. */
	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	return NULL;
}

static const char *obstacle_to_pin(const struct record *r)
{
	return r->pins.how == HOW_NOT_MEASURED || r->pins.released_how == HOW_NOT_MEASURED ?
		       "the release of pages is not measured: needs the trampoline backend" :
		       NULL;
}

static const char *obstacle_to_refusal(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT)
		return "refused notifications are not measured: needs the trampoline backend";
	if (!record_probe_attached(r, "refusals") || !record_probe_attached(r, "accepted"))
		return "refused notifications are not measured";
	return NULL;
}

static void law_send(const struct record *r, struct law *law)
{
	weigh_books(r, law, send_sides, obstacle_to_send(r));
}

static void law_reference(const struct record *r, struct law *law)
{
	weigh_books(r, law, reference_sides, obstacle_to_reference(r));
}

/* Those of kernel TLS pass no function of TCP. */
static bool returned_is_known(const struct record *r)
{
	return record_probe_attached(r, "returned") &&
	       (!plan_has_tls(&r->experiment->plan) || record_probe_attached(r, "TLS returned"));
}

/* What left as pages counts as returned. */
static const char *obstacle_to_returned(const struct record *r)
{
	enum site pages = site_of_pages(r);

	if (!returned_is_known(r))
		return "returned bytes are not measured";
	if (pages == SITE_COUNT || r->sites[pages].how != HOW_NOT_MEASURED)
		return NULL;
	return pages == SITE_rx_map ? "rx_map is not measured" : "rx_splice is not measured";
}

static const char *obstacle_to_receive(const struct record *r)
{
	enum site pages = site_of_pages(r);

	if (r->sites[SITE_rx_copy].how == HOW_NOT_MEASURED)
		return "rx_copy is not measured";
	if (r->sites[SITE_rx_direct].how == HOW_NOT_MEASURED)
		return "rx_direct is not measured";
	if (pages != SITE_COUNT && r->sites[pages].how == HOW_DERIVED)
		return "true by construction: what left as pages is the rest, as no tracepoint sees it";
	return obstacle_to_returned(r);
}

static void law_receive(const struct record *r, struct law *law)
{
	weigh_books(r, law, receive_sides,
		    plan_sends_datagrams(&r->experiment->plan) && r->backend == BACKEND_TRACEPOINT ?
			    "true by construction: no tracepoint sees the copy of a datagram" :
			    obstacle_to_receive(r));
}

static void law_completion(const struct record *r, struct law *law)
{
	weigh_books(r, law, completion_sides, obstacle_to_completion(r));
}

static void law_pin(const struct record *r, struct law *law)
{
	weigh_books(r, law, pin_sides, obstacle_to_pin(r));
}

static void law_refusal(const struct record *r, struct law *law)
{
	weigh_books(r, law, refusal_sides, obstacle_to_refusal(r));
}

/* The causes of a site and the site itself are counted apart: a stack that found no room, or a
 * cause that is listed twice or not at all, shows here. */
static void law_of_causes(const struct record *r, struct law *law, enum site site)
{
	struct sides sum = { .left = r->sites[site].tally.bytes };

	law->left_is = site_name(site);
	if (r->sites[site].how != HOW_MEASURED) {
		snprintf(law->why, WHY_BYTES, r->sites[site].how == HOW_DERIVED ?
			 "true by construction: tracepoints show no stacks, so a rule gives all of it one cause" :
			 "%s is not measured", law->left_is);
		return;
	}
	for (int i = 0; i < r->cause_count; i++)
		if (r->causes[i].site == site)
			sum.right = SUM(sum.right, r->causes[i].tally.bytes);
	weigh(law, sum);
}

static void law_causes_of_late_copy(const struct record *r, struct law *law)
{
	law_of_causes(r, law, SITE_late_copy);
}

static void law_causes_of_reshape(const struct record *r, struct law *law)
{
	law_of_causes(r, law, SITE_reshape);
}

/* What kernel TLS took and passed on, where the sockets of the run have it. */

static struct sides tls_send_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_tls_accepted_bytes],
			       SUM(b->site[SITE_tls_copy].bytes, b->site[SITE_tls_reference].bytes,
				   b->site[SITE_tls_splice].bytes) };
}

static struct sides tls_encryption_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_tls_accepted_bytes], b->site[SITE_tls_encrypt].bytes };
}

static struct sides tls_sent_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_tls_carried_bytes],
			       SUM(b->site[SITE_tls_encrypt].bytes, b->count[COUNT_tls_sent_overhead_bytes]) };
}

/* The first of these sites that is not measured, as a reason. */
static const char *site_lacks(const struct record *r, const enum site *sites, size_t count)
{
	static char why[64];

	for (size_t i = 0; i < count; i++)
		if (r->sites[sites[i]].how == HOW_NOT_MEASURED) {
			snprintf(why, sizeof(why), "%s is not measured", site_name(sites[i]));
			return why;
		}
	return NULL;
}

#define SITE_LACKS(r, ...) \
	site_lacks(r, (const enum site[]){ __VA_ARGS__ }, sizeof((const enum site[]){ __VA_ARGS__ }) / sizeof(enum site))

static const char *no_tls_accepted(const struct record *r)
{
	return record_probe_attached(r, "TLS accepted") ? NULL : "what kernel TLS accepted is not measured";
}

static void law_tls_send(const struct record *r, struct law *law)
{
	const char *lacks = SITE_LACKS(r, SITE_tls_copy, SITE_tls_reference, SITE_tls_splice);

	weigh_books(r, law, tls_send_sides, lacks ? lacks : no_tls_accepted(r));
}

static void law_tls_encryption(const struct record *r, struct law *law)
{
	const char *lacks = SITE_LACKS(r, SITE_tls_encrypt);

	weigh_books(r, law, tls_encryption_sides, lacks ? lacks : no_tls_accepted(r));
}

static void law_tls_sent(const struct record *r, struct law *law)
{
	/* Records leave as spliced pages, and up to 6.4 the function that splices is the only one that accepts them. */
	const char *lacks = SITE_LACKS(r, SITE_tls_encrypt, SITE_tx_splice);

	weigh_books(r, law, tls_sent_sides, lacks ? lacks :
		    record_probe_attached(r, "accepted") ? NULL : "accepted bytes are not measured");
}

static void law_probes(const struct record *r, struct law *law)
{
	uint64_t missed_hits = record_missed_hits(r, NULL);

	if (r->backend == BACKEND_NONE) {
		say_why(law, r->backend_why);
		return;
	}
	weigh(law, (struct sides){ SUM(r->derived.gauges.lost_updates, record_missed(r)), 0 });
	if (law->status == LAW_BROKEN || !missed_hits)
		return;
	/* No update was lost, but probes missed hits: the laws that need them are not testable
	 * either. */
	law->status = LAW_NOT_TESTABLE;
	snprintf(law->why, WHY_BYTES,
		 "the probes missed %" PRIu64 " events: this kernel runs no BPF program while certain tasks "
		 "are current", missed_hits);
}

/* Laws that need what is known of the workload's two ends. */

static bool accepted_is_known(const struct record *r)
{
	return record_probe_attached(r, "accepted") &&
	       (!plan_has_tls(&r->experiment->plan) || record_probe_attached(r, "TLS accepted"));
}

static void law_end_to_end(const struct record *r, struct law *law)
{
	const unsigned long long *n = r->derived.total.count;

	if (!accepted_is_known(r) || !returned_is_known(r))
		say_why(law, "accepted or returned bytes are not measured");
	else if (obstacle_to_returned(r))
		say_why(law, obstacle_to_returned(r));
	else if (plan_sends_datagrams(&r->experiment->plan) && !record_probe_attached(r, "drops"))
		say_why(law, "datagrams that were dropped are not measured");
	else if (plan_sends_datagrams(&r->experiment->plan) && record_far(r))
		say_why(law, "datagrams that were dropped between two hosts are not measured");
	else
		weigh(law, (struct sides){ books_accepted(&r->derived.total),
					   SUM(n[COUNT_returned_bytes], n[COUNT_dropped_bytes],
					       n[COUNT_truncated_bytes]) });
}

/* Why only the kernel's counts are known; NULL if both ends left totals. */
static const char *no_totals(const struct record *r)
{
	return record_app(r, END_SENDER)->known && record_app(r, END_RECEIVER)->known ?
		       NULL : "the workload left no totals";
}

/* The first socket whose two counts differ breaks the law. */
static void weigh_sockets(const struct record *r, struct law *law,
			  uint64_t (*app)(const struct app_socket *),
			  uint64_t (*kernel)(const struct books *))
{
	bool beside = plan_sends_datagrams(&r->experiment->plan);

	for (int i = 0; i < r->derived.socket_count; i++) {
		const struct socket_books *books = &r->derived.sockets[i];
		enum end end;
		const struct app_socket *s = record_app_socket(r, books, &end);

		/* The TCP socket beside one for datagrams carries nothing. */
		if (!s && beside && !books->datagrams && !kernel(&books->books))
			continue;
		if (s && app(s) == kernel(&books->books))
			continue;
		law->status = LAW_BROKEN;
		snprintf(law->why, WHY_BYTES, s ? "socket %" PRIu64 " differs" :
			 "socket %" PRIu64 " is not one of the workload's", books->cookie);
		return;
	}
}

/* Compares the workload's count of one quantity with the kernel's, per socket too. */
static void law_witness(const struct record *r, struct law *law,
			uint64_t (*app)(const struct app_socket *),
			uint64_t (*kernel)(const struct books *), const char *obstacle)
{
	struct sides sum = {};

	if (!obstacle)
		obstacle = no_totals(r);
	if (obstacle) {
		say_why(law, obstacle);
		return;
	}
	for (int e = 0; e < END_COUNT; e++)
		sum.left = SUM(sum.left, app(&r->experiment->app[e].sum));
	sum.right = kernel(&r->derived.total);
	weigh(law, sum);
	weigh_sockets(r, law, app, kernel);
}

#define APP(field) \
	static uint64_t app_##field(const struct app_socket *s) { return s->field; }
#define KERNEL(field, expr) \
	static uint64_t kernel_##field(const struct books *b) { return b->expr; }
APP(accepted_bytes)
APP(received_bytes)
APP(gather_bytes)
APP(zerocopy_sends)
APP(completions)
KERNEL(received_bytes, count[COUNT_returned_bytes])
KERNEL(gather_bytes, site[SITE_user_gather].bytes)
KERNEL(zerocopy_sends, count[COUNT_zerocopy_sends])
KERNEL(completions, count[COUNT_completed_sends])

static uint64_t kernel_taken_bytes(const struct books *b)
{
	return b->count[COUNT_tls_received_bytes] + b->count[COUNT_tls_received_overhead_bytes];
}

static const char no_sends[] = "sends are not measured";

static void law_sent(const struct record *r, struct law *law)
{
	law_witness(r, law, app_accepted_bytes, books_accepted,
		    accepted_is_known(r) ? NULL : "accepted bytes are not measured");
}

static void law_received(const struct record *r, struct law *law)
{
	law_witness(r, law, app_received_bytes, kernel_received_bytes, obstacle_to_returned(r));
}

static void law_gathered(const struct record *r, struct law *law)
{
	law_witness(r, law, app_gather_bytes, kernel_gather_bytes,
		    r->sites[SITE_user_gather].how == HOW_MEASURED ? NULL :
								     "user_gather is not measured");
}

static void law_zerocopy_sends(const struct record *r, struct law *law)
{
	law_witness(r, law, app_zerocopy_sends, kernel_zerocopy_sends,
		    record_probe_attached(r, "accepted") ? NULL : no_sends);
}

static void law_completions(const struct record *r, struct law *law)
{
	/* Without completion hooks the sends are the only count to compare completions with. */
	bool hooked = record_probe_attached(r, metric_of_completions(r)) &&
		      r->sites[SITE_tx_reference].how != HOW_NOT_MEASURED;

	law_witness(r, law, app_completions, hooked ? kernel_completions : kernel_zerocopy_sends,
		    !record_app(r, END_SENDER)->completions_read ?
			    "the workload never read its completions, on purpose" :
		    hooked || record_probe_attached(r, "accepted") ? NULL : no_sends);
}

/* Why TCP's own numbers of a pass cannot be used; NULL if they can. */
static const char *no_sequence(const struct pass_view *pass, bool datagrams)
{
	for (int e = 0; pass->made && e < END_COUNT; e++) {
		if (!pass->app[e].known)
			return "the workload left no totals";
		if (!pass->app[e].sum.tcp_known && datagrams)
			return "datagrams have no sequence numbers";
		if (!pass->app[e].sum.tcp_known)
			return "TCP's own numbers of a socket are not known";
	}
	return NULL;
}

/* Compares TCP's count with the workload's in one pass, for the sum and for each socket. */
static void weigh_sequence(struct law *law, const struct pass_view *pass, const char *name,
			   uint64_t (*tcp)(const struct app_socket *),
			   uint64_t (*app)(const struct app_socket *))
{
	struct sides sum = {};

	for (int e = 0; e < END_COUNT; e++) {
		sum.left = SUM(sum.left, tcp(&pass->app[e].sum));
		sum.right = SUM(sum.right, app(&pass->app[e].sum));
	}
	weigh(law, sum);
	for (int e = 0; e < END_COUNT; e++) {
		for (int i = 0; i < pass->app[e].socket_count; i++) {
			const struct app_socket *s = &pass->app[e].sockets[i];

			if (tcp(s) == app(s))
				continue;
			law->status = LAW_BROKEN;
			snprintf(law->why, WHY_BYTES, "%s pass, socket %" PRIu64 ": %" PRIu64
				 " against %" PRIu64, name, s->cookie, tcp(s), app(s));
			return;
		}
	}
}

/* It must hold in each pass. The sides are those of the pass that breaks it, else the last one's. */
static void law_sequence(const struct record *r, struct law *law,
			 uint64_t (*tcp)(const struct app_socket *),
			 uint64_t (*app)(const struct app_socket *))
{
	struct pass_view timed = record_timed(r), counted = record_counted(r);
	bool datagrams = plan_sends_datagrams(&r->experiment->plan);
	const char *why = no_sequence(&timed, datagrams);

	if (!why)
		why = no_sequence(&counted, datagrams);
	if (plan_has_tls(&r->experiment->plan))
		say_why(law, "TCP carried TLS records, which are longer: the laws of TLS compare them");
	else if (!timed.made && !counted.made)
		say_why(law, "no pass was made");
	else if (why)
		say_why(law, why);
	else if (timed.made)
		weigh_sequence(law, &timed, "timed", tcp, app);
	if (counted.made && !*law->why && law->status != LAW_BROKEN)
		weigh_sequence(law, &counted, "counted", tcp, app);
}

APP(tcp_accepted_bytes)
APP(tcp_returned_bytes)

static void law_sequence_accepted(const struct record *r, struct law *law)
{
	law_sequence(r, law, app_tcp_accepted_bytes, app_accepted_bytes);
}

static void law_sequence_returned(const struct record *r, struct law *law)
{
	law_sequence(r, law, app_tcp_returned_bytes, app_received_bytes);
}

/* By the sequence numbers of the counted pass. */
static void law_tls_received(const struct record *r, struct law *law)
{
	struct pass_view counted = record_counted(r);
	const char *lacks = SITE_LACKS(r, SITE_tls_decrypt);

	law_witness(r, law, app_tcp_returned_bytes, kernel_taken_bytes, lacks ? lacks :
		    !record_probe_attached(r, "TLS records") ? "received records are not measured" :
		    counted.made ? no_sequence(&counted, false) : "no pass was counted");
}

/* What the counted pass accepted, for as many messages as the timed one had; BEYOND if that is no
 * whole number. */
static int64_t scaled_to(uint64_t messages, uint64_t accepted_bytes, uint64_t counted_messages)
{
	unsigned __int128 product = (unsigned __int128)accepted_bytes * messages;

	if (!counted_messages || product % counted_messages ||
	    product / counted_messages > INT64_MAX)
		return BEYOND;
	return product / counted_messages;
}

/* Why two passes cannot be compared; NULL if they can. */
static const char *no_two_passes(const struct record *r, const struct pass_view *timed,
				 const struct pass_view *counted)
{
	if (!timed->made || !counted->made)
		return "there is one pass only";
	for (int e = 0; e < END_COUNT; e++)
		if (!timed->app[e].known || !counted->app[e].known)
			return "the workload left no totals";
	if (r->outcome.status == RUN_INTERRUPTED)
		return "a signal may end a pass inside a message";
	if (plan_ends_inside(&r->experiment->plan))
		return "a connection that ENOBUFS ends may end inside a message";
	return NULL;
}

static uint64_t accepted_in(const struct pass_view *pass)
{
	return SUM(pass->app[END_SENDER].sum.accepted_bytes,
		   pass->app[END_RECEIVER].sum.accepted_bytes);
}

static void law_passes(const struct record *r, struct law *law)
{
	struct pass_view timed = record_timed(r), counted = record_counted(r);
	/* Of datagrams some may not arrive. */
	enum end whole = plan_sends_datagrams(&r->experiment->plan) ? END_SENDER : END_RECEIVER;
	const char *obstacle = no_two_passes(r, &timed, &counted);

	if (obstacle) {
		say_why(law, obstacle);
		return;
	}
	weigh(law, (struct sides){ accepted_in(&timed),
		  scaled_to(timed.app[whole].sum.messages, accepted_in(&counted),
			    counted.app[whole].sum.messages) });
	if (law->right == BEYOND)
		say_why(law, "the bytes of a message differ within the counted pass");
}

/* A plan may overwrite memory that the kernel still reads, and that must show. */
static void law_content(const struct record *r, struct law *law)
{
	const struct app_totals *tx = record_app(r, END_SENDER), *rx = record_app(r, END_RECEIVER);
	int64_t wrong = SUM(tx->sum.content_errors, rx->sum.content_errors);

	if (no_totals(r)) {
		say_why(law, no_totals(r));
	} else if (rx->content_unchecked) {
		say_why(law, plan_unchecked_why(&r->experiment->plan));
	} else if (!plan_overwrites(&r->experiment->plan)) {
		weigh(law, (struct sides){ wrong, 0 });
	} else if (wrong) {
		law->right_is = "as many: memory in flight is overwritten";
		weigh(law, (struct sides){ wrong, wrong });
	} else {
		say_why(law, "no byte in flight was overwritten in time in so short a run: send more");
	}
}

enum { TERMS_BYTES = 256 };

/* What a count of the workload is compared with. */
#define BY_PROBES "the same, counted by the probes"

/*
 * Every law, in the order of records and reports: a name means one equation. Those without a function are of a
 * socket that may be older than the window, and a watch tests them (watch/books/books_laws.c).
 */
static const struct law_row {
	const char *name, *left_is, *right_is;
	unsigned int sites;	/* instead of right_is: the sum of the sites with these traits */
	bool at_any_end;	/* it holds however the two ends ended, as long as the calls returned */
	bool of_tls;		/* for runs over kernel TLS alone */
	void (*test)(const struct record *r, struct law *law);
} laws[] = {
	{ "send", "accepted by send", NULL, SITE_SENDS, false, false, law_send },
	{ "reference", "referenced bytes copied late, reshaped, sent clean or dropped",
	  "tx_reference + sent again + shown to captures + copied into their packets", 0, false, false, law_reference },
	{ "receive", "returned by recv + peeked", NULL, SITE_READS, true, false, law_receive },
	{ "end to end", "accepted from all senders", "returned to all receivers + datagrams dropped or truncated", 0,
	  false, false, law_end_to_end },
	{ "completion", "outstanding at the opening + zero-copy sends", "completed + outstanding at the closing", 0,
	  false, false, law_completion },
	{ "pin", "pages pinned", "pages released", 0, false, false, law_pin },
	{ "refusal", "sends that got ENOBUFS", "notifications refused", 0, true, false, law_refusal },
	{ "causes of late_copy", "late_copy", "the sum of its causes", 0, true, false, law_causes_of_late_copy },
	{ "causes of reshape", "reshape", "the sum of its causes", 0, true, false, law_causes_of_reshape },
	{ "witness sent", "bytes that send calls returned to the workload", BY_PROBES, 0, false, false, law_sent },
	{ "witness received", "bytes that recv calls returned to the workload", BY_PROBES, 0, false, false, law_received },
	{ "witness gathered", "bytes that the workload gathered by its own account", BY_PROBES, 0, false, false,
	  law_gathered },
	{ "witness zero-copy sends", "zero-copy sends by the workload's account", BY_PROBES, 0, false, false,
	  law_zerocopy_sends },
	{ "witness completions", "completions that the workload read", BY_PROBES, 0, false, false, law_completions },
	{ "sequence accepted", "payload that TCP accepted by its own sequence numbers, in each pass",
	  "bytes that send calls returned to the workload", 0, true, false, law_sequence_accepted },
	{ "sequence returned", "payload that TCP passed on by its own sequence numbers, in each pass",
	  "bytes that recv calls returned to the workload", 0, true, false, law_sequence_returned },
	{ "passes", "bytes accepted in the timed pass", "bytes accepted in the counted pass, for as many messages",
	  0, false, false, law_passes },
	{ "content", "bytes that arrived wrong", "none", 0, true, false, law_content },
	{ "send queue", "unsent at the opening + accepted", "sent for the first time + unsent at the closing", 0, true, false, NULL },
	{ "receive queue", "unread at the opening + received", "taken at the receive sites + unread at the closing", 0, true, false, NULL },
	{ "reference queue", "unsent in user pages at the opening + tx_reference",
	  "sent in user pages for the first time + unsent in them at the closing", 0, true, false, NULL },
	{ "copied", "completed as COPIED", "copied, as far as counted", 0, true, false, law_copied },
	{ "sends", "accepted by sequence numbers", "returned by send calls", 0, true, false, NULL },
	{ "receives", "returned by sequence numbers; of datagrams: copied", "returned by receive calls, or passed on as pages", 0, true, false, NULL },
	{ "TLS send", "plaintext accepted by kernel TLS", "tls_copy + tls_reference + tls_splice", 0, false, true,
	  law_tls_send },
	{ "TLS encryption", "plaintext accepted by kernel TLS", "tls_encrypt", 0, false, true, law_tls_encryption },
	{ "TLS records sent", "accepted by TCP from kernel TLS", "tls_encrypt + what records are longer", 0, false, true,
	  law_tls_sent },
	{ "TLS records received", "taken from TCP by its own sequence numbers",
	  "plaintext of the decrypted records + what these are longer", 0, false, true, law_tls_received },
	{ "probes", "events that no program counted", "none", 0, true, false, law_probes },
};

static const int law_rows = sizeof(laws) / sizeof(*laws);
_Static_assert(sizeof(laws) / sizeof(*laws) <= LAWS_MAX, "a law may find no room");

/* What the sites with these traits are called, as in "tx_copy + tx_reference + tx_splice". */
static const char *name_sites(unsigned int traits)
{
	static char of_sends[TERMS_BYTES], of_reads[TERMS_BYTES];
	char *terms = traits == SITE_SENDS ? of_sends : of_reads;
	size_t used = 0;

	for (enum site s = 0; s < SITE_COUNT && used < TERMS_BYTES; s++)
		if (site_has(s, traits))
			used += snprintf(terms + used, TERMS_BYTES - used, "%s%s", used ? " + " : "",
					 site_name(s));
	return terms;
}

static struct law law_of(const struct law_row *row)
{
	return (struct law){ .name = row->name, .left_is = row->left_is, .at_any_end = row->at_any_end,
			     .right_is = row->right_is ? row->right_is : name_sites(row->sites),
			     .status = LAW_NOT_TESTABLE };
}

static const struct law_row *row_named(const char *name)
{
	for (int i = 0; i < law_rows; i++)
		if (!strcmp(laws[i].name, name))
			return &laws[i];
	return NULL;
}

struct law law_named(const char *name)
{
	const struct law_row *row = row_named(name);

	return row ? law_of(row) : (struct law){ .status = LAW_NOT_TESTABLE };
}

bool law_is_of_runs(const char *name)
{
	const struct law_row *row = row_named(name);

	return row && row->test;
}

bool law_is_of_tls(const char *name)
{
	const struct law_row *row = row_named(name);

	return row && row->of_tls;
}

int laws_list(struct law list[LAWS_MAX])
{
	for (int i = 0; i < law_rows; i++)
		list[i] = law_of(&laws[i]);
	return law_rows;
}

void laws_fill(struct record *r)
{
	r->law_count = 0;
	for (int i = 0; i < law_rows; i++) {
		if (!laws[i].test || (laws[i].of_tls && !plan_has_tls(&r->experiment->plan)))
			continue;
		r->laws[r->law_count] = law_of(&laws[i]);
		laws[i].test(r, &r->laws[r->law_count++]);
	}
}

int laws_broken(const struct law *list, int count)
{
	int broken = 0;

	for (int i = 0; i < count; i++)
		broken += list[i].status == LAW_BROKEN;
	return broken;
}
