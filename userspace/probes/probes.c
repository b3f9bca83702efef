// SPDX-License-Identifier: GPL-2.0
/* Loads and attaches the hooks that were chosen, opens and closes the gate. */
#include "userspace/probes/probes.h"

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

#include "tracepoint.skel.h"
#include "trampoline.skel.h"
#include "userspace/common/numbers.h"
#include "userspace/probes/btf/targets.h"
#include "userspace/probes/call_cost.h"
#include "userspace/probes/deciders.h"
#include "userspace/probes/hooks/choose.h"
#include "userspace/probes/hooks/hooks.h"
#include "userspace/probes/hooks/offer.h"
#include "userspace/probes/perf/perf_check.h"
#include "userspace/probes/read/read.h"

struct probes {
	struct trampoline *trampoline;
	struct tracepoint *tracepoint;
	struct probes_view view;
	const struct hook *hooks;
	struct bpf_link *links[PROBES_MAX];
	struct subject subject;
	const char *detach;
	int stats_fd;
	bool checks_hits;			/* perf counts the same tracepoints */
	struct perf_check perf_check;		/* for the hooks that may run on top of any task */
	struct cost_probes *cost;	/* NULL without --cost */
};

/* libbpf's last message: printed only if loading fails, because refusals are expected. */
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
		{ "books", 1, 64 }, { "book_numbers", 1, 64 }, { "book_owners", 1, 64 },
		{ "flows", 1, 64 }, { "departures", 1, 64 },
		{ "copying_send", 1, 64 }, { "pins", 128, 1024 }, { "frags_before", 1, 64 },
		{ "splicing", 1, 64 }, { "send_flags", 1, 64 }, { "over_optmem", 1, 64 },
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
		(p)->name->rodata->subject_processes = (p)->subject.processes;     \
		(p)->name->rodata->subject_forks = (p)->subject.forks;             \
		memcpy((void *)(p)->name->rodata->subject_tgid, (p)->subject.tgid, \
		       sizeof((p)->subject.tgid));                                 \
		(p)->name->rodata->subject_namespaces = (p)->subject.namespaces;   \
		memcpy((void *)(p)->name->rodata->subject_netns,                   \
		       (p)->subject.netns, sizeof((p)->subject.netns));            \
		(p)->name->rodata->fault_inject = config->fault_inject;            \
		(p)->name->rodata->cookies_on_demand = offer_cookies(targets);     \
	} while (0)

static int open_skeleton(struct probes *p, const struct probes_config *config,
			 const struct targets *targets, enum backend backend)
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
		(p)->view.symbol_names = &(p)->name->bss->symbol_names; \
		(p)->view.taps_at = &(p)->name->bss->taps_at;   \
	} while (0)

static int load_skeleton(struct probes *p)
{
	if (p->trampoline)
		LOAD_SKELETON(p, trampoline);
	else
		LOAD_SKELETON(p, tracepoint);
	return 0;
}

/* Programs that user space runs are no hooks: the record does not list them. */
static int choose_symbols(struct probes *p, const struct targets *targets)
{
	static const char *const programs[] = { "symbols_name", "symbols_find" };
	bool offered = offer_symbols(targets);
	int err = 0;

	if (p->trampoline)
		p->trampoline->rodata->names_on_demand = offered;
	for (size_t i = 0; i < 2 && !err; i++)
		err = bpf_program__set_autoload(
			bpf_object__find_program_by_name(p->view.object, programs[i]), offered);
	return err;
}

static int load_backend(struct probes *p, const struct probes_config *config,
			const struct targets *targets, struct record *r)
{
	int err;

	r->backend = offer_backend(config->backend, targets, r->backend_why);
	err = open_skeleton(p, config, targets, r->backend);
	if (!err)
		err = size_maps(p->view.object, p->subject.sockets);
	if (!err)
		err = probes_choose(p->view.object, p->hooks, &p->subject, p->detach, targets, r);
	if (!err)
		err = choose_symbols(p, targets);
	if (err)
		return err;
	if (p->trampoline && r->cost_asked)
		p->cost = cost_probes_choose(p->view.object, targets,
					     p->trampoline->rodata->cost_counts, r);
	else
		cost_probes_leave_out(p->view.object);
	err = targets_failure(load_skeleton(p));
	if (err)
		snprintf(r->backend_why, WHY_BYTES, "the kernel refused the %s programs: %s%s%.100s",
			 backend_name(r->backend), strerror(-err), *last_complaint ? ": " : "",
			 last_complaint);
	return err;
}

