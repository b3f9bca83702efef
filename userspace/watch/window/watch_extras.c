// SPDX-License-Identifier: GPL-2.0
/* What a reading says beside the books: cost of looking, losses, processes, what is not covered. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "userspace/common/clock.h"
#include "userspace/watch/window/watch_parts.h"

static uint64_t own_cpu_ns(void)
{
	struct timespec used = {};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * NS_PER_S + used.tv_nsec;
}

/* Packets and notifications are counted in softirqs, which interrupt tasks in the same programs. Of
 * packets that leave, the book of each socket tells whether all were seen. */
static bool is_of_packets(const char *metric)
{
	static const char *const names[] = { "drops", "late_copy", "completions", "taps" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(metric, names[i]))
			return true;
	return false;
}

bool watch_skipped(const struct watch_record *r)
{
	for (int i = 0; i < r->probe_count; i++) {
		const struct probe *p = &r->probes[i];

		if (is_of_packets(p->metric) && (p->missed_runs || p->missed_hits))
			return true;
	}
	return false;
}

/* Without those, and of sockets that begin, change and end by a census of books, which is exact. */
static void unseen_fill(const struct watch *w, struct watch_record *r)
{
	r->unseen_events = watch_probes_unseen(w->probes);
	for (int i = 0; i < r->probe_count; i++)
		if (!is_of_packets(r->probes[i].metric) && strcmp(r->probes[i].metric, "sequence"))
			r->unseen_events += r->probes[i].missed_runs;
}

static void overhead_fill(const struct watch *w, struct watch_record *r)
{
	struct watch_overhead *o = &r->overhead;
	uint64_t time_ns = 0;

	for (int i = 0; i < r->probe_count; i++) {
		o->events += r->probes[i].runs;
		time_ns += r->probes[i].run_time_ns;
	}
	o->known = o->events && time_ns;
	if (o->known) {
		o->ns_per_event = (double)time_ns / o->events;
		o->share = (double)time_ns / ((double)r->window_ns * w->cpus);
	}
	o->own_cpu_ns = own_cpu_ns();
	o->memory_bytes = watch_probes_memory(w->probes);
}

static void member_fill(struct watch_record *r, const struct watch_ids *known, const struct watch_member *m)
{
	const struct watch_process_id id = { m->task.tgid, m->task.started_ns };
	int at = watch_ids_find(known, &id);
	struct watch_process *p = &r->processes[at < 0 ? r->process_count++ : at];

	if (at < 0)
		*p = (struct watch_process){ .id = id, .sum = watch_sum_of_nothing() };
	memcpy(p->comm, m->task.comm, sizeof(p->comm));
	p->cgroup = m->task.cgroup;
	p->joined = m->joined;
	p->ended = m->ended_ns;
}

/* Also processes of the subject that used no socket. */
static int members_fill(struct watch *w, struct watch_record *r)
{
	struct watch_member *members;
	struct watch_ids known = {};
	int count = watch_probes_members(w->probes, &members), err = count < 0 ? count : 0;
	struct watch_process *more;

	for (int i = 0; i < r->process_count && !err; i++)
		err = watch_ids_put(&known, &r->processes[i].id, i);
	more = err ? NULL : realloc(r->processes, (r->process_count + count + w->tally.gone_count + 1) *
							  sizeof(*more));
	if (more) {
		r->processes = more;
		for (int i = 0; i < count; i++)
			member_fill(r, &known, &members[i]);
		for (int i = 0; i < w->tally.gone_count; i++)
			member_fill(r, &known, &w->tally.gone[i]);
	}
	watch_ids_free(&known);
	free(members);
	return err ? err : more ? 0 : -ENOMEM;
}

static void gap(struct watch_record *r, const char *what, bool seen, const char *why)
{
	struct watch_gap *g = &r->not_covered[r->gap_count++];

	g->what = what;
	g->seen = seen;
	snprintf(g->why, WHY_BYTES, "%s", why);
}

/* Sockets of these are found whenever they are seen, so that none is listed that was not. */
static void layers_fill(struct watch_record *r)
{
	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++) {
		uint64_t sockets = r->total.other[layer].sockets;

		if (!sockets)
			continue;
		gap(r, watch_layer_name(layer), true, "what TCP carried for it is in no sum of sites: whether "
		    "it was copied above TCP is not measured");
		r->not_covered[r->gap_count - 1].sockets = sockets;
	}
}

