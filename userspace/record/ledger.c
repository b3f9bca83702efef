// SPDX-License-Identifier: GPL-2.0
/* Copies and frees what the probes counted. Pure. */
#include "userspace/record/ledger.h"

#include <errno.h>
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
