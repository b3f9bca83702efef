// SPDX-License-Identifier: GPL-2.0
/* Opens a window over processes that run, collects sockets that die, and makes a record of a reading. */
#include "userspace/watch/window.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "userspace/common/clock.h"
#include "userspace/common/numbers.h"
#include "userspace/common/system/confine.h"
#include "userspace/engine/engine.h"
#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/choose.h"
#include "userspace/watch/gaps.h"
#include "userspace/watch/options/subject.h"
#include "userspace/watch/program_reader.h"

/* Samples of the clock fill their tables and wake nobody: engine_samples_due() is asked after so many at most. */
enum { SAMPLES_UNASKED = CPU_STACKS / 4 };
/* A control group, or a name, that nobody has for so long has ended. */
enum { JOIN_MS = 20 };
/* Sets of hooks that sockets of UDP need and no other passes; those that are attached once a socket needs them. */
enum { OF_DATAGRAMS = HOOKS_DATAGRAMS | HOOKS_QUEUES, ON_DEMAND = HOOKS_ZEROCOPY | HOOKS_SHARED | OF_DATAGRAMS };

struct watch {
	struct engine *probes;
	struct watch_subject subject;
	enum watch_books books;
	bool details, sizes, glances;
	unsigned int cpu_hz;
	struct kept_stacks stacks;
	const char *cpu_clock;	/* NULL: the kernel refused, and why */
	char cpu_why[WHY_BYTES];
	struct watch_hooked hooked;
	struct watch_tally tally;
	uint64_t opened_ns, read_ns;	/* CLOCK_MONOTONIC */
	uint64_t peak_pages;
	const struct measured *begun;
	struct watch_cgroup *cgroups;	/* owned: those that there were when the window opened */
	int cgroup_count;
	struct tls_book tls_book;	/* .hooked has it, of the socket that is judged, */
	struct books detail;	/* and this */
	unsigned int tried;	/* sets of hooks that were attached on demand, or refused, of enum hook_set */
	int failure;		/* a socket that died could not be kept */
};

static bool tls_is_hooked(const struct engine *p)
{
	static const char *const metrics[] = { "TLS", "TLS accepted", "TLS returned", "TLS records", "rx_direct",
		"tls_copy", "tls_reference", "tls_splice", "tls_encrypt", "tls_decrypt", "tx_splice" };
	bool hooked = true;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		hooked &= engine_have(p, metrics[i]);
	return hooked;
}

/* What lies beside the book of the socket that is judged next. */
static void beside_note(struct watch *w, const struct watch_book *book)
{
	bool tls = book->slot.tls && !engine_tls(w->probes, book, &w->tls_book);

	w->hooked.tls_book = tls ? &w->tls_book : NULL;
	w->hooked.detail = engine_detail(w->probes, book, &w->detail) ? NULL : &w->detail;
}

static bool has_trampolines(const struct watch *w)
{
	char why[WHY_BYTES];

	return engine_backend(w->probes, why) == BACKEND_TRAMPOLINE;
}

