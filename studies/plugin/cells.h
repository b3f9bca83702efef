/* SPDX-License-Identifier: GPL-2.0 */
/* The sums of a run: one cell for each role, context and site. */
#ifndef COPYSCOPE_PLUGIN_CELLS_H
#define COPYSCOPE_PLUGIN_CELLS_H

#include "studies/plugin/hierarchy.h"
#include "userspace/common/guest_marker.h"

struct cell {
	uint64_t instructions;
	struct access_counts access;
	uint64_t copied_bytes, calls;
};

extern struct cell cells[MARKER_ROLES][MARKER_CONTEXTS][MARKER_SITES];

void cells_clear(void);

/*
 * Writes a line "cell ROLE CONTEXT SITE" and what marker_count lists for each cell that counted anything, then a
 * line "end". False if the descriptor does not take them.
 */
bool cells_write(int fd);

#endif
