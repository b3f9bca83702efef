/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens the control connection in a process that is nobody: whatever a stranger says to an open
 * port is read by one who can do nothing with it.
 *
 * unpriv_accept listens or connects, proves and is proved the key, hears hello and plan, refuses with a
 * line what makes no sense, and hands over a connection with a plan. The privileged process only
 * ever sees that, and checks it again.
 */
#ifndef COPYSCOPE_DOORMAN_H
#define COPYSCOPE_DOORMAN_H

#include "userspace/peer/meet/handshake.h"

/*
 * Returns the connection or -errno with one line printed; -EINVAL if a key is missing. @offer is told
 * to the listening host, and filled in by it on that host; @session goes on where unpriv_accept ends.
 */
int unpriv_accept_run(const struct handshake *m, struct run_request *offer, struct session *session);

#endif
