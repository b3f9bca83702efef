// SPDX-License-Identifier: GPL-2.0
/* Names and sums of a watch's record. */
#include "userspace/record/watch_record.h"

#include "userspace/common/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *watch_balance_name(enum watch_balance_item item)
{
	static const char *const names[] = {
#define BALANCE_NAME(name, meaning) #name,
		WATCH_BALANCES(BALANCE_NAME)
#undef BALANCE_NAME
	};

	return names[item];
}

/* Of packets that leave, the book of each socket tells whether all were seen. */
bool watch_probe_is_of_packets(const struct probe *p)
{
#define PROBE_NAME(name) #name,
	static const char *const names[] = { WATCH_PACKET_PROBES(PROBE_NAME) };
#undef PROBE_NAME

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(p->metric, names[i]))
			return true;
	return false;
}

uint64_t watch_unseen_firings(const struct watch_record *r)
{
	uint64_t unseen = 0;

	for (int i = 0; i < r->probe_count; i++)
		if (watch_probe_is_of_packets(&r->probes[i]))
			unseen += r->probes[i].missed_runs + r->probes[i].missed_hits;
	return unseen;
}

/* No packet is larger: GSO_MAX_SIZE, and GRO_MAX_SIZE of what arrives (include/linux/netdevice.h, 5.19). */
enum { PACKET_BYTES_MOST = 8 * 65535 };

uint64_t watch_unseen_most(const struct watch_record *r, const struct watch_fate *fate)
{
	uint64_t most = watch_unseen_firings(r) * PACKET_BYTES_MOST;

	return fate->unsure < most ? fate->unsure : most;
}

static const struct {
	const char *direction, *key;
} ways[] = {
#define WAY_NAMES(symbol, direction, key, name) { direction, key },
	CALL_WAYS(WAY_NAMES)
#undef WAY_NAMES
};

const char *call_way_direction(enum call_way way)
{
	return ways[way].direction;
}

const char *call_way_key(enum call_way way)
{
	return ways[way].key;
}

uint64_t bucket_from(int bucket)
{
	return bucket ? 1ull << (bucket - 1) : 0;
}

bool hold_was_any(const struct call_holds *holds)
{
	return hold_most(holds) || holds->untimed || holds->rings_missed;
}

uint64_t hold_most(const struct call_holds *holds)
{
	uint64_t now = holds->outstanding > 0 ? holds->outstanding : 0;

	return now > holds->outstanding_most ? now : holds->outstanding_most;
}

int hold_bucket(const struct hold_times *times, double share)
{
	uint64_t below = 0;

	for (int i = 0; i < HOLD_BUCKETS; i++) {
		below += times->bucket[i];
		if (below && below >= share * times->sends)
			return i;
	}
	return 0;
}

struct size_bucket size_sum(const struct call_sizes *sizes, enum call_way way)
{
	struct size_bucket sum = {};

	for (int i = 0; i < SIZE_BUCKETS; i++) {
		sum.calls += sizes->bucket[way][i].calls;
		sum.bytes += sizes->bucket[way][i].bytes;
	}
	return sum;
}

struct layer_names {
	const char *key, *name;
};

static const struct layer_names layers[] = {
	[WATCH_LAYER_NONE] = { "tcp", "TCP" },
#define LAYER_NAMES(symbol, key, name) [WATCH_LAYER_##symbol] = { key, name },
	WATCH_LAYERS(LAYER_NAMES)
#undef LAYER_NAMES
};

const char *watch_layer_key(enum watch_layer layer)
{
	return layers[layer].key;
}

const char *watch_layer_name(enum watch_layer layer)
{
	return layers[layer].name;
}

const char *verdict_name(enum verdict_of_process verdict)
{
	static const char *const names[] = {
#define VERDICT_NAME(symbol, name, meaning) name,
		WATCH_VERDICTS(VERDICT_NAME)
#undef VERDICT_NAME
	};

	return names[verdict];
}

const char *watch_uncovered_names(enum watch_uncovered kind)
{
	static const char *const names[] = {
#define UNCOVERED_NAME(symbol, name) [WATCH_UNCOVERED_##symbol] = name "s",
		WATCH_UNCOVERED(UNCOVERED_NAME)
#undef UNCOVERED_NAME
	};

	return names[kind];
}

const char *watch_request_name(enum watch_request request)
{
	static const char *const names[] = {
#define REQUEST_NAME(symbol, name) [WATCH_REQUEST_##symbol] = name,
		WATCH_REQUESTS(REQUEST_NAME)
#undef REQUEST_NAME
	};

	return names[request];
}

bool watch_is_plausible(uint64_t value)
{
	return value < 1ull << 56;
}

static bool is_told(struct watch_movements *m, bool known, uint64_t value)
{
	bool plausible = watch_is_plausible(value);

	m->implausible += known && !plausible;
	return known && plausible;
}

void watch_set_site(struct watch_movements *m, enum site site, bool known, uint64_t bytes)
{
	if (!is_told(m, known, bytes))
		return;
	m->sites_known |= 1u << site;
	m->site[site].bytes = bytes;
}

void watch_set_count(struct watch_movements *m, enum count count, bool known, uint64_t value)
{
	if (!is_told(m, known, value))
		return;
	m->counts_known |= 1ull << count;
	m->count[count] = value;
}

