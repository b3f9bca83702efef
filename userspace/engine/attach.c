// SPDX-License-Identifier: GPL-2.0
/* Loads the programs, sizes their tables, attaches their hooks. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/common/system/machine.h"
#include "userspace/engine/core_types.h"
#include "userspace/engine/engine_inside.h"
#include "userspace/engine/hooks.h"
#include "userspace/engine/targets.h"

/* Compares how often tracepoints were hit with how often the programs ran. */

/* An open counter costs each hit of its tracepoint something, started or not, and takes the kernel 60 ms to close.
 * With details each packet is checked. Without, what laws cannot show: kernels that accept trampolines were never
 * seen to hide hits but those that they count as missed runs. If nothing is referenced, a missed arrival cannot
 * hide a copy. */
static bool is_checked(const struct engine *p, const struct hook *hook)
{
	bool of_references = !strcmp(hook->metric, "late_copy") || !strcmp(hook->metric, "clean");

	if (!hook->event || p->config.fault_inject == FAULT_COUNT_NOTHING)
		return false;
	if (p->config.sets & HOOKS_DETAIL)
		return hook->sets & HOOKS_DETAIL && (p->config.references || !of_references);
	return p->backend == BACKEND_TRACEPOINT;
}

static uint64_t seen_by(const void *arg, int n)
{
	const struct engine *p = arg;
	enum seen_hook hook = p->hooks.row[p->hit_rows[n]]->seen;
	uint64_t sum = 0;

	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		sum += __atomic_load_n(&p->skel->bss->seen[cpu].tp_hits[hook], __ATOMIC_SEQ_CST);
	return sum;
}

/* Opens a counter for each hook that needs one and may be attached, which counts nothing yet; where tracefs or
 * perf refuse, nothing checks them. */
static void hits_open(struct engine *p)
{
	const char *events[TP_HITS_MAX];

	for (int i = 0; i < p->hooks.count && p->hit_count < TP_HITS_MAX; i++) {
		if (*p->loaded.probes[i].why || !is_checked(p, p->hooks.row[i]))
			continue;
		events[p->hit_count] = p->hooks.row[i]->event;
		p->hit_rows[p->hit_count++] = i;
	}
	p->hits = tp_hits_open(events, p->hit_count);
}

void hits_begin(struct engine *p)
{
	for (int n = 0; p->hits && n < p->hit_count; n++) {
		const struct hook *hook = p->hooks.row[p->hit_rows[n]];

		if (p->hooks.probes[p->hit_rows[n]].status != PROBE_ATTACHED || p->counts[n] || !is_checked(p, hook))
			continue;
		tp_hits_start(p->hits, n);
		p->ahead[n] = tp_hits_ahead(p->hits, n, seen_by, p);
		p->counts[n] = true;
	}
}

/* Notes in each probe that is checked how many hits its program missed until now. */
static void hits_note(const struct engine *p, struct probe *probes)
{
	for (int n = 0; n < p->hit_count; n++) {
		struct probe *probe = &probes[p->hit_rows[n]];
		int64_t missed;

		if (!p->counts[n])
			continue;
		missed = tp_hits_ahead(p->hits, n, seen_by, p) - p->ahead[n];
		probe->perf_checked = true;
		probe->missed_hits = missed > 0 ? missed : 0;
	}
}

enum { PATH_BYTES = 256 };
/* No descriptor of one: none is opened by it. */
enum { ANOTHER_PROGRAM = 1 };
enum { BUCKETS_LEAST = 1 << 6, BUCKETS_MIN = 1 << 12, BUCKETS_MAX = 1 << 19 };
/* Notifications under way: of each socket of a run, and of all sockets of a watch. */
enum { PINS_EACH = 128, PINS_OF_WATCH = 1 << 16, SPARE = 1024 };

static int tell(char why[WHY_BYTES], int err, const char *what)
{
	snprintf(why, WHY_BYTES, "%s: %s", what, strerror(-err));
	return err;
}

/* libbpf's last message: printed only if loading fails, because refusals are expected. */
static char last_complaint[WHY_BYTES];
static bool tells_all;

