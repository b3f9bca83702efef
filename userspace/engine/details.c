// SPDX-License-Identifier: GPL-2.0
/* Reads what the programs counted of sockets, beside their slots, in them, in the way that leads there; and of the
 * calls of processes. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "userspace/engine/engine_inside.h"
#include "userspace/record/ledger.h"

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
		bool has_tls;

		uint32_t place = counted[i].place, at = place / WATCH_WAYS;

		socket->cookie = counted[i].cookie;
		if (bpf_map_lookup_elem(details, &place, &socket->books) ||
		    bpf_map_lookup_elem(slots, &place, &slot) ||
		    bpf_map_lookup_elem(buckets, &at, &bucket))
			err = -errno;
		if (err)
			break;
		has_tls = slot.tls && !bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.tls_books), &socket->cookie, &tls);
		books_of_slot(&socket->books, &slot, bucket.way[place % WATCH_WAYS].rx_copied, has_tls ? &tls : NULL);
		socket->datagrams = slot.datagrams;
		socket->unscattered_sends = slot.datagrams ? 0 : slot.unscattered_sends;
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
