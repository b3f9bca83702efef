// SPDX-License-Identifier: GPL-2.0
/* Keeps two hosts in step through one run, and hands over what the far one counted. */
#include "userspace/peer/peer.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/json_read.h"
#include "userspace/common/numeric_address.h"
#include "userspace/peer/half.h"
#include "userspace/peer/join.h"
#include "userspace/peer/run_request.h"
#include "userspace/record/experiment.h"
#include "userspace/record/record.h"
#include "userspace/run/ends/ending.h"

/* Makes a record from one host's half alone: what needs both halves is not measured. */

/* If bytes go one way only, one host alone counts where they enter, and the other where they
 * leave. */
static bool is_of_end(const struct record *r, enum site site, enum end end)
{
	if (!strcmp(r->experiment->plan.pattern, "rr"))
		return false;
	return site_has(site, end == END_SENDER ? SITE_OF_SENDER : SITE_OF_RECEIVER);
}

/* Removes from @r, whose sites are filled in, what needs both hosts; @why is the reason. */
static void half_alone(struct record *r, enum end here, const char *why)
{
	const char *there = here == END_SENDER ? "receiver" : "sender";
	struct experiment *x = r->experiment;
	struct pins *p = &r->pins;

	x->ends.alone = true;
	x->ends.alone_at = here;
	snprintf(x->ends.alone_why, WHY_BYTES, "%s", why);
	for (int i = 0; i < r->derived.socket_count; i++)
		r->derived.sockets[i].host = here;
	for (enum site s = 0; s < SITE_COUNT; s++) {
		if (is_of_end(r, s, here))
			continue;
		r->sites[s].how = HOW_NOT_MEASURED;
		snprintf(r->sites[s].why, WHY_BYTES, "on the %s's host: %s", there, why);
	}
	/* Without the sites there are no causes. */
	r->derived.stack_count = 0;
	if (!is_of_end(r, SITE_tx_reference, here)) {
		p->how = p->released_how = p->peak_how = HOW_NOT_MEASURED;
		snprintf(p->why, WHY_BYTES, "on the %s's host: %s", there, why);
	}
	for (int i = 0; i < COUNTER_COUNT; i++)
		snprintf(x->counters[END_COUNT - 1 - here][i].why, COUNTER_WHY_BYTES, "%s", why);
}

/* An emulated guest takes seconds to attach its probes, and to pack its half. */
enum { BARRIER_MS = 120000, WORD_MS = 5000, DONE_MS = 60000, HALF_MS = 60000 };
/* How long an end may take to notice that the other has ended; then SIGTERM, then SIGKILL. */
enum { GRACE_MS = 15000, LAST_GRACE_MS = 3000 };
enum { WHY_LINE_BYTES = 1200 };

int peer_start(struct peer *p, const struct options *o)
{
	const struct path_partner *partner = &o->request.partner;
	int err;

	*p = (struct peer){ .bound_ms = o->bound_ms,
			    .far = partner->connection != NULL,
			    .host = partner->host };
	if (p->far)
		channel_open(&p->channel, STDIN_FILENO, STDOUT_FILENO, -1, "the local half");
	if (!p->host)
		return 0;
	err = ssh_start(&p->ssh, partner->ssh, p->host, partner->far);
	if (!err)
		channel_open(&p->channel, p->ssh.in, p->ssh.out, p->ssh.err, p->host);
	return err;
}

void peer_end(struct peer *p)
{
	if (!p->ssh.pid)
		return;
	channel_close(&p->channel);
	ssh_end(&p->ssh);
}

static int tell(struct peer *p, enum word word)
{
	return channel_tell(&p->channel, word, json_true(), WORD_MS);
}

/* Hears this word, and ignores, once, a stop that came too late to matter. 0, or -errno; @value may be NULL for
 * words that have none; -EPROTO for another word. */
