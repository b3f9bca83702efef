/* SPDX-License-Identifier: GPL-2.0 */
/* Records of a watch, made by hand for tests of what is said of them. */
#ifndef COPYSCOPE_MADE_WATCH_H
#define COPYSCOPE_MADE_WATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/record/watch_record.h"

struct made_watch {
	struct watch_record r;
	struct watch_process process[2];
	struct watch_socket socket[2];
	struct watch_group group[WATCH_GROUPINGS];
};

static inline struct watch_movements *made_moved(struct made_watch *m)
{
	return &m->process[0].sum.moved;
}

/* A record of one process, nginx, pid 812, with one socket, in which every site was measured. */
static inline void made_watch(struct made_watch *m)
{
	static const uint8_t v4[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1 };

	memset(m, 0, sizeof(*m));
	m->r.window_ns = 5000000000;
	m->r.backend = BACKEND_TRAMPOLINE;
	strcpy(m->r.machine.kernel, "6.12.0");
	m->r.machine.cpus = 2;
	for (enum site s = 0; s < SITE_COUNT; s++)
		m->r.sites[s].how = HOW_MEASURED;
	m->r.law_count = WATCH_LAW_COUNT;
	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		m->r.laws[l] = (struct law){ .name = watch_law_name(l), .left_is = "left",
					     .right_is = "right", .known = true };
	m->process[0] = (struct watch_process){ .id.pid = 812, .comm = "nginx",
						.sum = watch_sum_of_nothing() };
	m->socket[0] = (struct watch_socket){ .owner.pid = 812, .comm = "nginx", .born = true };
	memcpy(m->socket[0].local.ip, v4, sizeof(v4));
	memcpy(m->socket[0].remote.ip, v4, sizeof(v4));
	m->socket[0].local.port = 80;
	m->socket[0].remote.port = 40000;
	m->r.processes = m->process;
	m->r.process_count = 1;
	m->r.sockets = m->socket;
	m->r.socket_count = 1;
	m->r.total = watch_sum_of_nothing();
}

/* Socket and total move what the process moved. */
static inline void made_watch_sum(struct made_watch *m)
{
	m->process[0].sum.sockets = 1;
	m->process[0].sum.lately = m->process[0].sum.moved;
	m->r.lately_ns = 1000000000;
	m->socket[0].moved = m->socket[0].lately = m->process[0].sum.moved;
	m->process[0].sum.sockets_lately = 1;
	m->r.total = m->process[0].sum;
	for (enum watch_grouping by = 0; by < WATCH_GROUPINGS; by++) {
		m->group[by] = (struct watch_group){
			.sockets = 1, .sockets_lately = 1, .moved = m->socket[0].moved,
			.lately = m->socket[0].moved,
		};
		m->r.groups[by] = (struct watch_groups){ .group = &m->group[by], .count = 1 };
	}
	memcpy(m->group[WATCH_BY_PEER].at.ip, m->socket[0].remote.ip, sizeof(m->socket[0].remote.ip));
	m->group[WATCH_BY_PORT].at.port = m->socket[0].local.port;
}

#endif
