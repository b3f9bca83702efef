// SPDX-License-Identifier: GPL-2.0
/* Keeps two hosts in step through one run, and swaps what they counted. */
#include "userspace/peer/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "userspace/peer/doorman.h"
#include "userspace/peer/frame.h"
#include "userspace/peer/half_json.h"
#include "userspace/peer/join.h"

/* An emulated guest takes seconds to attach its probes, and to pack its half. */
enum { BARRIER_MS = 120000, WORD_MS = 5000, DONE_MS = 60000, HALF_MS = 60000 };
/* What an end may take to notice that the other has ended; then it is told, then it is killed. */
enum { GRACE_MS = 15000, LAST_GRACE_MS = 3000 };

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

int peer_meet(struct peer *p, struct options *o, const char *kernel)
{
	struct path_wish *wish = &o->wish;
	struct path_partner *partner = &wish->partner;
	struct offer offer = { .plan = o->plan, .port = wish->port, .no_probes = o->no_probes,
			       .connector = partner->here };
	char name[NAME_OF_ADDRESS_BYTES];

	if (!partner->listen && !partner->connect)
		return 0;
	p->fd = doorman_run(partner, kernel, o->quiet, &offer);
	if (p->fd < 0)
		return p->fd;
	p->met = true;
	if (partner->listen) {
		o->plan = offer.plan;
		o->no_probes = offer.no_probes;
		wish->port = offer.port;
		partner->here = END_COUNT - 1 - offer.connector;
	}
	p->here = partner->here;
	meeting_address(p->fd, false, wish->address[p->here], name);
	meeting_address(p->fd, true, wish->address[END_COUNT - 1 - p->here], p->name);
	return 0;
}

static int tell(struct peer *p, const char *type)
{
	return frame_send(p->fd, json_pack("{s:s}", "type", type), WORD_MS);
}

/* Waits for a word of that type; words that came too late to matter are passed over. */
static int await(struct peer *p, const char *type, int timeout_ms)
{
	for (;;) {
		int err;
		json_t *o = frame_receive(p->fd, FRAME_WORD_BYTES, timeout_ms, &err);
		bool found = o && frame_is(o, type), late = o && frame_is(o, "stop");

		json_decref(o);
		if (found || !o)
			return found ? 0 : err;
		if (!late)
			return -EBADMSG;
	}
}

static int complain(const struct peer *p, int err, const char *when)
{
	fprintf(stderr, "trace_run: %s the partner at %s %s\n",
		err == -ETIMEDOUT ? "no answer from" : err == -EBADMSG ? "not understood:" : "lost",
		p->name, when);
	return err;
}

int peer_barrier(struct peer *p, struct child children[END_COUNT])
{
	int err;

	if (!p->met)
		return 0;
	p->child = &children[p->here];
	err = tell(p, "ready");
	if (!err)
		err = await(p, "ready", BARRIER_MS);
	return err ? complain(p, err, "before the run: its own output says why") : 0;
}

static void note_end(struct peer *p, bool lost)
{
	p->lost = lost;
	p->done = true;
	p->since_ms = now_ms();
	if (lost)
		kill(p->child->pid, SIGTERM);
}

static void hear(struct peer *p)
{
	struct pollfd wait = { .fd = p->fd, .events = POLLIN };
	json_t *o;
	int err;

	if (poll(&wait, 1, 0) < 1)
		return;
	o = frame_receive(p->fd, FRAME_WORD_BYTES, WORD_MS, &err);
	if (o && frame_is(o, "stop"))
		kill(p->child->pid, SIGTERM);
	else
		note_end(p, !o || !frame_is(o, "done"));
	json_decref(o);
}

/* The partner's end is over: ours ends by itself, unless it waits for one that never came. */
static void hurry(struct peer *p)
{
	int64_t waited_ms = now_ms() - p->since_ms - (p->lost ? 0 : GRACE_MS);

	if (waited_ms > LAST_GRACE_MS)
		kill(p->child->pid, SIGKILL);
	else if (waited_ms > 0 && !p->lost)
		kill(p->child->pid, SIGTERM);
}

void peer_watch(void *arg)
{
	struct peer *p = arg;

	if (p->child->ended)
		return;
	if (children_interrupted() && !p->child->decides && !p->stop_said) {
		p->stop_said = true;
		tell(p, "stop");
	}
	if (p->done)
		hurry(p);
	else
		hear(p);
}

/* The sender speaks first, so that two large halves never wait for each other. */
static int swap_halves(struct peer *p, json_t *mine, json_t **theirs)
{
	int err = 0, sent;

	if (p->here == END_RECEIVER)
		*theirs = frame_receive(p->fd, FRAME_HALF_BYTES, HALF_MS, &err);
	sent = frame_send(p->fd, mine, HALF_MS);
	if (!err && !sent && p->here == END_SENDER)
		*theirs = frame_receive(p->fd, FRAME_HALF_BYTES, HALF_MS, &err);
	return err ? err : sent;
}

/* Who is the sender's becomes the record itself, whichever of the two came over the network. */
static int join(struct peer *p, struct record *r, struct record *other)
{
	struct record *spare = malloc(sizeof(*spare));
	int err;

	if (!spare)
		return -ENOMEM;
	*spare = *r;
	if (p->here == END_RECEIVER) {
		*r = *other;
		*other = *spare;
		memcpy(r->id, spare->id, sizeof(r->id));
		memcpy(r->started, spare->started, sizeof(r->started));
		r->command = spare->command;
		r->plan = spare->plan;
	}
	/* Both must come to the same end: whether to try again hangs on these. */
	r->attempt = r->attempt > other->attempt ? r->attempt : other->attempt;
	r->fifo |= other->fifo;
	free(spare);
	err = join_halves(r, other);
	return err;
}

static int read_and_join(struct peer *p, struct record *r, json_t *theirs)
{
	struct record *other = calloc(1, sizeof(*other));
	int err = other ? half_read(theirs, END_COUNT - 1 - p->here, other) : -ENOMEM;

	if (!err)
		err = join(p, r, other);
	if (err && other) {
		record_free(other);
		free(other);
	}
	return err;
}

int peer_join(struct peer *p, struct record *r)
{
	json_t *theirs = NULL;
	int err = p->lost ? -ECONNRESET : 0;

	if (!p->met)
		return 0;
	/* The workload is over: an interrupt is for us now. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (!err)
		err = tell(p, "done");
	if (!err && !p->done)
		err = await(p, "done", DONE_MS);
	if (!err)
		err = swap_halves(p, half_json(r, p->here, p->child), &theirs);
	if (!err)
		err = read_and_join(p, r, theirs);
	json_decref(theirs);
	return err ? complain(p, err, "during the run: nothing can be said of it") : 0;
}

void peer_part(struct peer *p)
{
	if (p->met)
		close(p->fd);
	p->met = false;
}