static int hear_word(struct peer *p, enum word expected, json_t **value, size_t limit, int timeout_ms)
{
	if (p->bound_ms && p->bound_ms < timeout_ms)
		timeout_ms = p->bound_ms;
	for (int late = 0; late < 2; late++) {
		enum word word;
		json_t *heard;
		int err = channel_hear(&p->channel, &word, &heard, limit, timeout_ms);

		if (err)
			return err;
		if (word == expected && value) {
			*value = heard;
			return 0;
		}
		json_decref(heard);
		if (word == expected)
			return 0;
		if (word != WORD_STOP)
			return -EPROTO;
	}
	return -EPROTO;
}

/* Prints why there is no run. Returns @err. */
static int complain(struct peer *p, int err)
{
	char line[WHY_LINE_BYTES];

	/* What ends the far half is the near one's to tell. */
	if (!p->far)
		fprintf(stderr, "trace_run: no run with %s: %s\n", p->host,
			channel_why(&p->channel, err, line, sizeof(line)));
	return err;
}

static int64_t until_asked_ms(void)
{
	return ending_asked() ? 0 : INT64_MAX;
}

int peer_barrier(struct peer *p, struct child children[END_COUNT])
{
	int err;

	if (!p->met)
		return 0;
	p->child = &children[p->here];
	channel_limit(until_asked_ms);
	err = tell(p, WORD_READY);
	if (!err)
		err = hear_word(p, WORD_READY, NULL, CHANNEL_WORD_BYTES, BARRIER_MS);
	channel_limit(ending_left_ms);
	if (err && ending_asked())
		return -EINTR;
	if (err)
		return complain(p, err);
	channel_pass_on(&p->channel);
	return 0;
}

static void note_end(struct peer *p, bool lost)
{
	p->lost = lost;
	p->done = true;
	p->since_ms = monotonic_ms();
	if (lost)
		kill(p->child->pid, SIGTERM);
}

static void hear(struct peer *p)
{
	enum word word;
	json_t *value;
	int err = channel_hear(&p->channel, &word, &value, CHANNEL_WORD_BYTES, 0);

	if (err == -ETIMEDOUT)
		return;
	if (!err)
		json_decref(value);
	if (!err && word == WORD_STOP)
		kill(p->child->pid, SIGTERM);
	else
		note_end(p, err || word != WORD_DONE);
}

/* The partner's end has ended: ours ends by itself, unless it waits for one that never came. */
static void tell_to_end(struct peer *p)
{
	int64_t waited_ms = monotonic_ms() - p->since_ms - (p->lost ? 0 : GRACE_MS);

	if (waited_ms <= 0)
		return;
	if (waited_ms > LAST_GRACE_MS)
		kill(p->child->pid, SIGKILL);
	else if (!p->lost)
		kill(p->child->pid, SIGTERM);
	p->child->told_to_end = true;
}

void peer_watch(void *arg)
{
	struct peer *p = arg;

	if (p->child->ended)
		return;
	if (children_interrupted() && !p->child->decides && !p->stop_said) {
		p->stop_said = true;
		tell(p, WORD_STOP);
	}
	if (p->done)
		tell_to_end(p);
	else
		hear(p);
}

/* The sender's half becomes the record itself, whichever of the two came over the network. */
static int join(struct peer *p, struct record *r, struct record *other)
{
	struct record *spare = malloc(sizeof(*spare));
	struct experiment *x;

	if (!spare)
		return -ENOMEM;
	*spare = *r;
	if (p->here == END_RECEIVER) {
		*r = *other;
		*other = *spare;
		memcpy(r->id, spare->id, sizeof(r->id));
		memcpy(r->started, spare->started, sizeof(r->started));
		r->command = spare->command;
		r->experiment->plan = spare->experiment->plan;
		memcpy(r->experiment->pass_why, spare->experiment->pass_why,
		       sizeof(r->experiment->pass_why));
	}
	free(spare);
	x = r->experiment;
	/* What happened on either host happened to the run. */
	if (x->attempt < other->experiment->attempt)
		x->attempt = other->experiment->attempt;
	x->fifo |= other->experiment->fifo;
	return join_halves(r, other);
}

