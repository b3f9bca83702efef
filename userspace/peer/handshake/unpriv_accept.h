/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens the control connection in a process of an unprivileged user: only a process without privileges reads
 * what a stranger sends to an open port.
 *
 * unpriv_accept listens or connects, exchanges the proofs of the key, reads hello and plan, refuses
 * an invalid plan with one line, and passes on a connection with a plan. The privileged process
 * receives only that, and checks it again.
 */
#ifndef COPYSCOPE_UNPRIV_ACCEPT_H
#define COPYSCOPE_UNPRIV_ACCEPT_H

#include "userspace/peer/handshake/handshake.h"

/*
 * Returns the connection or -errno with one line printed; -EINVAL if a key is missing. The
 * connecting host sends @request, and the listening host fills it in; @session continues where
 * unpriv_accept ends.
 */
int unpriv_accept_run(const struct handshake *m, struct run_request *request,
		      struct session *session);

#endif
