// SPDX-License-Identifier: GPL-2.0
/* For ebpf_exporter: bytes of user pages that the kernel copied behind send, by the program that was current. */
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct who {
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct who);
	__type(value, __u64);
} copyscope_late_copied_bytes_total SEC(".maps");

SEC("fentry/skb_copy_ubufs")
int BPF_PROG(late_copy, struct sk_buff *skb)
{
	__u64 none = 0, *sum;
	struct who who = {};

	bpf_get_current_comm(who.comm, sizeof(who.comm));
	bpf_map_update_elem(&copyscope_late_copied_bytes_total, &who, &none, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&copyscope_late_copied_bytes_total, &who);
	if (sum)
		__sync_fetch_and_add(sum, skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
