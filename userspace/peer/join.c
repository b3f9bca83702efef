// SPDX-License-Identifier: GPL-2.0
/* Adds the counts of both ends up, and decides how well each sum is known. */
#include "userspace/peer/join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/record/ledger.h"

/* Cookies are unique on one host only, so each book notes its host. */
static int join_sockets(struct ledger *into, const struct ledger *from)
{
	int count = into->socket_count + from->socket_count;
	struct socket_books *all = realloc(into->sockets, (count ? count : 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (int i = 0; i < into->socket_count; i++)
		all[i].host = END_SENDER;
	for (int i = 0; i < from->socket_count; i++) {
		all[into->socket_count + i] = from->sockets[i];
		all[into->socket_count + i].host = END_RECEIVER;
	}
	into->sockets = all;
	into->socket_count = count;
	return 0;
}

static int join_stacks(struct ledger *into, const struct ledger *from)
{
	int count = into->stack_count + from->stack_count;
	struct copy_stack *all = realloc(into->stacks, (count + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	into->stacks = all;
	for (int i = 0; i < from->stack_count; i++)
		all[into->stack_count++] = from->stacks[i];
	return 0;
}

/* A host that asked for no zero copy referenced nothing, so none of its bytes are copied late. */
static bool nothing_there(const struct record *half, enum site site)
{
	return (site == SITE_tx_reference || site == SITE_late_copy) &&
	       record_probe_attached(half, "accepted") &&
	       !half->derived.total.count[COUNT_zerocopy_asked_sends];
}

static bool join_site(struct record *sender, const struct record *receiver, enum site site)
{
	struct site_value *a = &sender->sites[site];
	const struct site_value *b = &receiver->sites[site];

	if (b->how == HOW_NOT_MEASURED && nothing_there(receiver, site))
		return true;
	if (a->how == HOW_NOT_MEASURED || b->how == HOW_NOT_MEASURED) {
		const struct site_value *missing = a->how == HOW_NOT_MEASURED ? a : b;
		char why[WHY_BYTES];

		/* If both hosts lack it for the same reason, the reason names no host. */
		if (a->how == b->how && !strcmp(a->why, b->why))
			return true;
		snprintf(why, sizeof(why), "on the %s's host: %.200s", missing == a ? "sender" : "receiver",
			 missing->why);
		a->how = HOW_NOT_MEASURED;
		memcpy(a->why, why, sizeof(why));
		return true;
	}
	if (b->how == HOW_DERIVED && a->how == HOW_MEASURED) {
		a->how = HOW_DERIVED;
		snprintf(a->why, sizeof(a->why), "on the receiver's host: %.200s", b->why);
	}
	return tally_add(&a->tally, &b->tally);
}

static void join_experiments(struct record *sender, struct record *receiver)
{
	struct experiment *into = sender->experiment, *from = receiver->experiment;

	into->app[END_RECEIVER] = from->app[END_RECEIVER];
	from->app[END_RECEIVER].sockets = NULL;
	from->app[END_RECEIVER].socket_count = 0;
	into->ends.end[END_RECEIVER] = from->ends.end[END_RECEIVER];
	if (!into->ends.interrupt_signal)
		into->ends.interrupt_signal = from->ends.interrupt_signal;
	if (!*into->ends.failure)
		memcpy(into->ends.failure, from->ends.failure, sizeof(into->ends.failure));
	memcpy(into->counters[END_RECEIVER], from->counters[END_RECEIVER],
	       sizeof(into->counters[END_RECEIVER]));
	memcpy(from->path.tx_dev, into->path.tx_dev, sizeof(from->path.tx_dev));
	memcpy(into->path.rx_dev, from->path.rx_dev, sizeof(into->path.rx_dev));
	into->far = receiver;
}

int join_halves(struct record *sender, struct record *receiver)
{
	struct ledger *into = &sender->derived;
	const struct ledger *from = &receiver->derived;
	unsigned long long lost_updates = into->gauges.lost_updates;
	bool fits = books_add(&into->total, &from->total) &&
		    count_add(&lost_updates, from->gauges.lost_updates);
	int err;

	for (enum site s = 0; s < SITE_COUNT; s++)
		fits &= join_site(sender, receiver, s);
	into->gauges.lost_updates = lost_updates;
	err = fits ? join_sockets(into, from) : -ERANGE;

	if (!err)
		err = join_stacks(into, from);
	if (err)
		return err;
	join_experiments(sender, receiver);
	return 0;
}
