// SPDX-License-Identifier: GPL-2.0
/* Loads and attaches the hooks that were chosen, opens and closes the gate. */
#include "userspace/trace/probes.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/tracepoint.skel.h"
#include "build/trampoline.skel.h"
#include "userspace/trace/firings.h"
#include "userspace/trace/hooks.h"
#include "userspace/trace/probes_choose.h"
#include "userspace/trace/probes_offer.h"
#include "userspace/trace/probes_read.h"

struct probes {
	struct trampoline *trampoline;
	struct tracepoint *tracepoint;
	struct probes_view view;
	const struct hook *hooks;
	struct bpf_link *links[PROBES_MAX];
	const char *workload_path;
	const char *detach;
	uint32_t sender_tgid;
	bool references;
	int stats_fd;
	struct firings *firings;	/* of the hooks that may run on top of any task */
	int vouched[FIRINGS_MAX];	/* their numbers in hooks and in the record */
	int vouched_count;
	int64_t offset[FIRINGS_MAX];	/* perf's count less the program's, as the gate opened */
};

enum { OFFSET_TRIES = 1000, OFFSET_READINGS = 9 };

/* libbpf's last complaint: told only if loading fails, because refusals are expected. */
static char last_complaint[WHY_BYTES];

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list args)
{
	if (getenv("COPYSCOPE_DEBUG") && level != LIBBPF_DEBUG)
		return vfprintf(stderr, format, args);
	if (level == LIBBPF_WARN) {
		vsnprintf(last_complaint, sizeof(last_complaint), format, args);
		last_complaint[strcspn(last_complaint, "\n")] = '\0';
	}
	return 0;
}

static int size_maps(struct bpf_object *object, int sockets)
{
	static const struct { const char *map; int each; int spare; } sizes[] = {
		{ "books", 1, 64 }, { "flows", 1, 64 }, { "pins", 128, 1024 },
		{ "frags_before", 1, 64 }, { "splicing", 1, 64 }, { "splice_reader", 1, 64 },
		{ "send_flags", 1, 64 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, sizes[i].map);

		if (map && bpf_map__set_max_entries(map, sizes[i].each * sockets + sizes[i].spare))
			return -errno;
	}
	return 0;
}

/* The two skeletons are different types with the same members. */
#define OPEN_SKELETON(p, name)                                                     \
	do {                                                                       \
		(p)->name = name##__open();                                        \
		if (!(p)->name)                                                    \
			return -errno;                                             \
		(p)->view.object = (p)->name->obj;                                 \
		(p)->name->rodata->sender_tgid = config->tgid[END_SENDER];         \
		(p)->name->rodata->receiver_tgid = config->tgid[END_RECEIVER];     \
		(p)->name->rodata->sabotage = config->sabotage;                    \
		(p)->name->rodata->cookies_on_demand = offer_cookies(btf);         \
	} while (0)

static int open_skeleton(struct probes *p, const struct probes_config *config,
			 const struct btf *btf, enum backend backend)
{
	if (backend == BACKEND_TRAMPOLINE) {
		OPEN_SKELETON(p, trampoline);
		p->hooks = trampoline_hooks;
	} else {
		OPEN_SKELETON(p, tracepoint);
		p->hooks = tracepoint_hooks;
	}
	return 0;
}

#define LOAD_SKELETON(p, name)                                  \
	do {                                                    \
		int err_ = name##__load((p)->name);             \
								\
		if (err_)                                       \
			return err_;                            \
		(p)->view.gate = &(p)->name->bss->gate_open;    \
		(p)->view.gauges = &(p)->name->bss->gauges;     \
		(p)->view.seen = (p)->name->bss->seen;          \
	} while (0)

static int load_skeleton(struct probes *p)
{
	if (p->trampoline)
		LOAD_SKELETON(p, trampoline);
	else
		LOAD_SKELETON(p, tracepoint);
	return 0;
}

static int load_backend(struct probes *p, const struct probes_config *config,
			const struct btf *btf, struct record *r)
{
	int err;

	r->backend = offer_backend(config->backend, btf, r->backend_why);
	err = open_skeleton(p, config, btf, r->backend);
	if (!err)
		err = size_maps(p->view.object, config->sockets);
	if (!err)
		err = probes_choose(p->view.object, p->hooks, p->detach, btf, r);
	if (err)
		return err;
	err = load_skeleton(p);
	if (err)
		snprintf(r->backend_why, WHY_BYTES, "the kernel refused the %s programs: %s%s%.100s",
			 backend_name(r->backend), strerror(-err), *last_complaint ? ": " : "",
			 last_complaint);
	return err;
}

int probes_load(struct probes **out, const struct probes_config *config, struct record *r)
{
	struct probes *p = calloc(1, sizeof(*p));
	struct btf *btf;
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->stats_fd = -1;
	p->workload_path = config->workload_path;
	p->detach = config->detach;
	p->references = config->references;
	p->sender_tgid = config->tgid[END_SENDER];
	libbpf_set_print(keep_complaint);
	snprintf(r->backend_why, WHY_BYTES, "cannot read the kernel's BTF");
	btf = btf__load_vmlinux_btf();
	err = btf ? load_backend(p, config, btf, r) : -ENOENT;
	btf__free(btf);
	if (err) {
		probes_free(p);
		return err;
	}
	/* The kernel then times each program, which adds about 20 ns a run. */
	p->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	r->stats_known = p->stats_fd >= 0;
	*out = p;
	return 0;
}