static void drop(struct record *other)
{
	record_free(other);
	free(other);
}

static int receive_half(struct peer *p, const struct workload_plan *plan, struct record **other)
{
	struct record *r = calloc(1, sizeof(*r));
	json_t *half = NULL;
	int err = r ? hear_word(p, WORD_HALF, &half, HALF_BYTES_MAX, HALF_MS) : -ENOMEM;

	if (!err)
		err = half_read(half, END_COUNT - 1 - p->here, plan, r);
	json_decref(half);
	if (err && r)
		drop(r);
	*other = err ? NULL : r;
	return err;
}

/* If the other half does not come, the half of this host is the record. */
static void go_alone(struct peer *p, struct record *r, int err)
{
	const char *why = err == -ETIMEDOUT    ? "the partner's half did not come in time"
			  : err == -ECONNRESET ? "the partner was lost"
					       : "the partner's half makes no sense";
	struct run_ends *ends = &r->experiment->ends;
	char line[WHY_LINE_BYTES];

	channel_why(&p->channel, err, line, sizeof(line));
	ends->interrupt_signal = children_interrupted();
	/* What our end did when it was ended is a consequence of the loss. */
	if (!ends->interrupt_signal && (!*ends->failure || (p->lost && !*ending_failure())))
		snprintf(ends->failure, sizeof(ends->failure), "%s%s%.150s", why,
			 err == -ECONNRESET ? ": " : "", err == -ECONNRESET ? line : "");
	half_alone(r, p->here, why);
}

void peer_forgo(struct peer *p, struct record *r)
{
	if (p->met)
		half_alone(r, p->here, r->backend_why);
}

static json_t *half_here(const struct peer *p, const struct record *r)
{
	const struct child *c = p->child;

	return peer_half_json(r, p->here, r->experiment->app[p->here].known ? printable_object(c->text, c->length) : NULL);
}

int peer_join(struct peer *p, struct record *r)
{
	struct record *other;
	int err = p->lost ? -ECONNRESET : 0;

	if (!p->met)
		return 0;
	if (!err)
		err = tell(p, WORD_DONE);
	if (!err && !p->done)
		err = hear_word(p, WORD_DONE, NULL, CHANNEL_WORD_BYTES, DONE_MS);
	if (p->far)
		return err ? err : channel_tell(&p->channel, WORD_HALF, half_here(p, r), HALF_MS);
	if (!err)
		err = receive_half(p, &r->experiment->plan, &other);
	if (err) {
		go_alone(p, r, err);
		return 0;
	}
	channel_pass_on(&p->channel);
	err = join(p, r, other);
	if (err) {
		fprintf(stderr, "trace_run: the halves of both hosts cannot be joined: %s\n",
			strerror(-err));
		drop(other);
	}
	return err;
}

/* Agrees with the other half of a run on what is run, and between which addresses. */

/* ssh may try several addresses and keys, and the far half may be in an emulated guest on a busy
 * machine. */
enum { HELLO_MS = 60000, LINE_BYTES = 300 };