static int keep_complaint(enum libbpf_print_level level, const char *format, va_list args)
{
	if (tells_all && level != LIBBPF_DEBUG)
		return vfprintf(stderr, format, args);
	if (level == LIBBPF_WARN) {
		vsnprintf(last_complaint, sizeof(last_complaint), format, args);
		last_complaint[strcspn(last_complaint, "\n")] = '\0';
	}
	return 0;
}

static struct bpf_program *program_of(const struct engine *p, int i)
{
	return bpf_object__find_program_by_name(p->skel->obj, p->hooks.row[i]->program);
}

static bool details_are_wanted(const struct engine *p)
{
	return p->config.sets & HOOKS_DETAIL;
}

static bool tls_is_counted(const struct engine *p, const struct targets *targets)
{
	return p->config.sets & HOOKS_TLS && p->backend == BACKEND_TRAMPOLINE &&
	       targets_function(targets, "tls_set_sw_offload");
}

/* Walks over sockets and books. Sockets of a run are as old as its window, but for those that listen, which
 * descriptors show. */
static void choose_walks(struct engine *p, const struct targets *targets)
{
	bool sockets = p->config.netns_count, storages = walks_storages(targets);
	bool tls = sockets && tls_is_counted(p, targets);

	bpf_program__set_autoload(p->skel->progs.walk_sockets, sockets && !tls);
	bpf_program__set_autoload(p->skel->progs.walk_sockets_tls, tls);
	bpf_program__set_autoload(p->skel->progs.walk_maps, sockets);
	bpf_program__set_autoload(p->skel->progs.walk_closed, storages && !tls);
	bpf_program__set_autoload(p->skel->progs.walk_closed_tls, storages && tls);
	bpf_program__set_autoload(p->skel->progs.walk_held, !storages && !tls);
	bpf_program__set_autoload(p->skel->progs.walk_held_tls, !storages && tls);
	bpf_program__set_autoload(p->skel->progs.walk_descriptors, true);
	bpf_program__set_autoload(p->skel->progs.walk_tasks, true);
}

/* Asks BTF, never a version: a hook that this kernel lacks is not loaded. */
static int choose(struct engine *p, const struct targets *targets, char why[WHY_BYTES])
{
	const struct engine_config *c = &p->config;
	const struct hook_wishes wishes = { c->sets, c->detach, c->hardware_dma, c->usdt_path };
	const struct hook_wishes most = { c->sets, NULL, true, c->usdt_path };
	enum backend asked = c->backend;
	int err;

	p->backend = select_backend(BACKEND_AUTO, targets, p->backend_why);
	if (asked == BACKEND_TRAMPOLINE && p->backend != asked) {
		snprintf(why, WHY_BYTES, "%.200s; leave --backend out", p->backend_why);
		return -ENOTSUP;
	}
	p->backend = select_backend(asked, targets, p->backend_why);
	err = hooks_choose(&p->loaded, c->relinks ? &most : &wishes, p->backend, p->backend_why, targets, why);
	p->hooks = p->loaded;
	if (!err)
		err = hooks_leave_off(&p->hooks, &wishes, p->backend, why);
	/* A program may be in several rows. */
	for (int i = 0; i < p->hooks.count && !err; i++)
		if (!*p->loaded.probes[i].why)
			err = bpf_program__set_autoload(program_of(p, i), true);
	choose_walks(p, targets);
	bpf_program__set_autoload(p->skel->progs.cpu_sample, c->cpu);
	bpf_program__set_autoload(p->skel->progs.cpu_switch, c->cpu);
	bpf_program__set_autoload(p->skel->progs.symbols_name, details_are_wanted(p) || c->cpu);
	bpf_program__set_autoload(p->skel->progs.symbols_find, details_are_wanted(p));
	return err;
}

/* Four slots for each socket that there is now, so that hardly any bucket is ever full. */
static uint32_t buckets_of_machine(void)
{
	FILE *file = fopen("/proc/net/sockstat", "re");
	uint32_t buckets = BUCKETS_MIN;
	unsigned long sockets = 0, n;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "TCP: inuse %lu", &n) == 1 || sscanf(line, "UDP: inuse %lu", &n) == 1)
			sockets += n;
	if (file)
		fclose(file);
	while (buckets < BUCKETS_MAX && (unsigned long)buckets * WATCH_WAYS < 4 * sockets)
		buckets *= 2;
	return buckets;
}

