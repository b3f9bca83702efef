// SPDX-License-Identifier: GPL-2.0
/* How many bytes do the kernel's own copies between user memory and a socket move? */
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "tests/guest/oracle.h"

struct task_struct {
	struct task_struct *group_leader;
	char comm[16];
} __attribute__((preserve_access_index));

enum way { SENDING = 1, RECEIVING };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* thread */
	__type(value, enum way);
} inside SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_MAX);
	__type(key, __u32); /* process */
	__type(value, struct sums);
} processes SEC(".maps");

/* A thread of io_uring's has a name of its own, so the process's is asked. A loop, because clang makes a call of
 * memcmp. */
static bool is_workload(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	const char ours[] = "workload";
	char name[16];
	bool same = BPF_CORE_READ_STR_INTO(&name, task, group_leader, comm) > 0;

#pragma unroll
	for (unsigned int i = 0; i < sizeof(ours); i++)
		same &= name[i] == ours[i];
	return same;
}

static int enter(enum way way)
{
	__u64 task = bpf_get_current_pid_tgid();
	__u32 thread = task, process = task >> 32;
	struct sums none = {}, *sums;

	if (!is_workload())
		return 0;
	bpf_map_update_elem(&processes, &process, &none, BPF_NOEXIST);
	sums = bpf_map_lookup_elem(&processes, &process);
	if (sums && !bpf_map_update_elem(&inside, &thread, &way, BPF_ANY))
		__sync_fetch_and_add(&sums->calls, 1);
	return 0;
}

static int leave(void)
{
	__u32 thread = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&inside, &thread);
	return 0;
}

/* The sums of this task's process, if it is in such a call. */
static struct sums *sums_inside(enum way way)
{
	__u64 task = bpf_get_current_pid_tgid();
	__u32 thread = task, process = task >> 32;
	enum way *now = bpf_map_lookup_elem(&inside, &thread);

	return now && *now == way ? bpf_map_lookup_elem(&processes, &process) : NULL;
}

#define CALL(function, way) \
	SEC("fentry/" #function) \
	int BPF_PROG(function##_begins) \
	{ \
		return enter(way); \
	} \
	SEC("fexit/" #function) \
	int BPF_PROG(function##_ends) \
	{ \
		return leave(); \
	}

/* None of them runs inside another: what TLS hands to TCP lies in pages, and its records are read from the queue. */
CALL(tcp_sendmsg_locked, SENDING)
CALL(udp_sendmsg, SENDING)
CALL(sk_msg_memcopy_from_iter, SENDING) /* into a record of kernel TLS */
CALL(do_tcp_sendpages, SENDING)
CALL(tcp_recvmsg, RECEIVING)
CALL(tcp_splice_read, RECEIVING)
CALL(udp_recvmsg, RECEIVING)
CALL(tls_sw_recvmsg, RECEIVING)

/* Up to 5.11 tcp_recvmsg also reads the error queue, where control messages are copied. */
SEC("fentry/ip_recv_error")
int BPF_PROG(error_is_read)
{
	return leave();
}

/* CONFIG_HARDENED_USERCOPY: before each copy the kernel looks whether the object may be copied. */
SEC("fentry/__check_object_size")
int BPF_PROG(checked, const void *object, unsigned long bytes, unsigned long third)
{
	/* A bool is the lowest byte of its register, and whatever was there lies above. */
	bool to_user = third & 0xff;
	struct sums *sums = sums_inside(to_user ? RECEIVING : SENDING);

	if (sums)
		__sync_fetch_and_add(to_user ? &sums->checked_to_user : &sums->checked_from_user, bytes);
	return 0;
}

/* _copy_from_iter(address, bytes, iterator) */
SEC("perf_event")
int copy_from_user(struct bpf_perf_event_data *event)
{
	struct sums *sums = sums_inside(SENDING);

	if (!sums)
		return 0;
	__sync_fetch_and_add(&sums->copied_from_user, PT_REGS_PARM2(&event->regs));
	__sync_fetch_and_add(&sums->copies_from_user, 1);
	return 0;
}

/* _copy_to_iter(address, bytes, iterator) */
SEC("perf_event")
int copy_to_user(struct bpf_perf_event_data *event)
{
	struct sums *sums = sums_inside(RECEIVING);

	if (!sums)
		return 0;
	__sync_fetch_and_add(&sums->copied_to_user, PT_REGS_PARM2(&event->regs));
	__sync_fetch_and_add(&sums->copies_to_user, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
