/* SPDX-License-Identifier: GPL-2.0 */
/* The table of what is known of a block: some messages sent one way, between two looks at the clocks. */
#ifndef COPYSCOPE_BLOCKS_H
#define COPYSCOPE_BLOCKS_H

#include <stdint.h>

/*
 * X(name):
 * way              which of the ways that alternate
 * wall_ns          from the first send until the receivers have all and all notifications are read
 * sender_ns        processor time of the sender's process in it
 * receiver_ns      of the receiver's
 * machine_ns       of all processors, for whatever: whole ticks of the kernel's clock, so of use in sums alone
 * ksoftirqd_ns     of it, that of the kernel's softirq threads, exactly
 * lost_bytes       of datagrams, that never arrived
 */
#define BLOCK_NUMBERS(X) X(way) X(wall_ns) X(sender_ns) X(receiver_ns) X(machine_ns) X(ksoftirqd_ns) X(lost_bytes)

struct block {
#define BLOCK_FIELD(name) uint64_t name;
	BLOCK_NUMBERS(BLOCK_FIELD)
#undef BLOCK_FIELD
};

enum { WAYS_MOST = 8, BLOCKS_MOST = 20000, BLOCK_MS_MOST = 1000 };

#endif
