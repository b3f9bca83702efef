/* SPDX-License-Identifier: GPL-2.0 */
/* The two ways to meet a partner: wait for it at an open port, or go to it. */
#ifndef COPYSCOPE_MEETING_H
#define COPYSCOPE_MEETING_H

#include "userspace/path/path.h"
#include "userspace/peer/offer.h"

enum { NAME_OF_ADDRESS_BYTES = ADDRESS_BYTES + 16 };

/*
 * Waits until a partner comes with a plan that can be run, and fills in @offer. Whoever else comes
 * is refused with a line. Returns the connection, or -errno with one line printed.
 */
int meeting_wait(const struct path_partner *partner, const char *kernel, bool quiet,
		 struct offer *offer);

/* Goes to the partner and tells it @offer. Returns the connection, or -errno with one line printed. */
int meeting_go(const struct path_partner *partner, const char *kernel, const struct offer *offer);

/* Address of either side of a connection, without port; @name: with it. Empty if it is gone. */
void meeting_address(int fd, bool there, char address[ADDRESS_BYTES],
		     char name[NAME_OF_ADDRESS_BYTES]);

#endif
