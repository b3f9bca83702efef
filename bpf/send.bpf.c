// SPDX-License-Identifier: GPL-2.0
/*
 * How many bytes did tcp_sendmsg accept, and was zero copy asked for, granted or refused?
 *
 * tcp_sendmsg_locked rather than tcp_sendmsg: kernel senders and io_uring pass it too. The copy
 * itself, _copy_from_iter, cannot be hooked (lib/ is built without ftrace), so bytes copied are
 * derived from the skbs that leave (wire.bpf.c).
 */
#include "bpf/include/gate.bpf.h"
#include "bpf/include/send_flags.bpf.h"

#define MSG_SPLICE_PAGES_FLAG 0x8000000

/* pid_tgid -> cookie of the socket whose splice is under way in that task */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} splicing SEC(".maps");

/* pid_tgid -> 1 if the send under way asked for zero copy and copies */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} copying_send SEC(".maps");

/* Opened on entry: the first skb leaves before the call returns. */
SEC("?fentry/tcp_sendmsg_locked")
int BPF_PROG(send_enter, struct sock *sk, struct msghdr *msg, size_t size)
{
	if (!window_open() || !book_is_open(sk))
		return 0;
	if (!(msg->msg_flags & (MSG_SPLICE_PAGES_FLAG | MSG_ZEROCOPY_FLAG)))
		return 0;
	if (msg->msg_flags & MSG_SPLICE_PAGES_FLAG)
		task_note(&splicing, cookie_of(sk));
	if (must_copy(sk, msg->msg_flags))
		task_note(&copying_send, 1);
	return 0;
}

SEC("?fexit/tcp_sendmsg_locked")
int BPF_PROG(send_exit, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	u64 *noted = NULL;
	struct books *b;
	bool copies;

	b = window_open() ? books_find(cookie_of(sk)) : NULL;
	if (!b)
		return 0;
	if (msg->msg_flags & MSG_ZEROCOPY_FLAG)
		noted = task_noted(&copying_send);
	copies = noted && *noted;
	if (copies)
		*noted = 0;
	count_send(b, sk, msg->msg_flags, copies, ret);
	return 0;
}

/* Up to 6.4 sendfile and splice have an entry of their own. */
SEC("?fexit/do_tcp_sendpages")
int BPF_PROG(sendpages_exit, struct sock *sk, struct page *page, int offset, size_t size,
	     int flags, long ret)
{
	struct books *b;

	if (!window_open() || !task_is_ours() || ret <= 0)
		return 0;
	b = books_open(sk, cookie_made(sk));
	count(b, COUNT_send_calls, 1);
	count(b, COUNT_accepted_bytes, ret);
	site_add(b, SITE_tx_splice, ret);
	return 0;
}

static __always_inline int splice_done(long ret)
{
	u64 *cookie;

	if (!window_open() || ret <= 0)
		return 0;
	cookie = task_noted(&splicing);
	if (cookie)
		site_add(books_find(*cookie), SITE_tx_splice, ret);
	return 0;
}

/* One program per arity: a return slot chosen at run time makes clang form a variable context
 * offset, which the verifier refuses ("dereference of modified ctx ptr"). */
SEC("?fexit/skb_splice_from_iter")
int BPF_PROG(splice_exit_4, struct sk_buff *skb, struct iov_iter *iter, long maxsize,
	     unsigned int gfp, long ret)
{
	return splice_done(ret);
}

SEC("?fexit/skb_splice_from_iter")
int BPF_PROG(splice_exit_3, struct sk_buff *skb, struct iov_iter *iter, long maxsize, long ret)
{
	return splice_done(ret);
}

char LICENSE[] SEC("license") __weak = "GPL";