/* Whether an end can be at this address here. */
static bool is_here(const char *address)
{
	struct sockaddr_storage found;
	bool here;
	int fd;

	if (!numeric_address_parse(address, &found))
		return false;
	fd = socket(found.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	here = fd >= 0 && !bind(fd, (struct sockaddr *)&found, numeric_address_bytes(&found));
	close(fd);
	return here;
}

/* The addresses of the run: those that the user names, or those that ssh connects. NULL, or why
 * there are none. */
static const char *choose_addresses(struct path_request *request, const char *near, const char *far,
				    char *line)
{
	enum end here = request->partner.here;
	char *mine = request->address[here], *theirs = request->address[END_COUNT - 1 - here];
	bool named = *mine;

	if (!named) {
		strcpy(mine, near);
		strcpy(theirs, far);
	}
	if (is_here(mine))
		return NULL;
	if (!*mine)
		snprintf(line, LINE_BYTES,
			 "it does not know its ssh connection: name the addresses for the data "
			 "(--addresses SENDER,RECEIVER)");
	else if (named)
		snprintf(line, LINE_BYTES, "--addresses: %s is no address of this host", mine);
	else
		snprintf(line, LINE_BYTES,
			 "ssh comes there from %s, which is no address of this host: name the "
			 "addresses for the data (--addresses SENDER,RECEIVER)",
			 mine);
	return line;
}

static int near_meet(struct peer *p, struct options *o, bool fifo)
{
	struct path_request *request = &o->request;
	struct run_request asked = { .plan = o->plan,
				     .port = request->port,
				     .no_probes = o->no_probes,
				     .fifo = fifo,
				     .far = END_COUNT - 1 - p->here };
	char near[ADDRESS_BYTES], far[ADDRESS_BYTES], line[LINE_BYTES];
	const char *fault;
	int64_t ahead_s;
	json_t *hello;
	int err = hear_word(p, WORD_HELLO, &hello, CHANNEL_WORD_BYTES, HELLO_MS);

	if (err)
		return complain(p, err);
	/* Of a login shell, and so not why anything ends from now on. */
	channel_pass_on(&p->channel);
	fault = hello_read(hello, near, far, line, sizeof(line));
	if (!fault)
		fault = choose_addresses(request, near, far, line);
	ahead_s = hello_clock_ahead_s(hello, time(NULL));
	json_decref(hello);
	if (fault) {
		fprintf(stderr, "trace_run: no run with %s: %s\n", p->host, fault);
		return -EPROTO;
	}
	if (ahead_s)
		fprintf(stderr, "trace_run: the clock of %s is %" PRId64 " s %s: set both by NTP, or its logs and "
			"records will not match those of this host\n", p->host, ahead_s < 0 ? -ahead_s : ahead_s,
			ahead_s < 0 ? "behind" : "ahead");
	memcpy(asked.address, request->address, sizeof(asked.address));
	err = channel_tell(&p->channel, WORD_RUN, run_request_json(&asked), WORD_MS);
	return err ? complain(p, err) : 0;
}

static int far_meet(struct peer *p, struct options *o, bool *fifo)
{
	char line[LINE_BYTES];
	struct run_request asked;
	const char *fault;
	json_t *request;
	int err = channel_tell(&p->channel, WORD_HELLO, hello_json(o->request.partner.connection,
			       time(NULL)), WORD_MS);

	if (!err)
		err = hear_word(p, WORD_RUN, &request, CHANNEL_WORD_BYTES, HELLO_MS);
	if (err)
		return complain(p, err);
	fault = run_request_read(request, &asked);
	json_decref(request);
	p->here = asked.far;
	if (!fault && !is_here(asked.address[p->here])) {
		snprintf(line, sizeof(line), "%s is no address of this host",
			 asked.address[p->here]);
		fault = line;
	}
	if (fault) {
		fprintf(stderr, "trace_run: cannot run what was asked for: %s\n", fault);
		return -EPROTO;
	}
	o->plan = asked.plan;
	o->no_probes = asked.no_probes;
	*fifo = asked.fifo;
	o->request.port = asked.port;
	o->request.partner.here = p->here;
	memcpy(o->request.address, asked.address, sizeof(asked.address));
	return 0;
}

int peer_meet(struct peer *p, struct options *o, bool *fifo)
{
	int err;

	if (!p->far && !p->host)
		return 0;
	p->here = o->request.partner.here;
	err = p->far ? far_meet(p, o, fifo) : near_meet(p, o, *fifo);
	p->met = !err;
	return err;
}
