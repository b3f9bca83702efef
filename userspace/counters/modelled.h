/* SPDX-License-Identifier: GPL-2.0 */
/* What the emulator's plugin counted in a window, as plain data: instructions, and misses of modelled caches. */
#ifndef COPYSCOPE_MODELLED_H
#define COPYSCOPE_MODELLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "userspace/common/guest_marker.h"

enum { MODEL_WHY_BYTES = 160, MODEL_LEVELS = 3 };

/* Functions whose work is told apart. Those that are sites of the books, too, have the same name. */
enum model_site {
	MODEL_ELSEWHERE,
	MODEL_USER_GATHER, MODEL_TX_COPY, MODEL_PIN, MODEL_LATE_COPY, MODEL_RESHAPE, MODEL_CHECKSUM,
	MODEL_RX_COPY,
	MODEL_SITES
};

/* The caches that were modelled, by the file that describes them. */
struct model_caches {
	char name[64];
	char emulator[32];
	char llc_kind[16];	/* inclusive, non-inclusive or victim */
	unsigned int line_bytes;
	bool write_allocate;
	struct { uint64_t bytes; unsigned int ways; } level[MODEL_LEVELS];
};

struct modelled {
	bool asked;		/* --counters model */
	bool known;		/* else why */
	char why[MODEL_WHY_BYTES];
	struct model_caches caches;
	uint64_t count[MARKER_ROLES][MARKER_CONTEXTS][MODEL_SITES][MARKER_COUNTS];
};

const char *model_site_name(enum model_site site);
const char *model_role_name(unsigned int role);
const char *model_context_name(enum marker_context context);
const char *model_count_name(enum marker_count count);
const char *model_level_name(unsigned int level);

/*
 * Takes what tools/guest says of the model: "PORT NAME EMULATOR LINE KIND ALLOCATE" and for each level "BYTES
 * WAYS". False if it is not that.
 */
bool model_caches_parse(const char *text, char *port, size_t port_size, struct model_caches *caches);

/* Takes a line of the plugin's report. False if it is none. *@ended: it was the last one. */
bool model_line_parse(const char *line, struct modelled *m, bool *ended);

/* A count of a role, summed over the contexts if @context is MARKER_CONTEXTS, and over all sites. */
uint64_t model_sum(const struct modelled *m, unsigned int role, unsigned int context,
		   enum marker_count count);

#endif
