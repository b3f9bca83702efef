// SPDX-License-Identifier: GPL-2.0
/* Writes the functions of the table of callers into the programs' map of those that decide. */
#include "userspace/probes/deciders.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/include/sites.h"
#include "userspace/tables/callers.h"

/* A row for PULL decides behind another function alone, so the caller by itself decides nothing. */
enum {
	LATE = 1u << SITE_late_copy,
	RESHAPE = 1u << SITE_reshape,
	BOTH = LATE | RESHAPE,
	PULL = 0,
};

static const struct decider {
	const char *function;
	uint32_t decides;
} rows[] = {
	{ "skb_copy_ubufs", DECIDES_NOTHING },
	{ "skb_copy_bits", DECIDES_NOTHING },
#define ROW(function, cause, where) { function, where },
	CALLERS(ROW)
#undef ROW
};

_Static_assert(sizeof(rows) / sizeof(*rows) <= DECIDERS_MAX, "a caller may find no room");

void deciders_fill(const struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "deciders");
	int fd = map ? bpf_map__fd(map) : -1;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && fd >= 0; i++) {
		struct function_name name = {};
		uint32_t decides = 0;

		snprintf(name.text, sizeof(name.text), "%s", rows[i].function);
		bpf_map_lookup_elem(fd, &name, &decides);
		decides |= rows[i].decides;
		bpf_map_update_elem(fd, &name, &decides, BPF_ANY);
	}
}
