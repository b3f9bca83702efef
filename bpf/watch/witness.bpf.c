// SPDX-License-Identifier: GPL-2.0
/*
 * A witness for the sequence books: what each send and receive returned (--books calls).
 *
 * The tracepoints fire after the call has given the socket's lock back, the functions that trampolines
 * reach still hold it. A call that is under way when the window opens or closes, for them one that
 * sleeps, counts on one side alone.
 */
#include "bpf/watch/book.bpf.h"

#define MSG_PEEK_FLAG 0x02
#define MSG_ERRQUEUE_FLAG 0x2000

static __always_inline int sent(const struct sock *sk, int ret)
{
	struct watch_slot *slot = ret > 0 && is_tcp(sk) ? slot_find(cookie_of(sk)) : NULL;

	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->send_calls, 1);
	__sync_fetch_and_add(&slot->sends_returned, ret);
	return 0;
}

static __always_inline int received(const struct sock *sk, int ret, int flags)
{
	struct watch_slot *slot;

	if (ret <= 0 || flags & (MSG_PEEK_FLAG | MSG_ERRQUEUE_FLAG) || !is_tcp(sk))
		return 0;
	slot = slot_find(cookie_of(sk));
	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->recv_calls, 1);
	__sync_fetch_and_add(&slot->recvs_returned, ret);
	return 0;
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(watch_send_call, struct sock *sk, int ret)
{
	return sent(sk, ret);
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(watch_recv_call, struct sock *sk, int ret, int flags)
{
	return received(sk, ret, flags);
}

/* Before 6.5 splices pass do_tcp_sendpages instead, which counts for this witness, too. */
SEC("?fexit/tcp_sendmsg_locked")
int BPF_PROG(watch_send_exit, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	return sent(sk, ret);
}

SEC("?fexit/tcp_recvmsg_locked")
int BPF_PROG(watch_recv_exit, struct sock *sk, struct msghdr *msg, size_t size, int flags,
	     struct scm_timestamping_internal *tss, int *cmsg_flags, int ret)
{
	return received(sk, ret, flags);
}

char LICENSE[] SEC("license") __weak = "GPL";