static void hooked_note(struct watch *w)
{
	w->hooked = (struct watch_hooked){
		.sends = engine_have(w->probes, "sends") ||
			 (engine_have(w->probes, "tx_reference") &&
			  engine_have(w->probes, "tx_splice")),
		.rx_copies = engine_have(w->probes, "rx_copy"),
		.rx_calls = engine_have(w->probes, "rx_splice") &&
			    engine_have(w->probes, "rx_map"),
		.urgent = engine_have(w->probes, "urgent") && engine_have(w->probes, "rx_discard"),
		.discards = engine_have(w->probes, "rx_discard"),
		.completions = engine_have(w->probes, "notifications"),
		.calls = w->books == WATCH_CALLS && engine_have(w->probes, "accepted") &&
			 engine_have(w->probes, "returned"),
		.packets = engine_have(w->probes, "departures"),
		.late_copies = has_trampolines(w) && engine_have(w->probes, "late_copy"),
		.devices = engine_have(w->probes, "devices"),
		.moved = engine_have(w->probes, "moved"),
		.rings = engine_have(w->probes, "rings") && engine_have(w->probes, "rings overflowed"),
		.taps = engine_have(w->probes, "taps"),
		.details = engine_have(w->probes, "reshape"),
		.wire = engine_have(w->probes, "tx_copy"),
		.pins = engine_have(w->probes, "tx_reference") && engine_have(w->probes, "completions"),
		.fast_open = engine_have(w->probes, "fast open"),
		.trampolines = has_trampolines(w),
		.datagrams = engine_have(w->probes, "datagram sockets"),
		.handed = engine_have(w->probes, "datagrams handed"),
		.queued = engine_have(w->probes, "datagrams queued"),
		.datagram_drops = engine_have(w->probes, "datagrams dropped") ||
				  engine_have(w->probes, "datagrams queued"),
		/* The one that the kernel frees tells which. */
		.limits = engine_have(w->probes, "limits") &&
			  engine_have(w->probes, "drops"),
		.tls = tls_is_hooked(w->probes),
	};
}

static void configure(const struct watch_subject *s, struct engine_config *c)
{
	static const enum watch_filter filters[] = {
		[WATCH_PIDS] = WATCH_OF_TASKS, [WATCH_COMM] = WATCH_OF_TASKS,
		[WATCH_CGROUP] = WATCH_OF_TASKS, [WATCH_NETNS] = WATCH_OF_NETNS,
		[WATCH_PORTS] = WATCH_OF_PORTS, [WATCH_ALL] = WATCH_OF_ALL,
	};

	*c = (struct engine_config){ .filter = filters[s->by], .named = s->named, .left_out = s->left_out,
				     .childless = s->childless, .netns_count = s->netns_count };
	c->members_are_left_out = watch_leaves_processes_out(s);
	if (c->members_are_left_out) {
		c->named = s->left_out;
		c->named.port_count = s->named.port_count;
		memcpy(c->named.ports, s->named.ports, sizeof(c->named.ports));
		c->left_out.comm_count = c->left_out.cgroup_count = 0;
	}
	/* Who fits -p, too, is found as the window opens, or forked by one of these. */
	c->others_join = s->by != WATCH_PIDS && (c->named.comm_count || c->named.cgroup_count);
	c->cgroup_decides = c->others_join && !c->named.comm_count && !c->left_out.comm_count && !c->left_out.cgroup_count;
	memcpy(c->netns, s->netns, sizeof(c->netns));
	memcpy(c->netns_fds, s->netns_fds, sizeof(c->netns_fds));
}

/* What packets of the whole machine did until now. */
static void gauges_note(struct watch *w)
{
	const struct watch_gauges gauges = engine_gauges(w->probes);

	w->hooked.no_onward = !gauges.spliced_onward;
	w->hooked.no_sockmaps = !gauges.sockmaps && !gauges.sockmap_seen;
	w->hooked.no_orphans = !gauges.reshaped_orphans;
	w->hooked.no_rings = !gauges.rings_seen;
	w->hooked.rings &= !gauges.rings_overflowed;
}

/* A UDP socket without an address, of which no call moved a byte: programs make such ones to ask about devices. */
static bool is_no_endpoint(const struct watch_book *book)
{
	return book->flags & WATCH_DATAGRAMS && !book->local_port && !book->remote_port && !book->slot.send_calls &&
	       !book->slot.recv_calls;
}

static void death(void *arg, const struct watch_book *book)
{
	struct watch *w = arg;
	int err;

	if (is_no_endpoint(book))
		return;
	gauges_note(w);
	beside_note(w, book);
	err = watch_tally_death(&w->tally, book, &w->hooked);
	if (err)
		w->failure = err;
}

static void gone(void *arg, const struct watch_member *member)
{
	struct watch *w = arg;
	int err = watch_tally_gone(&w->tally, member);

	if (err)
		w->failure = err;
}

