// SPDX-License-Identifier: GPL-2.0
/* Loads the programs of a watch, sizes their tables, attaches their hooks. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/probes/btf/targets.h"
#include "userspace/probes/hooks/offer.h"
#include "userspace/probes/watch/unseen.h"
#include "userspace/probes/watch/watch_parts.h"

enum { BUCKETS_MIN = 1 << 13, BUCKETS_MAX = 1 << 19 };

/* Arguments as in BTF, 0 for any number, first. */
#define TP(args, program, metric, target, when, which) \
	{ program, metric, HOOK_TRACEPOINT, target, args, when, which }
#define FENTRY(args, program, metric, target, which) \
	{ program, metric, HOOK_FENTRY, target, args, ON_ANY, which }
#define FEXIT(args, program, metric, target, which) \
	{ program, metric, HOOK_FEXIT, target, args, ON_ANY, which }
#define ALWAYS WATCH_HOOKS_ALWAYS
#define ZEROCOPY WATCH_HOOKS_ZEROCOPY
#define CALLS WATCH_HOOKS_CALLS

const struct watch_hook watch_hooks[] = {
	TP(1, "watch_free", "processes", "sched_process_free", ON_ANY_NEEDED, ALWAYS),
	TP(0, "watch_exit", "processes", "sched_process_exit", ON_ANY_NEEDED, ALWAYS),
	TP(2, "watch_fork", "processes", "sched_process_fork", ON_ANY_NEEDED, ALWAYS),
	TP(3, "watch_exec", "processes", "sched_process_exec", ON_ANY_NEEDED, ALWAYS),
	TP(4, "watch_enter", "processes", "cgroup_attach_task", ON_ANY, ALWAYS),
	/* Ends first: a book that begins is handed over. */
	TP(1, "watch_death", "sequence", "tcp_destroy_sock", ON_ANY_NEEDED, ALWAYS),
	TP(3, "watch_state", "sequence", "inet_sock_set_state", ON_ANY_NEEDED, ALWAYS),
	TP(2, "watch_rx_copy", "rx_copy", "skb_copy_datagram_iovec", ON_DERIVED, ALWAYS),
	TP(3, "watch_receive", "rx_discard", "sock_recv_length", ON_ANY, ALWAYS),
	{ "watch_receive_exit", "rx_discard", HOOK_FEXIT, "tcp_recvmsg_locked", 6, ON_NO_OTHER, ALWAYS },
	TP(0, "watch_drop", "drops", "kfree_skb", ON_ANY, ALWAYS),
	TP(1, "watch_completion", "completions", "inet_sk_error_report", ON_ANY, ALWAYS),
	TP(4, "watch_send_turn", "sends", "tcp_sendmsg_locked", ON_TRACEPOINTS, ALWAYS),
	FEXIT(5, "watch_reference_5", "tx_reference", "skb_zerocopy_iter_stream", ALWAYS),
	FEXIT(6, "watch_reference_6", "tx_reference", "skb_zerocopy_iter_stream", ALWAYS),
	FENTRY(5, "watch_sendpages_enter", "tx_splice", "do_tcp_sendpages", ALWAYS),
	FEXIT(5, "watch_sendpages", "tx_splice", "do_tcp_sendpages", ALWAYS),
	FENTRY(5, "watch_splice_enter", "tx_splice", "splice_to_socket", ALWAYS),
	FEXIT(5, "watch_splice_exit", "tx_splice", "splice_to_socket", ALWAYS),
	FEXIT(4, "watch_pages_4", "tx_splice", "skb_splice_from_iter", ALWAYS),
	FEXIT(3, "watch_pages_3", "tx_splice", "skb_splice_from_iter", ALWAYS),
	FEXIT(6, "watch_splice_read", "rx_splice", "skb_splice_bits", ALWAYS),
	FEXIT(3, "watch_map", "rx_map", "tcp_zerocopy_receive", ALWAYS),
	FEXIT(2, "watch_late_copy", "late_copy", "skb_copy_ubufs", ALWAYS),
	FENTRY(2, "watch_tap", "taps", "dev_queue_xmit_nit", ALWAYS),
	FENTRY(3, "watch_refused", "limits", "sk_stream_error", ALWAYS),
	FENTRY(2, "watch_psock", "layers", "sk_psock_init", ALWAYS),
	TP(1, "watch_departure", "departures", "net_dev_queue", ON_ANY, ZEROCOPY),
	TP(1, "watch_arrival", "late_copy", "netif_receive_skb", ON_TRACEPOINTS, ZEROCOPY),
	TP(2, "watch_device", "devices", "net_dev_start_xmit", ON_ANY, ZEROCOPY),
	TP(0, "watch_device_done", "devices", "net_dev_xmit", ON_ANY, ZEROCOPY),
	FEXIT(4, "watch_moved", "moved", "skb_copy_bits", ZEROCOPY),
	FENTRY(0, "watch_moved_csum", "moved", "skb_copy_and_csum_bits", ZEROCOPY),
	TP(0, "watch_ring", "rings", "io_uring_complete", ON_ANY, ZEROCOPY),
	TP(3, "watch_refusal", "refusals", "sock_send_length", ON_TRACEPOINTS, ZEROCOPY),
	TP(3, "watch_send_call", "send calls", "sock_send_length", ON_TRACEPOINTS, CALLS),
	TP(3, "watch_recv_call", "recv calls", "sock_recv_length", ON_TRACEPOINTS, CALLS),
	FEXIT(3, "watch_send_exit", "send calls", "tcp_sendmsg_locked", CALLS),
	FEXIT(6, "watch_recv_exit", "recv calls", "tcp_recvmsg_locked", CALLS),
	{},
};

