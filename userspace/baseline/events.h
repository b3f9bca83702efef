/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters beside a benchmark: perf events of tracepoints and of the kernel's own software
 * counters, inherited by children. They count even while a task is current that the kernel keeps
 * from BPF programs.
 */
#ifndef COPYSCOPE_BASELINE_EVENTS_H
#define COPYSCOPE_BASELINE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * name in the record, tracepoint, filter. "@" in a filter stands for the device of the path, "#" for
 * the CPU that work_pin(0) keeps to.
 * prctl is what starts and stops the counters. A task that was preempted has state 256
 * (TASK_REPORT_MAX, include/linux/sched.h), one that gave way has 0. "uprobe" is a probe on the
 * function that a benchmark names.
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

struct counters;

const char *event_name(enum event_id id);

/*
 * Opens those wanted, stopped, for this process and the children that it will have: packets of
 * @device, entries of @function. One that the kernel does not offer or allow reads NAN; @why then
 * says of the first what was refused.
 */
struct counters *counters_beside(const bool wanted[EVENT_COUNT], const char *device,
				 const void *function, char *why, size_t why_bytes);

/* All at once, by one prctl each: nothing else runs between the first and the last. */
void counters_start(struct counters *c);
void counters_stop(struct counters *c);

/* NAN for what was not counted. */
void counters_take(struct counters *c, double counted[EVENT_COUNT]);
void counters_free(struct counters *c);

/* Makes tracefs reachable in a mount namespace of this process's own. 0 or -errno. */
int tracefs_reach(void);

#endif
