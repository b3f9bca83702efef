// SPDX-License-Identifier: GPL-2.0
/* Says of each site and count how it is known, or why it is not. */
#include <stdio.h>
#include <string.h>

#include "userspace/judge/sources.h"
#include "userspace/watch/books/watch_judge.h"

#define IMPLAUSIBLE "no program saw that a socket closed, or connected anew, or its sum was more than any can move, " \
		    "or less than nothing"
#define NO_ROOM "a socket found no room in the table of counts"
#define RECEIVES_DOUBTED \
	"a copy was no receive's, an urgent byte was skipped, the kernel itself read (--books calls counts its copies), a " \
	"sockmap may have moved bytes, a socket was reset unread and connected anew, or " NO_ROOM
_Static_assert(sizeof(RECEIVES_DOUBTED) <= WHY_BYTES, "its end would be cut off");
#define DETAIL_ALONE "counted with --detail alone"
#define NOT_WHOLE \
	"programs for packets missed some, or each packet left more than once, or " NO_ROOM

static const char *lacks(const struct watch_record *r, const struct source *source)
{
	return source_lacks(&r->measured, source, NULL);
}

static const struct source copies_derived = { HOW_DERIVED, { "rx_discard" },
	"bytes that left the sockets and were neither discarded, spliced nor mapped, and peeked ones" };

static const struct source in_runs_alone = { HOW_NOT_MEASURED, {}, "no hook of a watch counts it" };
static const struct source by_usdt = { HOW_NOT_MEASURED, {}, "no hook sees a copy inside a process" };

static const struct source *source_of(const struct watch_record *r, enum site site)
{
	bool trampolines = r->backend == BACKEND_TRAMPOLINE;
	const struct source *source = site_source(r->backend, site);

	if (site == SITE_user_gather)
		return &by_usdt;
	if (!source)
		return &in_runs_alone;
	if (trampolines && site == SITE_rx_copy && (r->total.moved.copies_derived || lacks(r, source)))
		return &copies_derived;
	if (trampolines && site_has(site, SITE_OF_TLS) && lacks(r, source))
		return site_source(BACKEND_TRACEPOINT, site);
	return source;
}

static const char *why_unknown(const struct watch_record *r, const struct source *source, enum site site)
{
	const char *why;

	if (!source->metrics[0])
		return source->why;
	if (r->total.moved.implausible)
		return IMPLAUSIBLE;
	if (site == SITE_reshape && !r->details)
		return DETAIL_ALONE;
	why = lacks(r, source);
	if (why)
		return why;
	if (site == SITE_late_copy && (r->backend == BACKEND_TRAMPOLINE || watch_unseen_firings(r)))
		return "the kernel skipped a program for packets";
	if (site == SITE_late_copy)
		return "packets with user pages passed a capture, a tunnel, tun or several devices at once, or "
		       "completions say otherwise than arrivals, or packets were not watched yet when a "
		       "socket first referenced its pages (start the program by -- COMMAND)";
	if (r->total.moved.passed_bytes && (site == SITE_rx_map || site == SITE_rx_splice))
		return "bytes left the sockets as pages, spliced or mapped: no tracepoint tells which";
	if (site == SITE_tx_copy || site == SITE_tx_reference || site == SITE_tx_splice)
		return "hooks for UDP came later than a socket that needs them (start the program by -- COMMAND), "
		       "or a datagram is not whole, or " NO_ROOM;
	if (site == SITE_rx_discard)
		return "a receive may have been under way when the window opened, which had discarded bytes before, or " NO_ROOM;
	if (site_has(site, SITE_OF_RECEIVER))
		return RECEIVES_DOUBTED;
	return NO_ROOM;
}

