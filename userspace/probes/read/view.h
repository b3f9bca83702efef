/* SPDX-License-Identifier: GPL-2.0 */
/* The memory and maps that a loaded backend shares with user space; private to the probes module. */
#ifndef COPYSCOPE_PROBES_VIEW_H
#define COPYSCOPE_PROBES_VIEW_H

#include <stdint.h>

#include "bpf/include/sites.h"

struct bpf_object;

/* A loaded backend, whichever of the two it is. */
struct probes_view {
	struct bpf_object *object;
	volatile uint32_t *gate;
	struct gauges *gauges;
	struct seen *seen;		/* SEEN_CPUS of them */
	struct symbol_names *symbol_names;
	struct taps_at *taps_at;
};

#endif