/* What died and ended since the last time. */
static int collect_ended(struct watch *w)
{
	const struct engine_ends ends = { death, gone, w };
	int err = engine_deaths(w->probes, &ends);

	return w->failure ? w->failure : err < 0 ? -EIO : 0;
}

/* What UDP needs at once. Of TCP nothing but a send by reference passes what both need with trampolines, and the first
 * datagram may be sent so. */
static unsigned int of_datagrams(const struct watch *w)
{
	return OF_DATAGRAMS | (has_trampolines(w) ? HOOKS_SHARED : 0);
}

/* What sockets of the subject need until now. Without trampolines packets alone tell what became of the pages of datagrams. */
static unsigned int hooks_due(const struct watch *w)
{
	const struct watch_gauges gauges = engine_gauges(w->probes);
	unsigned int due = gauges.zerocopy_seen ? HOOKS_ZEROCOPY : 0;

	if (gauges.datagrams_due && w->hooked.datagrams)
		due |= of_datagrams(w);
	if (gauges.datagrams_seen)
		due |= HOOKS_SHARED | HOOKS_ZEROCOPY;
	return due;
}

/* Opens the window; hooks that only zero copy or UDP needs are attached before, if a socket asks for it. */
static int open_books(struct watch *w, unsigned int sets, char why[WHY_BYTES])
{
	int err = 0;

	hooked_note(w);
	for (int round = 0; round < 2 && !err; round++) {
		err = sets ? engine_attach(w->probes, sets, why) : 0;
		w->tried |= sets;
		if (!err)
			err = engine_open(w->probes);
		if (!err)
			err = collect_ended(w);
		sets = hooks_due(w) & ~w->tried;
		if (!sets)
			break;
	}
	if (!err && w->sizes)
		err = engine_begin_sizes(w->probes);
	if (err && !*why)
		snprintf(why, WHY_BYTES, "cannot read the opening balances: %s", strerror(-err));
	hooked_note(w);
	return err;
}

/* The last that is attached: no sample is of the tool's own start. Without them the rest works. */
static void sample_cpu(struct watch *w, unsigned int hz)
{
	w->cpu_hz = hz;
	if (hz && engine_sample_cpu(w->probes, hz, &w->cpu_clock, w->cpu_why))
		w->cpu_clock = NULL;
}

/* What waits until a socket needs it, and a witness that nobody asked for. Without trampolines, UDP has no hook that
 * datagrams which arrive pass, and TCP does not. */
static unsigned int left_for_later(const struct watch *w, const struct watch_config *config)
{
	return HOOKS_ZEROCOPY | HOOKS_SHARED | (has_trampolines(w) ? OF_DATAGRAMS : 0) |
	       (config->books == WATCH_CALLS ? 0 : HOOKS_CALLS);
}

/* What is attached before any socket needs it. A socket that anybody makes is one of a subject that is everything, or of
 * ports, which it does not have yet. */
static unsigned int wanted_at_once(const struct watch *w, const struct watch_config *config)
{
	if (config->every_hook || config->details)
		return ON_DEMAND;
	return config->early_datagrams || w->subject.by == WATCH_ALL || w->subject.by == WATCH_PORTS ? of_datagrams(w) : 0;
}

