// SPDX-License-Identifier: GPL-2.0
/*
 * Replays the memory accesses that valgrind's lackey printed (--trace-mem=yes) through the modelled caches.
 *
 * trace_replay L1D_BYTES L1D_WAYS LAST_BYTES LAST_WAYS LINE <TRACE: prints accesses, misses of L1d and of the
 * last level, of loads and then of stores. There are two levels, as in cachegrind: L2 is as large as L1d.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "studies/plugin/hierarchy.h"

int main(int argc, char **argv)
{
	struct hierarchy_shape shape = { .processors = 1, .llc = LLC_NON_INCLUSIVE, .write_allocate = true };
	struct access_counts counts = { 0 };
	struct hierarchy *h;
	unsigned int bytes;
	uint64_t address;
	char kind, line[128];

	if (argc != 6)
		return 2;
	shape.level[CACHE_L1D] = (struct level_shape){ strtoull(argv[1], NULL, 0), atoi(argv[2]) };
	shape.level[CACHE_L2] = shape.level[CACHE_L1D];
	shape.level[CACHE_LLC] = (struct level_shape){ strtoull(argv[3], NULL, 0), atoi(argv[4]) };
	shape.line_bytes = atoi(argv[5]);
	if (hierarchy_fault(&shape)) {
		fprintf(stderr, "trace_replay: %s\n", hierarchy_fault(&shape));
		return 2;
	}
	h = hierarchy_create(&shape);
	if (!h)
		return 3;
	while (fgets(line, sizeof(line), stdin)) {
		/* "I" lines, of instructions, begin without a blank. */
		if (sscanf(line, " %c %" SCNx64 ",%u", &kind, &address, &bytes) != 3 || *line != ' ')
			continue;
		/* A modification loads, and then stores what it has just loaded; cachegrind counts the load. */
		hierarchy_access(h, 0, address, bytes, kind == 'S', &counts);
	}
	for (int store = 0; store < 2; store++)
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", store ? counts.stores : counts.loads,
		       store ? counts.misses[CACHE_L1D] - counts.load_misses[CACHE_L1D] :
			       counts.load_misses[CACHE_L1D],
		       store ? counts.misses[CACHE_LLC] - counts.load_misses[CACHE_LLC] :
			       counts.load_misses[CACHE_LLC]);
	hierarchy_free(h);
	return 0;
}
