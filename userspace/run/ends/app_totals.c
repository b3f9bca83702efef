// SPDX-License-Identifier: GPL-2.0
/* Reads the totals that the workload prints of itself. */
#include "userspace/run/ends/app_totals.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/foreign.h"
#include "userspace/common/json.h"
#include "userspace/record/plan.h"
#include "userspace/run/ends/launch.h"

/* The answer is no longer than the text. */
enum { TOTALS_BYTES_MAX = 1 << 24 };

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
	s->tcp_known = json_is_integer(json_object_get(object, "tcp_accepted_bytes")) &&
		       json_is_integer(json_object_get(object, "tcp_returned_bytes"));
	s->tcp_accepted_bytes = number(object, "tcp_accepted_bytes");
	s->tcp_returned_bytes = number(object, "tcp_returned_bytes");
	s->tcp_retransmitted_bytes = number(object, "tcp_retransmitted_bytes");
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

	if (count > PLAN_THREADS_MAX)
		return -EINVAL;
	totals->sockets = calloc(count ? count : 1, sizeof(*totals->sockets));
	if (!totals->sockets)
		return -ENOMEM;
	totals->socket_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *each = json_array_get(array, i);
		struct app_socket *s = &totals->sockets[i];

		parse_counts(each, s);
		s->latency_known = json_is_object(json_object_get(each, "latency_ns"));
		s->latency_mean_us = json_number_value(json_object_get(
			json_object_get(each, "latency_ns"), "mean")) / 1000;
		s->cookie = cookie_of(json_object_get(each, "cookie"));
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
	totals->stopped_by = number(root, "stopped_by");
	parse_text(root, "complaint", totals->complaint, sizeof(totals->complaint));
	err = parse_sockets(json_object_get(root, "connections"), totals);
	totals->known = !err;
	return err;
}

/* What the parser process returns: the totals, then their sockets. */
static int parse(const char *text, size_t bytes, void **answer, size_t *size)
{
	json_t *root = json_loadb(text, bytes, 0, NULL);
	struct app_totals totals = {}, *whole;
	int err = app_totals_read(root, &totals);
	size_t tail = totals.socket_count * sizeof(*totals.sockets);

	json_decref(root);
	*size = sizeof(totals) + tail;
	whole = err ? NULL : malloc(*size);
	if (whole) {
		memcpy(whole, &totals, sizeof(totals));
		memcpy(whole + 1, totals.sockets, tail);
	}
	free(totals.sockets);
	*answer = whole;
	return err ? err : whole ? 0 : -ENOMEM;
}

static bool socket_sound(const struct app_socket *s)
{
	return sound_count(s->messages) && sound_count(s->accepted_bytes) &&
	       sound_count(s->received_bytes) && sound_count(s->gather_bytes) &&
	       sound_count(s->zerocopy_sends) && sound_count(s->completions) &&
	       sound_count(s->completions_copied) && sound_count(s->enobufs) &&
	       sound_count(s->content_errors) && sound_flag(&s->tcp_known) &&
	       sound_count(s->tcp_accepted_bytes) && sound_count(s->tcp_returned_bytes) &&
	       sound_count(s->tcp_retransmitted_bytes) && sound_text(s->local, sizeof(s->local)) &&
	       sound_text(s->remote, sizeof(s->remote)) && sound_flag(&s->latency_known) &&
	       sound_real(s->latency_mean_us, SOUND_MOST);
}

bool app_totals_sound(const struct app_totals *t, const struct app_socket *sockets)
{
	const struct latency *l = &t->latency;

	for (int i = 0; i < t->socket_count; i++)
		if (!socket_sound(&sockets[i]))
			return false;
	return socket_sound(&t->sum) && sound_flag(&t->known) && sound_flag(&t->completions_read) &&
	       sound_flag(&t->content_unchecked) && sound_time_ns(t->elapsed_ns) &&
	       t->stopped_by >= 0 && t->stopped_by < NSIG &&
	       sound_text(t->complaint, sizeof(t->complaint)) &&
	       sound_flag(&l->known) && sound_text(l->what, sizeof(l->what)) &&
	       (!l->known || *l->what) &&
	       sound_real(l->mean_us, SOUND_MOST) && sound_real(l->p50_us, SOUND_MOST) &&
	       sound_real(l->p99_us, SOUND_MOST);
}

/* Takes over the answer, if it is complete and sound. */
static int take(const char *answer, size_t size, struct app_totals *totals)
{
	struct app_totals said;
	const struct app_socket *sockets = (const void *)(answer + sizeof(said));

	if (size < sizeof(said))
		return -EINVAL;
	memcpy(&said, answer, sizeof(said));
	if (said.socket_count < 0 || said.socket_count > PLAN_THREADS_MAX ||
	    size != sizeof(said) + said.socket_count * sizeof(*sockets) ||
	    !app_totals_sound(&said, sockets))
		return -EINVAL;
	said.sockets = malloc(size);
	if (!said.sockets)
		return -ENOMEM;
	memcpy(said.sockets, sockets, size - sizeof(said));
	*totals = said;
	return 0;
}

int app_totals_prepare(struct aside *parser)
{
	return aside_start(parser, parse);
}

int app_totals_parse(struct aside *parser, const struct child *c, struct app_totals *totals)
{
	void *answer;
	size_t size;
	int err = c->text ? aside_ask(parser, c->text, c->length, TOTALS_BYTES_MAX, &answer, &size) :
			    -EINVAL;

	*totals = (struct app_totals){};
	if (!err) {
		err = take(answer, size, totals);
		free(answer);
	}
	totals->pid = c->pid;
	return err;
}