static int tell(char why[WHY_BYTES], int err, const char *what)
{
	snprintf(why, WHY_BYTES, "%s: %s", what, strerror(-err));
	return err;
}

static int silent(enum libbpf_print_level level, const char *format, va_list args)
{
	return getenv("COPYSCOPE_DEBUG") && level != LIBBPF_DEBUG ? vfprintf(stderr, format, args) : 0;
}

/* Some hook of that metric can be attached; of those before @end, if it is not NULL. */
static bool is_offered(const struct watch_probes *p, const char *metric, const struct watch_hook *end)
{
	for (const struct watch_hook *h = watch_hooks; h->program && h != end; h++)
		if (!strcmp(h->metric, metric) && !*p->probes[h - watch_hooks].why)
			return true;
	return false;
}

/* Asks BTF, never a version: a hook that this kernel lacks is not loaded. */
static void choose_hook(struct watch_probes *p, const struct watch_hook *h,
			const struct targets *targets)
{
	const struct hook as = { .kind = h->kind, .target = h->target, .args = h->args };
	struct probe *probe = &p->probes[p->probe_count++];
	bool trampolines = p->backend == BACKEND_TRAMPOLINE;

	probe->metric = h->metric;
	snprintf(probe->hook, sizeof(probe->hook), "%s/%s", hook_kind_name(h->kind), h->target);
	if (offer_fits(targets, &as, probe->why) && h->kind != HOOK_TRACEPOINT && !trampolines)
		snprintf(probe->why, WHY_BYTES, "%.200s", p->backend_why);
	else if (!*probe->why && h->when == ON_TRACEPOINTS && trampolines)
		snprintf(probe->why, WHY_BYTES, "not needed: this kernel accepts trampolines");
	else if (!*probe->why && h->when == ON_NO_OTHER && is_offered(p, h->metric, h))
		snprintf(probe->why, WHY_BYTES, "not needed: a tracepoint tells of it");
	bpf_program__set_autoload(bpf_object__find_program_by_name(p->skel->obj, h->program),
				  !*probe->why);
}

