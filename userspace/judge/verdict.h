/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on a run. Pure. */
#ifndef COPYSCOPE_VERDICT_H
#define COPYSCOPE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/record/record.h"

/* True if the run is complete and no law broke. */
bool verdict_passed(const struct record *r);

/* What a run comes to. Without a reference, and with one, other numbers are known; of a run that is no evidence none is. */
struct verdict {
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
