// SPDX-License-Identifier: GPL-2.0
/* Charges every late or reshaped byte, and every send that never became zero copy, to a cause. */
#include "userspace/judge/causes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/include/sites.h"
#include "userspace/record/ledger.h"
#include "userspace/tables/callers.h"

/* Which caller of a copy stands for which cause. */

static const struct {
	const char *name, *remedy;
} texts[] = {
#define TEXT(symbol, name, place, remedy) { name, remedy },
	CAUSES(TEXT)
#undef TEXT
};

/* Where one function copies for a reason at one site only. */
enum at {
	AT_LATE = 1 << SITE_late_copy,
	AT_RESHAPE = 1 << SITE_reshape,
	AT_BOTH = AT_LATE | AT_RESHAPE,
	AT_PULL = 1 << SITE_COUNT,	/* a reshape into one piece; checked first */
};

/* The receive path copies for the first that needs it: the circumstances tell which. */
enum { CAUSE_ARRIVAL = CAUSE_COUNT };

static const struct caller {
	const char *function;
	int cause;
	int at;
} callers[] = {
#define ROW(function, cause, at) { function, CAUSE_##cause, AT_##at },
	CALLERS(ROW)
#undef ROW
};

/* Functions that copy for their caller, which decides the cause; and the cause if it is not known
 * either. */