/* A bucket for each socket where slots stay until the window closes. */
static uint32_t buckets_wanted(const struct engine_config *c)
{
	uint32_t buckets = BUCKETS_LEAST;

	if (!c->sockets_most)
		return buckets_of_machine();
	while (buckets < (uint32_t)c->sockets_most)
		buckets *= 2;
	return buckets;
}

/* Tables beside the slots, and those of the programs that fill them. */
static void size_details(struct engine *p, uint32_t slots)
{
	struct bpf_map *by_slot[] = { p->skel->maps.details, p->skel->maps.departures, p->skel->maps.flows };
	struct bpf_map *by_task[] = { p->skel->maps.copying_send, p->skel->maps.frags_before,
				      p->skel->maps.zerocopy_send, p->skel->maps.over_optmem, p->skel->maps.receiving };
	uint32_t sockets = p->config.sockets_most ? (uint32_t)p->config.sockets_most : slots / WATCH_WAYS;

	for (size_t i = 0; i < sizeof(by_slot) / sizeof(*by_slot); i++)
		bpf_map__set_max_entries(by_slot[i], slots);
	for (size_t i = 0; i < sizeof(by_task) / sizeof(*by_task); i++)
		bpf_map__set_max_entries(by_task[i], sockets + SPARE);
	bpf_map__set_max_entries(p->skel->maps.pins, p->config.sockets_most ? PINS_EACH * sockets + SPARE :
									   PINS_OF_WATCH);
}

/* Room for the end of each socket that there may be. The whole ring is mapped, and each fork copies its page tables. */
static void size_deaths(struct engine *p)
{
	size_t bytes = getpagesize(), sockets = p->config.sockets_most;

	if (!sockets)
		return;
	while (bytes < (sockets + SPARE) * (sizeof(struct watch_book) + BPF_RINGBUF_HDR_SZ))
		bytes *= 2;
	if (bytes < bpf_map__max_entries(p->skel->maps.deaths))
		bpf_map__set_max_entries(p->skel->maps.deaths, bytes);
}

/* Programs that measure calls are no hooks: who wants them has their maps made. */
static void leave_out_costs(struct engine *p)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, p->skel->obj)
		if (!strncmp(bpf_map__name(map), "cost_", 5))
			bpf_map__set_autocreate(map, false);
}

