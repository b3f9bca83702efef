// SPDX-License-Identifier: GPL-2.0
/* The hooks as data. docs/METHOD.md explains what each counts and cannot see. */
#include "userspace/engine/hooks.h"

#include <stddef.h>

/* Arguments first, so that what follows the targets lines up: 0 stands for any number. */
#define FENTRY(args, program, metric, target, sets, rank) \
	{ program, metric, HOOK_FENTRY, target, args, sets, rank, false, NULL, 0 }
#define FEXIT(args, program, metric, target, sets, rank) \
	{ program, metric, HOOK_FEXIT, target, args, sets, rank, false, NULL, 0 }
#define TRACEPOINT(args, program, metric, target, sets, rank) \
	{ program, metric, HOOK_TRACEPOINT, target, args, sets, rank, false, NULL, 0 }
#define WITHOUT(args, program, metric, target, sets, rank) \
	{ program, metric, HOOK_TRACEPOINT, target, args, sets, rank, true, NULL, 0 }
/* Of the root of all control groups. */
#define CGROUP(program, metric, target, sets) \
	{ program, metric, HOOK_CGROUP, target, 0, sets, HOOK_PLAIN, false, NULL, 0 }
/* Runs in softirq, so perf counts its hits as well: @group is its folder in tracefs. */
#define SOFTIRQ(args, program, metric, group, target, sets, without, seen) \
	{ program, metric, HOOK_TRACEPOINT, target, args, sets, HOOK_PLAIN, without, group "/" target, seen }

#define ALWAYS HOOKS_ALWAYS
#define ZEROCOPY HOOKS_ZEROCOPY
#define CALLS HOOKS_CALLS
#define DETAIL HOOKS_DETAIL
#define TLS HOOKS_TLS
#define DATAGRAMS HOOKS_DATAGRAMS
#define QUEUES HOOKS_QUEUES
#define BIRTHS HOOKS_BIRTHS
#define SHARED HOOKS_SHARED
#define SIZES HOOKS_SIZES
#define WATCH HOOKS_WATCH
#define SYSCALLS HOOKS_SYSCALLS
#define PLAIN HOOK_PLAIN
#define NEEDED HOOK_NEEDED
#define ELSE HOOK_ELSE

