// SPDX-License-Identifier: GPL-2.0
/* Why bytes were copied, whether sums may be short, what kind of verdict each process gets. */
#include "userspace/watch/books/watch_judge.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "userspace/judge/causes.h"
#include "userspace/judge/laws.h"
#include "userspace/judge/sides.h"
#include "userspace/watch/books/books_fate.h"
#include "userspace/watch/books/books_tally.h"

/* Of what was counted stacks tell, though something may have been missed besides. */
void watch_causes_fill(struct watch_record *r, const struct copy_stack *stacks, int count)
{
	struct watch_movements m = r->total.moved;
	struct cause_list list = { r->causes, 0 };

	m.sites_known |= 1u << SITE_late_copy | 1u << SITE_reshape;
	causes_of_sum(&list, &m, stacks, count, count);
	r->cause_count = list.count;
}

int watch_laws_broken(const struct watch_record *r)
{
	return laws_broken(r->laws, r->law_count) + r->cpu_broken;
}

static void reason(char why[WHY_BYTES], uint64_t n, const char *what)
{
	size_t at = strlen(why);

	if (n)
		snprintf(why + at, WHY_BYTES - at, "%s%llu %s", at ? "; " : "", (unsigned long long)n, what);
}

bool watch_sums_short(const struct watch_record *r, char why[WHY_BYTES])
{
	const struct law *probes = &r->laws[WATCH_LAW_probes];

	*why = '\0';
	reason(why, r->lost_ends, "ends of sockets found no room");
	reason(why, r->lost_members, "processes found no room");
	reason(why, r->lost_events - r->lost_ends - r->lost_members, "counts found no room");
	reason(why, r->unbooked_sockets, "sockets were not counted");
	reason(why, r->unopened_sockets, "sockets lay in network namespaces that were not entered, or moved datagrams before "
	       "their hooks were attached");
	reason(why, r->unseen_events, "ends or changes of sockets of this machine were not seen");
	if (!*why && probes->status != LAW_BALANCED)
		snprintf(why, WHY_BYTES, "%s", *probes->why ? probes->why : "events may have been missed");
	return *why;
}

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
	uint64_t handed = m->site[SITE_tx_reference].bytes + watch_spliced_by_calls(m);
	const struct watch_fate *fate = &m->fate;

	if (!handed)
		return 0;
	if (fate->later)
		return bit(fate->later + fate->held >= handed ? VERDICT_IN_VAIN : VERDICT_PARTLY);
	return bit(fate->uncopied && fate->uncopied + fate->held >= handed && !fate->unsure ? VERDICT_CLEAN : VERDICT_NOT_KNOWN);
}

static uint32_t of_sends(const struct watch_movements *m)
{
	uint32_t ignored = told(m, COUNT_unset_sends) || m->declined_bytes ? bit(VERDICT_IN_VAIN) : 0;
	uint32_t encrypted = told(m, COUNT_tls_accepted_bytes) ? bit(VERDICT_ENCRYPTED) : 0;

	if (!m->count[COUNT_accepted_bytes])
		return 0;
	if (!sites_known(m, 1u << SITE_tx_reference | 1u << SITE_tx_splice))
		return bit(VERDICT_NOT_KNOWN);
	return ignored | encrypted | of_handed(m);
}