/* What no program uses without details; the verifier still sees it named. */
static void shrink_details(struct engine *p)
{
	struct bpf_map *maps[] = {
		p->skel->maps.departures, p->skel->maps.pins, p->skel->maps.handed, p->skel->maps.passed_on,
		p->skel->maps.causes, p->skel->maps.known_calls, p->skel->maps.copy_callers,
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		bpf_map__set_max_entries(maps[i], 1);
}

/* What no program uses that does not keep stacks of calls. */
static void shrink_stacks(struct engine *p)
{
	bpf_map__set_max_entries(p->skel->maps.user_stacks, 1);
	bpf_map__set_max_entries(p->skel->maps.stack_walks, 1);
	if (!p->config.cpu)
		bpf_map__set_max_entries(p->skel->maps.stack_news, getpagesize());
}

/* The verifier still sees it named, as a map of no program would be. */
static void leave_out_samples(struct engine *p)
{
	struct bpf_map *maps[] = { p->skel->maps.cpu_found, p->skel->maps.cpu_places, p->skel->maps.cpu_threads,
				   p->skel->maps.cpu_stacks, p->skel->maps.cpu_programs };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		bpf_map__set_autocreate(maps[i], false);
}

/* What no program fills where TLS is not counted. */
static void shrink_tls(struct engine *p)
{
	struct bpf_map *maps[] = { p->skel->maps.tls_books, p->skel->maps.tls_ciphers, p->skel->maps.tls_read,
				   p->skel->maps.tls_readers };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		bpf_map__set_max_entries(maps[i], 1);
}

static void configure_sizes(struct engine *p)
{
	bool wanted = p->config.sizes;

	p->skel->rodata->sizes_wanted = wanted;
	p->skel->rodata->readings_told = wanted && bpf_program__autoload(p->skel->progs.receive_call);
	p->skel->rodata->ring_ends_told = wanted && bpf_program__autoload(p->skel->progs.ring_done);
	bpf_map__set_max_entries(p->skel->maps.sizes, wanted ? SIZES_PROCESSES + 1 : 1);
	bpf_map__set_max_entries(p->skel->maps.holds, wanted ? SIZES_PROCESSES + 1 : 1);
	bpf_map__set_max_entries(p->skel->maps.sizes_of, wanted ? SIZES_PROCESSES : 1);
	if (!wanted)
		bpf_map__set_max_entries(p->skel->maps.held, 1);
}

static void configure_details(struct engine *p)
{
	const struct engine_config *c = &p->config;
	struct programs__rodata *ro = p->skel->rodata;

	ro->details_wanted = details_are_wanted(p);
	ro->datagrams_wanted = c->sets & HOOKS_DATAGRAMS;
	ro->datagrams_watch = c->sets & HOOKS_QUEUES;
	ro->drops_traced = bpf_program__autoload(p->skel->progs.datagram_drop);
	ro->slots_stay = details_are_wanted(p);
	ro->opened_by_walk = c->netns_count;
	if (ro->details_wanted)
		size_details(p, (ro->slot_buckets_mask + 1) * WATCH_WAYS);
	else
		shrink_details(p);
}

void homes_tell(struct engine *p)
{
	const struct engine_config *c = &p->config;
	struct programs__bss *bss = p->skel->bss;

	bss->subject_home_count = c->home_count;
	memcpy((void *)bss->subject_homes, c->homes, sizeof(c->homes));
	bss->optmem_max = number_in_file("/proc/sys/net/core/optmem_max", 0);
}

static void configure(struct engine *p, const struct targets *targets)
{
	const struct engine_config *c = &p->config;
	struct programs__rodata *ro = p->skel->rodata;
	uint32_t buckets = buckets_wanted(c);

	ro->watch_filter = c->filter;
	ro->fault_inject = c->fault_inject;
	ro->late_copies_hooked = p->backend == BACKEND_TRAMPOLINE && hooks_want(&p->hooks, "late_copy");
	ro->counts_by_tracepoint = p->backend != BACKEND_TRAMPOLINE;
	ro->rx_copies_hooked = ro->counts_by_tracepoint || c->calls;
	ro->calls_wanted = c->calls;
	memcpy((void *)&ro->subject_named, &c->named, sizeof(c->named));
	memcpy((void *)&ro->subject_left_out, &c->left_out, sizeof(c->left_out));
	ro->subject_childless = c->childless;
	ro->others_join = c->others_join;
	ro->cgroup_decides = c->cgroup_decides;
	ro->members_are_left_out = c->members_are_left_out;
	ro->slot_buckets_mask = buckets - 1;
	bpf_map__set_max_entries(p->skel->maps.slot_buckets, buckets);
	size_deaths(p);
	bpf_map__set_max_entries(p->skel->maps.slots, buckets * WATCH_WAYS);
	leave_out_costs(p);
	configure_details(p);
	homes_tell(p);
	configure_sizes(p);
	if (!tls_is_counted(p, targets))
		shrink_tls(p);
	if (!c->cpu)
		leave_out_samples(p);
	ro->stacks_wanted = c->stacks;
	ro->stack_every = c->stack_every;
	if (c->stacks)
		bpf_map__set_max_entries(p->skel->maps.stack_sums, buckets * WATCH_WAYS);
	else
		shrink_stacks(p);
}

static int load_refused(const struct engine *p, int err, char why[WHY_BYTES])
{
	if (err == -ENOMEM)
		return tell(why, err, "cannot load the programs");
	snprintf(why, WHY_BYTES, "the kernel refused the %s programs (needs Linux 6.1 with BTF, and root or "
		 "CAP_BPF and CAP_PERFMON): %s%s%.100s", backend_name(p->backend), strerror(-err),
		 *last_complaint ? ": " : "", last_complaint);
	return err;
}

static void name_casts(struct programs__rodata *ro, const struct core_types *types, bool known)
{
#define NAME(type) ro->cast_numbers.type = core_types_number(types, #type);
	CAST_TYPES(NAME)
#undef NAME
	ro->casts_known = known;
}

/* Writes the types that programs are relocated by into @types_fd. 0 or -errno. */
static int write_types(struct engine *p, const struct targets *targets, int types_fd)
{
	struct core_types *types = core_types_of(targets_btf(targets), bpf_object__btf(p->skel->obj));
	int err = types ? core_types_write(types, types_fd) : -ENOMEM;

	if (types)
		name_casts(p->skel->rodata, types, targets_function(targets, "bpf_rdonly_cast"));
	core_types_free(types);
	return err;
}

/* libbpf reads all of the kernel's BTF for each program but one that attaches to another program. So it takes all for
 * such; prepare_load() of targets.c, which has read it, says what they attach to. */
static void spare_second_reading(const struct engine *p)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, p->skel->obj)
		if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING)
			bpf_program__set_attach_target(program, ANOTHER_PROGRAM, NULL);
}

