// SPDX-License-Identifier: GPL-2.0
/* Tests the laws of a run by the equations of their table: pure arithmetic on the record, no libbpf and no I/O. */
#include "userspace/judge/laws.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "userspace/judge/copied.h"
#include "userspace/judge/sides.h"
#include "userspace/judge/sites.h"
#include "userspace/record/experiment.h"

enum { TERMS_MOST = 5, HOOKS_MOST = 5 };

/* A side in numbers of the kernel: bytes of sites, and counts; what has a minus is taken away. 0 ends them. */
typedef signed char terms[TERMS_MOST];
#define SITE(name) (1 + SITE_##name)
#define COUNT(name) (1 + SITE_COUNT + COUNT_##name)

/* A number of the workload's own account. */
#define APP(member) offsetof(struct app_socket, member)

/* What a law compares, and what must be measured for that. */
struct equation {
	terms left, right;
	unsigned int right_sites;	/* all sites with these traits: terms of the right side, too */
	size_t app, app_right;		/* in place of .left and of .right; 0: those */
	uint32_t sites;			/* a bit for each that must be measured */
	const char *hooks[HOOKS_MOST];	/* metrics that must have a hook; those of TLS in runs over it */
	const char *(*obstacle)(const struct record *r);	/* what else prevents a test; NULL: nothing does */
	/* NULL: a witness with .app, else as the scope of the law says. */
	void (*test)(const struct record *r, const struct equation *e, struct law *law);
};

static int64_t side_of(const terms of, unsigned int traits, const struct books *b)
{
	uint64_t values[TERMS_MOST + SITE_COUNT];
	size_t count = 0;

	for (int i = 0; i < TERMS_MOST && of[i]; i++) {
		int at = (of[i] < 0 ? -of[i] : of[i]) - 1;
		uint64_t value = at < SITE_COUNT ? b->site[at].bytes : b->count[at - SITE_COUNT];

		values[count++] = of[i] < 0 ? -value : value;
	}
	for (enum site s = 0; traits && s < SITE_COUNT; s++)
		if (site_has(s, traits))
			values[count++] = b->site[s].bytes;
	return sum_of(values, count);
}

static int64_t right_of(const struct equation *e, const struct books *b)
{
	return side_of(e->right, e->right_sites, b);
}

static uint64_t app_of(size_t member, const struct app_socket *s)
{
	return *(const uint64_t *)((const char *)s + member);
}

static void break_at(struct law *law, uint64_t cookie, struct sides s)
{
	law->status = LAW_BROKEN;
	snprintf(law->why, WHY_BYTES, "socket %" PRIu64 ": %" PRId64 " against %" PRId64, cookie, s.left, s.right);
}

static struct sides sides_of(const struct equation *e, const struct books *b)
{
	return (struct sides){ side_of(e->left, 0, b), right_of(e, b) };
}

/* Compares the sums, then each socket: if two errors cancel out in the sum, the sockets show them. */
static void weigh_books(const struct record *r, const struct equation *e, struct law *law)
{
	weigh(law, sides_of(e, &r->derived.total));
	for (int i = 0; i < r->derived.socket_count; i++) {
		struct sides s = sides_of(e, &r->derived.sockets[i].books);

		if (balanced(s))
			continue;
		break_at(law, r->derived.sockets[i].cookie, s);
		return;
	}
}

/* What prevents a test: NULL, or a reason. */

static const char missed[] = "the probes missed packets (see the law of the probes)";

/* What is not measured without a hook of that metric. */
static const char *lacks_hook(const char *metric)
{
	static const char *const lacks[][2] = {
		{ "accepted", "accepted bytes are not measured" },
		{ "returned", "returned bytes are not measured" },
		{ "TLS accepted", "what kernel TLS accepted is not measured" },
		{ "TLS returned", "what kernel TLS returned is not measured" },
		{ "TLS records", "received records are not measured" },
		{ "tx_copy", "bytes that left the socket again are not measured" },
		{ "drops", "packets dropped on the way are not measured" },
	};
	size_t i = 0;

	while (i + 1 < sizeof(lacks) / sizeof(*lacks) && strcmp(lacks[i][0], metric))
		i++;
	return lacks[i][1];
}

/* The first that @e needs and that is not measured. */
static const char *lacks(const struct record *r, const struct equation *e)
{
	static char why[64];

	for (enum site s = 0; s < SITE_COUNT; s++)
		if (e->sites >> s & 1 && r->sites[s].how == HOW_NOT_MEASURED) {
			snprintf(why, sizeof(why), "%s is not measured", site_name(s));
			return why;
		}
	for (int i = 0; i < HOOKS_MOST && e->hooks[i]; i++) {
		bool needed = strncmp(e->hooks[i], "TLS ", 4) || plan_has_tls(&r->experiment->plan);

		if (needed && !record_probe_attached(r, e->hooks[i]))
			return lacks_hook(e->hooks[i]);
	}
	return e->obstacle ? e->obstacle(r) : NULL;
}