int watch_open(struct watch **out, const struct watch_config *config, char why[WHY_BYTES])
{
	struct watch *w = calloc(1, sizeof(*w));
	struct engine_config probes;
	int err;

	*out = NULL;
	*why = '\0';
	if (!w)
		return -ENOMEM;
	w->subject = *config->subject;
	w->books = config->books;
	w->begun = config->begun;
	w->glances = config->glances;
	watch_tally_begin(&w->tally, 0);
	w->tally.forgets = w->subject.by == WATCH_NETNS || w->subject.by == WATCH_PORTS || w->subject.by == WATCH_ALL;
	w->cgroup_count = watch_cgroups_list(&w->cgroups);
	configure(&w->subject, &probes);
	probes.backend = config->backend;
	probes.fault_inject = config->fault_inject;
	probes.calls = config->books == WATCH_CALLS;
	probes.sets = HOOKS_ALWAYS | HOOKS_ZEROCOPY | HOOKS_CALLS | HOOKS_DATAGRAMS | HOOKS_QUEUES | HOOKS_SHARED |
		      HOOKS_BIRTHS | HOOKS_TLS | HOOKS_WATCH |
		      (config->details ? HOOKS_DETAIL | HOOKS_SYSCALLS : 0) | (config->sizes ? HOOKS_SIZES : 0);
	probes.hardware_dma = probes.references = true;
	probes.cpu = config->cpu_hz;
	probes.sizes = w->sizes = config->sizes;
	probes.stacks = config->stacks;
	probes.stack_every = config->stack_every;
	probes.looks = config->stacks || (config->cpu_hz && config->names);
	w->details = config->details;
	w->stacks.every = config->stack_every;
	err = engine_load(&w->probes, &probes, why);
	if (!err && w->details)
		engine_prepare_stacks(w->probes);
	if (!err)
		err = engine_attach(w->probes, HOOKS_ALL & ~left_for_later(w, config), why);
	if (!err)
		err = watch_choose(w->probes, &w->subject, why);
	if (!err)
		err = open_books(w, wanted_at_once(w, config), why) ?:
		      stacks_keep(&w->stacks, w->probes, config->stacks, config->cpu_hz, probes.looks, why);
	if (err) {
		watch_close(w);
		return err;
	}
	sample_cpu(w, config->cpu_hz);
	w->opened_ns = w->read_ns = monotonic_ns();
	*out = w;
	return 0;
}

/* Up to 5.18 kernel.unprivileged_bpf_disabled forbids maps to processes without CAP_BPF (c8644cd0efe7,
 * "bpf: refine kernel.unprivileged_bpf_disabled behaviour"); the programs of a watch need 6.1. */
int watch_confine(struct watch *w)
{
	int err = confine_for_good();

	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
	return err ? err : confine_syscalls(CONFINE_MEASURE);
}

/* A socket asked for zero copy, or one of UDP's needs more hooks, for the first time. */
static void attach_late(struct watch *w)
{
	unsigned int sets = hooks_due(w) & ~w->tried;
	char why[WHY_BYTES] = "";

	if (!sets)
		return;
	w->tried |= sets;
	engine_attach(w->probes, sets, why);
	hooked_note(w);
}

/* The end of the last process wakes at once, and another one may be about to join. */
static int alive_for_long(const struct watch *w)
{
	int alive = watch_alive(w->probes, &w->subject);

	if (alive || w->subject.by == WATCH_PIDS)
		return alive;
	sleep_ns(JOIN_MS * NS_PER_MS);
	return watch_alive(w->probes, &w->subject);
}

/* Each processor takes one sample a period. */
static int sampled_ms(const struct watch *w)
{
	return 1000ull * SAMPLES_UNASKED / w->cpu_hz / sysconf(_SC_NPROCESSORS_CONF);
}

int watch_wait(struct watch *w, int timeout_ms, int other)
{
	int err, most_ms = w->cpu_clock ? sampled_ms(w) : timeout_ms;

	engine_wait(w->probes, timeout_ms < most_ms ? timeout_ms : most_ms, other);
	stacks_look(&w->stacks);
	attach_late(w);
	err = collect_ended(w);
	if (!err && w->cpu_clock)
		err = samples_relieve(&w->stacks);
	return err ? err : alive_for_long(w);
}

/* Of all hooks but those of packets and of what a census of books says exactly. */
static void unseen_fill(const struct watch *w, struct watch_record *r)
{
	r->unseen_events = engine_unseen(w->probes);
	for (int i = 0; i < r->probe_count; i++)
		if (!watch_probe_is_of_packets(&r->probes[i]) && !probe_is_of_states(&r->probes[i]))
			r->unseen_events += r->probes[i].missed_runs;
}

