// SPDX-License-Identifier: GPL-2.0
/* Adds up, copies and frees what the probes counted. Pure. */
#include "userspace/record/ledger.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void ledger_free(struct ledger *ledger)
{
	free(ledger->sockets);
	free(ledger->stacks);
	*ledger = (struct ledger){};
}

static void *copy(const void *from, size_t size)
{
	void *to = malloc(size ? size : 1);

	return to && size ? memcpy(to, from, size) : to;
}

int ledger_copy(struct ledger *to, const struct ledger *from)
{
	*to = *from;
	to->sockets = copy(from->sockets, from->socket_count * sizeof(*from->sockets));
	to->stacks = copy(from->stacks, from->stack_count * sizeof(*from->stacks));
	if (to->sockets && to->stacks)
		return 0;
	ledger_free(to);
	return -ENOMEM;
}

bool count_add(unsigned long long *into, unsigned long long more)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)*into, (int64_t)more, &sum))
		return false;
	*into = sum;
	return true;
}

bool tally_add(struct tally *into, const struct tally *more)
{
	return count_add(&into->bytes, more->bytes) && count_add(&into->calls, more->calls);
}

bool books_add(struct books *into, const struct books *more)
{
	bool fits = true;

	for (int s = 0; s < SITE_COUNT; s++)
		fits &= tally_add(&into->site[s], &more->site[s]);
	for (int c = 0; c < COUNT_COUNT; c++)
		fits &= count_add(&into->count[c], more->count[c]);
	return fits;
}

void books_of_tls(struct books *b, const struct tls_book *tls)
{
	b->count[COUNT_tls_accepted_bytes] = tls->accepted;
	b->count[COUNT_tls_sent_records] = tls->sent_records;
	b->count[COUNT_tls_sent_overhead_bytes] = tls->sent_overhead;
	b->count[COUNT_tls_received_bytes] = tls->opened;
	b->count[COUNT_tls_received_records] = tls->received_records;
	/* Without its hook the cipher told no length. */
	b->count[COUNT_tls_received_overhead_bytes] = tls->decryptions ? tls->received_overhead : 0;
	b->site[SITE_rx_direct] = (struct tally){ tls->direct, tls->directs };
	b->site[SITE_tls_copy] = (struct tally){ tls->copied, tls->copies };
	b->site[SITE_tls_reference] = (struct tally){ tls->referenced, tls->references };
	b->site[SITE_tls_splice] = (struct tally){ tls->spliced, tls->splices };
	b->site[SITE_tls_encrypt] = (struct tally){ tls->encrypted, tls->sent_records };
	b->site[SITE_tls_decrypt] = (struct tally){ tls->decrypted, tls->decryptions };
}

/* Copies that failed are no bytes of the stream. What TLS returned, recv returned, and no function of TCP did. */
void books_of_slot(struct books *b, const struct watch_slot *slot, uint64_t rx_copied, const struct tls_book *tls)
{
	static const struct tls_book none;
	const struct tls_book *above = tls ?: &none;

	b->site[SITE_rx_copy].bytes = rx_copied - slot->rx_off;
	b->count[COUNT_send_calls] = slot->send_calls;
	b->count[COUNT_accepted_bytes] = slot->sends_returned;
	b->count[COUNT_recv_calls] = slot->recv_calls + above->recv_calls;
	b->count[COUNT_returned_bytes] = slot->recvs_returned + slot->rx_spliced + slot->rx_mapped + above->returned;
	b->count[COUNT_map_calls] = slot->map_calls;
	b->count[COUNT_peeked_bytes] = slot->rx_peeked + above->peeked;
	b->count[COUNT_tapped_bytes] = slot->tapped;
	b->site[SITE_tx_splice] = (struct tally){ slot->sent_as[WATCH_KIND_SPLICE], slot->splice_sends };
	b->site[SITE_rx_discard] = (struct tally){ slot->rx_discarded, slot->discards };
	b->site[SITE_rx_splice] = (struct tally){ slot->rx_spliced, slot->splice_reads };
	b->site[SITE_rx_map] = (struct tally){ slot->rx_mapped, slot->map_calls };
	if (!tls)
		return;
	books_of_tls(b, tls);
	b->count[COUNT_tls_carried_bytes] = slot->sends_returned - tls->accepted_before;
}

uint64_t books_mixed_bytes(const unsigned long long count[COUNT_COUNT])
{
	uint64_t alone = count[COUNT_wire_copied_bytes] - count[COUNT_retrans_copied_bytes];

	return count[COUNT_nosg_bytes] > alone ? count[COUNT_nosg_bytes] - alone : 0;
}

uint64_t books_pages_left(const unsigned long long count[COUNT_COUNT])
{
	return count[COUNT_wire_referenced_pages] - count[COUNT_retrans_referenced_pages];
}

uint64_t books_taken(const struct books *b)
{
	return b->site[SITE_rx_copy].bytes - b->count[COUNT_peeked_bytes] + b->site[SITE_rx_discard].bytes;
}

uint64_t books_accepted(const struct books *b)
{
	return b->count[COUNT_accepted_bytes] - b->count[COUNT_tls_carried_bytes] + b->count[COUNT_tls_accepted_bytes];
}
