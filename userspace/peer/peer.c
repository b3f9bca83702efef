// SPDX-License-Identifier: GPL-2.0
/* Keeps two hosts in step through one run, and exchanges what they counted. */
#include "userspace/peer/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/peer/alone.h"
#include "userspace/peer/channel/frame.h"
#include "userspace/peer/channel/key.h"
#include "userspace/peer/channel/limits.h"
#include "userspace/peer/half/join.h"
#include "userspace/peer/half/peer_half_json.h"
#include "userspace/peer/handshake/unpriv_accept.h"
#include "userspace/run/ends/ending.h"

/* An emulated guest takes seconds to attach its probes, and to pack its half. */
enum { BARRIER_MS = 120000, WORD_MS = 5000, HEAR_MS = 1000, DONE_MS = 60000, HALF_MS = 60000 };
/* How long an end may take to notice that the other has ended; then SIGTERM, then SIGKILL. */
enum { GRACE_MS = 15000, LAST_GRACE_MS = 3000, OVERRUN_MS = 2000 };

int peer_handshake(struct peer *p, struct options *o, const char *kernel)
{
	struct path_request *request = &o->request;
	struct path_partner *partner = &request->partner;
	struct run_request run_request = { .plan = o->plan, .port = request->port,
					   .no_probes = o->no_probes, .connector = partner->here };
	char name[NAME_OF_ADDRESS_BYTES];
	struct key key;
	struct handshake handshake = { .partner = partner, .key = &key, .kernel = kernel,
				       .quiet = o->quiet };
	int err;

	if (!partner->listen && !partner->connect) {
		key_forget(&key);
		return 0;
	}
	/* Before the key is read: the parser's memory must not contain it. */
	err = aside_start(&p->parser, half_parse);
	if (!err)
		err = key_load(&key, partner->key_file);
	if (err)
		return err;
	limits_memory(&partner->limits);
	p->fd = unpriv_accept_run(&handshake, &run_request, &p->session);
	p->authenticated = key.bytes > 0;
	key_forget(&key);
	if (p->fd < 0)
		return p->fd;
	p->met = true;
	p->limit_ms = partner->listen ? partner->limits.seconds * 1000 : 0;
	if (partner->listen) {
		o->plan = run_request.plan;
		o->no_probes = run_request.no_probes;
		request->port = run_request.port;
		partner->here = END_COUNT - 1 - run_request.connector;
	}
	p->here = partner->here;
	handshake_address(p->fd, false, request->address[p->here], name);
	handshake_address(p->fd, true, request->address[END_COUNT - 1 - p->here], p->name);
	return 0;
}

static int tell(struct peer *p, enum word word)
{
	return frame_send(p->fd, &p->session, word, NULL, WORD_MS);
}

/* Waits for that frame; ignores, once, a stop that came too late to matter. */
static int await(struct peer *p, enum word expected, int timeout_ms)
{
	for (int late = 0; late < 2; late++) {
		enum word word;
		int err = frame_receive(p->fd, &p->session, &word, 0, NULL, NULL, timeout_ms);

		if (err || word == expected)
			return err;
		if (word != WORD_STOP)
			return -EBADMSG;
	}
	return -EBADMSG;
}

