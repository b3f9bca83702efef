// SPDX-License-Identifier: GPL-2.0
/* Tests the laws of one run: pure arithmetic on the record, no libbpf and no I/O. */
#include "userspace/judge/laws.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/tables/variants.h"

struct sides {
	int64_t left, right;
};

/* A sum that no int64_t holds. It balances with nothing, least of all with itself. */
#define BEYOND INT64_MIN

static int64_t sum_of(const uint64_t *terms, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(sum, (int64_t)terms[i], &sum))
			return BEYOND;
	return sum;
}

#define TERMS(...) ((const uint64_t[]){ __VA_ARGS__ })
#define SUM(...) sum_of(TERMS(__VA_ARGS__), sizeof(TERMS(__VA_ARGS__)) / sizeof(uint64_t))

typedef struct sides (*law_of_books)(const struct record *r, const struct books *b);

static struct sides send_sides(const struct record *r, const struct books *b)
{
	return (struct sides){ b->count[COUNT_accepted_bytes],
			       SUM(b->site[SITE_tx_copy].bytes, b->site[SITE_tx_reference].bytes,
				   b->site[SITE_tx_splice].bytes) };
}

static struct sides reference_sides(const struct record *r, const struct books *b)
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

static struct sides receive_sides(const struct record *r, const struct books *b)
{
	return (struct sides){ b->count[COUNT_returned_bytes],
			       SUM(b->site[SITE_rx_copy].bytes, b->site[SITE_rx_map].bytes,
				   b->site[SITE_rx_splice].bytes, b->site[SITE_rx_discard].bytes) };
}

static struct sides completion_sides(const struct record *r, const struct books *b)
{
	return (struct sides){ b->count[COUNT_zerocopy_sends], b->count[COUNT_completed_sends] };
}

static struct sides pin_sides(const struct record *r, const struct books *b)
{
	return (struct sides){ b->count[COUNT_pinned_pages], b->count[COUNT_released_pages] };
}

static struct sides refusal_sides(const struct record *r, const struct books *b)
{
	return (struct sides){ b->count[COUNT_enobufs],
			       SUM(b->count[COUNT_refused_optmem],
				   b->count[COUNT_refused_memlock]) };
}

static struct law *law_add(struct record *r, const char *name, const char *left_is,
			   const char *right_is)
{
	struct law *law = &r->laws[r->law_count++];

	*law = (struct law){ .name = name, .left_is = left_is, .right_is = right_is,
			     .status = LAW_NOT_TESTABLE };
	return law;
}

static bool balanced(struct sides s)
{
	return s.left == s.right && s.left != BEYOND;
}

static void law_weigh(struct law *law, struct sides s)
{
	law->known = true;
	law->left = s.left;
	law->right = s.right;
	if (__builtin_sub_overflow(s.left, s.right, &law->residual))
		law->residual = s.left < s.right ? INT64_MIN : INT64_MAX;
	law->status = balanced(s) ? LAW_BALANCED : LAW_BROKEN;
	if (s.left == BEYOND || s.right == BEYOND)
		snprintf(law->why, WHY_BYTES, "a sum is beyond what 63 bits hold");
}

/* Weighs the sum, then each socket: two errors that cancel out in the sum are found there. */
static void law_weigh_books(struct record *r, struct law *law, law_of_books sides)
{
	law_weigh(law, sides(r, &r->ledger.total));
	for (int i = 0; i < r->ledger.socket_count; i++) {
		struct sides s = sides(r, &r->ledger.sockets[i].books);

		if (balanced(s))
			continue;
		law->status = LAW_BROKEN;
		snprintf(law->why, WHY_BYTES,
			 "socket %" PRIu64 ": %" PRId64 " against %" PRId64,
			 r->ledger.sockets[i].cookie, s.left, s.right);
		return;
	}
}

static void law_if(struct record *r, const char *name, const char *left_is, const char *right_is,
		   law_of_books sides, const char *obstacle)
{
	struct law *law = law_add(r, name, left_is, right_is);

	if (obstacle)
		snprintf(law->why, WHY_BYTES, "%s", obstacle);
	else
		law_weigh_books(r, law, sides);
}

static const char kept[] = "the kernel kept packets from the probes (see firings unseen)";

