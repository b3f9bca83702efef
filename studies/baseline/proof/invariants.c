// SPDX-License-Identifier: GPL-2.0
/* Compares what was counted with what a benchmark must do. */
#include "studies/baseline/proof/invariants.h"

#include <math.h>
#include <stdio.h>

const char *relation_name(enum relation is)
{
	static const char *const names[] = { "nothing", "exactly", "at least", "at most" };

	return names[is];
}

static const char *witness_name(enum witness w)
{
	static const char *const names[WITNESS_COUNT] = {
		[WITNESS_PAGES_BEFORE] = "pages cached before",
		[WITNESS_PAGES_AFTER] = "pages cached after",
		[WITNESS_DISK_BYTES] = "bytes read from disks",
		[WITNESS_RETRANSMITS] = "retransmits by TCP_INFO",
		[WITNESS_BYTES] = "bytes arrived",
		[WITNESS_EXTRA_BYTES] = "bytes sent but not arrived",
		[WITNESS_SLOPE] = "time of twice the turns over once",
		[WITNESS_REMOTE_BYTES] = "bytes over the remote device",
		[WITNESS_MAJOR] = "major faults by getrusage",
		[WITNESS_PACKETS] = "packets by the device's statistics",
		[WITNESS_STRAYS] = "packets of other devices",
		[WITNESS_OPENS] = "connections opened, active and passive",
		[WITNESS_RESETS] = "resets",
		[WITNESS_ESTABLISHED] = "connections up when connect() returned",
		[WITNESS_COMPLETIONS] = "notifications read",
		[WITNESS_TURNS] = "turns by what they changed",
		[WITNESS_MAPPED] = "pages mapped by smaps",
		[WITNESS_DELAY] = "shortest round trip over the path's delay",
		[WITNESS_PRODUCT] = "time of a multiplication over an addition",
		[WITNESS_ORDERLY] = "share of loads of the next line",
		[WITNESS_FAST] = "share of stretches as fast as the cache",
		[WITNESS_TOUCHED] = "bytes by what the memory holds",
	};

	return names[w];
}

const char *invariant_counter(const struct invariant *invariant)
{
	return invariant->event < EVENT_COUNT ? event_of(invariant->event)->name
					      : witness_name(invariant->event - EVENT_COUNT);
}

static bool holds(const struct invariant *invariant, double expected, double counted)
{
	double room = fabs(expected) * invariant->slack;

	switch (invariant->is) {
	case EXACTLY:
		return counted >= expected - room && counted <= expected + room;
	case AT_LEAST:
		return counted >= expected - room;
	case AT_MOST:
		return counted <= expected + room;
	case NOTHING:
		break;
	}
	return true;
}

enum proof invariants_judge(const struct invariant *invariants, size_t n, uint64_t calls,
			    const double *counted, struct finding *findings, char *why,
			    size_t why_bytes)
{
	enum proof proof = PROOF_HELD;

	*why = '\0';
	for (size_t i = 0; i < n && invariants[i].is != NOTHING; i++) {
		const struct invariant *each = &invariants[i];
		struct finding *f = &findings[i];

		f->expected = each->per_call * calls + each->once;
		f->counted = counted[each->event];
		f->held = !isnan(f->counted) && holds(each, f->expected, f->counted);
		if (isnan(f->counted) && proof == PROOF_HELD) {
			proof = PROOF_MISSING;
			snprintf(why, why_bytes, "nothing counted %s", invariant_counter(each));
		}
		if (isnan(f->counted) || f->held || proof == PROOF_BROKEN)
			continue;
		proof = PROOF_BROKEN;
		snprintf(why, why_bytes, "%s: expected %s %.15g %s in %llu calls, counted %.15g",
			 each->means, relation_name(each->is), f->expected, invariant_counter(each),
			 (unsigned long long)calls, f->counted);
	}
	return proof;
}