/* The kernel's BTF is read once for all programs: libbpf searches what is left of it in a file of memory. */
static int open_programs(struct engine *p, const struct targets *targets, int *types_fd, char why[WHY_BYTES])
{
	char path[PATH_BYTES];
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	int err;

	*types_fd = memfd_create("types", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *types_fd);
	p->skel = *types_fd < 0 ? NULL : programs__open_opts(&opts);
	if (!p->skel)
		return tell(why, -errno, "cannot open the programs");
	err = write_types(p, targets, *types_fd);
	return err ? tell(why, err, "cannot reduce the kernel's BTF") : choose(p, targets, why);
}

static int load_programs(struct engine *p, struct targets *targets, char why[WHY_BYTES])
{
	const uint8_t entered = 1;
	int types_fd, err = open_programs(p, targets, &types_fd, why);

	if (!err) {
		configure(p, targets);
		if (p->config.before_load)
			p->config.before_load(p->config.before_load_arg, p->skel, targets);
		targets_write_constants(targets, p->skel->maps.rodata);
		spare_second_reading(p);
		/* libbpf alone tells what the verifier says. */
		if (!tells_all)
			targets_load_side_by_side(targets, p->skel->obj);
		err = targets_failure(programs__load(p->skel));
		err = err ? load_refused(p, err, why) : 0;
	}
	if (types_fd >= 0)
		close(types_fd);
	if (err)
		return err;
	for (int i = 0; i < p->config.netns_count && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(p->skel->maps.subject_netns), &p->config.netns[i],
					  &entered, BPF_ANY) ? -errno : 0;
	return err ? tell(why, err, "cannot tell the programs the network namespaces") : 0;
}

int engine_load(struct engine **out, const struct engine_config *config,
		      char why[WHY_BYTES])
{
	struct engine *p = calloc(1, sizeof(*p));
	struct targets *targets;
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	*out = p;
	p->config = *config;
	/* Its walks hold locks of sockets that are not its own. */
	prctl(PR_SET_NAME, WATCH_NAME);
	/* Asked for once: libbpf comes with thousands of messages. */
	tells_all = getenv("COPYSCOPE_DEBUG");
	libbpf_set_print(keep_complaint);
	err = targets_open(&targets);
	err = err ? tell(why, err, "cannot read the kernel's BTF") : load_programs(p, targets, why);
	targets_free(targets);
	if (err)
		return err;
	hits_open(p);
	if (config->looks && (err = stacks_prepare(p)))
		return tell(why, err, "cannot open the ring of stacks");
	return iterators_prepare(p, why);
}

/* The row whose link is that of this row's program, or -1. */
static int attached_with(const struct engine *p, int i)
{
	for (int other = 0; other < p->hooks.count; other++)
		if (p->links[other] && !strcmp(p->hooks.row[other]->program, p->hooks.row[i]->program))
			return other;
	return -1;
}

/* Where no control groups are in sight, mounts them nowhere: "ip netns exec" hides them behind a sysfs of its own.
 * Returns a descriptor, or -1. */
static int cgroups_open(void)
{
	char mount[PATH_BYTES];
	int context, fd;

	if (cgroup_mount(mount, sizeof(mount)))
		return open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	context = fsopen("cgroup2", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	fd = fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) ? -1 :
		     fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	close(context);
	context = fd < 0 ? -1 : openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return context;
}

/* NULL, and errno. */
static struct bpf_link *attach_to_all_cgroups(struct bpf_program *program)
{
	struct bpf_link *link;
	int root = cgroups_open(), err;

	if (root < 0)
		return NULL;
	link = bpf_program__attach_cgroup(program, root);
	err = errno;
	close(root);
	errno = err;
	return link;
}

