// SPDX-License-Identifier: GPL-2.0
/* Decides which verdict of the table a watched process gets. */
#include "userspace/watch/judge/watch_judge.h"

static bool count_known(const struct watch_movements *m, enum count count)
{
	return m->counts_known >> count & 1;
}

static bool sites_known(const struct watch_movements *m, uint32_t sites)
{
	return (m->sites_known & sites) == sites;
}

/* What a count says, if it is known: 0 asks for no verdict. */
static uint64_t told(const struct watch_movements *m, enum count count)
{
	return count_known(m, count) ? m->count[count] : 0;
}

static uint32_t bit(enum verdict_of_process verdict)
{
	return 1u << verdict;
}

/* Of bytes that send took by reference or spliced. What has not left yet decides nothing. */
static uint32_t of_handed(const struct watch_movements *m)
{
	uint64_t handed = m->site_bytes[SITE_tx_reference] + m->site_bytes[SITE_tx_splice];
	const struct watch_fate *fate = &m->fate;

	if (!handed)
		return 0;
	if (fate->later)
		return bit(fate->later + fate->held >= handed ? VERDICT_IN_VAIN : VERDICT_PARTLY);
	return bit(fate->uncopied && fate->uncopied + fate->held >= handed ? VERDICT_CLEAN : VERDICT_NOT_KNOWN);
}

static uint32_t of_sends(const struct watch_movements *m)
{
	uint32_t ignored = told(m, COUNT_unset_sends) ? bit(VERDICT_IN_VAIN) : 0;

	if (!m->count[COUNT_accepted_bytes])
		return 0;
	if (!sites_known(m, 1u << SITE_tx_reference | 1u << SITE_tx_splice))
		return bit(VERDICT_NOT_KNOWN);
	return ignored | of_handed(m);
}

/* A map leaves what fills no page to recv: only one of which nothing ever came was asked for in vain. */
static uint32_t of_receives(const struct watch_movements *m)
{
	bool unmapped = told(m, COUNT_map_calls) && sites_known(m, 1u << SITE_rx_map) && !m->site_bytes[SITE_rx_map];
	uint32_t ways = unmapped ? bit(VERDICT_IN_VAIN) : 0;

	if (m->count[COUNT_returned_bytes] && !m->passed_unknown && m->passed_bytes)
		ways |= bit(VERDICT_CLEAN);
	return ways;
}

/* That nothing was to go without a copy is told of those sites alone that were measured. */
static bool is_plain(const struct watch_movements *m)
{
	return (!m->count[COUNT_accepted_bytes] || sites_known(m, 1u << SITE_tx_copy)) &&
	       (!m->count[COUNT_returned_bytes] || (sites_known(m, 1u << SITE_rx_copy) && !m->passed_unknown));
}

static bool has_others(const struct watch_sum *sum)
{
	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++)
		if (sum->other[layer].sockets)
			return true;
	return false;
}

enum verdict_of_process watch_verdict(const struct watch_sum *sum)
{
	const struct watch_movements *m = &sum->moved;
	uint32_t ways = of_sends(m) | of_receives(m) | (told(m, COUNT_enobufs) ? bit(VERDICT_REFUSED) : 0);

	if (!count_known(m, COUNT_accepted_bytes) || !count_known(m, COUNT_returned_bytes))
		return VERDICT_NOT_KNOWN;
	if (!ways && !m->count[COUNT_accepted_bytes] && !m->count[COUNT_returned_bytes])
		return has_others(sum) ? VERDICT_NOT_KNOWN : VERDICT_MOVED_NOTHING;
	if (!ways)
		return is_plain(m) ? VERDICT_COPIES : VERDICT_NOT_KNOWN;
	if (ways & bit(VERDICT_NOT_KNOWN))
		return VERDICT_NOT_KNOWN;
	return ways & (ways - 1) ? VERDICT_MIXED : (enum verdict_of_process)__builtin_ctz(ways);
}

void watch_verdicts_fill(struct watch_record *r)
{
	for (int i = 0; i < r->process_count; i++)
		r->processes[i].verdict = watch_verdict(&r->processes[i].sum);
}