static const char *obstacle_to_send(const struct record *r)
{
	if (record_missed_hits(r, "tx_copy"))
		return missed;
	return record_wire_known(r) ? NULL :
	       "true by construction: tx_copy is the rest, as no probe sees packets";
}

static const char *obstacle_to_reference(const struct record *r)
{
	bool trampolines = r->backend == BACKEND_TRAMPOLINE;

	if (record_missed_hits(r, NULL))
		return missed;
	if (r->experiment->path.hardware_dma && !record_probe_attached(r, "clean"))
		return "bytes handed to the device clean are not measured";
	if (trampolines && !record_probe_attached(r, "taps"))
		return "bytes shown to packet captures are not measured";
	if (trampolines ? !record_probe_attached(r, "reshape") : !r->experiment->path.scatter_gather)
		return "reshape is not measured: for a device that cannot gather the kernel copies pages there";
	if (!record_probe_attached(r, "late_copy") || (!trampolines && !record_wire_known(r)))
		return "true by construction: no probe sees the packets that arrive";
	return NULL;
}

/* A completion finds its socket by the pin that a reference left. */
static const char *obstacle_to_completion(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT && !plan_notified_by_ring(&r->experiment->plan))
		return "completions inside the kernel are not measured: needs the trampoline backend";
	return record_probe_attached(r, metric_of_completions(r)) ? NULL : "completions are not measured";
}

static const char *obstacle_to_pin(const struct record *r)
{
	return r->pins.how == HOW_NOT_MEASURED || r->pins.released_how == HOW_NOT_MEASURED ?
		       "the release of pages is not measured: needs the trampoline backend" : NULL;
}

static const char *obstacle_to_refusal(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT)
		return "refused notifications are not measured: needs the trampoline backend";
	return record_probe_attached(r, "refusals") ? NULL : "refused notifications are not measured";
}

/* What left as pages counts as returned. */
static const char *obstacle_to_returned(const struct record *r)
{
	enum site pages = site_of_pages(r);

	if (pages == SITE_COUNT || r->sites[pages].how != HOW_NOT_MEASURED)
		return NULL;
	return pages == SITE_rx_map ? "rx_map is not measured" : "rx_splice is not measured";
}

static const char *obstacle_to_receive(const struct record *r)
{
	enum site pages = site_of_pages(r);

	if (plan_sends_datagrams(&r->experiment->plan) && r->backend == BACKEND_TRACEPOINT)
		return "true by construction: no tracepoint sees the copy of a datagram";
	if (pages != SITE_COUNT && r->sites[pages].how == HOW_DERIVED)
		return "true by construction: what left as pages is the rest, as no tracepoint sees it";
	return obstacle_to_returned(r);
}

static const char *obstacle_to_end_to_end(const struct record *r)
{
	bool datagrams = plan_sends_datagrams(&r->experiment->plan);

	if (datagrams && !record_probe_attached(r, "drops"))
		return "datagrams that were dropped are not measured";
	if (datagrams && record_far(r))
		return "datagrams that were dropped between two hosts are not measured";
	return obstacle_to_returned(r);
}

/* The causes of a site and the site itself are counted apart: a stack that found no room, or a
 * cause that is listed twice or not at all, shows here. */
static void law_of_causes(const struct record *r, const struct equation *e, struct law *law)
{
	enum site site = __builtin_ctz(e->sites);
	struct sides sum = { .left = r->sites[site].tally.bytes };

	if (r->sites[site].how == HOW_DERIVED) {
		say_why(law, "true by construction: tracepoints show no stacks, so a rule gives all of it one cause");
		return;
	}
	for (int i = 0; i < r->cause_count; i++)
		if (r->causes[i].site == site)
			sum.right = SUM(sum.right, r->causes[i].tally.bytes);
	weigh(law, sum);
}

static void law_of_copies(const struct record *r, const struct equation *e, struct law *law)
{
	law_copied(r, law);
}

static void law_probes(const struct record *r, const struct equation *e, struct law *law)
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

/* Why only the kernel's counts are known. */
static const char *no_totals(const struct record *r)
{
	return record_app(r, END_SENDER)->known && record_app(r, END_RECEIVER)->known ?
		       NULL : "the workload left no totals";
}

/* Compares the workload's count of one quantity with the kernel's. The first socket whose two counts differ breaks the
 * law. */
