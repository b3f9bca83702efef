/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Path peer, from the start of ssh to one record of both hosts.
 *
 * The near half is the run that a user typed. It starts ssh, and ssh the far half, which is the
 * same program with --far-half. They speak by ssh's stdin and stdout (channel.h). The order:
 * peer_start, then in the try peer_meet, arrange and attach as for any path, peer_barrier, the run
 * with peer_watch ten times a second, peer_join; peer_end. The near half decides about another try,
 * for which the far one is started anew. Whichever half ends, in whatever way, the other one hears
 * it as the end of its pipe.
 */
#ifndef COPYSCOPE_PEER_H
#define COPYSCOPE_PEER_H

#include "userspace/peer/channel.h"
#include "userspace/peer/ssh.h"
#include "userspace/run/ends/launch.h"
#include "userspace/run/options.h"

struct peer {
	bool far;		/* this is the far half */
	const char *host;	/* the far one, as ssh knows it; NULL in the far half */
	struct ssh ssh;
	struct channel channel;
	bool met;
	enum end here;
	struct child *child;	/* the end that runs here */
	int64_t bound_ms;	/* of each wait for the other half; 0: the usual ones */
	bool stop_said, done, lost;
	int64_t since_ms;	/* of the other end's end */
};

/* Opens the way to the other half, if there is one: in the process that outlives all tries, as
 * ssh is another user's and only root may end it. 0, or -errno with one line printed. */
int peer_start(struct peer *p, const struct options *o);

/*
 * Agrees with the other half on what to run, and completes the options: the addresses, and in the
 * far half all that was asked of it, @fifo (under SCHED_FIFO) as well. 0, or -errno with one line
 * printed. Does nothing for other paths.
 */
int peer_meet(struct peer *p, struct options *o, bool *fifo);

/* Waits until both hosts could open their gates. 0, or -errno with one line printed. */
int peer_barrier(struct peer *p, struct child children[END_COUNT]);

/* Passes an interrupt on to the end that decides, and ends the run if the other half is lost. */
void peer_watch(void *p);

/*
 * Far: hands over @r, the half of this host. Near: @r becomes the record of both hosts or, if no
 * half comes that can be read, that of this host alone. 0 or -errno.
 */
int peer_join(struct peer *p, struct record *r);

/* The same for a run that never began: @r is of this host alone, and backend_why has the reason. */
void peer_forgo(struct peer *p, struct record *r);

/* Closes the way; the other half then ends, if it has not yet. Accepts a zeroed one. */
void peer_end(struct peer *p);

#endif
