// SPDX-License-Identifier: GPL-2.0
/* The laws of an experiment, which need the totals of the workload's own two ends. */
#include <inttypes.h>
#include <stdio.h>

#include "userspace/judge/laws/laws_parts.h"
#include "userspace/record/experiment.h"

/* Why only the kernel's counts are known; NULL if both ends left totals. */
static const char *no_totals(const struct record *r)
{
	return record_app(r, END_SENDER)->known && record_app(r, END_RECEIVER)->known ?
		       NULL : "the workload left no totals";
}

void law_end_to_end(const struct record *r, struct law *law)
{
	law->left_is = "accepted from all senders";
	law->right_is = "returned to all receivers";
	if (!record_probe_attached(r, "accepted") || !record_probe_attached(r, "returned"))
		law_say_why(law, "accepted or returned bytes are not measured");
	else
		law_weigh(law, (struct sides){ r->derived.total.count[COUNT_accepted_bytes],
					       r->derived.total.count[COUNT_returned_bytes] });
}

/* The first socket whose two counts differ breaks the law. */
static void law_weigh_sockets(const struct record *r, struct law *law,
			      uint64_t (*app)(const struct app_socket *),
			      uint64_t (*kernel)(const struct books *))
{
	for (int i = 0; i < r->derived.socket_count; i++) {
		const struct socket_books *books = &r->derived.sockets[i];
		enum end end;
		const struct app_socket *s = record_app_socket(r, books, &end);

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

	law->right_is = "the same, counted by the probes";
	if (!obstacle)
		obstacle = no_totals(r);
	if (obstacle) {
		law_say_why(law, obstacle);
		return;
	}
	for (int e = 0; e < END_COUNT; e++)
		sum.left = SUM(sum.left, app(&r->experiment->app[e].sum));
	sum.right = kernel(&r->derived.total);
	law_weigh(law, sum);
	law_weigh_sockets(r, law, app, kernel);
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
KERNEL(accepted_bytes, count[COUNT_accepted_bytes])
KERNEL(received_bytes, count[COUNT_returned_bytes])
KERNEL(gather_bytes, site[SITE_user_gather].bytes)
KERNEL(zerocopy_sends, count[COUNT_zerocopy_sends])
KERNEL(completions, count[COUNT_completed_sends])

static const char no_sends[] = "sends are not measured";

void law_sent(const struct record *r, struct law *law)
{
	law->left_is = "bytes that send calls returned to the workload";
	law_witness(r, law, app_accepted_bytes, kernel_accepted_bytes,
		    record_probe_attached(r, "accepted") ? NULL : "accepted bytes are not measured");
}

void law_received(const struct record *r, struct law *law)
{
	law->left_is = "bytes that recv calls returned to the workload";
	law_witness(r, law, app_received_bytes, kernel_received_bytes,
		    record_probe_attached(r, "returned") ? NULL : "returned bytes are not measured");
}

void law_gathered(const struct record *r, struct law *law)
{
	law->left_is = "bytes that the workload gathered by its own account";
	law_witness(r, law, app_gather_bytes, kernel_gather_bytes,
		    r->sites[SITE_user_gather].how == HOW_MEASURED ? NULL :
								     "user_gather is not measured");
}

void law_zerocopy_sends(const struct record *r, struct law *law)
{
	law->left_is = "zero-copy sends by the workload's account";
	law_witness(r, law, app_zerocopy_sends, kernel_zerocopy_sends,
		    record_probe_attached(r, "accepted") ? NULL : no_sends);
}

void law_completions(const struct record *r, struct law *law)
{
	/* Without completion hooks the sends are the only count to compare completions with. */
	bool hooked = record_probe_attached(r, "completions") &&
		      r->sites[SITE_tx_reference].how != HOW_NOT_MEASURED;

	law->left_is = "completions that the workload read";
	law_witness(r, law, app_completions, hooked ? kernel_completions : kernel_zerocopy_sends,
		    !record_app(r, END_SENDER)->completions_read ?
			    "the workload never read its completions, on purpose" :
		    hooked || record_probe_attached(r, "accepted") ? NULL : no_sends);
}

/* Why TCP's own numbers of a pass cannot be used; NULL if they can. */
static const char *no_sequence(const struct pass_view *pass)
{
	for (int e = 0; pass->made && e < END_COUNT; e++) {
		if (!pass->app[e].known)
			return "the workload left no totals";
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
	law_weigh(law, sum);
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

	if (!timed.made && !counted.made)
		law_say_why(law, "no pass was made");
	else if (no_sequence(&timed) || no_sequence(&counted))
		law_say_why(law, no_sequence(&timed) ? no_sequence(&timed) : no_sequence(&counted));
	else if (timed.made)
		weigh_sequence(law, &timed, "timed", tcp, app);
	if (counted.made && !*law->why && law->status != LAW_BROKEN)
		weigh_sequence(law, &counted, "counted", tcp, app);
}

APP(tcp_accepted_bytes)
APP(tcp_returned_bytes)

void law_sequence_accepted(const struct record *r, struct law *law)
{
	law->left_is = "payload that TCP accepted by its own sequence numbers, in each pass";
	law->right_is = "bytes that send calls returned to the workload";
	law_sequence(r, law, app_tcp_accepted_bytes, app_accepted_bytes);
}

void law_sequence_returned(const struct record *r, struct law *law)
{
	law->left_is = "payload that TCP passed on by its own sequence numbers, in each pass";
	law->right_is = "bytes that recv calls returned to the workload";
	law_sequence(r, law, app_tcp_returned_bytes, app_received_bytes);
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

void law_passes(const struct record *r, struct law *law)
{
	struct pass_view timed = record_timed(r), counted = record_counted(r);
	const char *obstacle = no_two_passes(r, &timed, &counted);

	law->left_is = "bytes accepted in the timed pass";
	law->right_is = "bytes accepted in the counted pass, for as many messages";
	if (obstacle) {
		law_say_why(law, obstacle);
		return;
	}
	law_weigh(law, (struct sides){ accepted_in(&timed),
		  scaled_to(timed.app[END_RECEIVER].sum.messages, accepted_in(&counted),
			    counted.app[END_RECEIVER].sum.messages) });
	if (law->right == BEYOND)
		law_say_why(law, "the bytes of a message differ within the counted pass");
}

/* A plan may overwrite memory that the kernel still reads, and that must show. */
void law_content(const struct record *r, struct law *law)
{
	const struct app_totals *tx = record_app(r, END_SENDER), *rx = record_app(r, END_RECEIVER);
	int64_t wrong = SUM(tx->sum.content_errors, rx->sum.content_errors);

	law->left_is = "bytes that arrived wrong";
	law->right_is = "none";
	if (no_totals(r)) {
		law_say_why(law, no_totals(r));
	} else if (rx->content_unchecked) {
		law_say_why(law, plan_unchecked_why(&r->experiment->plan));
	} else if (!plan_overwrites(&r->experiment->plan)) {
		law_weigh(law, (struct sides){ wrong, 0 });
	} else if (wrong) {
		law->right_is = "as many: memory in flight is overwritten";
		law_weigh(law, (struct sides){ wrong, wrong });
	} else {
		law_say_why(law, "no byte in flight was overwritten in time in so short a run: send more");
	}
}
