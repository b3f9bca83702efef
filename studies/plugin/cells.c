// SPDX-License-Identifier: GPL-2.0
/* Clears the sums of a run and writes them as lines. */
#include "studies/plugin/cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cell cells[MARKER_ROLES][MARKER_CONTEXTS][MARKER_SITES];

void cells_clear(void)
{
	memset(cells, 0, sizeof(cells));
}

static void cell_print(FILE *out, int role, int context, int site)
{
	const struct cell *c = &cells[role][context][site];
	const struct access_counts *a = &c->access;
	const uint64_t counts[MARKER_COUNTS] = {
		[MARKER_INSTRUCTIONS] = c->instructions, [MARKER_LOADS] = a->loads,
		[MARKER_STORES] = a->stores, [MARKER_LINES] = a->lines,
		[MARKER_L1D_MISSES] = a->misses[CACHE_L1D], [MARKER_L2_MISSES] = a->misses[CACHE_L2],
		[MARKER_LLC_MISSES] = a->misses[CACHE_LLC],
		[MARKER_L1D_LOAD_MISSES] = a->load_misses[CACHE_L1D],
		[MARKER_L2_LOAD_MISSES] = a->load_misses[CACHE_L2],
		[MARKER_LLC_LOAD_MISSES] = a->load_misses[CACHE_LLC],
		[MARKER_COPIED_BYTES] = c->copied_bytes, [MARKER_CALLS] = c->calls,
	};

	if (!c->instructions && !c->calls)
		return;
	fprintf(out, "cell %d %d %d", role, context, site);
	for (int i = 0; i < MARKER_COUNTS; i++)
		fprintf(out, " %" PRIu64, counts[i]);
	fputc('\n', out);
}

static bool write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, text, bytes);

		if (written < 0 && errno != EINTR)
			return false;
		if (written > 0) {
			text += written;
			bytes -= written;
		}
	}
	return true;
}

bool cells_write(int fd)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	bool done;

	if (!out)
		return false;
	for (int role = 0; role < MARKER_ROLES; role++)
		for (int context = 0; context < MARKER_CONTEXTS; context++)
			for (int site = 0; site < MARKER_SITES; site++)
				cell_print(out, role, context, site);
	fprintf(out, "end\n");
	done = !fclose(out) && write_all(fd, text, bytes);
	free(text);
	return done;
}
