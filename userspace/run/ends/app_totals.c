// SPDX-License-Identifier: GPL-2.0
/* Reads the totals that the workload prints of itself. */
#include "userspace/run/ends/app_totals.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/json.h"
#include "userspace/common/json_read.h"
#include "userspace/record/plan.h"

static void read_counts(struct reading *in, const json_t *o, struct app_socket *s)
{
	s->messages = get_count(in, o, "messages");
	s->accepted_bytes = get_count(in, o, "accepted_bytes");
	s->received_bytes = get_count(in, o, "received_bytes");
	s->gather_bytes = get_count(in, o, "gather_bytes");
	s->zerocopy_sends = get_count(in, o, "zerocopy_sends");
	s->completions = get_count(in, o, "completions");
	s->completions_copied = get_count(in, o, "completions_copied");
	s->enobufs = get_count(in, o, "enobufs");
	s->map_calls = get_count(in, o, "map_calls");
	s->content_errors = get_count(in, o, "content_errors");
	s->tcp_known = json_is_integer(json_object_get(o, "tcp_accepted_bytes")) &&
		       json_is_integer(json_object_get(o, "tcp_returned_bytes"));
	s->tcp_accepted_bytes = get_count(in, o, "tcp_accepted_bytes");
	s->tcp_returned_bytes = get_count(in, o, "tcp_returned_bytes");
	s->tcp_retransmitted_bytes = get_count(in, o, "tcp_retransmitted_bytes");
}

/* What does not fit is cut off. */
static void read_text(const json_t *o, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(o, key));

	snprintf(text, size, "%s", value ? value : "");
}

static double read_us(struct reading *in, const json_t *o, const char *key)
{
	return get_real(in, o, key, COUNT_MOST) / 1000;
}

static void read_latency(struct reading *in, const json_t *o, struct latency *latency)
{
	latency->known = json_is_object(o);
	if (!latency->known)
		return;
	read_text(o, "what", latency->what, sizeof(latency->what));
	in->wrong |= !*latency->what;
	latency->mean_us = read_us(in, o, "mean");
	latency->p50_us = read_us(in, o, "p50");
	latency->p99_us = read_us(in, o, "p99");
}

static void read_socket(struct reading *in, const json_t *o, struct app_socket *s)
{
	const json_t *latency = json_object_get(o, "latency_ns");

	read_counts(in, o, s);
	s->latency_known = json_is_object(latency);
	if (s->latency_known)
		s->latency_mean_us = read_us(in, latency, "mean");
	s->cookie = cookie_of(json_object_get(o, "cookie"));
	read_text(o, "local", s->local, sizeof(s->local));
	read_text(o, "remote", s->remote, sizeof(s->remote));
}

static void read_sockets(struct reading *in, const json_t *array, struct app_totals *totals)
{
	size_t count = json_array_size(array);

	in->wrong |= count > PLAN_THREADS_MAX;
	if (!in->wrong)
		totals->sockets = calloc(count ? count : 1, sizeof(*totals->sockets));
	in->wrong |= !totals->sockets;
	for (size_t i = 0; !in->wrong && i < count; i++)
		read_socket(in, json_array_get(array, i), &totals->sockets[totals->socket_count++]);
}

static void read_listeners(struct reading *in, const json_t *array, struct app_totals *totals)
{
	size_t count = json_array_size(array);

	in->wrong |= count > PLAN_LISTENERS_MAX;
	for (size_t i = 0; !in->wrong && i < count; i++) {
		const json_t *o = json_array_get(array, i);

		totals->listener[totals->listener_count++] = (struct app_listener){
			.connections = get_count(in, o, "connections"),
			.accepted_bytes = get_count(in, o, "accepted_bytes"),
			.received_bytes = get_count(in, o, "received_bytes"),
		};
	}
}

/* Two numbers of blocks may be unknown: false for any other. */
static bool not_known(const char *number, struct app_totals *totals)
{
	bool *known = !strcmp(number, "machine_ns") ? &totals->machine_known :
		      !strcmp(number, "ksoftirqd_ns") ? &totals->ksoftirqd_known : NULL;

	if (known)
		*known = false;
	return known;
}

/* A column, or null: the number is not known. */
static bool read_column(struct reading *in, const json_t *o, const char *key, struct app_totals *totals, size_t offset)
{
	json_t *column = get_member(in, o, key);

	if (json_is_null(column))
		return false;
	in->wrong |= json_array_size(column) != totals->block_count;
	for (size_t i = 0; !in->wrong && i < totals->block_count; i++) {
		const json_t *number = json_array_get(column, i);

		in->wrong |= !json_is_integer(number) || json_integer_value(number) < 0 ||
			     json_integer_value(number) > COUNT_MOST;
		*(uint64_t *)((char *)&totals->blocks[i] + offset) = json_integer_value(number);
	}
	return true;
}

static void read_blocks(struct reading *in, const json_t *o, struct app_totals *totals)
{
	if (!o)
		return;
	totals->block_bytes = get_count(in, o, "block_bytes");
	totals->block_count = json_array_size(json_object_get(o, "way"));
	in->wrong |= totals->block_count > BLOCKS_MOST;
	if (!in->wrong)
		totals->blocks = calloc(totals->block_count + 1, sizeof(*totals->blocks));
	in->wrong |= !totals->blocks;
	totals->machine_known = totals->ksoftirqd_known = true;
#define READ_COLUMN(name)                                                                                    \
	if (!read_column(in, o, #name, totals, offsetof(struct block, name)))                                \
		in->wrong |= !not_known(#name, totals);
	BLOCK_NUMBERS(READ_COLUMN)
#undef READ_COLUMN
	for (size_t i = 0; !in->wrong && i < totals->block_count; i++)
		in->wrong |= totals->blocks[i].way >= WAYS_MOST;
}

int app_totals_read(const json_t *root, struct app_totals *totals)
{
	struct reading in = { .wrong = !json_is_object(root) };

	read_counts(&in, root, &totals->sum);
	totals->completions_read = json_is_integer(json_object_get(root, "completions"));
	totals->content_unchecked = json_is_null(json_object_get(root, "content_errors"));
	totals->elapsed_ns = get_time_ns(&in, root, "elapsed_ns");
	read_latency(&in, json_object_get(root, "latency_ns"), &totals->latency);
	totals->stopped_by = get_up_to(&in, root, "stopped_by", NSIG - 1);
	read_text(root, "complaint", totals->complaint, sizeof(totals->complaint));
	read_sockets(&in, json_object_get(root, "connections"), totals);
	read_listeners(&in, json_object_get(root, "listeners"), totals);
	read_blocks(&in, json_object_get(root, "alternation"), totals);
	totals->known = !in.wrong;
	if (totals->known)
		return 0;
	free(totals->sockets);
	free(totals->blocks);
	*totals = (struct app_totals){};
	return -EINVAL;
}

int app_totals_parse(const struct child *c, struct app_totals *totals)
{
	json_t *root = c->text ? printable_object(c->text, c->length) : NULL;
	int err;

	*totals = (struct app_totals){};
	err = app_totals_read(root, totals);
	json_decref(root);
	totals->pid = c->pid;
	return err;
}