static const char *why_no_count(const struct watch_record *r, enum count count)
{
	bool trampolines = r->backend == BACKEND_TRAMPOLINE;

	if (r->total.moved.implausible)
		return IMPLAUSIBLE;
	switch (count) {
	case COUNT_send_calls:
	case COUNT_recv_calls:
		return r->books == WATCH_CALLS ? NO_ROOM : "counted with --books calls alone";
	case COUNT_enobufs:
	case COUNT_wire_referenced_bytes:
	case COUNT_clean_bytes:
		return "its hook was not attached when a socket first asked for zero copy";
	case COUNT_zerocopy_sends:
		return "notifications were not counted, or a send that was under way when the window opened has failed since";
	case COUNT_completed_sends:
	case COUNT_copied_sends:
		return "notifications were not counted, or " NO_ROOM;
	case COUNT_refused_optmem:
	case COUNT_refused_memlock:
		return trampolines ? NO_ROOM : "no tracepoint tells which limit refused";
	case COUNT_returned_bytes:
		return trampolines ? "SO_OOBINLINE changed while an urgent byte was unread, or " NO_ROOM :
		       "this machine has a sockmap, which may have taken some of what left the sockets, or a socket was "
		       "reset with bytes unread and connected anew, or a receive of datagrams told their length (MSG_TRUNC)";
	case COUNT_accepted_bytes:
		return "a UDP socket was there before the hook that tells what is sent (start the program by -- COMMAND)";
	case COUNT_dropped_bytes:
		return "no hook of this kernel tells what is dropped of datagrams, or " NO_ROOM;
	case COUNT_truncated_bytes:
		return trampolines ? "a receive failed halfway, or " NO_ROOM :
				     "no tracepoint tells what did not fit the reader's buffer";
	case COUNT_map_calls:
		return trampolines ? NO_ROOM : "no tracepoint tells of it";
	case COUNT_peeked_bytes:
		return "no hook tells how receives end, or one may have been under way when the window opened, or " NO_ROOM;
	case COUNT_tapped_bytes:
		return trampolines ? "the kernel skipped a program for packets, or " NO_ROOM :
				     "no tracepoint tells what a capture was shown";
	case COUNT_zerocopy_asked_sends:
	case COUNT_zerocopy_bytes:
	case COUNT_unset_sends:
	case COUNT_unset_bytes:
	case COUNT_nosg_sends:
	case COUNT_nosg_bytes:
	case COUNT_mixed_bytes:
		return !r->details || r->books != WATCH_CALLS ? "counted with --detail and --books calls alone" :
		       "a send was under way when the window opened, or datagrams asked for zero copy, or " NOT_WHOLE;
	case COUNT_fastopen_sends:
	case COUNT_fastopen_bytes:
		return !trampolines ? "no tracepoint tells of it" : "counted with --detail and --books calls alone, or " NOT_WHOLE;
	case COUNT_reshaped_referenced_bytes:
		return trampolines ? NOT_WHOLE : "no tracepoint tells of it";
	case COUNT_released_pages:
		return !trampolines ? "no tracepoint tells of it" : r->details ? NOT_WHOLE : DETAIL_ALONE;
	case COUNT_user_referenced_bytes:
		if (trampolines)
			return "late copies are counted where they are made, which needs no such number";
		return r->details ? NO_ROOM : DETAIL_ALONE;
	default:
		return r->details ? NOT_WHOLE : DETAIL_ALONE;
	}
}

enum how watch_site_how(const struct watch_record *r, enum site site)
{
	return source_of(r, site)->how;
}

void watch_sites_fill(struct watch_record *r)
{
	for (int i = 0; i < SITE_COUNT; i++) {
		const struct source *source = source_of(r, i);
		bool known = r->total.moved.sites_known & 1u << i;

		site_tell(&r->sites[i], &r->total.moved.site[i], source, known ? NULL : why_unknown(r, source, i));
	}
	for (int i = 0; i < COUNT_COUNT; i++)
		if (!(r->total.moved.counts_known & 1ull << i))
			snprintf(r->count_why[i], WHY_BYTES, "%s", why_no_count(r, i));
}