/* A program that was skipped before the last book was read shows in the list that is taken after it. */
static int judge_books(struct watch *w, const struct watch_book *books, int count, struct watch_record *r)
{
	struct watch_socket *sockets = realloc(r->sockets, (count + 1) * sizeof(*sockets));
	int judged = 0;

	if (!sockets)
		return -ENOMEM;
	r->sockets = sockets;
	r->probe_count = engine_list(w->probes, r->probes);
	w->hooked.skipped = watch_unseen_firings(r);
	unseen_fill(w, r);
	gauges_note(w);
	for (int i = 0; i < count; i++) {
		if (is_no_endpoint(&books[i]))
			continue;
		beside_note(w, &books[i]);
		watch_tally_open(&w->tally, &sockets[judged++], &books[i], &w->hooked);
	}
	return watch_tally_read(&w->tally, sockets, judged, w->hooked.skipped, r);
}

static void overhead_fill(const struct watch *w, struct watch_record *r)
{
	r->overhead = (struct watch_overhead){
		.programs = overhead_of(&r->measured, true),
		.own_cpu_ns = processor_ns(),
		.memory_bytes = engine_memory(w->probes),
	};
}

/* @known: where the processes of @r stand. */
static int member_fill(struct watch_record *r, struct watch_ids *known, const struct watch_member *m)
{
	const struct watch_process_id id = { .pid = m->task.tgid, .started_ns = m->task.started_ns };
	int at = watch_ids_find(known, &id), err = 0;
	struct watch_process *p = &r->processes[at < 0 ? r->process_count : at];

	if (at < 0) {
		*p = (struct watch_process){ .id = id, .sum = watch_sum_of_nothing() };
		err = watch_ids_put(known, &id, r->process_count++);
	}
	memcpy(p->comm, m->task.comm, sizeof(p->comm));
	p->cgroup = m->task.cgroup;
	p->uid = m->task.uid;
	p->joined = m->joined;
	p->ended = m->ended_ns;
	return err;
}

/* Also processes of the subject that used no socket. */
static int members_fill(struct watch *w, struct watch_record *r)
{
	const struct watch_member *members;
	struct watch_ids known = {};
	bool of_others = watch_leaves_processes_out(&w->subject);
	int count = engine_members(w->probes, &members), err = watch_ids_fill(&known, r);
	struct watch_process *more;

	more = err ? NULL : realloc(r->processes, (r->process_count + count + w->tally.gone_count + 1) *
							  sizeof(*more));
	if (more)
		r->processes = more;
	else
		err = err ?: -ENOMEM;
	for (int i = 0; i < count && !err && !of_others; i++)
		err = member_fill(r, &known, &members[i]);
	for (int i = 0; i < w->tally.gone_count && !err && !of_others; i++)
		err = member_fill(r, &known, &w->tally.gone[i]);
	watch_ids_free(&known);
	return err;
}

static int by_id(const void *id, const void *cgroup)
{
	return numbers_order(*(const uint64_t *)id, ((const struct watch_cgroup *)cgroup)->id);
}

/* Each number once. */
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
static void probes_weigh(struct law *law, const struct watch_record *r, uint64_t unbooked)
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
		snprintf(law->why, WHY_BYTES, "sockets lay in network namespaces that were not entered, or moved datagrams before "
			 "their hooks were attached");
		return;
	}
	snprintf(law->why, WHY_BYTES, MOMENTS_UNSEEN ": sums may be short", (unsigned long long)r->unseen_events);
}

/* What is not in the books of sockets: overhead, peaks, processes that moved nothing, gaps. 0 or -errno. */
static int read_beside_books(struct watch *w, struct watch_record *r)
{
	struct watch_gauges gauges = engine_gauges(w->probes);
	uint64_t pages = r->total.closing.item[WATCH_referenced_pages];
	int err;

	r->lost_ends = gauges.lost_deaths;
	r->lost_members = gauges.lost_members;
	r->lost_events = r->lost_ends + r->lost_members + gauges.lost_updates;
	r->unbooked_sockets = gauges.unbooked + gauges.no_slots;
	unbooked_explain(r, gauges.unbooked);
	if (pages > w->peak_pages)
		w->peak_pages = pages;
	r->referenced_peak_pages = w->peak_pages;
	r->unseen_may_be_closed = r->unseen_events && !engine_walks_storages(w->probes);
	probes_weigh(&r->laws[WATCH_LAW_probes], r, gauges.unbooked);
	overhead_fill(w, r);
	gaps_fill(&(struct watch_looks){ w->probes, &w->subject, &w->hooked, w->details }, r);
	err = members_fill(w, r);
	cgroups_fill(w, r);
	return err;
}