void watch_movements_add(struct watch_movements *into, const struct watch_movements *from)
{
	into->sites_known &= from->sites_known;
	into->counts_known &= from->counts_known;
	for (size_t i = 0; i < sizeof(into->sums) / sizeof(*into->sums); i++)
		into->sums[i] += from->sums[i];
}

bool watch_moved_nothing(const struct watch_movements *m)
{
	uint64_t any = 0;

	for (size_t i = 0; i < sizeof(m->sums) / sizeof(*m->sums); i++)
		any |= m->sums[i];
	return !any;
}

void watch_lately_add(struct watch_movements *into, const struct watch_socket *socket)
{
	if (!socket->rested) {
		watch_movements_add(into, &socket->lately);
		return;
	}
	into->sites_known &= socket->lately.sites_known;
	into->counts_known &= socket->lately.counts_known;
}

void watch_movements_subtract(struct watch_movements *from, const struct watch_movements *less)
{
	for (size_t i = 0; i < sizeof(from->sums) / sizeof(*from->sums); i++)
		from->sums[i] -= less->sums[i];
}

const char *watch_failure_name(enum watch_failure error)
{
	static const char *const names[] = {
#define FAILURE_NAME(symbol, name, number) name,
		WATCH_FAILURES(FAILURE_NAME)
#undef FAILURE_NAME
	};

	return names[error];
}

static void balance_add(struct watch_balance *into, const struct watch_balance *from)
{
	into->known &= from->known;
	for (int i = 0; i < WATCH_BALANCE_COUNT; i++)
		into->item[i] += from->item[i];
}

struct watch_sum watch_sum_of_nothing(void)
{
	static const struct watch_movements moved = { .sites_known = ~0u, .counts_known = ~0ull };

	return (struct watch_sum){
		.opening.known = ~0u, .closing.known = ~0u, .moved = moved, .lately = moved,
	};
}

void watch_sum_add(struct watch_sum *sum, const struct watch_socket *socket)
{
	sum->sockets++;
	sum->sockets_lately += !socket->died_before;
	sum->handed_on += socket->handed_on;
	sum->born += socket->born;
	sum->died += socket->died;
	sum->called_bytes += socket->called_bytes;
	sum->unsized_calls += socket->unsized_calls;
	sum->tls_sockets += socket->tls;
	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		sum->laws_broken |= (watch_law_status(&socket->laws[l]) == LAW_BROKEN) << l;
	sum->stacked_bytes += socket->stacked_bytes;
	sum->unstacked_bytes += socket->unstacked_bytes;
	if (socket->apart) {
		struct watch_other *other = &sum->other[socket->layer];

		other->sockets++;
		other->sent_bytes += socket->moved.count[COUNT_accepted_bytes];
		other->received_bytes += socket->moved.count[COUNT_returned_bytes];
		return;
	}
	if (socket->on_loopback)
		sum->sent_here_bytes += socket->moved.count[COUNT_accepted_bytes];
	balance_add(&sum->opening, &socket->opening);
	balance_add(&sum->closing, &socket->closing);
	watch_movements_add(&sum->moved, &socket->moved);
	watch_lately_add(&sum->lately, socket);
}

static int by_token(const void *a, const void *b)
{
	const struct watch_mptcp *x = a, *y = b;
	return numbers_order((uint64_t)x->netns << 32 | x->token, (uint64_t)y->netns << 32 | y->token);
}

int watch_mptcp_sums(const struct watch_record *r, struct watch_mptcp **out)
{
	struct watch_mptcp *all = calloc(r->socket_count + 1, sizeof(*all));
	int count = 0, kept = 0;

	*out = all;
	if (!all)
		return -ENOMEM;
	for (int i = 0; i < r->socket_count; i++) {
		const struct watch_socket *s = &r->sockets[i];
		struct watch_mptcp *one = &all[count];

		if (!s->mptcp_token)
			continue;
		*one = (struct watch_mptcp){ s->netns, s->mptcp_token, s->owner, "", 1,
					     s->moved.count[COUNT_accepted_bytes],
					     s->moved.count[COUNT_returned_bytes] };
		memcpy(one->comm, s->comm, sizeof(one->comm));
		count++;
	}
	qsort(all, count, sizeof(*all), by_token);
	for (int i = 1; i < count; i++) {
		if (by_token(&all[kept], &all[i])) {
			all[++kept] = all[i];
			continue;
		}
		all[kept].subflows++;
		all[kept].sent_bytes += all[i].sent_bytes;
		all[kept].received_bytes += all[i].received_bytes;
	}
	return count ? kept + 1 : 0;
}

void watch_groups_free(struct watch_groups *groups, int count)
{
	for (int i = 0; i < count; i++) {
		free(groups[i].group);
		free(groups[i].note);
		groups[i] = (struct watch_groups){};
	}
}

void watch_record_free(struct watch_record *r)
{
	watch_groups_free(r->groups, WATCH_GROUPINGS);
	free(r->sockets);
	free(r->processes);
	free(r->cgroups);
	free(r->sizes.all);
	free(r->cpu_threads);
	free(r->sizes.holds);
	user_stacks_free(&r->stacks);
	*r = (struct watch_record){};
}
