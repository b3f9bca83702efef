// SPDX-License-Identifier: GPL-2.0
/* The hooks of both backends as data. docs/METHOD.md says what each counts and cannot see. */
#include "userspace/trace/hooks.h"

#include <stddef.h>

/* Both backends: what leaves on the wire, and the workload's own probe. */
#define COMMON_HOOKS                                                                    \
	{ "wire", "tx_copy", HOOK_TRACEPOINT, "net_dev_start_xmit", 0,                  \
	  "net/net_dev_start_xmit", SEEN_WIRE, false },                                                   \
	{ "retransmit_2", "retransmissions", HOOK_TRACEPOINT, "tcp_retransmit_skb", 2,  \
	  "tcp/tcp_retransmit_skb", SEEN_RETRANSMIT, false },                                                   \
	{ "retransmit_3", "retransmissions", HOOK_TRACEPOINT, "tcp_retransmit_skb", 3,  \
	  "tcp/tcp_retransmit_skb", SEEN_RETRANSMIT, false },                                                   \
	{ "gather", "user_gather", HOOK_USDT, "copyscope:gather", 0, NULL, 0, false },     \
	{}

const struct hook trampoline_hooks[] = {
	{ "send_enter", "accepted", HOOK_FENTRY, "tcp_sendmsg_locked", 3, NULL, 0, true },
	{ "send_exit", "accepted", HOOK_FEXIT, "tcp_sendmsg_locked", 3, NULL, 0, true },
	{ "sendpages_exit", "tx_splice", HOOK_FEXIT, "do_tcp_sendpages", 5, NULL, 0, false },
	{ "splice_exit_4", "tx_splice", HOOK_FEXIT, "skb_splice_from_iter", 4, NULL, 0, false },
	{ "splice_exit_3", "tx_splice", HOOK_FEXIT, "skb_splice_from_iter", 3, NULL, 0, false },
	{ "reference_enter", "tx_reference", HOOK_FENTRY, "skb_zerocopy_iter_stream", 0, NULL, 0, false },
	{ "reference_exit_5", "tx_reference", HOOK_FEXIT, "skb_zerocopy_iter_stream", 5, NULL, 0, false },
	{ "reference_exit_6", "tx_reference", HOOK_FEXIT, "skb_zerocopy_iter_stream", 6, NULL, 0, false },
	{ "late_copy_enter", "late_copy", HOOK_FENTRY, "skb_copy_ubufs", 2, NULL, 0, false },
	{ "late_copy_exit", "late_copy", HOOK_FEXIT, "skb_copy_ubufs", 2, NULL, 0, false },
	{ "completion", "completions", HOOK_FENTRY, "__msg_zerocopy_callback", 1, NULL, 0, false },
	{ "reshape_exit", "reshape", HOOK_FEXIT, "skb_copy_bits", 4, NULL, 0, false },
	{ "recv_enter", "returned", HOOK_FENTRY, "tcp_recvmsg_locked", 6, NULL, 0, true },
	{ "recv_exit", "returned", HOOK_FEXIT, "tcp_recvmsg_locked", 6, NULL, 0, true },
	{ "rx_copy_exit", "rx_copy", HOOK_FEXIT, "skb_copy_datagram_iter", 4, NULL, 0, false },
	{ "rx_map_exit", "rx_map", HOOK_FEXIT, "tcp_zerocopy_receive", 3, NULL, 0, false },
	{ "splice_read_enter", "rx_splice", HOOK_FENTRY, "tcp_read_sock", 3, NULL, 0, false },
	{ "splice_read_exit", "rx_splice", HOOK_FEXIT, "tcp_splice_read", 5, NULL, 0, false },
	COMMON_HOOKS,
};

const struct hook tracepoint_hooks[] = {
	{ "send_turn", "accepted", HOOK_TRACEPOINT, "tcp_sendmsg_locked", 4, NULL, 0, true },
	{ "send_length", "accepted", HOOK_TRACEPOINT, "sock_send_length", 3, NULL, 0, true },
	{ "recv_length", "returned", HOOK_TRACEPOINT, "sock_recv_length", 3, NULL, 0, true },
	{ "copy_to_user", "rx_copy", HOOK_TRACEPOINT, "skb_copy_datagram_iovec", 2, NULL, 0, false },
	{ "arrival", "late_copy", HOOK_TRACEPOINT, "netif_receive_skb", 1,
	  "net/netif_receive_skb", SEEN_ARRIVAL, false },
	COMMON_HOOKS,
};

const char *hook_kind_name(enum hook_kind kind)
{
	static const char *const names[] = { "fentry", "fexit", "tp_btf", "usdt" };

	return names[kind];
}
