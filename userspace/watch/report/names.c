// SPDX-License-Identifier: GPL-2.0
/* Names of processes, sockets, peers and control groups, with texts of others escaped. */
#include "userspace/watch/report/names.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/common/printable.h"

void comm_name(const char *comm, char name[WATCH_NAME_BYTES])
{
	char whole[WATCH_COMM_BYTES + 1] = "";

	memcpy(whole, comm, WATCH_COMM_BYTES);
	snprintf(name, WATCH_NAME_BYTES, "%s", printable(whole));
}

void process_name(const struct watch_process_id *id, const char *comm, char name[WATCH_NAME_BYTES])
{
	char shown[WATCH_NAME_BYTES];

	comm_name(comm, shown);
	if (id->listener)
		snprintf(name, WATCH_NAME_BYTES, "%.200s, a listener of pid %" PRIu32, shown, id->listener);
	else if (id->pid)
		snprintf(name, WATCH_NAME_BYTES, "%.200s, pid %" PRIu32, shown, id->pid);
	else
		strcpy(name, *shown ? shown : "the kernel, or unknown");
}

void service_name(const struct watch_process *p, char name[WATCH_NAME_BYTES])
{
	char shown[WATCH_NAME_BYTES];

	comm_name(p->comm, shown);
	snprintf(name, WATCH_NAME_BYTES, "%" PRIu64 " %" PRIu32 " %.200s", p->cgroup, p->uid, shown);
}

struct watch_service service_of(const struct watch_process *p)
{
	struct watch_service service = { .cgroup = p->cgroup, .uid = p->uid };

	memcpy(service.comm, p->comm, sizeof(service.comm));
	return service;
}

int services_order(const struct watch_service *a, const struct watch_service *b)
{
	return numbers_order(a->cgroup, b->cgroup) ?: numbers_order(a->uid, b->uid) ?:
	       memcmp(a->comm, b->comm, sizeof(a->comm));
}

int service_compare(const struct watch_process *a, const struct watch_process *b)
{
	const struct watch_service x = service_of(a), y = service_of(b);

	return services_order(&x, &y);
}

void peer_name(const struct watch_address *a, char name[WATCH_NAME_BYTES])
{
	static const uint8_t mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	if (!memcmp(a->ip, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, a->ip + sizeof(mapped), name, WATCH_NAME_BYTES);
	else
		inet_ntop(AF_INET6, a->ip, name, WATCH_NAME_BYTES);
}

void address_name(const struct watch_address *a, char name[WATCH_NAME_BYTES])
{
	char host[WATCH_NAME_BYTES];

	peer_name(a, host);
	snprintf(name, WATCH_NAME_BYTES, strchr(host, ':') ? "[%.64s]:%u" : "%.64s:%u", host, a->port);
}

void group_name(const struct watch_group *g, enum watch_grouping by, char name[WATCH_NAME_BYTES])
{
	if (g->further)
		*name = '\0';
	else if (by == WATCH_BY_PEER)
		peer_name(&g->at, name);
	else
		snprintf(name, WATCH_NAME_BYTES, "port %u", g->at.port);
}

void socket_name(const struct watch_socket *s, char name[WATCH_NAME_BYTES])
{
	char local[WATCH_NAME_BYTES], remote[WATCH_NAME_BYTES], owner[WATCH_NAME_BYTES];

	address_name(&s->local, local);
	address_name(&s->remote, remote);
	process_name(&s->owner, s->comm, owner);
	snprintf(name, WATCH_NAME_BYTES, "%.72s - %.72s, %.140s%s", local, remote, owner,
		 s->handed_on ? ", handed on to it" : "");
}

/* NULL if it is not known. */
static const char *cgroup_path(const struct watch_record *r, uint64_t cgroup)
{
	for (int i = 0; i < r->cgroup_count; i++)
		if (r->cgroups[i].id == cgroup)
			return *r->cgroups[i].path ? r->cgroups[i].path : NULL;
	return NULL;
}

void cgroup_name(const struct watch_record *r, uint64_t cgroup, char name[WATCH_NAME_BYTES])
{
	const char *path = cgroup_path(r, cgroup);

	if (path)
		snprintf(name, WATCH_NAME_BYTES, "%s", printable(path));
	else if (cgroup)
		snprintf(name, WATCH_NAME_BYTES, "cgroup %" PRIu64, cgroup);
	else
		snprintf(name, WATCH_NAME_BYTES, "no known cgroup");
}