static struct bpf_link *attach_hook(const struct engine *p, int i)
{
	if (p->hooks.row[i]->kind == HOOK_CGROUP)
		return attach_to_all_cgroups(program_of(p, i));
	if (p->hooks.row[i]->kind == HOOK_USDT)
		return bpf_program__attach_usdt(program_of(p, i), p->config.usdt_pid, p->config.usdt_path,
						"copyscope", "gather", NULL);
	return bpf_program__attach(program_of(p, i));
}

static bool is_to_attach(const struct engine *p, int i, unsigned int sets)
{
	const struct probe *probe = &p->hooks.probes[i];

	return hook_sets_of(&p->hooks, i, p->backend) & sets && !*probe->why && probe->status != PROBE_ATTACHED;
}

static void *link_begin(void *program)
{
	return bpf_program__attach(program);
}

/* A row above this one is of the same program. */
static bool stands_above(const struct engine *p, const bool began[PROBES_MAX], int i)
{
	for (int above = 0; above < i; above++)
		if (began[above] && !strcmp(p->hooks.row[above]->program, p->hooks.row[i]->program))
			return true;
	return false;
}

/* To attach a trampoline waits for the kernel's readers: in parallel they take one wait. Nothing depends on their order.
 * What failed is tried again in its turn, which tells the error. */
static void attach_trampolines(struct engine *p, unsigned int sets)
{
	pthread_t threads[PROBES_MAX];
	bool began[PROBES_MAX] = {};

	for (int i = 0; i < p->hooks.count; i++) {
		enum hook_kind kind = p->hooks.row[i]->kind;

		if ((kind == HOOK_FENTRY || kind == HOOK_FEXIT) && is_to_attach(p, i, sets) && attached_with(p, i) < 0 &&
		    !stands_above(p, began, i))
			began[i] = !pthread_create(&threads[i], NULL, link_begin, program_of(p, i));
	}
	for (int i = 0; i < p->hooks.count; i++)
		if (began[i])
			pthread_join(threads[i], (void **)&p->links[i]);
}

int engine_attach(struct engine *p, unsigned int sets, char why[WHY_BYTES])
{
	sets &= p->config.sets;
	attach_trampolines(p, sets);
	for (int i = 0; i < p->hooks.count; i++) {
		struct probe *probe = &p->hooks.probes[i];
		enum hook_rank rank = p->hooks.row[i]->rank;

		if (!is_to_attach(p, i, sets))
			continue;
		if (attached_with(p, i) < 0)
			p->links[i] = attach_hook(p, i);
		if (attached_with(p, i) >= 0) {
			probe->status = PROBE_ATTACHED;
			continue;
		}
		probe->status = PROBE_REFUSED;
		snprintf(probe->why, WHY_BYTES, "the kernel refused it: %s%s", strerror(errno),
			 p->hooks.row[i]->kind == HOOK_USDT && errno == ENOENT ?
				 "; it needs /sys/bus/event_source or tracefs" : "");
		if (rank != HOOK_NEEDED && rank != HOOK_ELSE)
			continue;
		snprintf(why, WHY_BYTES, "the kernel refused %s, which the %s backend needs", probe->hook,
			 backend_name(p->backend));
		return -ENOTSUP;
	}
	if (sets & HOOKS_ZEROCOPY)
		p->skel->bss->packets_watched = 1;
	if (sets & HOOKS_SHARED)
		p->skel->bss->datagrams_shared = 1;
	if (sets & (HOOKS_BIRTHS | HOOKS_QUEUES) && engine_have(p, "datagram sockets"))
		p->skel->bss->datagrams_watched = sets & HOOKS_QUEUES ? DATAGRAMS_WATCHED : DATAGRAMS_AWAITED;
	hits_begin(p);
	return 0;
}

/* How often the program ran and was skipped since @since; for how long it ran, if the kernel counts that. A skipped
 * run is a lost count. */
static void runs_note(const struct bpf_program *program, const struct program_runs *since, struct probe *probe)
{
	struct program_runs now = {};

	if (!runs_read(program, &now))
		return;
	probe->runs = now.runs - since->runs;
	probe->run_time_ns = now.run_time_ns - since->run_time_ns;
	probe->missed_runs = now.missed_runs - since->missed_runs;
}

