/* SPDX-License-Identifier: GPL-2.0 */
/* The table of what can be counted beside a benchmark, and where the kernel counts it. */
#ifndef COPYSCOPE_BASELINE_EVENTS_H
#define COPYSCOPE_BASELINE_EVENTS_H

#include <stddef.h>

/*
 * name in the record, tracepoint, filter. "@" in a filter stands for the device of the path, "#" for
 * the CPU that the benchmark is kept on, "%name" for the number of a system call.
 * prctl is what starts and stops the counters. A task that was preempted has state 256
 * (TASK_REPORT_MAX, include/linux/sched.h), one that gave way has 0. "uprobe" is a probe on the
 * function that a benchmark names; without a tracepoint it is a software counter of that name.
 */
#define EVENTS(X)                                                                              \
	X(syscalls, "system calls", "raw_syscalls/sys_enter", "id != %prctl")                  \
	X(getuid, "getuid calls", "raw_syscalls/sys_enter", "id == %getuid")                   \
	X(sends, "sendto calls", "raw_syscalls/sys_enter", "id == %sendto")                    \
	X(sendmsgs, "sendmsg calls", "raw_syscalls/sys_enter", "id == %sendmsg")               \
	X(receives, "recvfrom calls", "raw_syscalls/sys_enter", "id == %recvfrom")             \
	X(reads, "read calls", "raw_syscalls/sys_enter", "id == %read")                        \
	X(preads, "pread64 calls", "raw_syscalls/sys_enter", "id == %pread64")                 \
	X(writes, "write calls", "raw_syscalls/sys_enter", "id == %write")                     \
	X(futexes, "futex calls", "raw_syscalls/sys_enter", "id == %futex")                    \
	X(connects, "connect calls", "raw_syscalls/sys_enter", "id == %connect")               \
	X(switches, "context switches", "sched/sched_switch", "")                              \
	X(voluntary, "voluntary context switches", "sched/sched_switch",                       \
	  "prev_state != 0 && prev_state != 256")                                              \
	X(wakes_away, "wake-ups on other CPUs", "sched/sched_waking", "target_cpu != #")       \
	X(forks, "tasks created", "sched/sched_process_fork", "")                              \
	X(threads, "tasks created with shared memory", "task/task_newtask",                    \
	  "clone_flags & 256")                                                                 \
	X(user_faults, "page faults in user mode", "exceptions/page_fault_user", "")           \
	X(block_reads, "block reads queued", "block/block_bio_queue", "rwbs ~ \"*R*\"")        \
	X(block_issues, "block reads issued", "block/block_rq_issue", "rwbs ~ \"*R*\"")        \
	X(cached, "folios added to the page cache", "filemap/mm_filemap_add_to_page_cache", "") \
	X(packets, "packets on the device", "net/net_dev_start_xmit", "name == \"@\"")         \
	X(fin_sent, "sockets that began to close", "sock/inet_sock_set_state",                 \
	  "newstate == 4")                                                                     \
	X(entries, "entries of the function", "uprobe", "")                                    \
	X(faults, "page faults", "", "page-faults")                                            \
	X(minor, "minor faults", "", "minor-faults")                                           \
	X(major, "major faults", "", "major-faults")

enum event_id {
#define X(id, name, tracepoint, filter) EVENT_##id,
	EVENTS(X)
#undef X
	EVENT_COUNT
};

struct event {
	const char *name, *tracepoint, *filter;
};

const struct event *event_of(enum event_id id);

/* The filter with what its signs stand for. */
void event_filter(enum event_id id, const char *device, int cpu, char *filter, size_t size);

#endif
