// SPDX-License-Identifier: GPL-2.0
/* Print the totals of a run, as JSON or for people. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "userspace/common/clock.h"
#include "userspace/common/json.h"
#include "userspace/workload/alternation.h"
#include "userspace/workload/run.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

struct summary {
	struct totals totals;
	struct sequence sequence;
	struct latency *latency; /* NULL when nothing was timed */
	bool elapsed_known;
	uint64_t elapsed_ns;     /* first connection's start to last byte */
};

/* The sum is known if all parts are. */
static void sequence_add(struct sequence *sum, const struct sequence *more)
{
	if (!sum->why)
		sum->why = more->read ? more->why : "a connection never began";
	sum->accepted_bytes += more->accepted_bytes;
	sum->returned_bytes += more->returned_bytes;
	sum->retransmitted_bytes += more->retransmitted_bytes;
}

static void summary_init(struct summary *summary, const struct run *run)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	*summary = (struct summary){ .latency = calloc(1, sizeof(*summary->latency)) };
	for (unsigned int i = 0; i < run->n_workers; i++) {
		const struct connection *connection = run->worker[i]->connection;

		totals_add(&summary->totals, &connection->totals);
		sequence_add(&summary->sequence, &connection->sequence);
		if (connection->latency && summary->latency)
			latency_merge(summary->latency, connection->latency);
		if (connection->start_ns < first_ns)
			first_ns = connection->start_ns;
		if (connection->last_byte_ns > last_ns)
			last_ns = connection->last_byte_ns;
	}
	summary->elapsed_known = summary->totals.accepted_bytes || summary->totals.received_bytes;
	if (summary->elapsed_known)
		summary->elapsed_ns = last_ns - first_ns;
	if (summary->latency && !summary->latency->samples) {
		free(summary->latency);
		summary->latency = NULL;
	}
}

/* Why completions were not read, or NULL when they were. */
static const char *completions_why(const struct settings *settings)
{
	if (settings->role == ROLE_CLIENT)
		return "a client sends nothing by zero copy";
	if (settings->variant->row->traits & VARIANT_UNREAPED)
		return "this variant never reads the error queue";
	return NULL;
}

/* Why received bytes were not checked, or NULL when they were. */
static const char *content_why(const struct settings *settings)
{
	if (settings->readers)
		return "readers that may share a socket cannot tell which bytes they got";
	if (settings->receiver->row->traits & RECEIVER_BLIND)
		return "no byte reaches the receiver's memory";
	return settings->check_content ? NULL : "--check none: nothing reads the bytes that arrive";
}

static const char *receiver_name(const struct settings *settings)
{
	return settings->readers ? "drain" : settings->receiver->row->name;
}

static const char *latency_what(const struct settings *settings)
{
	return settings->pattern == PATTERN_RR ? "round trip" : "interval between whole messages";
}

static void set_null(json_t *object, const char *key, const char *why_key, const char *why)
{
	put(object, key, json_null());
	put(object, why_key, json_string(why));
}

static void set_totals(json_t *object, const struct totals *totals,
		       const struct settings *settings)
{
	const char *why = completions_why(settings);

#define SET_TOTAL(name) put(object, #name, json_integer(totals->name));
	TOTALS(SET_TOTAL)
#undef SET_TOTAL
	if (content_why(settings))
		set_null(object, "content_errors", "content_why", content_why(settings));
	if (!why)
		return;
	set_null(object, "completions", "completions_why", why);
	set_null(object, "completions_copied", "completions_why", why);
	set_null(object, "completion_errors", "completions_why", why);
}

static void set_sequence(json_t *object, const struct sequence *s, bool known)
{
	put(object, "tcp_accepted_bytes", integer_if(known, s->accepted_bytes));
	put(object, "tcp_returned_bytes", integer_if(known, s->returned_bytes));
	put(object, "tcp_retransmitted_bytes", integer_if(known, s->retransmitted_bytes));
	if (!known)
		put(object, "tcp_why", json_string(s->why ? s->why : "there was no connection"));
}

