// SPDX-License-Identifier: GPL-2.0
/* How many bytes did our own workload gather in user space before it sent them? It tells the sum of a
 * connection at its end. */
#include <linux/ptrace.h>
#include "bpf/include/detail.bpf.h"
/* One probe point in one program; the defaults would reserve 1,000 entries. */
#define BPF_USDT_MAX_SPEC_CNT 16
#define BPF_USDT_MAX_IP_CNT 16
#include <bpf/usdt.bpf.h>

SEC("?usdt")
int BPF_USDT(gather, u64 bytes, u64 cookie, u64 calls)
{
	if (!window_open() || !task_is_ours())
		return 0;
	site_change(books_find(cookie), SITE_user_gather, bytes, calls);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
