// SPDX-License-Identifier: GPL-2.0
/* Keeps two hosts in step through one run, and hands over what the far one counted. */
#include "userspace/peer/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/peer/alone.h"
#include "userspace/peer/half/join.h"
#include "userspace/peer/half/peer_half_json.h"
#include "userspace/run/ends/ending.h"

/* An emulated guest takes seconds to attach its probes, and to pack its half. */
enum { BARRIER_MS = 120000, WORD_MS = 5000, DONE_MS = 60000, HALF_MS = 60000 };
/* How long an end may take to notice that the other has ended; then SIGTERM, then SIGKILL. */
enum { GRACE_MS = 15000, LAST_GRACE_MS = 3000 };
enum { WHY_LINE_BYTES = 1200 };

int peer_start(struct peer *p, const struct options *o)
{
	const struct path_partner *partner = &o->request.partner;
	int err;

	p->bound_ms = o->bound_ms;
	p->far = partner->connection != NULL;
	p->host = partner->host;
	if (p->far)
		channel_open(&p->channel, STDIN_FILENO, STDOUT_FILENO, -1, "the near half");
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

int peer_hear(struct peer *p, enum word expected, json_t **value, size_t limit, int timeout_ms)
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

int peer_complain(struct peer *p, int err)
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
		err = peer_hear(p, WORD_READY, NULL, CHANNEL_WORD_BYTES, BARRIER_MS);
	channel_limit(ending_left_ms);
	if (err && ending_asked())
		return -EINTR;
	if (err)
		return peer_complain(p, err);
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
static void hurry(struct peer *p)
{
	int64_t waited_ms = monotonic_ms() - p->since_ms - (p->lost ? 0 : GRACE_MS);

	if (waited_ms <= 0)
		return;
	if (waited_ms > LAST_GRACE_MS)
		kill(p->child->pid, SIGKILL);
	else if (!p->lost)
		kill(p->child->pid, SIGTERM);
	p->child->hurried = true;
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
		hurry(p);
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

static int receive_half(struct peer *p, struct record **other)
{
	struct record *r = calloc(1, sizeof(*r));
	json_t *half = NULL;
	int err = r ? peer_hear(p, WORD_HALF, &half, HALF_BYTES_MAX, HALF_MS) : -ENOMEM;

	if (!err)
		err = half_read(half, END_COUNT - 1 - p->here, r);
	json_decref(half);
	if (err && r)
		drop(r);
	*other = r;
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
	/* A record takes UTF-8 alone, and this may be anything. */
	for (char *letter = line; *letter; letter++)
		if (*letter < ' ' || *letter > '~')
			*letter = '?';
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

int peer_join(struct peer *p, struct record *r)
{
	struct record *other;
	int err = p->lost ? -ECONNRESET : 0;

	if (!p->met)
		return 0;
	if (!err)
		err = tell(p, WORD_DONE);
	if (!err && !p->done)
		err = peer_hear(p, WORD_DONE, NULL, CHANNEL_WORD_BYTES, DONE_MS);
	if (p->far)
		return err ? err
			   : channel_tell(&p->channel, WORD_HALF, peer_half_json(r, p->here),
					  HALF_MS);
	if (!err)
		err = receive_half(p, &other);
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
