// SPDX-License-Identifier: GPL-2.0
/* The hooks of both backends as data. docs/METHOD.md explains what each counts and cannot see. */
#include "userspace/probes/hooks/hooks.h"

#include <stddef.h>

/* Arguments first, so that what follows the targets lines up: 0 stands for any number. */
#define FENTRY(args, program, metric, target, rank) \
	{ program, metric, HOOK_FENTRY, target, args, NULL, 0, rank }
#define FEXIT(args, program, metric, target, rank) \
	{ program, metric, HOOK_FEXIT, target, args, NULL, 0, rank }
#define TRACEPOINT(args, program, metric, target, rank) \
	{ program, metric, HOOK_TRACEPOINT, target, args, NULL, 0, rank }
/* Runs in softirq, so perf counts its hits as well: @group is its folder in tracefs. */
#define SOFTIRQ(args, program, metric, group, target, seen) \
	{ program, metric, HOOK_TRACEPOINT, target, args, group "/" target, seen, HOOK_PLAIN }

/* Both backends: what leaves on the wire, and the workload's own probe. */
#define COMMON_HOOKS                                                                            \
	SOFTIRQ(0, "wire", "tx_copy", "net", "net_dev_queue", SEEN_WIRE),                       \
	SOFTIRQ(2, "xmit_begin", "clean", "net", "net_dev_start_xmit", SEEN_XMIT),      \
	TRACEPOINT(0, "xmit_fresh", "clean", "net_dev_queue", HOOK_PLAIN),                  \
	TRACEPOINT(4, "xmit_end", "clean", "net_dev_xmit", HOOK_PLAIN),                     \
	TRACEPOINT(0, "drop", "drops", "kfree_skb", HOOK_PLAIN),                                \
	{ "gather", "user_gather", HOOK_USDT, "copyscope:gather", 0, NULL, 0, HOOK_PLAIN },     \
	{}

const struct hook trampoline_hooks[] = {
	FENTRY(3, "send_enter", "accepted", "tcp_sendmsg_locked", HOOK_NEEDED),
	FEXIT(3, "send_exit", "accepted", "tcp_sendmsg_locked", HOOK_NEEDED),
	FEXIT(5, "sendpages_exit", "tx_splice", "do_tcp_sendpages", HOOK_PLAIN),
	FEXIT(4, "splice_exit_4", "tx_splice", "skb_splice_from_iter", HOOK_PLAIN),
	FEXIT(3, "splice_exit_3", "tx_splice", "skb_splice_from_iter", HOOK_PLAIN),
	FENTRY(0, "reference_enter", "tx_reference", "skb_zerocopy_iter_stream", HOOK_PLAIN),
	FEXIT(5, "reference_exit_5", "tx_reference", "skb_zerocopy_iter_stream", HOOK_PLAIN),
	FEXIT(6, "reference_exit_6", "tx_reference", "skb_zerocopy_iter_stream", HOOK_PLAIN),
	FEXIT(3, "optmem_exit", "optmem", "sock_omalloc", HOOK_PLAIN),
	FEXIT(3, "realloc_exit_sock", "refusals", "sock_zerocopy_realloc", HOOK_PLAIN),
	FEXIT(3, "realloc_exit_3", "refusals", "msg_zerocopy_realloc", HOOK_PLAIN),
	FEXIT(4, "realloc_exit_4", "refusals", "msg_zerocopy_realloc", HOOK_PLAIN),
	FEXIT(5, "fastopen_exit", "fast open", "tcp_sendmsg_fastopen", HOOK_PLAIN),
	FENTRY(2, "late_copy_enter", "late_copy", "skb_copy_ubufs", HOOK_PLAIN),
	FEXIT(2, "late_copy_exit", "late_copy", "skb_copy_ubufs", HOOK_PLAIN),
	FENTRY(2, "completion_sock", "completions", "sock_zerocopy_callback", HOOK_PLAIN),
	FENTRY(1, "completion", "completions", "__msg_zerocopy_callback", HOOK_PLAIN),
	FENTRY(3, "completion_put_enter", "completions", "msg_zerocopy_complete", HOOK_ELSE),
	FEXIT(3, "completion_put_exit", "completions", "msg_zerocopy_complete", HOOK_ELSE),
	FEXIT(4, "reshape_exit", "reshape", "skb_copy_bits", HOOK_PLAIN),
	FENTRY(0, "reshape_csum", "reshape", "skb_copy_and_csum_bits", HOOK_PLAIN),
	FENTRY(2, "tap", "taps", "dev_queue_xmit_nit", HOOK_PLAIN),
	FENTRY(6, "recv_enter", "returned", "tcp_recvmsg_locked", HOOK_NEEDED),
	FEXIT(6, "recv_exit", "returned", "tcp_recvmsg_locked", HOOK_NEEDED),
	FENTRY(6, "recv_whole_enter", "returned", "tcp_recvmsg", HOOK_ELSE),
	FEXIT(6, "recv_whole_exit", "returned", "tcp_recvmsg", HOOK_ELSE),
	FEXIT(4, "rx_copy_exit", "rx_copy", "skb_copy_datagram_iter", HOOK_PLAIN),
	FEXIT(2, "rx_map_exit_2", "rx_map", "tcp_zerocopy_receive", HOOK_PLAIN),
	FEXIT(3, "rx_map_exit_3", "rx_map", "tcp_zerocopy_receive", HOOK_PLAIN),
	FEXIT(6, "splice_read_exit", "rx_splice", "skb_splice_bits", HOOK_PLAIN),
	COMMON_HOOKS,
};

const struct hook tracepoint_hooks[] = {
	TRACEPOINT(4, "send_turn", "accepted", "tcp_sendmsg_locked", HOOK_NEEDED),
	TRACEPOINT(3, "send_length", "accepted", "sock_send_length", HOOK_NEEDED),
	TRACEPOINT(3, "recv_length", "returned", "sock_recv_length", HOOK_NEEDED),
	TRACEPOINT(2, "copy_to_user", "rx_copy", "skb_copy_datagram_iovec", HOOK_PLAIN),
	SOFTIRQ(1, "arrival", "late_copy", "net", "netif_receive_skb", SEEN_ARRIVAL),
	TRACEPOINT(2, "arrival_forwarded", "late_copy", "net_dev_start_xmit", HOOK_PLAIN),
	TRACEPOINT(4, "arrival_held", "late_copy", "net_dev_xmit", HOOK_PLAIN),
	TRACEPOINT(0, "arrival_dropped", "late_copy", "kfree_skb", HOOK_PLAIN),
	COMMON_HOOKS,
};

const char *hook_kind_name(enum hook_kind kind)
{
	static const char *const names[] = { "fentry", "fexit", "tp_btf", "usdt" };

	return names[kind];
}
