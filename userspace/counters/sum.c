// SPDX-License-Identifier: GPL-2.0
// Sums and scales what the kernel counted, and rejects what cannot be true.
#include <inttypes.h>
#include <stdio.h>

#include "userspace/counters/sum.h"

/* A run of more instructions without a single cache miss is not credible. */
#define BUSY_INSTRUCTIONS 1000000

#define COUNTED_NOTHING "opened but counted nothing"

/* What the parts of one event amount to together. */
struct total {
	uint64_t count;
	uint64_t enabled_ns;			/* the longest of the parts */
	uint64_t running_ns;			/* of the known parts */
	const struct counter_part *missing;	/* first that should have counted, did not */
	const struct counter_part *idle;	/* first that had no chance to count */
};

static bool reading_is_idle(const struct counter_reading *reading)
{
	return !reading->why[0] && !reading->running_ns;
}

/*
 * Some PMUs (emulated ones above all) accept an event that they do not implement and leave it at 0.
 * No process runs for zero cycles or zero instructions, so such a 0 is not a measurement.
 */
static const char *reading_fault(enum counter_event event, const struct counter_reading *reading,
				 unsigned int parts)
{
	if (reading->why[0])
		return reading->why;
	if (!reading->enabled_ns)
		return "was not enabled while the process ran";
	if (!reading->running_ns)
		return parts == 1 ? "never got a hardware counter" :
		       "never got a hardware counter, or never ran on this kind of core";
	if (!reading->count && (event == COUNTER_CYCLES || event == COUNTER_INSTRUCTIONS))
		return COUNTED_NOTHING;
	return NULL;
}

static void part_fill(enum counter_event event, const struct counter_reading *reading,
		      unsigned int parts, struct counter_part *part)
{
	const char *fault = reading_fault(event, reading, parts);

	snprintf(part->pmu, sizeof(part->pmu), "%s", reading->pmu);
	part->known = !fault;
	part->value = fault ? 0 : reading->count;
	if (!reading->why[0] && reading->enabled_ns)
		part->running_share = (double)reading->running_ns / reading->enabled_ns;
	if (fault)
		snprintf(part->why, sizeof(part->why), "%s", fault);
}

static void total_add(struct total *total, const struct counter_reading *reading,
		      const struct counter_part *part)
{
	if (!reading->why[0] && reading->enabled_ns > total->enabled_ns)
		total->enabled_ns = reading->enabled_ns;
	if (part->known) {
		total->count += reading->count;
		total->running_ns += reading->running_ns;
	} else if (reading_is_idle(reading)) {
		total->idle = total->idle ? total->idle : part;
	} else {
		total->missing = total->missing ? total->missing : part;
	}
}

static void value_withdraw(struct counter_value *value, const struct counter_part *cause)
{
	value->known = false;
	value->value = 0;
	value->scaled = false;
	if (value->parts == 1)
		snprintf(value->why, sizeof(value->why), "%s", cause->why);
	else
		snprintf(value->why, sizeof(value->why), "%.*s: %.*s", COUNTER_PMU_BYTES - 1,
			 cause->pmu, COUNTER_WHY_BYTES - COUNTER_PMU_BYTES - 2, cause->why);
}

static uint64_t scale(uint64_t count, const struct total *total)
{
	return ((unsigned __int128)count * total->enabled_ns + total->running_ns / 2) /
	       total->running_ns;
}

/*
 * One factor for the whole, not one per part: on a hybrid processor a part also stands still while
 * the thread runs on the other kind of core. Scaling each part for that would count twice.
 */
static void value_scale(struct counter_value *value, const struct total *total)
{
	unsigned int i;

	value->known = true;
	value->scaled = total->running_ns < total->enabled_ns;
	value->running_share = 1;
	value->value = total->count;
	if (!value->scaled)
		return;
	value->running_share = (double)total->running_ns / total->enabled_ns;
	value->value = scale(total->count, total);
	for (i = 0; i < value->parts; i++) {
		value->part[i].scaled = value->part[i].known;
		value->part[i].value = scale(value->part[i].value, total);
	}
}

void counter_sum(enum counter_event event, const struct counter_reading *readings,
		 unsigned int parts, struct counter_value *value)
{
	struct total total = { 0 };
	unsigned int i;

	*value = (struct counter_value){ .parts = parts };
	for (i = 0; i < parts; i++) {
		part_fill(event, &readings[i], parts, &value->part[i]);
		total_add(&total, &readings[i], &value->part[i]);
	}
	/*
	 * A missing part does no harm if the others counted all the time: the process never ran on
	 * that kind of core.
	 */
	if (total.missing && (!total.running_ns || total.running_ns < total.enabled_ns))
		value_withdraw(value, total.missing);
	else if (!total.running_ns)
		value_withdraw(value, total.idle);
	else
		value_scale(value, &total);
}

static void misses_doubt(struct counter_value *misses, const struct counter_value *instructions)
{
	unsigned int i;

	for (i = 0; i < misses->parts && i < instructions->parts; i++) {
		const struct counter_part *busy = &instructions->part[i];
		struct counter_part *part = &misses->part[i];

		if (!part->known || part->value || !busy->known ||
		    busy->value <= BUSY_INSTRUCTIONS)
			continue;
		part->known = false;
		part->scaled = false;
		snprintf(part->why, sizeof(part->why), COUNTED_NOTHING " in %" PRIu64
			 " instructions", busy->value);
		if (misses->known)
			value_withdraw(misses, part);
	}
	if (misses->known && !misses->value && instructions->known &&
	    instructions->value > BUSY_INSTRUCTIONS) {
		misses->known = false;
		misses->scaled = false;
		snprintf(misses->why, sizeof(misses->why), COUNTED_NOTHING " in %" PRIu64
			 " instructions", instructions->value);
	}
}

void counter_doubt(struct counter_value values[COUNTER_COUNT])
{
	misses_doubt(&values[COUNTER_L1D_LOAD_MISSES], &values[COUNTER_INSTRUCTIONS]);
	misses_doubt(&values[COUNTER_LLC_LOAD_MISSES], &values[COUNTER_INSTRUCTIONS]);
	misses_doubt(&values[COUNTER_CACHE_MISSES], &values[COUNTER_INSTRUCTIONS]);
}