static int choose(struct watch_probes *p, const struct targets *targets, char why[WHY_BYTES])
{
	enum backend asked = p->config.backend;

	p->backend = offer_backend(BACKEND_AUTO, targets, p->backend_why);
	if (asked == BACKEND_TRAMPOLINE && p->backend != asked) {
		snprintf(why, WHY_BYTES, "%.200s; leave --backend out", p->backend_why);
		return -ENOTSUP;
	}
	p->backend = offer_backend(asked, targets, p->backend_why);
	for (const struct watch_hook *h = watch_hooks; h->program; h++) {
		choose_hook(p, h, targets);
		if (h->when == ON_ANY_NEEDED && *p->probes[h - watch_hooks].why)
			return tell(why, -ENOTSUP, p->probes[h - watch_hooks].why);
	}
	bpf_program__set_autoload(p->skel->progs.watch_sockets, true);
	bpf_program__set_autoload(p->skel->progs.watch_unhashed, true);
	bpf_program__set_autoload(p->skel->progs.watch_descriptors, true);
	bpf_program__set_autoload(p->skel->progs.watch_tasks, true);
	bpf_program__set_autoload(p->skel->progs.watch_maps, true);
	return 0;
}

/* Four slots for each socket that there is now, so that hardly any bucket is ever full. */
static uint32_t buckets_wanted(void)
{
	FILE *file = fopen("/proc/net/sockstat", "re");
	uint32_t buckets = BUCKETS_MIN;
	unsigned long sockets = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "TCP: inuse %lu", &sockets);
	if (file)
		fclose(file);
	while (buckets < BUCKETS_MAX && (unsigned long)buckets * WATCH_WAYS < 4 * sockets)
		buckets *= 2;
	return buckets;
}

static void configure(struct watch_probes *p, const struct watch_probes_config *c,
		      const struct targets *targets)
{
	struct watch__rodata *ro = p->skel->rodata;
	uint32_t buckets = buckets_wanted();

	ro->watch_filter = c->filter;
	ro->cookies_on_demand = true;
	ro->casts_known = targets_function(targets, "bpf_rdonly_cast");
	ro->watch_fault = c->fault;
	ro->optmem_max = number_in_file("/proc/sys/net/core/optmem_max", 0);
	ro->late_copies_hooked = p->backend == BACKEND_TRAMPOLINE &&
				 bpf_program__autoload(p->skel->progs.watch_late_copy);
	ro->rx_copies_hooked = p->backend != BACKEND_TRAMPOLINE || c->calls;
	ro->subject_cgroup = c->cgroup;
	ro->subject_cgroup_level = c->cgroup_level;
	memcpy((void *)ro->subject_comm, c->comm, sizeof(c->comm));
	memcpy((void *)ro->subject_ports, c->ports, sizeof(c->ports));
	ro->subject_port_count = c->port_count;
	ro->slot_buckets_mask = buckets - 1;
	bpf_map__set_max_entries(p->skel->maps.slot_buckets, buckets);
	bpf_map__set_max_entries(p->skel->maps.slots, buckets * WATCH_WAYS);
}

/* The kernel's BTF is read once for all programs. */
static int load_programs(struct watch_probes *p, const struct watch_probes_config *config,
			 const struct targets *targets, char why[WHY_BYTES])
{
	const uint8_t entered = 1;
	int err;

	p->skel = watch__open();
	err = p->skel ? choose(p, targets, why) : tell(why, -errno, "cannot open the programs");
	if (err)
		return err;
	configure(p, config, targets);
	err = targets_failure(watch__load(p->skel));
	for (int i = 0; i < config->netns_count && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(p->skel->maps.subject_netns), &config->netns[i],
					  &entered, BPF_ANY) ? -errno : 0;
	return err == -ENOMEM ? tell(why, err, "cannot load the programs of watch") :
	       err ? tell(why, err, "the kernel refused the programs of watch (needs Linux 6.1 with "
				    "BTF, and root or CAP_BPF and CAP_PERFMON)") : 0;
}