static void set_latency(json_t *object, const struct latency *latency,
			const struct settings *settings)
{
	if (!latency || !latency->samples) {
		set_null(object, "latency_ns", "latency_why",
			 settings->role == ROLE_SERVER ? "the client times messages" :
			 settings->readers ? "readers see no messages" : "too few whole messages");
		return;
	}
	put(object, "latency_ns", json_pack("{s:s, s:I, s:I, s:I, s:I}",
		"what", latency_what(settings),
		"mean", (json_int_t)(latency_mean_ns(latency) + 0.5),
		"p50", (json_int_t)latency_percentile_ns(latency, 0.50),
		"p99", (json_int_t)latency_percentile_ns(latency, 0.99),
		"samples", (json_int_t)latency->samples));
}

static json_t *connections_to_json(const struct run *run)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < run->n_workers; i++) {
		const struct connection *connection = run->worker[i]->connection;
		json_t *object = json_object();

		put(object, "cookie", cookie_json(connection->cookie));
		put(object, "local", json_string(connection->local));
		put(object, "remote", json_string(connection->remote));
		set_totals(object, &connection->totals, run->settings);
		set_sequence(object, &connection->sequence,
			     connection->sequence.read && !connection->sequence.why);
		set_latency(object, connection->latency, run->settings);
		json_array_append_new(list, object);
	}
	return list;
}

/* What came by listener @number. */
static unsigned int listener_share(const struct run *run, unsigned int number, struct totals *totals)
{
	unsigned int connections = 0;

	*totals = (struct totals){};
	for (unsigned int i = 0; i < run->n_workers; i++) {
		if (run->worker[i]->listener != number)
			continue;
		totals_add(totals, &run->worker[i]->connection->totals);
		connections++;
	}
	return connections;
}

static json_t *listeners_to_json(const struct run *run)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < run->settings->listeners; i++) {
		struct totals totals;
		unsigned int connections = listener_share(run, i, &totals);

		json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "connections", (json_int_t)connections,
			"accepted_bytes", (json_int_t)totals.accepted_bytes,
			"received_bytes", (json_int_t)totals.received_bytes));
	}
	return list;
}

static json_t *column(const struct block *blocks, size_t count, size_t offset)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(*(const uint64_t *)((const char *)&blocks[i] + offset)));
	return list;
}

static json_t *alternation_to_json(const struct run *run)
{
	size_t count;
	const struct block *blocks = alternation_blocks(run->alternation, &count);
	json_t *object = json_object();

	put(object, "block_bytes", json_integer(alternation_block_bytes(run->alternation)));
#define PUT_COLUMN(name)                                                                  \
	put(object, #name, alternation_hides(run->alternation, #name) ? json_null() :     \
			   column(blocks, count, offsetof(struct block, name)));
	BLOCK_NUMBERS(PUT_COLUMN)
#undef PUT_COLUMN
	return object;
}

static json_t *report_to_json(const struct run *run, const struct summary *summary)
{
	const struct settings *settings = run->settings;
	bool server = settings->role == ROLE_SERVER;
	bool receives = !server || settings->pattern == PATTERN_RR;
	unsigned int threads = settings->threads ? settings->threads : run->n_workers;
	json_t *root;

	root = json_pack("{s:s, s:s?, s:I, s:I, s:s, s:s?}",
		"role", server ? "server" : "client",
		"variant", server ? settings->variant->row->name : NULL,
		"bytes", (json_int_t)settings->bytes,
		"threads", (json_int_t)threads,
		"pattern", settings->pattern == PATTERN_RR ? "rr" : "stream",
		"receiver", receives ? receiver_name(settings) : NULL);
	if (!server)
		put(root, "readers", json_integer(settings->readers ? settings->readers : 1));
	set_totals(root, &summary->totals, settings);
	set_sequence(root, &summary->sequence, run->n_workers && !summary->sequence.why);
	if (server)
		put(root, "refused_clients", json_integer(run->refused_clients));
	else
		set_null(root, "refused_clients", "refused_clients_why", "only a server refuses");
	if (summary->elapsed_known)
		put(root, "elapsed_ns", json_integer(summary->elapsed_ns));
	else
		set_null(root, "elapsed_ns", "elapsed_why", "no byte moved");
	set_latency(root, summary->latency, settings);
	put(root, "stopped_by", integer_if(stop_state->signal, stop_state->signal));
	put(root, "complaint", text_or_null(first_complaint()));
	put(root, "connections", connections_to_json(run));
	if (settings->listeners > 1)
		put(root, "listeners", listeners_to_json(run));
	if (run->alternation)
		put(root, "alternation", alternation_to_json(run));
	return root;
}

