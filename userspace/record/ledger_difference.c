// SPDX-License-Identifier: GPL-2.0
/* What was counted between two readings of one window. Pure. */
#include <errno.h>
#include <string.h>

#include "userspace/record/books.h"
#include "userspace/record/ledger.h"

static bool count_less(unsigned long long *from, unsigned long long less)
{
	bool fits = *from >= less;

	*from -= less;
	return fits;
}

static bool tally_less(struct tally *from, const struct tally *less)
{
	bool bytes = count_less(&from->bytes, less->bytes);

	return count_less(&from->calls, less->calls) && bytes;
}

static bool books_less(struct books *from, const struct books *less)
{
	bool fits = true;

	for (int s = 0; s < SITE_COUNT; s++)
		fits &= tally_less(&from->site[s], &less->site[s]);
	for (int c = 0; c < COUNT_COUNT; c++)
		fits &= count_less(&from->count[c], less->count[c]);
	return fits;
}

static struct socket_books *socket_find(const struct ledger *in, const struct socket_books *like)
{
	for (int i = 0; i < in->socket_count; i++)
		if (in->sockets[i].cookie == like->cookie && in->sockets[i].host == like->host)
			return &in->sockets[i];
	return NULL;
}

static bool sockets_less(struct ledger *from, const struct ledger *less)
{
	bool fits = true;

	for (int i = 0; i < less->socket_count; i++) {
		struct socket_books *socket = socket_find(from, &less->sockets[i]);

		fits &= socket && books_less(&socket->books, &less->sockets[i].books);
	}
	return fits;
}

/* Two stacks are one if they read alike: addresses within one function are not told apart. */
static struct copy_stack *stack_find(const struct ledger *in, const struct copy_stack *like)
{
	for (int i = 0; i < in->stack_count; i++)
		if (in->stacks[i].site == like->site &&
		    in->stacks[i].circumstances == like->circumstances &&
		    !strcmp(in->stacks[i].frames, like->frames))
			return &in->stacks[i];
	return NULL;
}

/* Stacks that read alike become one, in place. */
static bool stacks_merge(struct ledger *ledger)
{
	int count = ledger->stack_count;
	bool fits = true;

	ledger->stack_count = 0;
	for (int i = 0; i < count; i++) {
		const struct copy_stack stack = ledger->stacks[i];
		struct copy_stack *same = stack_find(ledger, &stack);

		if (same)
			fits &= tally_add(&same->tally, &stack.tally);
		else
			ledger->stacks[ledger->stack_count++] = stack;
	}
	return fits;
}

static bool stacks_less(struct ledger *from, const struct ledger *less)
{
	bool fits = true;
	int kept = 0;

	for (int i = 0; i < less->stack_count; i++) {
		struct copy_stack *stack = stack_find(from, &less->stacks[i]);

		fits &= stack && tally_less(&stack->tally, &less->stacks[i].tally);
	}
	for (int i = 0; i < from->stack_count; i++)
		if (from->stacks[i].tally.bytes || from->stacks[i].tally.calls)
			from->stacks[kept++] = from->stacks[i];
	from->stack_count = kept;
	return fits;
}

static bool gauges_less(struct ledger *from, const struct ledger *less)
{
	const struct gauges *before = &less->gauges;
	struct gauges *g = &from->gauges;
	bool fits = g->peak_pages >= before->peak_pages;

	from->peak_unknown = g->peak_pages == before->peak_pages && before->peak_pages;
	if (before->first_byte_ns)
		g->first_byte_ns = 0;
	fits &= count_less(&g->injected_faults, before->injected_faults);
	return count_less(&g->lost_updates, before->lost_updates) && fits;
}

int ledger_difference(const struct ledger *later, const struct ledger *earlier,
		      struct ledger *between)
{
	bool fits;
	int err = ledger_copy(between, later);

	if (err)
		return err;
	fits = stacks_merge(between);
	fits &= books_less(&between->total, &earlier->total);
	fits &= sockets_less(between, earlier);
	fits &= stacks_less(between, earlier);
	fits &= gauges_less(between, earlier);
	if (fits)
		return 0;
	ledger_free(between);
	return -ERANGE;
}