int watch_probes_load(struct watch_probes **out, const struct watch_probes_config *config,
		      char why[WHY_BYTES])
{
	struct watch_probes *p = calloc(1, sizeof(*p));
	struct targets *targets;
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	*out = p;
	p->config = *config;
	libbpf_set_print(silent);
	err = targets_open(&targets);
	err = err ? tell(why, err, "cannot read the kernel's BTF") :
		    load_programs(p, config, targets, why);
	targets_free(targets);
	if (err)
		return err;
	unseen_open(p);
	return iterators_prepare(p, why);
}

/* Every plain receive passes the copy. It is not hooked where all receives that do not copy are told. */
static enum watch_hooks which_of(const struct watch_probes *p, const struct watch_hook *h)
{
	return h->when == ON_DERIVED && p->backend == BACKEND_TRAMPOLINE && is_offered(p, "rx_discard", NULL) ?
		       WATCH_HOOKS_CALLS : h->which;
}

int watch_probes_attach(struct watch_probes *p, enum watch_hooks which, char why[WHY_BYTES])
{
	for (int i = 0; i < p->probe_count; i++) {
		const struct watch_hook *h = &watch_hooks[i];
		struct probe *probe = &p->probes[i];

		if (which_of(p, h) != which || *probe->why || p->links[i])
			continue;
		p->links[i] = bpf_program__attach(
			bpf_object__find_program_by_name(p->skel->obj, h->program));
		if (p->links[i]) {
			probe->status = PROBE_ATTACHED;
			continue;
		}
		probe->status = PROBE_REFUSED;
		snprintf(probe->why, WHY_BYTES, "the kernel refused it: %s", strerror(errno));
		if (h->when == ON_ANY_NEEDED)
			return tell(why, -errno, probe->hook);
	}
	if (which == WATCH_HOOKS_ZEROCOPY)
		p->skel->bss->packets_watched = 1;
	unseen_begin(p);
	return 0;
}

/* How often the program ran and was skipped; for how long it ran, if the kernel counts that. */
static void runs_note(const struct watch_probes *p, int i, struct probe *probe)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	struct bpf_program *program =
		bpf_object__find_program_by_name(p->skel->obj, watch_hooks[i].program);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return;
	probe->runs = info.run_cnt;
	probe->run_time_ns = info.run_time_ns;
	probe->missed_runs = info.recursion_misses;
}

int watch_probes_list(const struct watch_probes *p, struct probe probes[PROBES_MAX])
{
	static const char *const unasked[] = {
		[WATCH_HOOKS_ALWAYS] = "it was not attached",
		[WATCH_HOOKS_ZEROCOPY] = "no socket of the subject asked for zero copy",
		[WATCH_HOOKS_CALLS] = "calls are counted with --books calls alone",
	};

	memcpy(probes, p->probes, sizeof(*probes) * p->probe_count);
	/* A reason of our own would keep a hook from being attached later. */
	for (int i = 0; i < p->probe_count; i++)
		if (probes[i].status == PROBE_ABSENT && !*probes[i].why)
			snprintf(probes[i].why, WHY_BYTES, "%s", unasked[which_of(p, &watch_hooks[i])]);
	for (int i = 0; i < p->probe_count; i++)
		if (p->links[i])
			runs_note(p, i, &probes[i]);
	unseen_note(p, probes);
	return p->probe_count;
}

bool watch_probes_have(const struct watch_probes *p, const char *metric)
{
	bool found = false;

	for (int i = 0; i < p->probe_count; i++) {
		if (strcmp(p->probes[i].metric, metric))
			continue;
		found |= p->links[i] != NULL;
		if (p->probes[i].status == PROBE_REFUSED)
			return false;
	}
	return found;
}

enum backend watch_probes_backend(const struct watch_probes *p, char why[WHY_BYTES])
{
	snprintf(why, WHY_BYTES, "%s", p->backend_why);
	return p->backend;
}

void watch_probes_free(struct watch_probes *p)
{
	if (!p)
		return;
	for (int i = 0; i < PROBES_MAX; i++)
		bpf_link__destroy(p->links[i]);
	iterators_free(p);
	tp_hits_close(p->hits);
	watch__destroy(p->skel);
	free(p);
}
