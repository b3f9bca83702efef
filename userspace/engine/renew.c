// SPDX-License-Identifier: GPL-2.0
/* Makes programs that stay attached as new: for one window after the other, where attaching takes longest. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/engine/engine_inside.h"

/* Sockets of a run end with its processes. TCP forgets the last of them when it has the last acknowledgement. */
enum { REST_MS = 500 };

/* So many values of a map are cleared by a call. */
enum { CHUNK = 64 };

int engine_keep(struct engine *e)
{
	e->as_attached = malloc(sizeof(*e->skel->bss));
	if (!e->as_attached)
		return -ENOMEM;
	memcpy(e->as_attached, e->skel->bss, sizeof(*e->skel->bss));
	return 0;
}

/* Each book that was begun has ended with its socket, and no packet holds a page of a sender. */
static bool is_at_rest(const struct engine *e)
{
	const volatile struct programs__bss *bss = e->skel->bss;

	return bss->watch_gauges.begun == bss->watch_gauges.ended && !bss->gauges.outstanding_pages;
}

static int wait_for_rest(const struct engine *e)
{
	for (int ms = 0; !is_at_rest(e); ms++) {
		if (ms == REST_MS)
			return -EBUSY;
		usleep(1000);
	}
	return 0;
}

int engine_relink(struct engine *e, const char *detach, bool hardware_dma)
{
	const struct hook_wishes wishes = { e->config.sets, detach, hardware_dma, e->config.usdt_path };
	struct hook_choice next = e->loaded;
	char why[WHY_BYTES];
	int err = hooks_leave_off(&next, &wishes, e->backend, why);

	/* Programs know by a constant whether late copies are hooked. */
	if (!err && hooks_want(&next, "late_copy") != hooks_want(&e->hooks, "late_copy"))
		err = -ENOTSUP;
	if (!err)
		err = wait_for_rest(e);
	if (err)
		return err;
	for (int i = 0; i < next.count; i++)
		if (!*next.probes[i].why)
			next.probes[i].status = e->hooks.probes[i].status;
	e->hooks = next;
	links_drop_unwanted(e);
	memcpy(e->skel->bss, e->as_attached, sizeof(*e->skel->bss));
	return engine_attach(e, HOOKS_ALL, why);
}

static void death_forget(void *arg, const struct watch_book *book)
{
}

/* What no window fills: libbpf's tables of programs and of a USDT probe, and what engine_prepare_stacks() told. */
static bool is_told(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);

	return bpf_map__is_internal(map) || bpf_map__type(map) == BPF_MAP_TYPE_PROG_ARRAY ||
	       !strncmp(name, "__bpf_usdt", 10) || !strcmp(name, "copy_callers");
}

/* @zeros has room for a chunk of values. */
static int clear_array(const struct bpf_map *map, const void *zeros)
{
	uint32_t keys[CHUNK], count = bpf_map__max_entries(map), taken;

	for (uint32_t first = 0; first < count; first += taken) {
		taken = count - first < CHUNK ? count - first : CHUNK;
		for (uint32_t i = 0; i < taken; i++)
			keys[i] = first + i;
		if (bpf_map_update_batch(bpf_map__fd(map), keys, zeros, &taken, NULL))
			return -errno;
	}
	return 0;
}

static int clear_hash(const struct bpf_map *map, void *key)
{
	int fd = bpf_map__fd(map);

	while (!bpf_map_get_next_key(fd, NULL, key))
		if (bpf_map_delete_elem(fd, key) && errno != ENOENT)
			return -errno;
	return 0;
}

/* Storages end with their sockets, and rings have been read. */
static int clear(const struct bpf_map *map)
{
	/* A value for each processor is padded to 8 bytes. */
	size_t each = (bpf_map__value_size(map) + 7) & ~7u, cpus = libbpf_num_possible_cpus();
	void *room = calloc(CHUNK * cpus, each > bpf_map__key_size(map) ? each : bpf_map__key_size(map));
	int err = room ? 0 : -ENOMEM;

	switch (err ? BPF_MAP_TYPE_UNSPEC : bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		err = clear_array(map, room);
		break;
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		err = clear_hash(map, room);
		break;
	default:
		break;
	}
	free(room);
	return err;
}

int engine_renew(struct engine *e, const struct engine_subject *subject)
{
	const struct engine_ends ends = { .death = death_forget };
	struct bpf_map *map;
	int err = wait_for_rest(e);

	if (!err)
		err = engine_deaths(e, &ends);
	if (err < 0)
		return err;
	err = 0;
	bpf_object__for_each_map(map, e->skel->obj)
		if (!err && bpf_map__autocreate(map) && !is_told(map))
			err = clear(map);
	if (err)
		return err;
	memcpy(e->skel->bss, e->as_attached, sizeof(*e->skel->bss));
	memcpy(e->config.homes, subject->homes, subject->home_count * sizeof(*subject->homes));
	e->config.home_count = subject->home_count;
	e->config.references = subject->references;
	homes_tell(e);
	runs_begin(e);
	return 0;
}
