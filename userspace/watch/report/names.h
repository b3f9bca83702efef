/* SPDX-License-Identifier: GPL-2.0 */
/* How reports name processes, sockets, peers and control groups: escaped, as anything may be in them. */
#ifndef COPYSCOPE_WATCH_REPORT_NAMES_H
#define COPYSCOPE_WATCH_REPORT_NAMES_H

#include "userspace/record/watch_record.h"

enum { WATCH_NAME_BYTES = 320 };

void comm_name(const char *comm, char name[WATCH_NAME_BYTES]);

/* "nginx, pid 812"; the kernel's own have no pid. */
void process_name(const struct watch_process_id *id, const char *comm, char name[WATCH_NAME_BYTES]);

/* What is alike for processes of one service, which the process that prints gives a name: cgroup, user, comm. */
void service_name(const struct watch_process *p, char name[WATCH_NAME_BYTES]);

struct watch_service {
	uint64_t cgroup;
	uint32_t uid;
	char comm[WATCH_COMM_BYTES];
};

struct watch_service service_of(const struct watch_process *p);

/* 0 for the same; an order of services. */
int services_order(const struct watch_service *a, const struct watch_service *b);

/* The same of two processes. */
int service_compare(const struct watch_process *a, const struct watch_process *b);

/* "10.0.0.1" or "2001:db8::1"; "10.0.0.1:80" or "[2001:db8::1]:80". */
void peer_name(const struct watch_address *a, char name[WATCH_NAME_BYTES]);
void address_name(const struct watch_address *a, char name[WATCH_NAME_BYTES]);

/* "10.0.0.1", "port 80"; all others together have no name. */
void group_name(const struct watch_group *g, enum watch_grouping by, char name[WATCH_NAME_BYTES]);

/* "10.0.0.1:80 - 10.0.0.2:40000, nginx, pid 812", and whether another process used it before */
void socket_name(const struct watch_socket *s, char name[WATCH_NAME_BYTES]);

/* Its path; its number where the path is not known. */
void cgroup_name(const struct watch_record *r, uint64_t cgroup, char name[WATCH_NAME_BYTES]);

#endif
