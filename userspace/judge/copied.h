/* SPDX-License-Identifier: GPL-2.0 */
/* The law "copied", of runs and of watches: what completions say of copies, against the copies that were counted. Pure. */
#ifndef COPYSCOPE_COPIED_H
#define COPYSCOPE_COPIED_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/judge/sides.h"

/* What is known of the sends by reference of one socket. */
struct told_copies {
	uint64_t completed, copied, due;	/* notified; of these as COPIED; all that the kernel has to notify of */
	uint64_t copied_by_ring;	/* of copied, as io_uring's notifications say */
	uint64_t joined;	/* sends whose notifications the kernel put into others */
	uint64_t late_bytes, moved_bytes, referenced_bytes;
	uint64_t left_bytes;	/* of .referenced_bytes, in packets: the rest may be copied by nothing */
	bool ended;		/* all are notified, and no notification was missed */
	bool elsewhere;		/* a completion may tell of something else: send copied or began to, or it was before the window */
	bool beside;		/* packets that were copied late may have other bytes, too: spliced, or of before the window */
	bool sent_again;	/* so that more may be copied than was referenced */
	bool by_arrivals;	/* they stand for late copies, which no hook counts where they are made */
	bool moves_unseen;	/* no hook counts what the kernel moves behind the socket */
};

/* Both sides of the law into @s: NULL, or why it is not testable. */
const char *copied_sides(const struct told_copies *t, struct sides *s);

/* Tests the law of a run, whose sites are filled. */
void law_copied(const struct record *r, struct law *law);

/* True if completions of a run say COPIED where arrivals, which stand for copies there, say otherwise. */
bool copies_denied(const struct record *r);

#endif