static struct bpf_link *attach_hook(struct probes *p, const struct hook *hook)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(p->view.object, hook->program);

	if (hook->kind == HOOK_USDT)
		return bpf_program__attach_usdt(prog, p->sender_tgid, p->workload_path, "copyscope",
						"gather", NULL);
	return bpf_program__attach(prog);
}

/* Letting go of a counter takes the kernel 60 ms or more, one after the other. Where the wire shows
 * that nothing was referenced, an arrival that was not seen has hidden no copy. */
static bool worth_vouching(const struct probes *p, const struct hook *hook)
{
	bool of_references = !strcmp(hook->question, "late_copy") || !strcmp(hook->question, "clean");

	return hook->event && (p->references || !of_references);
}

static void open_firings(struct probes *p, const struct record *r)
{
	const char *names[FIRINGS_MAX];

	for (int i = 0; i < r->probe_count && p->vouched_count < FIRINGS_MAX; i++) {
		if (r->probes[i].status != PROBE_ATTACHED || !worth_vouching(p, &p->hooks[i]))
			continue;
		names[p->vouched_count] = p->hooks[i].event;
		p->vouched[p->vouched_count++] = i;
	}
	p->firings = firings_open(names, p->vouched_count);
	if (p->firings)
		firings_start(p->firings);
}

int probes_attach(struct probes *p, struct record *r)
{
	for (int i = 0; i < r->probe_count; i++) {
		struct probe *probe = &r->probes[i];

		if (*probe->why)
			continue;
		p->links[i] = attach_hook(p, &p->hooks[i]);
		if (p->links[i]) {
			probe->status = PROBE_ATTACHED;
			continue;
		}
		probe->status = PROBE_REFUSED;
		snprintf(probe->why, WHY_BYTES, "the kernel refused it: %s", strerror(errno));
		if (p->hooks[i].rank == HOOK_PLAIN)
			continue;
		snprintf(r->backend_why, WHY_BYTES, "the kernel refused %s, which the %s backend needs",
			 probe->hook, backend_name(r->backend));
		return -ENOTSUP;
	}
	open_firings(p, r);
	return 0;
}

static uint64_t seen_by(const struct probes *p, enum seen_hook hook)
{
	uint64_t sum = 0;

	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		sum += __atomic_load_n(&p->view.seen[cpu].firings[hook], __ATOMIC_SEQ_CST);
	return sum;
}

/* Perf's count less the program's own, read until no firing came in between: packets of others
 * never stop. */
static int64_t firing_offset_once(const struct probes *p, int i)
{
	enum seen_hook hook = p->hooks[p->vouched[i]].seen;
	uint64_t seen = 0, fired = 0;

	for (int tries = 0; tries < OFFSET_TRIES; tries++) {
		seen = seen_by(p, hook);
		fired = firings_read(p->firings, i);
		if (seen == seen_by(p, hook))
			break;
	}
	return fired - seen;
}

/* A firing that is between perf's handler and the program shifts one reading: take the median. */
static int64_t firing_offset(const struct probes *p, int i)
{
	int64_t sorted[OFFSET_READINGS];

	for (int n = 0; n < OFFSET_READINGS; n++) {
		int64_t offset = firing_offset_once(p, i);
		int at = n;

		for (; at > 0 && sorted[at - 1] > offset; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = offset;
	}
	return sorted[OFFSET_READINGS / 2];
}

void probes_open_gate(struct probes *p)
{
	for (int i = 0; p->firings && i < p->vouched_count; i++)
		p->offset[i] = firing_offset(p, i);
	__atomic_store_n(p->view.gate, 1, __ATOMIC_SEQ_CST);
}

void probes_close_gate(struct probes *p, struct record *r)
{
	__atomic_store_n(p->view.gate, 0, __ATOMIC_SEQ_CST);
	for (int i = 0; p->firings && i < p->vouched_count; i++) {
		struct probe *probe = &r->probes[p->vouched[i]];
		int64_t grown = firing_offset(p, i) - p->offset[i];

		probe->vouched = true;
		probe->unseen = grown > 0 ? grown : 0;
	}
}

uint64_t probes_outstanding_pages(const struct probes *p)
{
	return __atomic_load_n(&p->view.gauges->outstanding_pages, __ATOMIC_SEQ_CST);
}

int probes_read(struct probes *p, struct record *r)
{
	for (int i = 0; i < r->probe_count; i++)
		if (r->probes[i].status == PROBE_ATTACHED)
			probe_read_runs(&p->view, p->hooks[i].program, &r->probes[i]);
	return ledger_read(&p->view, &r->ledger);
}

static void *link_end(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

static void *firings_end(void *firings)
{
	firings_close(firings);
	return NULL;
}

/* Detaching waits for the kernel's readers, 15 to 120 ms a hook: side by side, one wait is all. */
static void detach_all(struct probes *p)
{
	pthread_t threads[PROBES_MAX + 1];
	int count = 0;

	for (int i = 0; i < PROBES_MAX; i++) {
		if (!p->links[i])
			continue;
		if (pthread_create(&threads[count], NULL, link_end, p->links[i]))
			link_end(p->links[i]);
		else
			count++;
	}
	if (pthread_create(&threads[count], NULL, firings_end, p->firings))
		firings_end(p->firings);
	else
		count++;
	while (count)
		pthread_join(threads[--count], NULL);
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	detach_all(p);
	if (p->stats_fd >= 0)
		close(p->stats_fd);
	trampoline__destroy(p->trampoline);
	tracepoint__destroy(p->tracepoint);
	free(p);
}