/* They are attached in this order. */
const struct hook hooks[] = {
	TRACEPOINT(1, "process_free", "processes", "sched_process_free", ALWAYS, NEEDED),
	TRACEPOINT(0, "process_exit", "processes", "sched_process_exit", ALWAYS, NEEDED),
	TRACEPOINT(2, "process_fork", "processes", "sched_process_fork", ALWAYS, NEEDED),
	TRACEPOINT(3, "process_exec", "processes", "sched_process_exec", ALWAYS, NEEDED),
	TRACEPOINT(4, "process_enter", "processes", "cgroup_attach_task", ALWAYS, PLAIN),
	/* Ends first: a book that begins is handed over. */
	TRACEPOINT(1, "socket_death", "sequence", "tcp_destroy_sock", ALWAYS, NEEDED),
	TRACEPOINT(1, "socket_death_again", "sequence", "tcp_destroy_sock", ALWAYS, NEEDED),
	TRACEPOINT(1, "socket_drop", "sequence", "tcp_destroy_sock", ALWAYS, NEEDED),
	TRACEPOINT(1, "socket_drop_again", "sequence", "tcp_destroy_sock", ALWAYS, NEEDED),

	WITHOUT(4, "send_turn", "sends", "tcp_sendmsg_locked", ALWAYS, PLAIN),
	WITHOUT(4, "send_turn", "accepted", "tcp_sendmsg_locked", DETAIL, NEEDED),
	WITHOUT(3, "send_call", "accepted", "sock_send_length", CALLS, NEEDED),
	WITHOUT(3, "send_call", "refusals", "sock_send_length", ZEROCOPY, PLAIN),
	FENTRY(3, "send_enter", "accepted", "tcp_sendmsg_locked", DETAIL, NEEDED),
	FEXIT(3, "send_exit", "accepted", "tcp_sendmsg_locked", CALLS, NEEDED),
	FENTRY(0, "reference_enter", "tx_reference", "skb_zerocopy_iter_stream", DETAIL, PLAIN),
	FEXIT(5, "reference_exit_5", "tx_reference", "skb_zerocopy_iter_stream", ALWAYS | DETAIL, PLAIN),
	FEXIT(6, "reference_exit_6", "tx_reference", "skb_zerocopy_iter_stream", ALWAYS | DETAIL, PLAIN),
	FENTRY(5, "sendpages_enter", "tx_splice", "do_tcp_sendpages", ALWAYS, PLAIN),
	FEXIT(5, "sendpages_exit", "tx_splice", "do_tcp_sendpages", ALWAYS, PLAIN),
	FEXIT(4, "pages_spliced_4", "tx_splice", "skb_splice_from_iter", ALWAYS, PLAIN),
	FEXIT(3, "pages_spliced_3", "tx_splice", "skb_splice_from_iter", ALWAYS, PLAIN),
	FEXIT(5, "fastopen_exit", "fast open", "tcp_sendmsg_fastopen", DETAIL, PLAIN),
	FENTRY(3, "refused", "limits", "sk_stream_error", ALWAYS, PLAIN),
	FEXIT(3, "optmem_exit", "optmem", "sock_omalloc", DETAIL, PLAIN),
	FEXIT(3, "realloc_exit_3", "refusals", "msg_zerocopy_realloc", DETAIL, PLAIN),
	FEXIT(4, "realloc_exit_4", "refusals", "msg_zerocopy_realloc", DETAIL, PLAIN),

	FENTRY(3, "datagram_send_enter", "accepted", "udp_sendmsg", DATAGRAMS, NEEDED),
	FENTRY(3, "datagram_send_enter_v6", "accepted", "udpv6_sendmsg", DATAGRAMS, PLAIN),
	FEXIT(3, "datagram_send_exit", "accepted", "udp_sendmsg", DATAGRAMS, NEEDED),
	FEXIT(3, "datagram_send_exit_v6", "accepted", "udpv6_sendmsg", DATAGRAMS, PLAIN),
	FENTRY(5, "datagram_page_enter", "datagrams spliced", "udp_sendpage", QUEUES, PLAIN),
	FEXIT(5, "datagram_page_exit", "datagrams spliced", "udp_sendpage", QUEUES, PLAIN),
	FEXIT(5, "datagram_reference_5", "tx_reference", "__zerocopy_sg_from_iter", SHARED, PLAIN),
	FEXIT(6, "datagram_reference_6", "tx_reference", "__zerocopy_sg_from_iter", SHARED, PLAIN),
	WITHOUT(3, "send_call", "datagrams sent", "sock_send_length", SHARED, PLAIN),
	FENTRY(2, "datagram_handed_v4", "datagrams handed", "ip_send_skb", QUEUES, PLAIN),
	FENTRY(1, "datagram_handed_v6", "datagrams handed", "ip6_send_skb", QUEUES, PLAIN),

	FENTRY(0, "datagram_receive_enter", "returned", "udp_recvmsg", DATAGRAMS, NEEDED),
	FENTRY(0, "datagram_receive_enter_v6", "returned", "udpv6_recvmsg", DATAGRAMS, PLAIN),
	FENTRY(3, "datagram_taken", "rx_copy", "skb_consume_udp", DATAGRAMS, PLAIN),
	FEXIT(5, "datagram_receive_exit_5", "returned", "udp_recvmsg", DATAGRAMS, PLAIN),
	FEXIT(5, "datagram_receive_exit_v6_5", "returned", "udpv6_recvmsg", DATAGRAMS, PLAIN),
	FEXIT(4, "datagram_receive_exit_4", "returned", "udp_recvmsg", DATAGRAMS, PLAIN),
	FEXIT(4, "datagram_receive_exit_v6_4", "returned", "udpv6_recvmsg", DATAGRAMS, PLAIN),
	FENTRY(2, "datagram_queue_enter", "datagrams queued", "__udp_enqueue_schedule_skb", QUEUES, PLAIN),
	FEXIT(2, "datagram_queue_exit", "datagrams queued", "__udp_enqueue_schedule_skb", QUEUES, PLAIN),
	TRACEPOINT(4, "datagram_drop", "datagrams dropped", "kfree_skb", QUEUES, PLAIN),
	FENTRY(1, "datagram_dropped", "datagram sockets", "sk_common_release", DATAGRAMS | BIRTHS, PLAIN),

	TRACEPOINT(2, "rx_copy", "rx_copy", "skb_copy_datagram_iovec", ALWAYS, HOOK_DERIVED),
	TRACEPOINT(3, "receive_call", "rx_discard", "sock_recv_length", ALWAYS, PLAIN),
	TRACEPOINT(3, "receive_call", "returned", "sock_recv_length", CALLS, NEEDED),
	FEXIT(6, "receive_exit", "rx_discard", "tcp_recvmsg_locked", ALWAYS, ELSE),
	FEXIT(6, "receive_exit", "returned", "tcp_recvmsg_locked", CALLS, ELSE),
	FEXIT(6, "splice_read", "rx_splice", "skb_splice_bits", ALWAYS, PLAIN),
	FEXIT(5, "splice_call", "sizes", "tcp_splice_read", SIZES, PLAIN),
	FEXIT(3, "receive_map", "rx_map", "tcp_zerocopy_receive", ALWAYS, PLAIN),
	FENTRY(1, "urgent_arrival", "urgent", "sk_send_sigurg", WATCH, PLAIN),
	FEXIT(3, "mptcp_sent", "MPTCP", "mptcp_sendmsg", WATCH, PLAIN),
	FEXIT(2, "ulp_exit", "requests", "tcp_set_ulp", WATCH, PLAIN),
	FEXIT(5, "option_exit", "requests", "sock_setsockopt", WATCH, PLAIN),
	WITHOUT(2, "call_refused", "requests", "sys_exit", SYSCALLS, PLAIN),
	FENTRY(2, "psock_init", "layers", "sk_psock_init", ALWAYS, PLAIN),

	TRACEPOINT(1, "departure", "departures", "net_dev_queue", ZEROCOPY, PLAIN),
	SOFTIRQ(1, "departure", "tx_copy", "net", "net_dev_queue", DETAIL, false, SEEN_WIRE),
	TRACEPOINT(2, "device", "devices", "net_dev_start_xmit", ZEROCOPY, PLAIN),
	SOFTIRQ(2, "device", "clean", "net", "net_dev_start_xmit", DETAIL, false, SEEN_XMIT),
	TRACEPOINT(0, "device_done", "devices", "net_dev_xmit", ZEROCOPY, PLAIN),
	TRACEPOINT(0, "drop", "drops", "kfree_skb", ALWAYS, PLAIN),
	SOFTIRQ(1, "arrival", "late_copy", "net", "netif_receive_skb", ZEROCOPY | DETAIL, true, SEEN_ARRIVAL),
	FENTRY(2, "late_copy_enter", "late_copy", "skb_copy_ubufs", DETAIL, PLAIN),
	FEXIT(2, "late_copy", "late_copy", "skb_copy_ubufs", ALWAYS | DETAIL, PLAIN),
	FENTRY(2, "tap", "taps", "dev_queue_xmit_nit", ALWAYS, PLAIN),
	FEXIT(4, "moved", "moved", "skb_copy_bits", ZEROCOPY, PLAIN),
	FEXIT(4, "moved", "reshape", "skb_copy_bits", DETAIL, PLAIN),
	FENTRY(0, "moved_csum", "moved", "skb_copy_and_csum_bits", ZEROCOPY, PLAIN),
	FENTRY(0, "moved_csum", "reshape", "skb_copy_and_csum_bits", DETAIL, PLAIN),

	FEXIT(0, "tls_begins", "TLS", "tls_set_sw_offload", TLS, PLAIN),
	FEXIT(0, "tls_device_sends", "TLS", "tls_set_device_offload", TLS, PLAIN),
	FEXIT(0, "tls_device_receives", "TLS", "tls_set_device_offload_rx", TLS, PLAIN),
	FENTRY(1, "tls_sends_end", "TLS", "tls_sw_release_resources_tx", TLS, PLAIN),
	FENTRY(1, "tls_receives_end", "TLS", "tls_sw_release_resources_rx", TLS, PLAIN),
	FEXIT(3, "tls_send_exit", "TLS accepted", "tls_sw_sendmsg", TLS, PLAIN),
	FEXIT(5, "tls_sendpage_exit", "TLS accepted", "tls_sw_sendpage", TLS, PLAIN),
	FEXIT(3, "tls_spliced", "tls_splice", "tls_sw_sendmsg", TLS, PLAIN),
	FEXIT(5, "tls_spliced_page", "tls_splice", "tls_sw_sendpage", TLS, PLAIN),
	FEXIT(4, "tls_referenced", "tls_reference", "sk_msg_zerocopy_from_iter", TLS, PLAIN),
	FEXIT(4, "tls_copied", "tls_copy", "sk_msg_memcopy_from_iter", TLS, PLAIN),
	FENTRY(1, "tls_encrypts", "tls_encrypt", "crypto_aead_encrypt", TLS, PLAIN),
	FENTRY(0, "tls_receive_enter", "TLS", "tls_sw_recvmsg", TLS, PLAIN),
	FENTRY(5, "tls_splice_read_enter", "TLS", "tls_sw_splice_read", TLS, PLAIN),
	FEXIT(5, "tls_splice_read_exit", "TLS", "tls_sw_splice_read", TLS, PLAIN),
	FEXIT(5, "tls_receive_exit_5", "TLS returned", "tls_sw_recvmsg", TLS, PLAIN),
	FEXIT(4, "tls_receive_exit_4", "TLS returned", "tls_sw_recvmsg", TLS, PLAIN),
	FENTRY(1, "tls_decrypts", "tls_decrypt", "crypto_aead_decrypt", TLS, PLAIN),
	FEXIT(3, "tls_opened", "TLS records", "tls_rx_one_record", TLS, PLAIN),
	FEXIT(3, "tls_direct", "rx_direct", "tls_rx_one_record", TLS, PLAIN),

	SOFTIRQ(1, "completion", "notifications", "sock", "inet_sk_error_report", ALWAYS, false, SEEN_REPORT),
	TRACEPOINT(0, "ring_done", "rings", "io_uring_complete", ZEROCOPY | DETAIL, PLAIN),
	TRACEPOINT(5, "ring_full", "rings overflowed", "io_uring_cqe_overflow", ZEROCOPY | DETAIL, PLAIN),
	FENTRY(1, "notification_end", "completions", "__msg_zerocopy_callback", DETAIL, PLAIN),
	FENTRY(3, "notification_put_enter", "completions", "msg_zerocopy_complete", DETAIL, ELSE),
	FEXIT(3, "notification_put_exit", "completions", "msg_zerocopy_complete", DETAIL, ELSE),
	{ "gather", "user_gather", HOOK_USDT, "copyscope:gather", 0, DETAIL, PLAIN, false, NULL, 0 },

	/* Books begin when all other hooks are there: they count what a socket that begins moves from its first byte on. */
	CGROUP("datagram_released", "datagram sockets", "sock_release", BIRTHS),
	CGROUP("datagram_made", "datagram sockets", "sock_create", BIRTHS),
	FENTRY(2, "socket_disconnect", "sequence", "tcp_disconnect", ALWAYS, PLAIN),
	TRACEPOINT(3, "socket_state", "sequence", "inet_sock_set_state", ALWAYS, NEEDED),
	TRACEPOINT(3, "socket_state_again", "sequence", "inet_sock_set_state", ALWAYS, NEEDED),
	{}
};