/* By stacks where the programs keep them. */
static int causes_read(const struct watch *w, struct watch_record *r)
{
	struct ledger ledger = {};
	int err = w->details ? engine_stacks(w->probes, &ledger) : 0;

	if (!err)
		watch_causes_fill(r, ledger.stacks, ledger.stack_count);
	ledger_free(&ledger);
	return err;
}

static int cpu_read(struct watch *w, struct watch_record *r, bool last)
{
	r->cpu_hz = w->cpu_hz;
	r->cpu_clock = w->cpu_clock;
	memcpy(r->cpu_why, w->cpu_why, sizeof(r->cpu_why));
	return w->cpu_clock ? samples_read(&w->stacks, r, last) : 0;
}

/* Right after the books: calls of a socket that begins between the two are in the sizes alone. */
static int sizes_read(const struct watch *w, struct watch_record *r)
{
	r->sizes.asked = w->sizes;
	if (!w->sizes || !w->hooked.calls)
		return 0;
	r->sizes.count = engine_sizes(w->probes, &r->sizes.all, &r->sizes.holds);
	if (r->sizes.count < 0)
		return r->sizes.count;
	r->sizes.receives_known = w->hooked.rx_calls;
	r->sizes.readings_known = engine_tells_readings(w->probes);
	r->sizes.began_since = engine_began_since(w->probes);
	return 0;
}

/* The memory of its sockets, processes and groups stays: the kernel clears each page that it gives anew. */
static void record_empty(struct watch_record *r)
{
	struct watch_socket *sockets = r->sockets;
	struct watch_process *processes = r->processes;
	struct watch_groups groups[WATCH_GROUPINGS];

	memcpy(groups, r->groups, sizeof(groups));
	memset(r->groups, 0, sizeof(r->groups));
	r->sockets = NULL;
	r->processes = NULL;
	watch_record_free(r);
	r->sockets = sockets;
	r->processes = processes;
	memcpy(r->groups, groups, sizeof(groups));
}

static int read_all(struct watch *w, struct watch_record *r, bool last)
{
	const struct engine_ends ends = { death, gone, w };
	const struct watch_book *books;
	uint64_t now;
	int count, err;

	record_empty(r);
	r->measured = *w->begun;
	count = engine_books(w->probes, &ends, w->glances && !last, &books);
	now = monotonic_ns();
	err = count < 0 ? count : w->failure;
	if (!err)
		err = sizes_read(w, r) ?: judge_books(w, books, count, r);
	if (err)
		return err;
	r->backend = engine_backend(w->probes, r->backend_why);
	r->books = w->books;
	r->window_ns = now - w->opened_ns;
	r->lately_ns = now - w->read_ns;
	w->read_ns = now;
	err = read_beside_books(w, r);
	if (err)
		return err;
	r->details = w->details;
	watch_sites_fill(r);
	watch_verdicts_fill(r);
	err = cpu_read(w, r, last);
	if (!err && r->sizes.all)
		err = watch_sizes_fill(r, engine_gauges(w->probes).size_strays);
	return err ? err : causes_read(w, r);
}

int watch_read(struct watch *w, struct watch_record *r)
{
	return read_all(w, r, false);
}

int watch_read_last(struct watch *w, struct watch_record *r)
{
	stacks_end(&w->stacks);
	return read_all(w, r, true) ?: stacks_read(&w->stacks, r);
}

void watch_close(struct watch *w)
{
	if (!w)
		return;
	stacks_close(&w->stacks);
	engine_free(w->probes);
	watch_tally_free(&w->tally);
	free(w->cgroups);
	free(w);
}
