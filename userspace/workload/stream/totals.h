/* SPDX-License-Identifier: GPL-2.0 */
/* The counts of a connection; their sums describe the run. */
#ifndef WORKLOAD_TOTALS_H
#define WORKLOAD_TOTALS_H

#include <stdint.h>

/*
 * The one list of counters: the struct, the sum and the JSON keys come from it.
 * messages            whole ones: sent by a server, received by a client
 * accepted_bytes      returned by send calls
 * received_bytes      returned by receive calls
 * gather_bytes        copied into a staging buffer by this program
 * send_calls          that accepted bytes (a refused or interrupted call is not one)
 * recv_calls          that returned bytes
 * zerocopy_sends      MSG_ZEROCOPY sends that succeeded with SO_ZEROCOPY set
 * completions         ids that notifications covered
 * completions_copied  those whose notification said SO_EE_CODE_ZEROCOPY_COPIED
 * completion_errors   ids covered twice, never sent, or never completed
 * enobufs             sends refused with ENOBUFS
 * content_errors      received bytes that were wrong
 * peer_vanished       1 when the peer went away at the wrong time
 */
#define TOTALS(X)             \
	X(messages)           \
	X(accepted_bytes)     \
	X(received_bytes)     \
	X(gather_bytes)       \
	X(send_calls)         \
	X(recv_calls)         \
	X(zerocopy_sends)     \
	X(completions)        \
	X(completions_copied) \
	X(completion_errors)  \
	X(enobufs)            \
	X(content_errors)     \
	X(peer_vanished)

struct totals {
#define TOTALS_FIELD(name) uint64_t name;
	TOTALS(TOTALS_FIELD)
#undef TOTALS_FIELD
};

static inline void totals_add(struct totals *sum, const struct totals *more)
{
#define TOTALS_ADD(name) sum->name += more->name;
	TOTALS(TOTALS_ADD)
#undef TOTALS_ADD
}

#endif