static void gaps_fill(const struct watch *w, struct watch_record *r)
{
	uint64_t sockmaps = watch_probes_gauges(w->probes).sockmaps;

	if (w->subject.netns_short)
		gap(r, "network namespaces", true,
		    "there were more than this process may enter: what older sockets there moved is not measured");
	layers_fill(r);
	gap(r, "UNIX sockets, UDP, AF_XDP, RDMA, SMC", false, "only TCP has these books");
	if (sockmaps)
		gap(r, "sockmap redirects to ingress", true,
		    "this machine has a sockmap, and what it redirects moves no sequence number");
}

static int by_id(const void *id, const void *cgroup)
{
	uint64_t x = *(const uint64_t *)id, y = ((const struct watch_cgroup *)cgroup)->id;

	return (x > y) - (x < y);
}

/* Each number once, those of sockets and of processes. */
static void cgroup_add(const struct watch *w, struct watch_record *r, uint64_t id)
{
	const struct watch_cgroup *known;

	for (int i = r->cgroup_count - 1; i >= 0; i--)
		if (r->cgroups[i].id == id)
			return;
	known = w->cgroup_count ?
			bsearch(&id, w->cgroups, w->cgroup_count, sizeof(*known), by_id) : NULL;
	if (known)
		r->cgroups[r->cgroup_count++] = *known;
}

static void cgroups_fill(const struct watch *w, struct watch_record *r)
{
	r->cgroups = malloc((w->cgroup_count + 1) * sizeof(*r->cgroups));
	if (!r->cgroups)
		return;
	for (int i = 0; i < r->process_count; i++)
		cgroup_add(w, r, r->processes[i].cgroup);
	for (int i = 0; i < r->socket_count; i++)
		cgroup_add(w, r, r->sockets[i].cgroup);
}

/* The kernel makes storage of sockets by this instruction since 6.19, unless it checks its caches. */
static bool lacks_cmpxchg16b(void)
{
#ifdef __x86_64__
	unsigned int a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && !(c & bit_CMPXCHG16B);
#else
	return false;
#endif
}

static void unbooked_explain(struct watch_record *r, uint64_t unbooked)
{
	const char *why = !unbooked ? "the table of counts had no room, so their sites are not measured" :
			  !lacks_cmpxchg16b() ? "the kernel gave no memory for books of sockets" :
			  "the kernel gave no memory for books of sockets. This processor lacks cmpxchg16b, by "
			  "which 6.19 and later make it: boot with slab_debug=F,kmalloc-*";

	snprintf(r->unbooked_why, WHY_BYTES, "%s", r->unbooked_sockets ? why : "");
}

/* What was not seen may have been of any process: then nobody knows whether a book is missing. */
static void events_weigh(struct law *law, const struct watch_record *r, uint64_t unbooked)
{
	law->known = true;
	law->left = law->residual = r->lost_events + unbooked;
	law->right = 0;
	law->status = law->residual ? LAW_BROKEN : LAW_BALANCED;
	snprintf(law->why, WHY_BYTES, "%s", unbooked ? r->unbooked_why :
					    law->residual ? "a table or the ring had no room" : "");
	if (law->residual || (!r->unseen_events && !r->unopened_sockets))
		return;
	law->known = false;
	law->status = LAW_NOT_TESTABLE;
	if (!r->unseen_events) {
		snprintf(law->why, WHY_BYTES, "sockets lay in network namespaces that were not entered");
		return;
	}
	snprintf(law->why, WHY_BYTES,
		 "the kernel ran no program for %llu moments at which sockets of this machine begin, change, "
		 "end or move bytes: sums may be short", (unsigned long long)r->unseen_events);
}

int watch_read_extras(struct watch *w, struct watch_record *r)
{
	struct watch_gauges gauges = watch_probes_gauges(w->probes);
	uint64_t pages = r->total.closing.item[WATCH_referenced_pages];
	struct law *events = &r->laws[WATCH_LAW_events];
	int err;

	r->lost_events = gauges.lost_deaths + gauges.lost_members;
	r->unbooked_sockets = gauges.unbooked + gauges.no_slots;
	unbooked_explain(r, gauges.unbooked);
	if (pages > w->peak_pages)
		w->peak_pages = pages;
	r->referenced_peak_pages = w->peak_pages;
	unseen_fill(w, r);
	events_weigh(events, r, gauges.unbooked);
	overhead_fill(w, r);
	gaps_fill(w, r);
	err = members_fill(w, r);
	cgroups_fill(w, r);
	return err;
}