const struct hook_form hook_forms[] = {
	{ "tcp_sendmsg_locked", 4, "6.18", "" },
	{ "sock_send_length", 3, "6.12", "" },
	{ "sock_recv_length", 3, "6.12", "" },
	{ "tcp_recvmsg_locked", 6, "", "6.1" },
	{ "skb_zerocopy_iter_stream", 5, "", "6.12" },
	{ "skb_zerocopy_iter_stream", 6, "6.18", "" },
	{ "__zerocopy_sg_from_iter", 5, "", "6.12" },
	{ "__zerocopy_sg_from_iter", 6, "6.18", "" },
	{ "udp_recvmsg", 5, "", "6.12" },
	{ "udp_recvmsg", 4, "6.18", "" },
	{ "udpv6_recvmsg", 5, "", "6.12" },
	{ "udpv6_recvmsg", 4, "6.18", "" },
	{ "kfree_skb", 4, "6.12", "" },
	{ "udp_sendpage", 5, "", "6.1" },
	{ "do_tcp_sendpages", 5, "", "6.1" },
	{ "skb_splice_from_iter", 4, "6.12", "6.12" },
	{ "skb_splice_from_iter", 3, "6.18", "" },
	{ "msg_zerocopy_realloc", 3, "", "6.12" },
	{ "msg_zerocopy_realloc", 4, "6.18", "" },
	{ "tls_sw_sendpage", 5, "", "6.1" },
	{ "tls_sw_recvmsg", 5, "", "6.18" },
	{ "tls_sw_recvmsg", 4, "7.2", "" },
	{ "__msg_zerocopy_callback", 1, "", "6.18" },
	{ "msg_zerocopy_complete", 3, "7.2", "" },
	{}
};

const char *hook_kind_name(enum hook_kind kind)
{
	static const char *const names[] = { "fentry", "fexit", "tp_btf", "usdt", "cgroup" };

	return names[kind];
}