int probes_load(struct probes **out, const struct probes_config *config, struct record *r)
{
	struct probes *p = calloc(1, sizeof(*p));
	struct targets *targets;
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->stats_fd = -1;
	p->subject = *config->subject;
	p->detach = config->detach;
	p->checks_hits = config->fault_inject != FAULT_COUNT_NOTHING;
	libbpf_set_print(keep_complaint);
	err = targets_open(&targets);
	snprintf(r->backend_why, WHY_BYTES, "cannot read the kernel's BTF: %s", strerror(-err));
	if (!err)
		err = load_backend(p, config, targets, r);
	targets_free(targets);
	if (err) {
		probes_free(p);
		return err;
	}
	/* The kernel then times each program, which adds 90 instructions to a run. */
	p->stats_fd = r->cost_asked ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	r->stats_known = p->stats_fd >= 0 ||
			 number_in_file("/proc/sys/kernel/bpf_stats_enabled", 0);
	*out = p;
	return 0;
}

static struct bpf_link *attach_hook(struct probes *p, const struct hook *hook)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(p->view.object, hook->program);

	if (hook->kind == HOOK_USDT)
		return bpf_program__attach_usdt(prog, p->subject.usdt_pid, p->subject.usdt_path,
						"copyscope", "gather", NULL);
	return bpf_program__attach(prog);
}

/* On a kernel without cookies for uprobes (before 5.15) libbpf reads the sender's
 * /proc/PID/maps. */
static const char *usdt_needs(int refusal)
{
	return refusal == ENOENT ? "; it needs /sys/bus/event_source or tracefs" :
	       refusal == EACCES ? "; on this kernel it needs CAP_SYS_PTRACE" : "";
}

static int attach_hooks(struct probes *p, struct record *r)
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
		snprintf(probe->why, WHY_BYTES, "the kernel refused it: %s%s", strerror(errno),
			 p->hooks[i].kind == HOOK_USDT ? usdt_needs(errno) : "");
		if (p->hooks[i].rank == HOOK_PLAIN)
			continue;
		snprintf(r->backend_why, WHY_BYTES, "the kernel refused %s, which the %s backend needs",
			 probe->hook, backend_name(r->backend));
		return -ENOTSUP;
	}
	return 0;
}

int probes_attach(struct probes *p, struct record *r)
{
	int err;

	ledger_prepare(&p->view);
	deciders_fill(p->view.object);
	err = cost_probes_attach_entries(p->cost, r);
	if (!err)
		err = attach_hooks(p, r);
	if (!err)
		err = cost_probes_attach_exits(p->cost, r);
	if (err)
		return err;
	if (p->cost)
		cost_probes_calibrate(p->cost, &p->trampoline->bss->cost_calibrating);
	if (p->checks_hits)
		perf_check_open(&p->perf_check, p->hooks, p->subject.references, r);
	return 0;
}

void probes_open_gate(struct probes *p)
{
	perf_check_begin(&p->perf_check, &p->view, p->hooks);
	__atomic_store_n(p->view.gate, 1, __ATOMIC_SEQ_CST);
}

void probes_close_gate(struct probes *p, struct record *r)
{
	__atomic_store_n(p->view.gate, 0, __ATOMIC_SEQ_CST);
	perf_check_end(&p->perf_check, &p->view, p->hooks, r);
}

uint64_t probes_outstanding_pages(const struct probes *p)
{
	return __atomic_load_n(&p->view.gauges->outstanding_pages, __ATOMIC_SEQ_CST);
}

bool probes_readable(const struct probes *p)
{
	return ledger_readable(&p->view);
}

int probes_read(const struct probes *p, struct ledger *fresh)
{
	return ledger_read(&p->view, fresh);
}

int probes_read_programs(const struct probes *p, struct record *r)
{
	for (int i = 0; i < r->probe_count; i++)
		if (r->probes[i].status == PROBE_ATTACHED)
			probe_read_runs(&p->view, p->hooks[i].program, &r->probes[i]);
	return cost_probes_read(p->cost, r);
}

static void *link_end(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

static void *tp_hits_end(void *tp_hits)
{
	tp_hits_close(tp_hits);
	return NULL;
}

/* Detaching waits for the kernel's readers, 15 to 120 ms a hook: in parallel they take one wait. */
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
	if (pthread_create(&threads[count], NULL, tp_hits_end, p->perf_check.tp_hits))
		tp_hits_end(p->perf_check.tp_hits);
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
	cost_probes_free(p->cost);
	if (p->stats_fd >= 0)
		close(p->stats_fd);
	trampoline__destroy(p->trampoline);
	tracepoint__destroy(p->tracepoint);
	free(p);
}
