// SPDX-License-Identifier: GPL-2.0
/*
 * How does payload reach the reader: copied, mapped, spliced or discarded?
 *
 * skb_copy_datagram_iter and nothing below it: it contains __skb_datagram_iter, which contains
 * simple_copy_to_iter, and each byte must be counted once. The owner is skb->sk, which TCP sets for
 * every skb of a receive queue (skb_set_owner_r).
 */
#include "bpf/include/gate.bpf.h"

#define MSG_TRUNC_FLAG 0x20
#define MSG_ERRQUEUE_FLAG 0x2000

SEC("?fentry/tcp_recvmsg_locked")
int BPF_PROG(recv_enter, struct sock *sk)
{
	if (window_open())
		book_is_open(sk);
	return 0;
}

static __always_inline int received(const struct sock *sk, int flags, int ret)
{
	struct books *b;

	if (!window_open() || ret <= 0)
		return 0;
	b = books_find(cookie_of(sk));
	count(b, COUNT_recv_calls, 1);
	count(b, COUNT_returned_bytes, ret);
	if (flags & MSG_TRUNC_FLAG)
		site_add(b, SITE_rx_discard, ret);
	return 0;
}

SEC("?fexit/tcp_recvmsg_locked")
int BPF_PROG(recv_exit, struct sock *sk, struct msghdr *msg, size_t len, int flags,
	     struct scm_timestamping_internal *tss, int *cmsg_flags, int ret)
{
	return received(sk, flags, ret);
}

/* Until 2cd81161848d ("net-tcp: Introduce tcp_recvmsg_locked()."), 5.12, all of it was in
 * tcp_recvmsg, and so were reads of the error queue, whose bytes are no payload. */
SEC("?fentry/tcp_recvmsg")
int BPF_PROG(recv_whole_enter, struct sock *sk)
{
	if (window_open())
		book_is_open(sk);
	return 0;
}

SEC("?fexit/tcp_recvmsg")
int BPF_PROG(recv_whole_exit, struct sock *sk, struct msghdr *msg, size_t len, int nonblock,
	     int flags, int *addr_len, int ret)
{
	return flags & MSG_ERRQUEUE_FLAG ? 0 : received(sk, flags, ret);
}

SEC("?fexit/skb_copy_datagram_iter")
int BPF_PROG(rx_copy_exit, struct sk_buff *skb, int offset, struct iov_iter *to, int len, int ret)
{
	if (window_open() && !ret)
		site_add(books_find(cookie_of(skb->sk)), SITE_rx_copy, len);
	return 0;
}

static __always_inline int mapped(struct sock *sk, struct tcp_zerocopy_receive *zc, int ret)
{
	struct books *b;
	u32 bytes;

	if (!window_open() || !task_is_ours() || ret)
		return 0;
	if (!found_bytes(zc))
		return 0;
	bytes = zc->length;
	b = books_open(sk, cookie_made(sk));
	count(b, COUNT_map_calls, 1);
	count(b, COUNT_returned_bytes, bytes);
	site_add(b, SITE_rx_map, bytes);
	return 0;
}

SEC("?fexit/tcp_zerocopy_receive")
int BPF_PROG(rx_map_exit_2, struct sock *sk, struct tcp_zerocopy_receive *zc, int ret)
{
	return mapped(sk, zc, ret);
}

/* 7eeba1706eba ("tcp: Add receive timestamp support for receive zerocopy."), 5.12 */
SEC("?fexit/tcp_zerocopy_receive")
int BPF_PROG(rx_map_exit_3, struct sock *sk, struct tcp_zerocopy_receive *zc,
	     struct scm_timestamping_internal *tss, int ret)
{
	return mapped(sk, zc, ret);
}

/* Of each packet, within tcp_splice_read() and under the lock, unlike that; AF_UNIX calls it, too.
 * tcp_read_sock() between the two may be inlined there, and is then never entered. */
SEC("?fexit/skb_splice_bits")
int BPF_PROG(splice_read_exit, struct sk_buff *skb, struct sock *sk, unsigned int offset,
	     struct pipe_inode_info *pipe, unsigned int most, unsigned int flags, int ret)
{
	struct books *b;

	if (!window_open() || ret <= 0 || !is_tcp(sk) || !task_is_ours())
		return 0;
	b = books_open(sk, cookie_made(sk));
	count(b, COUNT_returned_bytes, ret);
	site_add(b, SITE_rx_splice, ret);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
