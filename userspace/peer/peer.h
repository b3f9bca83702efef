/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Path peer, from finding the other host to one record of both.
 *
 * The order: peer_handshake, arrange and attach as for any path, peer_barrier, the run with peer_watch
 * ten times a second, peer_join. Both hosts do the same; they differ only in who listens and who
 * sends.
 */
#ifndef COPYSCOPE_PEER_H
#define COPYSCOPE_PEER_H

#include "userspace/common/confine/aside.h"
#include "userspace/peer/handshake/handshake.h"
#include "userspace/run/ends/launch.h"
#include "userspace/run/options/options.h"

struct peer {
	bool met;
	int fd;
	char name[NAME_OF_ADDRESS_BYTES];	/* the other host's end of the control connection */
	enum end here;
	struct child *child;			/* the end that runs here */
	struct session session;
	struct aside parser;			/* of the other host's half */
	bool authenticated;			/* by a key, not by being on the same host */
	int64_t limit_ms, began_ms;		/* how long a run may take here; 0: no limit */
	bool stop_said, overrun, done, lost;
	int64_t since_ms;			/* of the partner's end */
};

/*
 * Finds the partner that the options name, and completes the options: the plan, the ends' addresses
 * and this host's end. 0, or -errno with one line printed, -EINVAL for a missing or invalid key.
 * Does nothing for other paths.
 */
int peer_handshake(struct peer *p, struct options *o, const char *kernel);

/* Waits until both hosts could open their gates. 0, or -errno with one line printed. */
int peer_barrier(struct peer *p, struct child children[END_COUNT]);

/* Passes an interrupt on to the end that decides, and ends the run if the partner is lost. */
void peer_watch(void *p);

/*
 * Exchanges the halves: @r, the half of this host, becomes the record of both; if the partner is
 * lost, or its half does not come in time, that of this host alone. 0, or -errno with one line
 * printed.
 */
int peer_join(struct peer *p, struct record *r);

/* The same for a run that never began: @r is of this host alone, and backend_why has the reason. */
void peer_forgo(struct peer *p, struct record *r);

void peer_part(struct peer *p);

#endif