static const char *obstacle_to_send(const struct record *r)
{
	if (!record_probe_attached(r, "accepted"))
		return "accepted bytes are not measured";
	if (r->sites[SITE_tx_copy].how == HOW_NOT_MEASURED)
		return "tx_copy is not measured";
	if (record_missed_hits(r, "tx_copy"))
		return kept;
	if (!record_wire_known(r))
		return "true by construction: tx_copy is what remains, nothing looks at the skbs";
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
		return "what left the socket again is not measured";
	if (record_missed_hits(r, NULL))
		return kept;
	if (!record_probe_attached(r, "drops"))
		return "packets dropped on the way are not measured";
	if (r->path.hardware_dma && !record_probe_attached(r, "clean"))
		return "what the device was handed clean is not measured";
	if (r->backend == BACKEND_TRAMPOLINE && !record_probe_attached(r, "taps"))
		return "what packet captures are shown is not measured";
	if (r->backend == BACKEND_TRAMPOLINE ? !record_probe_attached(r, "reshape") :
					       !r->path.scatter_gather)
		return "reshape is not measured: a device that cannot gather has pages copied there";
	if (!record_probe_attached(r, "late_copy") ||
	    (r->backend == BACKEND_TRACEPOINT && !record_wire_known(r)))
		return "true by construction: nothing looks at the packets that arrive";
	return NULL;
}

static const char *obstacle_to_completion(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT)
		return "completions inside the kernel are not measured: needs the trampoline backend";
	if (!record_probe_attached(r, "completions") || !record_probe_attached(r, "accepted"))
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

/* The causes of a site and the site itself are counted apart: a stack that found no room, or a
 * cause that is listed twice or not at all, shows here. */
static void law_of_causes(struct record *r, const char *name, const char *left_is, enum site site)
{
	struct law *law = law_add(r, name, left_is, "the sum of its causes");
	struct sides sum = { .left = r->sites[site].tally.bytes };

	if (r->sites[site].how != HOW_MEASURED) {
		snprintf(law->why, WHY_BYTES, r->sites[site].how == HOW_DERIVED ?
			 "true by construction: without stacks its one cause is a rule" :
			 "%s is not measured", left_is);
		return;
	}
	for (int i = 0; i < r->cause_count; i++)
		if (r->causes[i].site == site)
			sum.right = SUM(sum.right, r->causes[i].tally.bytes);
	law_weigh(law, sum);
}