static const struct caller middlemen[] = {
	{ "skb_copy_ubufs", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_copy_bits", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_copy_and_csum_bits", CAUSE_UNKNOWN, AT_BOTH },
	{ "__pskb_pull_tail", CAUSE_UNKNOWN, AT_BOTH },
	{ "__skb_linearize", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_linearize", CAUSE_UNKNOWN, AT_BOTH },
	{ "deliver_skb", CAUSE_UNKNOWN, AT_BOTH },
	{ "tpacket_rcv", CAUSE_UNKNOWN, AT_BOTH },
	{ "packet_rcv", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_zerocopy_clone", CAUSE_CLONE, AT_BOTH },
	{ "skb_clone", CAUSE_CLONE, AT_BOTH },
	{ "skb_morph", CAUSE_CLONE, AT_BOTH },
	{ "skb_copy", CAUSE_CLONE, AT_BOTH },
	{ "skb_copy_expand", CAUSE_CLONE, AT_BOTH },
	{ "pskb_expand_head", CAUSE_CLONE, AT_BOTH },
	{ "__pskb_copy_fclone", CAUSE_CLONE, AT_BOTH },
	{ "skb_ensure_writable", CAUSE_CLONE, AT_BOTH },
};

#define ROWS(table) (sizeof(table) / sizeof(*(table)))

static const char *cause_name(enum known cause)
{
	return texts[cause].name;
}

/* What to do about it, in one line. */
static const char *cause_remedy(enum known cause)
{
	return texts[cause].remedy;
}

/* Of causes that a switch of the device may take away, if it is off. */
static const struct switched {
	enum known cause;
	unsigned int off;
	const char *otherwise;
} switched[] = {
#define SWITCHED(symbol, off, remedy) { CAUSE_##symbol, off, remedy },
	REMEDIES_WITHOUT_SWITCH(SWITCHED)
#undef SWITCHED
};

/* @c has this stack, among others if it is not @fresh. */
static void remedy_choose(struct cause *c, bool fresh, enum known known, unsigned int circumstances)
{
	for (size_t i = 0; i < ROWS(switched); i++) {
		if (switched[i].cause != known)
			continue;
		if (circumstances & switched[i].off)
			c->remedy = cause_remedy(known);
		else if (fresh)
			c->remedy = switched[i].otherwise;
	}
}

/* The compiler adds suffixes such as .constprop.0. */
static const struct caller *caller_find(const struct caller *table, size_t rows, int at,
					const char *frame, size_t len)
{
	for (const struct caller *c = table; c < table + rows; c++) {
		size_t n = strlen(c->function);

		if (c->at & at && len >= n && !strncmp(frame, c->function, n) &&
		    (len == n || frame[n] == '.'))
			return c;
	}
	return NULL;
}

/* Captures come before IP, so if there is one, the copy was for it. */
static enum known cause_of_arrival(unsigned int circumstances)
{
	if (circumstances & COPIED_TAPPED)
		return CAUSE_TAP_RX;
	if (circumstances & COPIED_ANYWHERE)
		return CAUSE_ARRIVED;
	if (circumstances & COPIED_ELSEWHERE)
		return CAUSE_FORWARDING;
	return circumstances & COPIED_UNSURE ? CAUSE_DELIVERY_OR_TAP : CAUSE_LOCAL_DELIVERY;
}

/* A driver's functions have names of its own: one or two, called by a known function. */
static bool is_driver(enum site site, const char *frame)
{
	static const char call[] = " < dev_hard_start_xmit";
	const char *at = strstr(frame, call);
	int between = 0;

	for (const char *c = frame; at && c < at; c++)
		between += *c == '<';
	return site == SITE_reshape && at && between < 2;
}

/*
 * The caller of the copy decides, or the caller of a function that copies for others. Functions
 * further out decide nothing: a stack continues into the task that was interrupted.
 */
static enum known cause_of_stack(enum site site, unsigned int circumstances, const char *frames)
{
	const char *frame = frames;
	enum known otherwise = CAUSE_UNKNOWN;
	int at = 1 << site;

	while (*frame) {
		size_t len = strcspn(frame, " ");
		const struct caller *c = caller_find(callers, ROWS(callers), at, frame, len);

		if (c)
			return c->cause == CAUSE_ARRIVAL ? cause_of_arrival(circumstances) :
							   (enum known)c->cause;
		c = caller_find(middlemen, ROWS(middlemen), 1 << site, frame, len);
		if (!c)
			break;
		if (c->cause != CAUSE_UNKNOWN)
			otherwise = c->cause;
		if (site == SITE_reshape && !strcmp(c->function, "__pskb_pull_tail"))
			at |= AT_PULL;
		frame += len;
		frame += strspn(frame, " <");
	}
	return otherwise == CAUSE_UNKNOWN && is_driver(site, frame) ? CAUSE_DRIVER : otherwise;
}

_Static_assert(CAUSES_KEPT > 2 * CAUSE_UNKNOWN + 3, "a known cause may find no room");

static struct cause *cause_find(struct cause_list *list, const char *name, enum site site,
				const char *stack)
{
	for (int i = 0; i < list->count; i++)
		if (list->causes[i].name == name && list->causes[i].site == site &&
		    !strcmp(list->causes[i].stack, stack))
			return &list->causes[i];
	return NULL;
}

/* If there is no room for one more unknown stack, its bytes are added to the last one, which is labelled so: none
 * is lost. */
static struct cause *cause_add(struct cause_list *list, enum known known, enum site site, const char *stack,
			struct tally tally)
{
	static const char others[] = "(several stacks, more than there is room for)";
	struct cause *c = cause_find(list, cause_name(known), site, stack);

	if (!c && known == CAUSE_UNKNOWN && list->count >= CAUSES_MAX - CAUSES_KEPT) {
		c = cause_find(list, cause_name(known), site, others);
		stack = others;
	}
	if (!c) {
		c = &list->causes[list->count++];
		*c = (struct cause){ .name = cause_name(known), .site = site, .bytes_known = true,
				     .remedy = cause_remedy(known) };
		snprintf(c->stack, sizeof(c->stack), "%s", stack);
	}
	/* A sum that does not fit is left out: then the law of the causes breaks. */
	tally_add(&c->tally, &tally);
	return c;
}

/* Where the kernel begins work on top of a task that it interrupted: no part of the cause. */
static size_t own_frames(const char *frames)
{
	static const char *const bounds[] = { " < __do_softirq", " < handle_softirqs", " < do_softirq",
					      " < net_rx_action", " < ksys_", " < do_syscall_64" };
	size_t len = strlen(frames);

	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		const char *at = strstr(frames, bounds[i]);

		if (at && (size_t)(at - frames) < len)
			len = at - frames;
	}
	return len;
}

static void causes_of_stacks(struct cause_list *list, const struct copy_stack *stacks, int count, enum site site)
{
	for (int i = 0; i < count; i++) {
		const struct copy_stack *from = &stacks[i];
		char stack[STACK_TEXT_BYTES] = "";
		int before = list->count;
		enum known known;
		struct cause *c;

		if (from->site != site)
			continue;
		known = cause_of_stack(site, from->circumstances, from->frames);
		if (known == CAUSE_UNKNOWN)
			snprintf(stack, sizeof(stack), "%.*s", (int)own_frames(from->frames),
				 from->frames);
		if (known == CAUSE_UNKNOWN && !*stack)
			snprintf(stack, sizeof(stack), "(no stack: kernel.kptr_restrict hides it)");
		c = cause_add(list, known, site, stack, from->tally);
		remedy_choose(c, list->count != before, known, from->circumstances);
	}
}

static void cause_add_if_any(struct cause_list *list, enum known known, enum site site, struct tally tally)
{
	if (tally.bytes || tally.calls)
		cause_add(list, known, site, "", tally);
}

static void late_add(struct cause_list *list, enum known known, uint64_t bytes, uint64_t calls)
{
	cause_add_if_any(list, known, SITE_late_copy, (struct tally){ bytes, bytes ? calls : 0 });
}

/* Without stacks: what the way of the packets tells of late copies. */
static void causes_of_late_copies(struct cause_list *list, const struct watch_movements *m)
{
	const struct tally late = m->site[SITE_late_copy];

	late_add(list, CAUSE_LOCAL_DELIVERY, m->late_by_delivery_bytes, late.calls);
	late_add(list, CAUSE_TAP_TX, m->late_by_tap_bytes, 0);
	late_add(list, CAUSE_TUN, m->late_by_tun_bytes, 0);
	late_add(list, CAUSE_WAY_OUT, m->late_on_way_out_bytes, 0);
	late_add(list, CAUSE_ARRIVED, late.bytes - m->late_by_delivery_bytes - m->late_by_tap_bytes -
		 m->late_by_tun_bytes - m->late_on_way_out_bytes, 0);
}

static struct tally told(const struct watch_movements *m, enum count bytes, enum count sends)
{
	bool known = m->counts_known >> bytes & m->counts_known >> sends & 1;

	return known ? (struct tally){ m->count[bytes], m->count[sends] } : (struct tally){};
}

/* Why sends copied that asked not to. */
static void causes_of_sends(struct cause_list *list, const struct watch_movements *m)
{
	cause_add_if_any(list, CAUSE_UNSET, SITE_tx_copy, told(m, COUNT_unset_bytes, COUNT_unset_sends));
	cause_add_if_any(list, CAUSE_NO_SG_ROUTE, SITE_tx_copy, told(m, COUNT_nosg_bytes, COUNT_nosg_sends));
	cause_add_if_any(list, CAUSE_FAST_OPEN, SITE_tx_copy, told(m, COUNT_fastopen_bytes, COUNT_fastopen_sends));
	cause_add_if_any(list, CAUSE_DECLINED, SITE_tx_copy, (struct tally){ m->declined_bytes, 0 });
}

/* Sends that were allowed to reference and copied: the rest that no known reason explains is shown,
 * not added to one of them. */
static void cause_of_the_rest(struct cause_list *list, const struct record *r)
{
	const unsigned long long *n = r->derived.total.count;
	uint64_t explained = n[COUNT_nosg_bytes] + n[COUNT_fastopen_bytes] +
			     r->sites[SITE_tx_reference].tally.bytes;

	if (r->sites[SITE_tx_reference].how == HOW_MEASURED && n[COUNT_zerocopy_bytes] > explained)
		cause_add(list, CAUSE_UNKNOWN, SITE_tx_copy,
			  "(none: zero-copy sends took more bytes than were referenced)",
			  (struct tally){ n[COUNT_zerocopy_bytes] - explained, 0 });
}

static void cause_add_refused(struct cause_list *list, enum known known, int64_t sends, const char *why)
{
	struct cause *c;

	if (sends <= 0)
		return;
	c = cause_add(list, known, SITE_tx_reference, "", (struct tally){ 0, sends });
	c->bytes_known = false;
	c->why = why;
}

/* Between two readings of a socket it may become less, once a send of its was taken. What other sockets have in flight
 * is of the same limit. */
uint64_t causes_refused_at_rest(const struct watch_movements *m)
{
	uint64_t most = m->count[m->counts_known >> COUNT_refused_memlock & 1 ? COUNT_refused_memlock : COUNT_enobufs];

	return (int64_t)m->refused_at_rest < 0 || m->count[COUNT_zerocopy_sends] ? 0 : m->refused_at_rest < most ? m->refused_at_rest : most;
}

/* A refused send sent nothing and was repeated. */
static void causes_of_refusals(struct cause_list *list, const struct watch_movements *m)
{
	static const char no_bytes[] = "a refused send has no bytes";
	uint64_t rested = causes_refused_at_rest(m);
	uint64_t optmem = m->count[COUNT_refused_optmem], memlock = m->count[COUNT_refused_memlock];

	if (m->counts_known >> COUNT_refused_optmem & 1) {
		cause_add_refused(list, CAUSE_OPTMEM, optmem, no_bytes);
		cause_add_refused(list, CAUSE_MEMLOCK, memlock - rested, no_bytes);
		cause_add_refused(list, CAUSE_NO_BUFFERS, m->count[COUNT_enobufs] - optmem - memlock,
				  "a refused send has no bytes, and both limits were reached");
	} else {
		cause_add_refused(list, CAUSE_NO_BUFFERS, m->count[COUNT_enobufs] - rested,
				  "a refused send has no bytes; optmem or memlock is not measured: no hook tells which limit refused");
	}
	cause_add_refused(list, CAUSE_AT_REST, rested, no_bytes);
}

int causes_of_movements(const struct watch_movements *m, struct cause causes[CAUSES_OF_MOVEMENTS])
{
	struct cause_list list = { causes, 0 };

	causes_of_late_copies(&list, m);
	causes_of_sends(&list, m);
	causes_of_refusals(&list, m);
	return list.count;
}

static bool costs_more(const struct cause *a, const struct cause *b)
{
	if (a->bytes_known != b->bytes_known)
		return a->bytes_known;
	if (a->tally.bytes != b->tally.bytes)
		return a->tally.bytes > b->tally.bytes;
	return a->tally.calls != b->tally.calls ? a->tally.calls > b->tally.calls :
						  strcmp(a->name, b->name) < 0;
}

static void causes_sort(struct cause_list *list)
{
	for (int i = 1; i < list->count; i++) {
		for (int at = i; at && costs_more(&list->causes[at], &list->causes[at - 1]); at--) {
			struct cause moved = list->causes[at];

			list->causes[at] = list->causes[at - 1];
			list->causes[at - 1] = moved;
		}
	}
}

/* What the stacks in @list do not tell of late copies. */
static void late_copies_less_stacks(struct watch_movements *m, const struct cause_list *list)
{
	struct tally *late = &m->site[SITE_late_copy];

	for (int i = 0; i < list->count; i++) {
		const struct cause *c = &list->causes[i];

		if (c->site != SITE_late_copy)
			continue;
		late->bytes -= c->tally.bytes;
		late->calls -= c->tally.calls;
		m->late_by_delivery_bytes -= c->tally.bytes;
	}
}

void causes_of_sum(struct cause_list *list, const struct watch_movements *sum, const struct copy_stack *stacks,
		   int count, bool by_stacks_alone)
{
	struct watch_movements m = *sum;
	bool late = m.sites_known >> SITE_late_copy & 1;

	if (late)
		causes_of_stacks(list, stacks, count, SITE_late_copy);
	late_copies_less_stacks(&m, list);
	if (m.sites_known >> SITE_reshape & 1)
		causes_of_stacks(list, stacks, count, SITE_reshape);
	if (late && !by_stacks_alone)
		causes_of_late_copies(list, &m);
	causes_of_sends(list, &m);
	causes_of_refusals(list, &m);
	causes_sort(list);
}

/* No tracepoint lies between the arrival of user pages and the reader's kernel pages, so the cause must be delivery.
 * Of two hosts one may have kept stacks. */
static struct watch_movements moved_of(const struct record *r)
{
	static const char *const limits[] = { "refusals", "optmem" };
	struct watch_movements m = { .counts_known = ~0ull, .books = r->derived.total };

	for (enum site s = 0; s < SITE_COUNT; s++)
		m.sites_known |= (uint32_t)(r->sites[s].how != HOW_NOT_MEASURED) << s;
	for (size_t i = 0; i < ROWS(limits); i++)
		if (!record_probe_attached(r, limits[i]))
			m.counts_known &= ~(1ull << COUNT_refused_optmem | 1ull << COUNT_refused_memlock);
	m.site[SITE_late_copy] = r->sites[SITE_late_copy].tally;
	m.late_by_delivery_bytes = m.site[SITE_late_copy].bytes;
	return m;
}

void causes_fill(struct record *r)
{
	const struct watch_movements m = moved_of(r);
	struct cause_list list = { r->causes, 0 };

	cause_of_the_rest(&list, r);
	causes_of_sum(&list, &m, r->derived.stacks, r->derived.stack_count,
		      r->sites[SITE_late_copy].how != HOW_DERIVED);
	r->cause_count = list.count;
}
