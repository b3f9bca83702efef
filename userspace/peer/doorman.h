/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens the control connection in a process that is nobody: whatever a stranger says to an open
 * port is read by one who can do nothing with it.
 *
 * The doorman listens or connects, hears hello and plan, refuses with a line what makes no sense,
 * and hands over a connection with a checked plan. The privileged process only ever sees that.
 */
#ifndef COPYSCOPE_DOORMAN_H
#define COPYSCOPE_DOORMAN_H

#include "userspace/path/path.h"
#include "userspace/peer/offer.h"

/*
 * Returns the connection or -errno with one line printed. @offer is told to the listening host, and
 * filled in by it on that host.
 */
int doorman_run(const struct path_partner *partner, const char *kernel, bool quiet,
		struct offer *offer);

#endif