/* A map leaves what fills no page to recv: only one of which nothing ever came was asked for in vain. */
static uint32_t of_receives(const struct watch_movements *m)
{
	bool unmapped = told(m, COUNT_map_calls) && sites_known(m, 1u << SITE_rx_map) && !m->site[SITE_rx_map].bytes;
	uint32_t ways = unmapped ? bit(VERDICT_IN_VAIN) : 0;

	if (told(m, COUNT_tls_received_bytes))
		ways |= bit(VERDICT_ENCRYPTED);
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

/* Histograms of a process that the record does not have go to those of all such ones. */
static void sizes_give(struct watch_record *r, const struct watch_ids *processes, int at)
{
	const struct call_sizes *sizes = &r->sizes.all[at];
	const struct watch_process_id id = { .pid = sizes->task.tgid, .started_ns = sizes->task.started_ns };
	int place = watch_ids_find(processes, &id);

	if (place >= 0) {
		r->processes[place].sizes = sizes;
		r->processes[place].holds = &r->sizes.holds[at];
		return;
	}
	for (int way = 0; way < CALL_WAY_COUNT; way++)
		for (int i = 0; i < SIZE_BUCKETS; i++) {
			r->sizes.all->bucket[way][i].calls += sizes->bucket[way][i].calls;
			r->sizes.all->bucket[way][i].bytes += sizes->bucket[way][i].bytes;
		}
}

static const char *sizes_untestable(const struct watch_record *r, uint64_t strays)
{
	const struct watch_sum *total = &r->total;

	if (total->unsized_calls)
		return "some calls came before it was known that their sockets are the subject's";
	if (strays)
		return "processes of the subject called on sockets of others";
	if (total->tls_sockets)
		return "calls of kernel TLS are not those of TCP";
	if (total->sockets > total->died)
		return "a call may have been under way when the window closed";
	/* Of any process. What the subject's moved would be in the sizes, and in no book. */
	if (r->sizes.began_since && r->sizes.told_bytes > r->sizes.returned_bytes)
		return "a socket began while the sums were read";
	return r->lost_events || r->unbooked_sockets || r->unseen_events ? "not every socket was counted" : NULL;
}

/* The law's row in the record, which is its last one. */
static struct law *law_begin(struct watch_record *r, enum law_id id)
{
	struct law *law = &r->laws[r->law_count];

	*law = law_untested(id);
	r->law_count++;
	return law;
}

static void sizes_weigh(struct watch_record *r, uint64_t strays)
{
	struct law *law = law_begin(r, LAW_sizes);
	struct watch_sizes *s = &r->sizes;
	const char *why = NULL;

	s->told_bytes = 0;
	for (int i = 0; i < s->count; i++)
		for (int way = 0; way < CALL_WAY_COUNT; way++)
			s->told_bytes += way == CALL_RECV_PEEK ? 0 : size_sum(&s->all[i], way).bytes;
	s->returned_bytes = r->total.called_bytes;
	if (s->told_bytes != s->returned_bytes)
		why = sizes_untestable(r, strays);
	if (why)
		say_why(law, why);
	else
		weigh(law, (struct sides){ s->told_bytes, s->returned_bytes });
}

int watch_sizes_fill(struct watch_record *r, uint64_t strays)
{
	struct watch_ids processes = {};
	int err = watch_ids_fill(&processes, r);

	sizes_weigh(r, strays);
	r->sizes.unsized_calls = r->total.unsized_calls;
	for (int i = 1; i < r->sizes.count && !err; i++)
		sizes_give(r, &processes, i);
	watch_ids_free(&processes);
	return err;
}

/* What a call that was under way at an end of the window moved stands on one side alone. NULL: it can be tested. */
static const char *why_untestable(const struct watch_socket *s, int64_t moved, int64_t by_calls)
{
	const uint64_t wanted = 1ull << COUNT_accepted_bytes | 1ull << COUNT_returned_bytes | 1ull << COUNT_peeked_bytes;

	if (s->apart || s->unopened)
		return "calls of a layer above TCP are others";
	if ((s->moved.counts_known & wanted) != wanted)
		return "what it moved is not measured";
	if (moved == by_calls)
		return NULL;
	/* Known where a hook tells of the calls that pass pages on. */
	if (!(s->moved.sites_known >> SITE_rx_splice & 1) && moved - (int64_t)s->moved.passed_bytes == by_calls)
		return "bytes were spliced out or mapped, and no tracepoint tells by which calls";
	return !s->laws[WATCH_LAW_sends].known ? s->laws[WATCH_LAW_sends].why :
	       !s->laws[WATCH_LAW_receives].known ? s->laws[WATCH_LAW_receives].why : NULL;
}

/* How far what was sampled may lie from what was moved: four deviations. A gap is anything from a half to one and a half
 * of .stack_every, and each processor has one under way at either end. */
static double sampling_error(const struct watch_record *r)
{
	double samples = 0;

	for (int i = 0; i < r->stacks.stack_count; i++)
		samples += r->stacks.stacks[i].calls;
	return r->stack_every ? 4 * r->stack_every * sqrt(samples / 12 + r->machine.cpus) : 0;
}

void watch_stacks_weigh(struct watch_record *r)
{
	struct law *law = law_begin(r, LAW_stacks);
	struct watch_law_sum sum = {};
	uint64_t kept = 0;

	for (int i = 0; i < r->socket_count; i++) {
		const struct watch_socket *s = &r->sockets[i];
		const unsigned long long *count = s->moved.count;
		struct watch_sides sides = {
			.left = count[COUNT_accepted_bytes] + count[COUNT_returned_bytes] + count[COUNT_peeked_bytes],
			.right = s->stacked_bytes + s->unstacked_bytes,
		};

		sides.why = why_untestable(s, sides.left, sides.right);
		sides.known = !sides.why;
		watch_law_add(&sum, &sides);
	}
	watch_law_tell(law, LAW_stacks, &sum, 0);
	/* The table of stacks, against what its programs noted beside the books of sockets. */
	for (int i = 0; i < r->stacks.stack_count; i++)
		kept += r->stacks.stacks[i].bytes;
	if (fabs((double)kept - r->total.stacked_bytes) <= sampling_error(r))
		return;
	law->right += kept - r->total.stacked_bytes;
	law->residual = law->left - law->right;
	law->status = kept < r->total.stacked_bytes ? LAW_BROKEN : LAW_NOT_TESTABLE;
	snprintf(law->why, WHY_BYTES, law->status == LAW_BROKEN ? "stacks hold %llu bytes less than calls moved" :
		 "processes of the subject moved %llu bytes by sockets of others",
		 (unsigned long long)(law->status == LAW_BROKEN ? r->total.stacked_bytes - kept : kept - r->total.stacked_bytes));
}
