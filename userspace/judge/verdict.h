/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on a run. Pure. */
#ifndef COPYSCOPE_VERDICT_H
#define COPYSCOPE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "userspace/record/record.h"

/* Room for the longest sentence. */
enum { VERDICT_BYTES = 768 };

/* The verdict in one sentence, such as "A3, MSG_ZEROCOPY, on veth copied nothing ...", every digit given. */
void verdict_sentence(const struct record *r, char *text, size_t size);

/* True if the run is complete and no law broke. */
bool verdict_passed(const struct record *r);

/* The sentence, and the numbers in it. Those that it does not give are not known. */
struct verdict {
	char sentence[VERDICT_BYTES];
	bool passed;
	int laws_broken;
	bool copies_known, referenced_known, uncopied_known;
	double copies_per_byte;		/* of a payload byte, at all sites that were measured */
	uint64_t referenced_bytes;
	uint64_t uncopied_bytes;	/* of those: sent without a copy */
	const char *chief_cause;	/* why most of the others were copied; NULL: none was */
};

void verdict_fill(const struct record *r, struct verdict *v);

#endif