bool runs_read(const struct bpf_program *program, struct program_runs *runs)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return false;
	*runs = (struct program_runs){ info.run_cnt, info.run_time_ns, info.recursion_misses };
	return true;
}

void runs_begin(struct engine *p)
{
	for (int i = 0; i < p->hooks.count; i++)
		if (p->links[i])
			runs_read(program_of(p, i), &p->before[i]);
}

/* The program that the clock runs is no hook of the table, but looking costs what it takes. How many: 0 or 1. */
static int clocks_list(const struct engine *p, struct probe *probe)
{
	if (!p->clocks || p->hooks.count == PROBES_MAX)
		return 0;
	*probe = (struct probe){ .metric = "cpu", .hook = "perf_event/clock", .status = PROBE_ATTACHED };
	runs_note(p->skel->progs.cpu_sample, &(struct program_runs){}, probe);
	return 1;
}

static const char *why_unasked(unsigned int sets)
{
	return sets & (HOOKS_SHARED | HOOKS_DATAGRAMS | HOOKS_QUEUES) ? "no UDP socket of the subject needed it" :
	       sets & HOOKS_ZEROCOPY ? "no socket of the subject asked for zero copy" :
	       sets & HOOKS_CALLS ? "calls are counted with --books calls alone" : "it was not attached";
}

int engine_list(const struct engine *p, struct probe probes[PROBES_MAX])
{
	memcpy(probes, p->hooks.probes, sizeof(*probes) * p->hooks.count);
	/* A reason of our own would keep a hook from being attached later. */
	for (int i = 0; i < p->hooks.count; i++)
		if (probes[i].status == PROBE_ABSENT && !*probes[i].why)
			snprintf(probes[i].why, WHY_BYTES, "%s",
				 why_unasked(hook_sets_of(&p->hooks, i, p->backend)));
	/* What the program did is told once. */
	for (int i = 0; i < p->hooks.count; i++)
		if (p->links[i])
			runs_note(program_of(p, i), &p->before[i], &probes[i]);
	hits_note(p, probes);
	return p->hooks.count + clocks_list(p, &probes[p->hooks.count]);
}

bool engine_have(const struct engine *p, const char *metric)
{
	bool found = false;

	for (int i = 0; i < p->hooks.count; i++) {
		if (strcmp(p->hooks.probes[i].metric, metric))
			continue;
		found |= p->hooks.probes[i].status == PROBE_ATTACHED;
		if (p->hooks.probes[i].status == PROBE_REFUSED)
			return false;
	}
	return found;
}

enum backend engine_backend(const struct engine *p, char why[WHY_BYTES])
{
	snprintf(why, WHY_BYTES, "%s", p->backend_why);
	return p->backend;
}

static void *link_end(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

static void *hits_end(void *hits)
{
	tp_hits_close(hits);
	return NULL;
}

/* What detaching waits for side by side. */
struct ending {
	pthread_t threads[PROBES_MAX + 1];
	int count;
};

static void end_beside(struct ending *ending, void *(*end)(void *what), void *what)
{
	if (pthread_create(&ending->threads[ending->count], NULL, end, what))
		end(what);
	else
		ending->count++;
}

static void wait_ended(struct ending *ending)
{
	while (ending->count)
		pthread_join(ending->threads[--ending->count], NULL);
}

/* Detaching waits for the kernel's readers, 15 to 120 ms a hook: in parallel they take one wait. */
static void detach_all(struct engine *p)
{
	struct ending ending = {};

	for (int i = 0; i < PROBES_MAX; i++)
		if (p->links[i])
			end_beside(&ending, link_end, p->links[i]);
	end_beside(&ending, hits_end, p->hits);
	wait_ended(&ending);
}

void links_drop_unwanted(struct engine *p)
{
	struct ending ending = {};

	for (int i = 0; i < p->hooks.count; i++) {
		if (!p->links[i] || hooks_want(&p->hooks, p->hooks.row[i]->program))
			continue;
		end_beside(&ending, link_end, p->links[i]);
		p->links[i] = NULL;
	}
	wait_ended(&ending);
}

void engine_free(struct engine *p)
{
	if (!p)
		return;
	detach_all(p);
	clocks_free(p);
	ring_buffer__free(p->news);
	iterators_free(p);
	programs__destroy(p->skel);
	free(p->as_attached);
	free(p);
}