static int complain(const struct peer *p, int err, const char *when)
{
	fprintf(stderr, "trace_run: %s the partner at %s %s\n",
		err == -ETIMEDOUT ? "no answer from" : err == -EBADMSG ? "not understood:" :
		err == -EKEYREJECTED ? "a message was changed on the way from" : "lost",
		p->name, when);
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
	frame_limit(until_asked_ms);
	err = tell(p, WORD_READY);
	if (!err)
		err = await(p, WORD_READY, BARRIER_MS);
	frame_limit(ending_left_ms);
	if (err && ending_asked())
		return -EINTR;
	return err ? complain(p, err, "before the run: see its own output") : 0;
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
	struct pollfd wait = { .fd = p->fd, .events = POLLIN };
	enum word word;
	int err;

	if (poll(&wait, 1, 0) < 1)
		return;
	err = frame_receive(p->fd, &p->session, &word, 0, NULL, NULL, HEAR_MS);
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

/* The limits of the listening host's user also hold for runs of so many messages. */
static void end_overrun(struct peer *p)
{
	int64_t now_ms = monotonic_ms(), over_ms;

	if (!p->began_ms)
		p->began_ms = now_ms;
	over_ms = p->limit_ms ? now_ms - p->began_ms - p->limit_ms - OVERRUN_MS : -1;
	if (over_ms >= 0 && !p->overrun) {
		p->overrun = true;
		if (p->child->decides)
			kill(p->child->pid, SIGTERM);
		else
			tell(p, WORD_STOP);
	}
	if (over_ms > GRACE_MS)
		kill(p->child->pid, SIGKILL);
}

void peer_watch(void *arg)
{
	struct peer *p = arg;

	if (p->child->ended)
		return;
	end_overrun(p);
	if (children_interrupted() && !p->child->decides && !p->stop_said) {
		p->stop_said = true;
		tell(p, WORD_STOP);
	}
	if (p->done)
		hurry(p);
	else
		hear(p);
}

static int receive_half(struct peer *p, char **theirs, size_t *bytes)
{
	enum word word;
	int err = frame_receive(p->fd, &p->session, &word, FRAME_HALF_BYTES, theirs, bytes, HALF_MS);

	return err || word == WORD_HALF ? err : -EBADMSG;
}

/* The sender sends first, so that two large halves never wait for each other. */
static int swap_halves(struct peer *p, const char *mine, char **theirs, size_t *bytes)
{
	int err = 0, sent;

	if (p->here == END_RECEIVER)
		err = receive_half(p, theirs, bytes);
	sent = mine ? frame_send(p->fd, &p->session, WORD_HALF, mine, HALF_MS) : -ENOMEM;
	if (!err && !sent && p->here == END_SENDER)
		err = receive_half(p, theirs, bytes);
	return err ? err : sent;
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
	x->partner_authenticated = p->authenticated;
	/* What happened on either host happened to the run. */
	if (x->attempt < other->experiment->attempt)
		x->attempt = other->experiment->attempt;
	x->fifo |= other->experiment->fifo;
	return join_halves(r, other);
}

/* Only the parser reads the bytes, and its answer is checked. */
static int read_half(struct peer *p, const char *theirs, size_t bytes, struct record *other)
{
	enum end there = END_COUNT - 1 - p->here;
	void *answer;
	size_t size;
	int err = aside_ask(&p->parser, theirs, bytes, HALF_PLAIN_BYTES, &answer, &size);

	if (err)
		return -EBADMSG;
	err = half_take(answer, size, there, other);
	free(answer);
	return err;
}

static int read_and_join(struct peer *p, struct record *r, const char *theirs, size_t bytes)
{
	struct record *other = calloc(1, sizeof(*other));
	int err = other ? read_half(p, theirs, bytes, other) : -ENOMEM;

	if (!err)
		err = join(p, r, other);
	if (err && other) {
		record_free(other);
		free(other);
	}
	return err;
}

/* If the other host is lost, the half of this host is the record. */
static int go_alone(struct peer *p, struct record *r, int err)
{
	const char *why = err == -ETIMEDOUT ? "the partner's half did not come in time" :
					      "the partner was lost";
	struct run_ends *ends = &r->experiment->ends;

	ends->interrupt_signal = children_interrupted();
	/* What our end did when it was ended is a consequence of the loss. */
	if (!ends->interrupt_signal &&
	    (!*ends->failure || (p->lost && !p->overrun && !*ending_failure())))
		snprintf(ends->failure, sizeof(ends->failure), "%s", why);
	r->experiment->partner_authenticated = p->authenticated;
	half_alone(r, p->here, why);
	complain(p, err, "during the run: the record is of this host alone");
	return 0;
}

void peer_forgo(struct peer *p, struct record *r)
{
	if (!p->met)
		return;
	r->experiment->partner_authenticated = p->authenticated;
	half_alone(r, p->here, r->backend_why);
}

int peer_join(struct peer *p, struct record *r)
{
	char *mine, *theirs = NULL;
	size_t bytes = 0;
	int err = p->lost ? -ECONNRESET : 0;

	if (!p->met)
		return 0;
	if (!err)
		err = tell(p, WORD_DONE);
	if (!err && !p->done)
		err = await(p, WORD_DONE, DONE_MS);
	if (p->overrun)
		snprintf(r->experiment->ends.failure, WHY_BYTES,
			 "it took longer than --max-seconds of the host that listened allows");
	mine = err ? NULL : half_text(r, p->here);
	if (!err)
		err = swap_halves(p, mine, &theirs, &bytes);
	if (!err)
		err = read_and_join(p, r, theirs, bytes);
	free(mine);
	free(theirs);
	if (err == -ECONNRESET || err == -ETIMEDOUT)
		return go_alone(p, r, err);
	return err ? complain(p, err, "during the run: there is no record") : 0;
}

void peer_part(struct peer *p)
{
	if (p->met)
		close(p->fd);
	p->met = false;
	aside_end(&p->parser);
}
