/* SPDX-License-Identifier: GPL-2.0 */
/* Adds up sockets by remote address and by local port: any number of them, open or dead. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_GROUPS_H
#define COPYSCOPE_WATCH_BOOKS_GROUPS_H

#include "userspace/record/watch_record.h"

/* 0 or -ENOMEM. */
int watch_groups_add(struct watch_groups groups[WATCH_GROUPINGS], const struct watch_socket *socket);

/* Makes @to, which owns what it holds, of @from. 0 or -ENOMEM. */
int watch_groups_copy(const struct watch_groups from[WATCH_GROUPINGS],
		      struct watch_groups to[WATCH_GROUPINGS]);

/* What is in them moved before the reading that begins. */
void watch_groups_forget(struct watch_groups groups[WATCH_GROUPINGS]);

#endif
