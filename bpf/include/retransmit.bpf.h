/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which bytes of a packet leave the socket for the first time, and which have left before?
 *
 * Sequence numbers decide it, packet by packet, not what TCP calls a retransmission: a packet that
 * a queue refuses stays with TCP and is sent again as new, and a retransmission may fail before or
 * after it reached a queue.
 *
 * The first time, packets may come out of order: those that wait for a neighbour's address are
 * overtaken, and some are dropped before they get here. The range between is stored as a hole and
 * is new when it comes. Nothing here is locked: the socket lock separates TCP's own packets, and
 * only one that waited for a neighbour may meet another. If a hole finds no room, or is lost in
 * that way, its bytes count as sent again although they were not, and the send law breaks.
 */
#ifndef COPYSCOPE_RETRANSMIT_BPF_H
#define COPYSCOPE_RETRANSMIT_BPF_H

#include "bpf/include/detail.bpf.h"

#define HOLES 16

/* Compares sequence numbers by their distance, so that they may wrap. */
struct stretch {
	u32 from, to;
};

struct departed {
	u32 begun;
	u32 mark;	/* after the highest byte that left */
	u32 holes;
	struct stretch hole[HOLES];	/* below the mark and not left yet; empty: from == to */
};

/* place of its slot -> what has left a socket */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct departed);
} departures SEC(".maps") __weak;

static __always_inline bool seq_after(u32 a, u32 b)
{
	return (int)(a - b) > 0;
}

/* What a packet's TCP header says of its payload. */
struct leaving {
	u32 seq;	/* of its first byte: a SYN takes one of its own */
	u32 bytes;
	bool syn;
};

/* Before its first payload the peer has acknowledged nothing but the SYN. The socket lock separates
 * the packets that may be first. */
static __always_inline struct departed *departed_of(const struct sock *sk, u32 place,
						    const struct leaving *leaving)
{
	struct departed *found = bpf_map_lookup_elem(&departures, &place);
	const struct tcp_sock *tp = (const void *)sk;

	if (!found || found->begun)
		return found;
	found->mark = leaving->syn ? leaving->seq : BPF_CORE_READ(tp, snd_una);
	found->begun = 1;
	return found;
}

static __always_inline void hole_keep(struct departed *d, u32 from, u32 to)
{
	for (int i = 0; i < HOLES; i++) {
		if (d->hole[i].from != d->hole[i].to)
			continue;
		d->hole[i].from = from;
		d->hole[i].to = to;
		d->holes++;
		return;
	}
}

/* Removes [from, to) from a hole and returns the bytes removed. If this splits the hole, the part
 * behind goes to @rest. */
static __always_inline u32 hole_fill(struct departed *d, struct stretch *hole, u32 from, u32 to,
				     struct stretch *rest)
{
	u32 first = hole->from, end = hole->to;
	u32 low = seq_after(from, first) ? from : first;
	u32 high = seq_after(end, to) ? to : end;

	if (first == end || !seq_after(high, low))
		return 0;
	if (low == first) {
		hole->from = high;
	} else {
		hole->to = low;
		rest->from = high;
		rest->to = end;
	}
	if (hole->from == hole->to)
		d->holes--;
	return high - low;
}

/* Bytes of [from, to) that have not left before, where the one before them is not the last that left. */
VERIFIED_ONCE u32 departure_out_of_order(struct departed *d, u32 from, u32 to)
{
	struct stretch rest = {};
	u32 mark, bytes = 0;

	if (!d)
		return 0;
	mark = d->mark;
	if (d->holes && seq_after(mark, from))
		for (int i = 0; i < HOLES; i++)
			bytes += hole_fill(d, &d->hole[i], from, to, &rest);
	if (seq_after(to, mark)) {
		bytes += to - (seq_after(from, mark) ? from : mark);
		d->mark = to;
	}
	if (seq_after(from, mark)) {
		rest.from = mark;
		rest.to = from;
	}
	if (rest.from != rest.to)
		hole_keep(d, rest.from, rest.to);
	return bytes;
}

/* Returns how many bytes of [from, to) have not left before, and notes that they have now. */
static __always_inline u32 first_departure(struct departed *d, u32 from, u32 to)
{
	if (from == to)
		return 0;
	if (fault_inject == FAULT_FORGET_DEPARTURES)
		return to - from;
	if (from != d->mark)
		return departure_out_of_order(d, from, to);
	d->mark = to;
	return to - from;
}

#endif
