// SPDX-License-Identifier: GPL-2.0
/* Which caller of a copy stands for which cause. */
#include "userspace/judge/causes/causes_known.h"

#include <stdbool.h>
#include <string.h>

#include "userspace/tables/callers.h"

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

const char *cause_name(enum known cause)
{
	return texts[cause].name;
}

const char *cause_remedy(enum known cause)
{
	return texts[cause].remedy;
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
enum known cause_of_stack(enum site site, unsigned int circumstances, const char *frames)
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
