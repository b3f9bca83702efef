// SPDX-License-Identifier: GPL-2.0
/* Holds what completions say of copies against the copies that were counted, for a socket of any measurement. */
#include "userspace/judge/copied.h"

#include <inttypes.h>

#include "userspace/record/experiment.h"

/* Once: what a time stamp or a capture clones is copied for the clone, and again when the packet arrives, so that more than
 * was referenced may be copied of a part of it. By arrivals that is one copy. */
static bool all_were_copied(const struct told_copies *t)
{
	return t->late_bytes && t->late_bytes == t->referenced_bytes &&
	       (t->by_arrivals || t->left_bytes >= t->referenced_bytes) && !t->elsewhere && !t->beside && !t->sent_again;
}

/* skb_copy_ubufs() notes in the notification that it copied, and a notification may stand for many sends. What
 * the kernel moves in other ways it notes only if the packet has no page left. */
const char *copied_sides(const struct told_copies *t, struct sides *s)
{
	*s = (struct sides){};
	/* skb_zerocopy_notify_extend() leaves what they say. */
	if (!t->copied != !t->late_bytes && t->joined && t->copied <= t->joined)
		return "the kernel put notifications into others, which do not say if these were copied";
	if (t->copied && !t->late_bytes && !t->moved_bytes) {
		if (t->elsewhere)
			return "send copied or was about to, or the bytes were sent before the window";
		if (t->moves_unseen)
			return "what the kernel moves behind the socket was not hooked";
		/* "Copied, or used by no packet": one packet holds no two notifications (io_link_skb). */
		if (t->copied == t->copied_by_ring && !t->by_arrivals)
			return "io_uring says COPIED of sends, too, that share a packet with another";
		s->left = 1;
		return NULL;
	}
	if (t->late_bytes && !t->ended && t->copied < t->due)
		return "not all of its sends by reference are completed";
	if (t->late_bytes && !t->copied)
		s->right = 1;
	else if (all_were_copied(t))
		*s = (struct sides){ t->copied, t->completed };
	else
		*s = (struct sides){ !!t->copied, !!t->copied };
	return NULL;
}

static bool completions_are_hooked(const struct record *r)
{
	return record_probe_attached(r, metric_of_completions(r)) && r->sites[SITE_tx_reference].how != HOW_NOT_MEASURED;
}

/* Of one socket of a run. Where no hook sees completions, the workload tells which it read. */
static struct told_copies told_of(const struct record *r, const struct socket_books *socket)
{
	const struct books *b = &socket->books;
	bool tracepoint = r->backend == BACKEND_TRACEPOINT, hooked = completions_are_hooked(r);
	enum end end;
	const struct app_socket *app = hooked ? NULL : record_app_socket(r, socket, &end);
	struct told_copies t = {
		.completed = app ? app->completions : b->count[COUNT_completed_sends],
		.copied = app ? app->completions_copied : b->count[COUNT_copied_sends],
		.due = b->count[COUNT_zerocopy_sends],
		.late_bytes = b->site[SITE_late_copy].bytes,
		.moved_bytes = b->count[COUNT_reshaped_referenced_bytes],
		.referenced_bytes = b->site[SITE_tx_reference].bytes,
		.left_bytes = b->count[COUNT_wire_referenced_bytes],
		.elsewhere = b->site[SITE_tx_copy].bytes || socket->unscattered_sends,
		.beside = b->site[SITE_tx_splice].bytes,
		.by_arrivals = tracepoint,
		.sent_again = b->count[COUNT_retrans_referenced_bytes],
		/* Of a device that can gather the kernel moves nothing. */
		.moves_unseen = r->sites[SITE_reshape].how == HOW_NOT_MEASURED &&
				!(tracepoint && r->experiment->path.scatter_gather),
	};

	t.copied_by_ring = plan_notified_by_ring(&r->experiment->plan) ? t.copied : 0;
	t.ended = t.completed == t.due;
	return t;
}

static const char *obstacle_to_copied(const struct record *r)
{
	bool hooked = completions_are_hooked(r);
	const struct app_totals *sender = record_app(r, END_SENDER);

	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	/* By arrivals, if the reader finds none of the pages. */
	if (!record_probe_attached(r, "late_copy") ||
	    (r->backend == BACKEND_TRACEPOINT && !record_probe_attached(r, "rx_copy")))
		return "late_copy is not measured";
	if (record_missed_hits(r, NULL))
		return "the probes missed packets (see the law of the probes)";
	if (!hooked && !sender->known)
		return "the workload left no totals";
	if (!hooked && !sender->completions_read)
		return "the workload never read its completions, on purpose";
	return NULL;
}

/* Sums over the sockets; the first that differs is told. */
static const char *sum_sides(const struct record *r, struct sides *sum, char socket[WHY_BYTES])
{
	*socket = '\0';
	*sum = (struct sides){};
	for (int i = 0; i < r->derived.socket_count; i++) {
		const struct socket_books *books = &r->derived.sockets[i];
		struct told_copies told = told_of(r, books);
		struct sides sides = {};
		const char *why = told.due || told.referenced_bytes ? copied_sides(&told, &sides) : NULL;

		if (why)
			return why;
		sum->left = SUM(sum->left, sides.left);
		sum->right = SUM(sum->right, sides.right);
		if (!balanced(sides) && !*socket)
			snprintf(socket, WHY_BYTES, "socket %" PRIu64 ": %" PRId64 " against %" PRId64, books->cookie,
				 sides.left, sides.right);
	}
	return NULL;
}

bool copies_denied(const struct record *r)
{
	char socket[WHY_BYTES];
	struct sides sum;

	return r->backend == BACKEND_TRACEPOINT && !obstacle_to_copied(r) && !sum_sides(r, &sum, socket) && *socket;
}

void law_copied(const struct record *r, struct law *law)
{
	const char *obstacle = obstacle_to_copied(r);
	char socket[WHY_BYTES] = "";
	struct sides sum = {};

	if (!obstacle)
		obstacle = sum_sides(r, &sum, socket);
	if (!obstacle && *socket && r->backend == BACKEND_TRACEPOINT)
		obstacle = "completions say otherwise than arrivals: late_copy is not measured";
	if (obstacle) {
		say_why(law, obstacle);
		return;
	}
	weigh(law, sum);
	if (!*socket)
		return;
	law->status = LAW_BROKEN;
	say_why(law, socket);
}
