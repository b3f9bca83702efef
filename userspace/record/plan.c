// SPDX-License-Identifier: GPL-2.0
/* The names and limits of a plan, and the check of one that came over the network. Pure. */
#include "userspace/record/plan.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "userspace/tables/behaviours.h"
#include "userspace/tables/receivers.h"
#include "userspace/tables/variants.h"

const char *const plan_patterns[] = { "stream", "rr", NULL };
#define NAME(symbol, name, ...) name,
const char *const plan_receivers[] = { RECEIVERS(NAME) NULL };
#undef NAME

static bool is_one_of(const char *const *names, const char *value, size_t size)
{
	if (!memchr(value, '\0', size))
		return false;
	for (; *names; names++)
		if (!strcmp(*names, value))
			return true;
	return false;
}

bool plan_way(const struct workload_plan *p, int number, struct way_names *way)
{
	const char *from = *p->alternate ? p->alternate : p->variant, *receiver;

	for (; number && from; number--) {
		from = strchr(from, ',');
		from = from ? from + 1 : NULL;
	}
	if (!from)
		return false;
	snprintf(way->name, sizeof(way->name), "%.*s", (int)strcspn(from, ","), from);
	receiver = strchr(way->name, ':');
	snprintf(way->variant, sizeof(way->variant), "%.*s", (int)strcspn(way->name, ":"), way->name);
	snprintf(way->receiver, sizeof(way->receiver), "%s", receiver ? receiver + 1 : p->receiver);
	return true;
}

static bool variant_fits(const struct workload_plan *p)
{
	return memchr(p->variant, '\0', sizeof(p->variant)) && variant_has(p->variant, 0);
}

bool plan_has_tls(const struct workload_plan *p)
{
	return variant_has(p->variant, VARIANT_TLS);
}

static bool receiver_fits(const struct workload_plan *p)
{
	if (!p->readers)
		return is_one_of(plan_receivers, p->receiver, sizeof(p->receiver)) &&
		       !receiver_fault(p->receiver, variant_traits(p->variant));
	return !plan_has_tls(p) && p->readers > 0 && p->readers <= PLAN_THREADS_MAX &&
	       !strncmp(p->receiver, "drain", sizeof(p->receiver)) && strcmp(p->pattern, "rr");
}

bool plan_references(const struct workload_plan *p)
{
	return variant_has(p->variant, VARIANT_ASKS);
}

bool plan_has_rings(const struct workload_plan *p)
{
	struct way_names way;

	for (int i = 0; plan_way(p, i, &way); i++)
		if (variant_has(way.variant, VARIANT_RING) || receiver_has(way.receiver, RECEIVER_RING))
			return true;
	return false;
}

uint64_t plan_registered_bytes(const struct workload_plan *p, uint64_t page_bytes)
{
	uint64_t sum = 0;
	struct way_names way;

	for (int i = 0; plan_way(p, i, &way); i++)
		if (variant_has(way.variant, VARIANT_REGISTERED))
			sum += p->threads * registered_messages(p->bytes, page_bytes) *
			       registered_bytes(p->bytes, page_bytes);
	return sum;
}

bool plan_notified_by_ring(const struct workload_plan *p)
{
	return variant_has(p->variant, VARIANT_RING_REFERENCES);
}

const char *plan_piece_fault(const struct workload_plan *p)
{
	unsigned int traits = 0;
	struct way_names way;

	for (int i = 0; plan_way(p, i, &way); i++)
		traits |= variant_traits(way.variant);
	return piece_fault(traits, p->piece_bytes);
}

bool plan_sends_datagrams(const struct workload_plan *p)
{
	return variant_has(p->variant, VARIANT_DATAGRAMS);
}

bool plan_ends_inside(const struct workload_plan *p)
{
	return p->behaviours & BEHAVIOUR_BIT(end_on_enobufs);
}

struct behaviour_names plan_behaviours(const struct workload_plan *p)
{
	struct behaviour_names names;

	behaviours_write(p->behaviours, names.text, sizeof(names.text));
	return names;
}

int plan_behaviours_read(struct workload_plan *p, const char *names)
{
	return behaviours_read(names, &p->behaviours);
}

bool plan_overwrites(const struct workload_plan *p)
{
	return variant_has(p->variant, VARIANT_OVERWRITES) ||
	       behaviours_overwrite(p->behaviours, variant_traits(p->variant));
}

const char *plan_unchecked_why(const struct workload_plan *p)
{
	if (receiver_has(p->receiver, RECEIVER_BLIND))
		return "no byte reaches the receiver's memory";
	if (p->senders > 1)
		return "messages of several senders may lie between each other";
	return p->readers ? "readers that may share a socket cannot tell which bytes they got" :
			    "the pass without probes checks no content; use --verify";
}

const char *plan_fault(const struct workload_plan *p)
{
	const char *fault;

	if (!variant_fits(p))
		return "unknown variant";
	if (!is_one_of(plan_patterns, p->pattern, sizeof(p->pattern)))
		return "unknown pattern";
	if (!receiver_fits(p))
		return "unknown receiver";
	fault = variant_fault(variant_traits(p->variant), !strcmp(p->pattern, "rr"), p->readers, p->receiver);
	if (fault)
		return fault;
	if (plan_piece_fault(p))
		return plan_piece_fault(p);
	if (p->behaviours >> BEHAVIOUR_COUNT)
		return "unknown behaviour";
	if (p->readers && behaviours_want_messages(p->behaviours))
		return "readers see no messages";
	if (behaviours_fault(p->behaviours, variant_traits(p->variant)))
		return behaviours_fault(p->behaviours, variant_traits(p->variant));
	if (p->bytes < PLAN_BYTES_MIN || p->bytes > PLAN_BYTES_MAX)
		return "bytes out of range";
	if (p->threads < 1 || p->threads > PLAN_THREADS_MAX)
		return "threads out of range";
	if (p->messages > PLAN_MESSAGES_MAX)
		return "messages out of range";
	if (!p->messages && !(p->seconds > 0 && p->seconds <= PLAN_SECONDS_MAX))
		return "seconds out of range";
	return NULL;
}
