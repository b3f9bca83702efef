// SPDX-License-Identifier: GPL-2.0
/* Sums over sites of what moved, each known only if all of its terms are. */
#include "userspace/watch/report/figures.h"

#include <string.h>

#include "userspace/watch/books/books_fate.h"

struct figure figure_site(const struct watch_movements *m, enum site site)
{
	return (struct figure){ m->sites_known >> site & 1, m->site[site].bytes };
}

struct figure figure_count(const struct watch_movements *m, enum count count)
{
	return (struct figure){ m->counts_known >> count & 1, m->count[count] };
}

static struct figure plus(struct figure a, struct figure b)
{
	return (struct figure){ a.known && b.known, a.bytes + b.bytes };
}

struct figure figure_sent(const struct watch_movements *m)
{
	return figure_count(m, COUNT_accepted_bytes);
}

struct figure figure_received(const struct watch_movements *m)
{
	return figure_count(m, COUNT_returned_bytes);
}

uint64_t figure_moved(const struct watch_movements *m)
{
	struct figure sent = figure_sent(m), received = figure_received(m);

	return (sent.known ? sent.bytes : 0) + (received.known ? received.bytes : 0);
}

/* A socket that referenced nothing has nothing to copy later, whether anybody looked or not. */
struct figure figure_copied_later(const struct watch_movements *m)
{
	struct figure referenced = figure_site(m, SITE_tx_reference);
	struct figure late = figure_site(m, SITE_late_copy);
	struct figure moved = figure_count(m, COUNT_reshaped_referenced_bytes);

	return (struct figure){ late.known || (referenced.known && !referenced.bytes),
				late.bytes + (moved.known ? moved.bytes : 0) };
}

struct figure figure_spliced(const struct watch_movements *m)
{
	return (struct figure){ figure_site(m, SITE_tx_splice).known && figure_count(m, COUNT_tls_carried_bytes).known,
				watch_spliced_by_calls(m) };
}

static struct figure handed(const struct watch_movements *m)
{
	return plus(figure_site(m, SITE_tx_reference), figure_spliced(m));
}

struct figure figure_uncopied(const struct watch_movements *m)
{
	bool seen = m->fate.uncopied || !m->fate.unknown;

	return (struct figure){ handed(m).known && seen, m->fate.uncopied };
}

struct figure figure_unknown(const struct watch_movements *m)
{
	return (struct figure){ handed(m).known, m->fate.unknown };
}

struct figure figure_needless(const struct watch_movements *m)
{
	static const enum count ignored[] = { COUNT_unset_bytes, COUNT_nosg_bytes,
					      COUNT_fastopen_bytes };
	struct figure sum = figure_copied_later(m), meant = figure_site(m, SITE_tx_reference);

	/* A packet that is copied may carry plain bytes beside, or be sent and copied again. */
	if (sum.bytes > meant.bytes)
		sum = (struct figure){ sum.known && meant.known, meant.bytes };
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
		struct figure part = figure_count(m, ignored[i]);

		if (part.known)
			sum.bytes += part.bytes;
	}
	sum.known &= !m->declined_unknown;
	sum.bytes += m->declined_bytes;
	return sum;
}

struct figure figure_copied(const struct watch_movements *m)
{
	struct figure terms[] = { figure_site(m, SITE_tx_copy), figure_site(m, SITE_tls_copy),
				  figure_site(m, SITE_rx_copy), figure_copied_later(m) };
	/* What becomes of records behind the socket is not told. */
	bool records = m->count[COUNT_tls_carried_bytes];
	struct figure unknown = figure_unknown(m), sum = { unknown.known && !unknown.bytes && !records, 0 };

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		sum.known &= terms[i].known;
		sum.bytes += terms[i].known ? terms[i].bytes : 0;
	}
	return sum;
}