/*
 * connections     4 (0 vanished)
 * messages        23 of 4093 bytes, A3
 * bytes           94139 sent
 * throughput      3.482 Gbit/s over 0.000216 s
 * completions     23 of 23 zero-copy sends, 23 said COPIED
 * ENOBUFS         0
 */
static void print_sent(const struct totals *totals, const struct settings *settings)
{
	const char *why = completions_why(settings);

	if (!traits_reference(settings->variant->row->traits))
		return;
	if (why)
		printf("completions     not read: %s\n", why);
	else
		printf("completions     %" PRIu64 " of %" PRIu64 " zero-copy sends, %" PRIu64
		       " said COPIED\n", totals->completions, totals->zerocopy_sends,
		       totals->completions_copied);
	printf("ENOBUFS         %" PRIu64 "\n", totals->enobufs);
}

static void print_throughput(const struct summary *summary, uint64_t bytes)
{
	if (!summary->elapsed_known || !summary->elapsed_ns)
		printf("throughput      not measured: no byte moved\n");
	else /* bits per ns are Gbit per s */
		printf("throughput      %.3f Gbit/s over %.6f s\n",
		       8.0 * bytes / summary->elapsed_ns, (double)summary->elapsed_ns / NS_PER_S);
}

/* By hand; what they say is for who started this. */
static void print_blocks(const struct alternation *alternation)
{
	size_t count;

	alternation_blocks(alternation, &count);
	printf("blocks          %zu of %" PRIu64 " bytes; --json has what each took\n", count,
	       alternation_block_bytes(alternation));
}

static void report_to_people(const struct run *run, const struct summary *summary)
{
	const struct settings *settings = run->settings;
	const struct totals *totals = &summary->totals;
	bool server = settings->role == ROLE_SERVER;

	printf("connections     %u (%" PRIu64 " vanished", run->n_workers, totals->peer_vanished);
	if (server)
		printf(", %" PRIu64 " refused", run->refused_clients);
	printf(")\nmessages        %" PRIu64 " of %zu bytes%s%s\n", totals->messages,
	       settings->bytes, server ? ", " : "", server ? settings->variant->row->name : "");
	printf("bytes           %" PRIu64 " sent, %" PRIu64 " received\n", totals->accepted_bytes,
	       totals->received_bytes);
	print_throughput(summary, server ? totals->accepted_bytes : totals->received_bytes);
	if (summary->latency)
		printf("latency         mean %.1f us, p50 %.1f us, p99 %.1f us (%s)\n",
		       latency_mean_ns(summary->latency) / NS_PER_US,
		       (double)latency_percentile_ns(summary->latency, 0.50) / NS_PER_US,
		       (double)latency_percentile_ns(summary->latency, 0.99) / NS_PER_US,
		       latency_what(settings));
	for (unsigned int i = 0; settings->listeners > 1 && i < settings->listeners; i++) {
		struct totals share;
		unsigned int connections = listener_share(run, i, &share);

		printf("listener %-6u %u connections, %" PRIu64 " bytes sent, %" PRIu64 " received\n", i + 1,
		       connections, share.accepted_bytes, share.received_bytes);
	}
	if (server)
		print_sent(totals, settings);
	if (run->alternation)
		print_blocks(run->alternation);
	if (content_why(settings))
		printf("content errors  not measured: %s\n", content_why(settings));
	else if (!server || settings->pattern == PATTERN_RR)
		printf("content errors  %" PRIu64 " bytes\n", totals->content_errors);
}

int report_print(const struct run *run)
{
	struct summary summary;

	summary_init(&summary, run);
	if (run->settings->json) {
		json_t *root = report_to_json(run, &summary);

		json_dumpf(root, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(root);
	} else {
		report_to_people(run, &summary);
	}
	free(summary.latency);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}
