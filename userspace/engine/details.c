// SPDX-License-Identifier: GPL-2.0
/* Reads what the programs counted of sockets, beside their slots, in them, in the way that leads there; and of the
 * calls of processes. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "userspace/engine/engine_inside.h"
#include "userspace/record/ledger.h"

/* What the programs count of any socket, beside what they count in detail. Copies that failed are no bytes of the
 * stream. */
static void add_slot(struct books *b, const struct watch_slot *slot, uint64_t rx_copied)
{
	b->site[SITE_rx_copy].bytes = rx_copied - slot->rx_off;
	b->count[COUNT_send_calls] = slot->send_calls;
	b->count[COUNT_accepted_bytes] = slot->sends_returned;
	b->count[COUNT_recv_calls] = slot->recv_calls;
	b->count[COUNT_returned_bytes] = slot->recvs_returned + slot->rx_spliced + slot->rx_mapped;
	b->count[COUNT_map_calls] = slot->map_calls;
	b->count[COUNT_peeked_bytes] = slot->rx_peeked;
	b->count[COUNT_tapped_bytes] = slot->tapped;
	b->site[SITE_tx_splice] = (struct tally){ slot->sent_as[WATCH_KIND_SPLICE], slot->splice_sends };
	b->site[SITE_rx_discard] = (struct tally){ slot->rx_discarded, slot->discards };
	b->site[SITE_rx_splice] = (struct tally){ slot->rx_spliced, slot->splice_reads };
	b->site[SITE_rx_map] = (struct tally){ slot->rx_mapped, slot->map_calls };
}

/* What TLS returned, recv returned, and no function of TCP did. */
static void add_tls(struct books *b, const struct watch_slot *slot, const struct tls_book *tls)
{
	b->count[COUNT_recv_calls] += tls->recv_calls;
	b->count[COUNT_returned_bytes] += tls->returned;
	b->count[COUNT_peeked_bytes] += tls->peeked;
	books_of_tls(b, tls);
	b->count[COUNT_tls_carried_bytes] = slot->sends_returned - tls->accepted_before;
}

static int ledger_read_books(const struct engine *e, const struct counted_socket *counted, int count,
			     struct ledger *ledger)
{
	int details = bpf_map__fd(e->skel->maps.details), slots = bpf_map__fd(e->skel->maps.slots), err = 0;
	int buckets = bpf_map__fd(e->skel->maps.slot_buckets);
	struct slot_bucket bucket;
	struct watch_slot slot;
	struct tls_book tls;

	ledger->sockets = calloc(count + 1, sizeof(*ledger->sockets));
	if (!ledger->sockets)
		return -ENOMEM;
	for (int i = 0; i < count && !err; i++) {
		struct socket_books *socket = &ledger->sockets[ledger->socket_count++];

		uint32_t place = counted[i].place, at = place / WATCH_WAYS;

		socket->cookie = counted[i].cookie;
		if (bpf_map_lookup_elem(details, &place, &socket->books) ||
		    bpf_map_lookup_elem(slots, &place, &slot) ||
		    bpf_map_lookup_elem(buckets, &at, &bucket))
			err = -errno;
		else
			add_slot(&socket->books, &slot, bucket.way[place % WATCH_WAYS].rx_copied);
		if (!err && slot.tls &&
		    !bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.tls_books), &socket->cookie, &tls))
			add_tls(&socket->books, &slot, &tls);
		socket->datagrams = !err && slot.datagrams;
		socket->unscattered_sends = err || slot.datagrams ? 0 : slot.unscattered_sends;
		books_add(&ledger->total, &socket->books);
	}
	return err;
}

/* Who takes a place takes its cookie before he clears what is there. */
int engine_detail(const struct engine *e, const struct watch_book *book, struct books *detail)
{
	uint32_t place = book->slot_at - 1, at = place / WATCH_WAYS;
	struct slot_bucket bucket;

	if (!e->skel->rodata->details_wanted || !book->slot_at || e->skel->bss->watch_gauges.lost_updates ||
	    bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.details), &place, detail) ||
	    bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.slot_buckets), &at, &bucket))
		return -ENOENT;
	return bucket.way[place % WATCH_WAYS].cookie == book->cookie ? 0 : -ENOENT;
}

int engine_counts(const struct engine *e, const struct counted_socket *counted, int count, struct ledger *ledger)
{
	const struct seen *seen = e->skel->bss->seen;

	*ledger = (struct ledger){ .gauges = e->skel->bss->gauges };
	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		if (seen[cpu].peak_pages > ledger->gauges.peak_pages)
			ledger->gauges.peak_pages = seen[cpu].peak_pages;
	return ledger_read_books(e, counted, count, ledger);
}

bool engine_tells_readings(const struct engine *e)
{
	return e->skel->rodata->readings_told;
}

int engine_sizes(const struct engine *e, struct call_sizes **out, struct call_holds **held)
{
	uint64_t asked = e->skel->bss->watch_gauges.sized_processes;
	uint32_t count = 1 + (asked < SIZES_PROCESSES ? asked : SIZES_PROCESSES);
	int fd = bpf_map__fd(e->skel->maps.sizes), times = bpf_map__fd(e->skel->maps.holds);
	struct call_sizes *all = calloc(count, sizeof(*all));
	struct call_holds *holds = calloc(count, sizeof(*holds));

	*out = all;
	*held = holds;
	if (!all || !holds)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_lookup_elem(fd, &i, &all[i]) || bpf_map_lookup_elem(times, &i, &holds[i]))
			return -errno;
	return count;
}