/* Weighs what the workload says of one quantity against the kernel's count, per socket too. */
static void law_witness(struct record *r, const char *name, const char *what,
			uint64_t (*app)(const struct app_socket *),
			uint64_t (*kernel)(const struct books *), const char *obstacle)
{
	struct law *law = law_add(r, name, what, "the same, counted by the probes");
	struct sides sum = {};

	if (!obstacle && !(r->app[END_SENDER].known && r->app[END_RECEIVER].known))
		obstacle = "the workload left no totals";
	if (obstacle) {
		snprintf(law->why, WHY_BYTES, "%s", obstacle);
		return;
	}
	for (int e = 0; e < END_COUNT; e++)
		sum.left = SUM(sum.left, app(&r->app[e].sum));
	sum.right = kernel(&r->ledger.total);
	law_weigh(law, sum);
	for (int i = 0; i < r->ledger.socket_count; i++) {
		enum end end;
		uint64_t cookie = r->ledger.sockets[i].cookie;
		const struct app_socket *s = record_app_socket(r, &r->ledger.sockets[i], &end);

		if (s && app(s) == kernel(&r->ledger.sockets[i].books))
			continue;
		law->status = LAW_BROKEN;
		snprintf(law->why, WHY_BYTES, s ? "socket %" PRIu64 " differs" :
			 "socket %" PRIu64 " is not one of the workload's", cookie);
		return;
	}
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

static void witness_laws(struct record *r)
{
	const char *no_sends = "sends are not measured";
	const char *unread = "the workload never read its completions, on purpose";
	bool read = r->app[END_SENDER].completions_read;
	bool accepted = record_probe_attached(r, "accepted");
	bool returned = record_probe_attached(r, "returned");
	/* Without completion hooks the sends are the only count to hold completions against. */
	bool hooked = record_probe_attached(r, "completions") &&
		      r->sites[SITE_tx_reference].how != HOW_NOT_MEASURED;

	law_witness(r, "witness sent", "bytes that send calls returned to the workload",
		    app_accepted_bytes, kernel_accepted_bytes,
		    accepted ? NULL : "accepted bytes are not measured");
	law_witness(r, "witness received", "bytes that recv calls returned to the workload",
		    app_received_bytes, kernel_received_bytes,
		    returned ? NULL : "returned bytes are not measured");
	law_witness(r, "witness gathered", "bytes that the workload gathered by its own account",
		    app_gather_bytes, kernel_gather_bytes,
		    r->sites[SITE_user_gather].how == HOW_MEASURED ? NULL
								   : "user_gather is not measured");
	law_witness(r, "witness zero-copy sends", "zero-copy sends by the workload's account",
		    app_zerocopy_sends, kernel_zerocopy_sends,
		    accepted ? NULL : no_sends);
	law_witness(r, "witness completions", "completions that the workload read", app_completions,
		    hooked ? kernel_completions : kernel_zerocopy_sends,
		    !read ? unread : hooked || accepted ? NULL : no_sends);
}

static void end_to_end_law(struct record *r)
{
	struct law *law = law_add(r, "end to end", "accepted from all senders",
				  "returned to all receivers");

	if (!record_probe_attached(r, "accepted") || !record_probe_attached(r, "returned")) {
		snprintf(law->why, WHY_BYTES, "accepted or returned bytes are not measured");
		return;
	}
	law_weigh(law, (struct sides){ r->ledger.total.count[COUNT_accepted_bytes],
				       r->ledger.total.count[COUNT_returned_bytes] });
}

/* Only A3-reuse overwrites a buffer that the kernel still reads, and it must be caught. */
static void content_law(struct record *r)
{
	struct law *law = law_add(r, "content", "bytes that arrived wrong", "none");
	int64_t wrong = SUM(r->app[END_SENDER].sum.content_errors,
			    r->app[END_RECEIVER].sum.content_errors);

	if (!(r->app[END_SENDER].known && r->app[END_RECEIVER].known)) {
		snprintf(law->why, WHY_BYTES, "the workload left no totals");
		return;
	}
	if (r->app[END_RECEIVER].content_unchecked) {
		snprintf(law->why, WHY_BYTES,
			 "readers that may share a socket cannot tell which bytes they got");
		return;
	}
	if (!variant_has(r->plan.variant, VARIANT_OVERWRITES)) {
		law_weigh(law, (struct sides){ wrong, 0 });
	} else if (wrong) {
		law->right_is = "as many: A3-reuse overwrites buffers in flight";
		law_weigh(law, (struct sides){ wrong, wrong });
	} else {
		snprintf(law->why, WHY_BYTES,
			 "A3-reuse overwrote no byte in time in so short a run: send more");
	}
}

static void probes_law(struct record *r)
{
	struct law *law = law_add(r, "probes", "map updates lost and program runs skipped", "none");
	uint64_t missed_hits = record_missed_hits(r, NULL);

	if (r->backend == BACKEND_NONE) {
		snprintf(law->why, WHY_BYTES, "%s", r->backend_why);
		return;
	}
	law_weigh(law, (struct sides){ SUM(r->ledger.gauges.lost_updates, record_missed(r)), 0 });
	if (law->status == LAW_BROKEN || !missed_hits)
		return;
	/* Nothing of ours failed, but not everything was seen: the laws that need it say so. */
	law->status = LAW_NOT_TESTABLE;
	snprintf(law->why, WHY_BYTES,
		 "%" PRIu64 " firings unseen: they came while a task was current that this kernel "
		 "keeps from BPF", missed_hits);
}

void laws_fill(struct record *r)
{
	r->law_count = 0;
	law_if(r, "send", "accepted by tcp_sendmsg", "tx_copy + tx_reference + tx_splice",
	       send_sides, obstacle_to_send(r));
	law_if(r, "reference", "referenced bytes copied late, reshaped, sent clean or dropped",
	       "tx_reference + sent again + shown to captures + copied into their packets",
	       reference_sides, obstacle_to_reference(r));
	law_if(r, "receive", "returned by recv", "rx_copy + rx_map + rx_splice + rx_discard",
	       receive_sides,
	       r->sites[SITE_rx_copy].how == HOW_NOT_MEASURED ? "rx_copy is not measured" :
	       !record_probe_attached(r, "returned") ? "returned bytes are not measured" : NULL);
	end_to_end_law(r);
	law_if(r, "completion", "zero-copy sends", "sends completed", completion_sides,
	       obstacle_to_completion(r));
	law_if(r, "pin", "pages pinned", "pages released", pin_sides, obstacle_to_pin(r));
	law_if(r, "refusal", "sends that got ENOBUFS", "notifications refused", refusal_sides,
	       obstacle_to_refusal(r));
	law_of_causes(r, "causes of late_copy", "late_copy", SITE_late_copy);
	law_of_causes(r, "causes of reshape", "reshape", SITE_reshape);
	witness_laws(r);
	content_law(r);
	probes_law(r);
}

int laws_broken(const struct record *r)
{
	int broken = 0;

	for (int i = 0; i < r->law_count; i++)
		broken += r->laws[i].status == LAW_BROKEN;
	return broken;
}