static void law_witness(const struct record *r, const struct equation *e, struct law *law)
{
	bool beside = plan_sends_datagrams(&r->experiment->plan);
	struct sides sum = { .right = right_of(e, &r->derived.total) };

	if (no_totals(r)) {
		say_why(law, no_totals(r));
		return;
	}
	for (int end = 0; end < END_COUNT; end++)
		sum.left = SUM(sum.left, app_of(e->app, &r->experiment->app[end].sum));
	weigh(law, sum);
	for (int i = 0; i < r->derived.socket_count; i++) {
		const struct socket_books *books = &r->derived.sockets[i];
		int64_t counted = right_of(e, &books->books);
		enum end end;
		const struct app_socket *s = record_app_socket(r, books, &end);

		/* The TCP socket beside one for datagrams carries nothing. */
		if (!s && beside && !books->datagrams && !counted)
			continue;
		if (s && (int64_t)app_of(e->app, s) == counted)
			continue;
		law->status = LAW_BROKEN;
		snprintf(law->why, WHY_BYTES, s ? "socket %" PRIu64 " differs" :
			 "socket %" PRIu64 " is not one of the workload's", books->cookie);
		return;
	}
}

/* Without completion hooks the sends are the only count to compare completions with. */
static void law_completions(const struct record *r, const struct equation *e, struct law *law)
{
	static const struct equation sends = { .app = APP(completions), .right = { COUNT(zerocopy_sends) } };
	bool hooked = record_probe_attached(r, metric_of_completions(r)) &&
		      r->sites[SITE_tx_reference].how != HOW_NOT_MEASURED;

	if (!record_app(r, END_SENDER)->completions_read)
		say_why(law, "the workload never read its completions, on purpose");
	else if (!hooked && !record_probe_attached(r, "accepted"))
		say_why(law, lacks_hook("accepted"));
	else
		law_witness(r, hooked ? e : &sends, law);
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
static void weigh_sequence(struct law *law, const struct pass_view *pass, const char *name, const struct equation *e)
{
	struct sides sum = {};

	for (int end = 0; end < END_COUNT; end++) {
		sum.left = SUM(sum.left, app_of(e->app, &pass->app[end].sum));
		sum.right = SUM(sum.right, app_of(e->app_right, &pass->app[end].sum));
	}
	weigh(law, sum);
	for (int end = 0; end < END_COUNT; end++) {
		for (int i = 0; i < pass->app[end].socket_count; i++) {
			const struct app_socket *s = &pass->app[end].sockets[i];
			uint64_t tcp = app_of(e->app, s), app = app_of(e->app_right, s);

			if (tcp == app)
				continue;
			law->status = LAW_BROKEN;
			snprintf(law->why, WHY_BYTES, "%s pass, socket %" PRIu64 ": %" PRIu64
				 " against %" PRIu64, name, s->cookie, tcp, app);
			return;
		}
	}
}

/* It must hold in each pass. The sides are those of the pass that breaks it, else the last one's. */
static void law_sequence(const struct record *r, const struct equation *e, struct law *law)
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
		weigh_sequence(law, &timed, "timed", e);
	if (counted.made && !*law->why && law->status != LAW_BROKEN)
		weigh_sequence(law, &counted, "counted", e);
}

/* By the sequence numbers of the counted pass. */
static const char *obstacle_to_tls_received(const struct record *r)
{
	struct pass_view counted = record_counted(r);

	return counted.made ? no_sequence(&counted, false) : "no pass was counted";
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

static void law_passes(const struct record *r, const struct equation *e, struct law *law)
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
static void law_content(const struct record *r, const struct equation *e, struct law *law)
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

#define BIT(site) (1u << SITE_##site)

static const struct equation equations[LAW_COUNT] = {
#define EQUATION(symbol, name, scope, traits, left, right, ...) [LAW_##symbol] = { __VA_ARGS__ },
	LAWS(EQUATION, EQUATION, EQUATION)
#undef EQUATION
};

struct sides law_sides(enum law_id id, const struct books *b)
{
	return sides_of(&equations[id], b);
}

static void law_test(const struct record *r, enum law_id id, struct law *law)
{
	const struct equation *e = &equations[id];
	const char *why = lacks(r, e);

	if (why)
		say_why(law, why);
	else if (e->test)
		e->test(r, e, law);
	else if (e->app)
		law_witness(r, e, law);
	else if (law_row(id).scope == LAW_OF_SUM)
		weigh(law, sides_of(e, &r->derived.total));
	else
		weigh_books(r, e, law);
}

void laws_fill(struct record *r)
{
	bool tls = plan_has_tls(&r->experiment->plan);

	r->law_count = 0;
	for (enum law_id id = 0; id < LAW_COUNT; id++) {
		unsigned int traits = law_row(id).traits;

		if (!(traits & LAW_IN_RUNS) || (traits & LAW_OF_TLS && !tls))
			continue;
		r->laws[r->law_count] = law_untested(id);
		law_test(r, id, &r->laws[r->law_count++]);
	}
}

int laws_broken(const struct law *list, int count)
{
	int broken = 0;

	for (int i = 0; i < count; i++)
		broken += list[i].status == LAW_BROKEN;
	return broken;
}
