/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of this room share; watch_probes.h is for everyone else. */
#ifndef COPYSCOPE_WATCH_PARTS_H
#define COPYSCOPE_WATCH_PARTS_H

#include <bpf/libbpf.h>

#include "userspace/probes/hooks/hooks.h"
#include "userspace/probes/perf/tp_hits.h"
#include "userspace/probes/watch/entered.h"
#include "userspace/probes/watch/watch_probes.h"
#include "watch.skel.h"

/* Hooks whose hits perf counts, too: see unseen.h. */
enum { WATCH_CHECKED = 2 };

struct watch_hook {
	const char *program, *metric;
	enum hook_kind kind;
	const char *target;
	int args;
	enum {
		ON_ANY,
		ON_ANY_NEEDED,
		ON_TRACEPOINTS,	/* with trampolines others do better */
		ON_NO_OTHER,	/* where no row above can count the same */
		ON_DERIVED,	/* with trampolines a witness alone: the others leave what it counts */
	} when;
	enum watch_hooks which;
};

/* Ends with a NULL program. */
extern const struct watch_hook watch_hooks[];

struct watch_probes {
	struct watch *skel;
	struct watch_probes_config config;
	enum backend backend;
	char backend_why[WHY_BYTES];
	struct probe probes[PROBES_MAX];
	int probe_count;
	struct bpf_link *links[PROBES_MAX];	/* in the order of probes */
	struct bpf_link *sockets, *unhashed, *descriptors, *tasks, *maps;	/* what iterators are made of */
	struct entered entered[WATCH_PROBE_NAMESPACES];	/* none for our own namespace */
	struct ring_buffer *ring;
	struct tp_hits *hits;	/* NULL: the kernel refuses them */
	int hit_count, hit_rows[WATCH_CHECKED];	/* which rows of unseen.c have a counter */
	int64_t ahead[WATCH_CHECKED];	/* in the order of counters, as the next one */
	bool counts[WATCH_CHECKED];	/* perf does so, beside an attached hook */
	struct watch_ends each;
	uint32_t pass;
	uint64_t unseen_ends;	/* by the last census */
};

/* Links of the iterators, and the ring. 0, or -errno with a line in @why. */
int iterators_prepare(struct watch_probes *p, char why[WHY_BYTES]);
void iterators_free(struct watch_probes *p);

#endif
