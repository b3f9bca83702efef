// SPDX-License-Identifier: GPL-2.0
/* Reads the totals that the workload prints of itself. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/trace/launch.h"

static uint64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void parse_counts(const json_t *object, struct app_socket *s)
{
	s->messages = number(object, "messages");
	s->accepted_bytes = number(object, "accepted_bytes");
	s->received_bytes = number(object, "received_bytes");
	s->gather_bytes = number(object, "gather_bytes");
	s->zerocopy_sends = number(object, "zerocopy_sends");
	s->completions = number(object, "completions");
	s->completions_copied = number(object, "completions_copied");
	s->enobufs = number(object, "enobufs");
	s->content_errors = number(object, "content_errors");
}

static void parse_text(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	snprintf(text, size, "%s", value ? value : "");
}

static void parse_latency(const json_t *object, struct latency *latency)
{
	latency->known = json_is_object(object);
	if (!latency->known)
		return;
	parse_text(object, "what", latency->what, sizeof(latency->what));
	latency->mean_us = json_number_value(json_object_get(object, "mean")) / 1000;
	latency->p50_us = json_number_value(json_object_get(object, "p50")) / 1000;
	latency->p99_us = json_number_value(json_object_get(object, "p99")) / 1000;
}

static int parse_sockets(const json_t *array, struct app_totals *totals)
{
	size_t count = json_array_size(array);

	totals->sockets = calloc(count ? count : 1, sizeof(*totals->sockets));
	if (!totals->sockets)
		return -ENOMEM;
	totals->socket_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *each = json_array_get(array, i);
		const char *cookie = json_string_value(json_object_get(each, "cookie"));
		struct app_socket *s = &totals->sockets[i];

		parse_counts(each, s);
		s->latency_known = json_is_object(json_object_get(each, "latency_ns"));
		s->latency_mean_us = json_number_value(json_object_get(
			json_object_get(each, "latency_ns"), "mean")) / 1000;
		s->cookie = cookie ? strtoull(cookie, NULL, 10) : 0;
		parse_text(each, "local", s->local, sizeof(s->local));
		parse_text(each, "remote", s->remote, sizeof(s->remote));
	}
	return 0;
}

int app_totals_read(const json_t *root, struct app_totals *totals)
{
	int err;

	if (!json_is_object(root))
		return -EINVAL;
	parse_counts(root, &totals->sum);
	totals->completions_read = json_is_integer(json_object_get(root, "completions"));
	totals->content_unchecked = json_is_null(json_object_get(root, "content_errors"));
	totals->elapsed_ns = number(root, "elapsed_ns");
	parse_latency(json_object_get(root, "latency_ns"), &totals->latency);
	err = parse_sockets(json_object_get(root, "connections"), totals);
	totals->known = !err;
	return err;
}

int app_totals_parse(const struct child *c, struct app_totals *totals)
{
	json_t *root = c->text ? json_loads(c->text, 0, NULL) : NULL;
	int err;

	totals->pid = c->pid;
	err = app_totals_read(root, totals);
	json_decref(root);
	return err;
}
