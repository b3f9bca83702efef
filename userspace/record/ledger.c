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

uint64_t books_mixed_bytes(const unsigned long long count[COUNT_COUNT])
{
	uint64_t alone = count[COUNT_wire_copied_bytes] - count[COUNT_retrans_copied_bytes];

	return count[COUNT_nosg_bytes] > alone ? count[COUNT_nosg_bytes] - alone : 0;
}

uint64_t books_accepted(const struct books *b)
{
	return b->count[COUNT_accepted_bytes] - b->count[COUNT_tls_carried_bytes] + b->count[COUNT_tls_accepted_bytes];
}
