/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts events beside a benchmark: perf events of tracepoints and of the kernel's own software
 * counters, inherited by children. Some kernels run no BPF program while certain tasks are current;
 * perf counts even then.
 */
#ifndef COPYSCOPE_BASELINE_EVENTS_H
#define COPYSCOPE_BASELINE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What can be counted: name in the record, tracepoint, filter. "@" in a filter stands for the device of the
 * path, "#" for the CPU that the benchmark is kept on, "%name" for the number of a system call.
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

struct counting;

/* What some events are of. */
struct counting_of {
	const char *device;	/* packets on this network device */
	const void *function;	/* entries of this function; NULL: of none */
	int cpu;		/* wake-ups on other CPUs than this */
};

/*
 * Opens the events wanted, stopped, for this process and the children that it will have. One that
 * the kernel does not offer or allow reads NAN; @why then says of the first what was refused.
 */
struct counting *counting_open(const bool wanted[EVENT_COUNT], const struct counting_of *of,
			       char *why, size_t why_bytes);

/* All at once, by one prctl each: nothing else runs between the first and the last. */
void counting_start(struct counting *c);
void counting_stop(struct counting *c);

/* NAN for what was not counted. */
void counting_read(struct counting *c, double counted[EVENT_COUNT]);
void counting_close(struct counting *c);

/* Processor time of this task and of the children that it will have, softirqs on their time included. A
 * descriptor or -errno; the time of a child is in it once the child was waited for. */
int task_clock_open(void);
uint64_t task_clock_ns(int fd);

/* Makes tracefs reachable in a mount namespace of this process's own. 0 or -errno. */
int counting_reach_tracefs(void);

/*
 * Reads each page of the program and its libraries once. A child of fork() has none of them in its
 * page tables, and a fault maps at most 16 (mm/memory.c, do_fault_around). Without this, the address
 * of the program would decide which benchmark takes the next fault.
 */
void code_touch(void);

#endif
