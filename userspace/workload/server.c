// SPDX-License-Identifier: GPL-2.0
/* The server: accept clients, one thread each, and send to them by the variant. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/workload/alternation.h"
#include "userspace/workload/run.h"
#include "userspace/workload/sender.h"
#include "userspace/workload/senders.h"
#include "userspace/workload/stream/endpoint.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

#define QUIET_NS (5 * NS_PER_S)

static enum outcome serve_stream(struct worker *worker, struct sender *sender)
{
	enum outcome outcome = OUTCOME_OK;

	while (outcome == OUTCOME_OK && !connection_is_over(worker->connection))
		outcome = sender_send(sender);
	return outcome;
}

static enum outcome serve_replies(struct worker *worker, struct sender *sender)
{
	const struct receive_manner manner = { .method = receive_method_find("recv"),
					       .bytes = worker->settings->bytes,
					       .check_content = worker->settings->check_content };
	struct receiver requests;
	enum outcome outcome;

	if (receiver_init(&requests, worker->connection, &manner, CONTENT_REQUEST))
		return OUTCOME_FAILED;
	do {
		outcome = receiver_receive(&requests);
		if (outcome == OUTCOME_OK)
			outcome = sender_send(sender);
	} while (outcome == OUTCOME_OK);
	receiver_deinit(&requests);
	return outcome;
}

/* The most that one connection sends; 0: not known. In rr the client decides. */
static uint64_t messages_most(const struct settings *settings)
{
	if (settings->pattern == PATTERN_RR || !settings->threads)
		return 0;
	return settings_share(settings->messages, 0, settings->threads);
}

static struct team *team_of(const struct settings *settings)
{
	return team_create(settings, messages_most(settings));
}

static enum outcome serve_with(struct worker *worker, struct team *team)
{
	const struct settings *settings = worker->settings;
	struct sender *sender = team->of[0];
	enum outcome outcome;

	if (sender_connect(sender, worker->connection))
		return OUTCOME_FAILED;
	if (worker->alternation)
		outcome = alternation_serve(worker->alternation, team);
	else if (settings->senders > 1)
		outcome = senders_serve(worker, sender);
	else if (settings->pattern == PATTERN_STREAM)
		outcome = serve_stream(worker, sender);
	else
		outcome = serve_replies(worker, sender);
	/* With --patience the run is watched as a whole: one connection may well starve for a
	 * while. */
	if (sender_finish(sender, settings->patience_ns ? CONNECTION_NO_LIMIT : QUIET_NS) != OUTCOME_OK)
		outcome = OUTCOME_FAILED;
	return outcome;
}

static void *serve(void *data)
{
	struct worker *worker = data;
	const struct settings *settings = worker->settings;
	struct team *team = worker->team;

	worker_begin(worker, 0, 1);
	if (!team)
		team = team_of(settings);
	worker_finish(worker, team ? serve_with(worker, team) : OUTCOME_FAILED);
	/* The buffers outlive the socket: the kernel may still refer to them before. */
	if (team != worker->team)
		team_destroy(team);
	return NULL;
}

static void connection_limit(struct connection *connection, const struct settings *settings,
			     unsigned int index)
{
	/* In rr the client decides when to stop, and the whole of an alternation ends between rounds. */
	if (settings->pattern == PATTERN_RR || settings->alternates)
		return;
	if (settings->messages && settings->threads)
		connection->message_limit = settings_share(settings->messages, index,
							   settings->threads);
	else if (settings->messages)
		connection->message_limit = settings->messages;
	if (settings->duration_ns)
		connection->deadline_ns = connection->start_ns + settings->duration_ns;
}

static void server_admit(struct run *run, int fd, unsigned int listener)
{
	const struct settings *settings = run->settings;
	struct connection *connection;
	struct worker *worker;

	if (!endpoint_is_from(fd, &settings->from) ||
	    run_join_finished(run) >= settings->max_clients) {
		run->refused_clients++;
		close(fd);
		return;
	}
	connection = connection_create(fd, settings->pattern == PATTERN_RR || settings->datagrams ||
					   settings->answer_every);
	if (!connection) {
		run->failed = true;
		return;
	}
	if (settings->datagrams && datagrams_open(connection, &settings->datagram_manner)) {
		connection_destroy(connection);
		run->failed = true;
		return;
	}
	connection_limit(connection, settings, run->n_workers);
	worker = run_add(run, connection);
	if (!worker)
		return;
	if (run->prepared)
		worker->team = run->prepared[run->n_workers - 1];
	worker->alternation = run->alternation;
	worker->listener = listener;
	run_start(run, worker, serve);
}

/* The messages of clients whose number is known: neither memory nor content is timed then. */
static int prepare(struct run *run)
{
	const struct settings *settings = run->settings;
	unsigned int clients = settings->threads;

	run->prepared = clients ? calloc(clients, sizeof(*run->prepared)) : NULL;
	if (clients && !run->prepared) {
		complain("out of memory for %u clients", clients);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < clients; i++) {
		run->prepared[i] = team_of(settings);
		if (!run->prepared[i])
			return -ENOMEM;
	}
	return 0;
}

static void unprepare(struct run *run)
{
	for (unsigned int i = 0; run->prepared && i < run->settings->threads; i++)
		team_destroy(run->prepared[i]);
	free(run->prepared);
}

static bool server_wants_more(const struct run *run)
{
	unsigned int clients = run->settings->threads;

	if (stop_requested())
		return false;
	/* With --clients the server would wait for ever after a failure. */
	return !clients || (run->n_workers < clients && !run->failed);
}

static void server_accept(struct run *run, int listener, unsigned int number)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0) {
		server_admit(run, fd, number);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
		if (!run->failed)
			complain("cannot accept a client: %s: raise RLIMIT_NOFILE or free memory",
				 strerror(errno));
		run->failed = true;
		sleep_ns(STOP_TICK_MS * NS_PER_MS);
	}
	/* Anything else is a client that went away before it was accepted. */
}

/* Returns the port that all listen on. */
static unsigned int server_listen(const struct settings *settings, struct pollfd *wait)
{
	struct sockaddr_storage address = settings->address;
	unsigned int port = 0;

	for (unsigned int i = 0; i < settings->listeners; i++) {
		wait[i] = (struct pollfd){ .events = POLLIN };
		wait[i].fd = endpoint_listen(&address, settings->listeners > 1, &port);
		endpoint_set_port(&address, port);
	}
	return port;
}

static void server_wait(struct run *run, struct pollfd *wait)
{
	unsigned int listeners = run->settings->listeners;

	if (poll(wait, listeners, STOP_TICK_MS) <= 0)
		return;
	for (unsigned int i = 0; i < listeners && server_wants_more(run); i++)
		if (wait[i].revents)
			server_accept(run, wait[i].fd, i);
}

void server_run(struct run *run)
{
	struct pollfd wait[LISTENERS_MAX];
	unsigned int port = server_listen(run->settings, wait);
	struct watch watch;

	if (prepare(run) || parent_wait(run->settings, port))
		run->failed = true;
	worker_announce(run->settings);
	watch_begin(&watch, run);
	while (server_wants_more(run)) {
		server_wait(run, wait);
		watch_step(&watch, run);
	}
	for (unsigned int i = 0; i < run->settings->listeners; i++)
		close(wait[i].fd);
	watch_join_all(&watch, run);
	unprepare(run);
}
