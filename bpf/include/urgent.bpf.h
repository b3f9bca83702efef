/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Urgent bytes that leave a TCP socket's queue and are returned by no receive of the stream.
 *
 * A socket knows one urgent byte, the newest. tcp_recvmsg_locked() skips it where it gets to it, unless SO_OOBINLINE is
 * set by then; splices stop before it, and a map that passes it returns it. Who calls these may hold no lock: the byte
 * is settled once, and not before TCP has noted it.
 */
#ifndef COPYSCOPE_URGENT_BPF_H
#define COPYSCOPE_URGENT_BPF_H

#include "vmlinux/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "bpf/include/watch.h"

/* A socket has had urgent data. */
volatile __u32 urgent_came __weak = 0;

static __always_inline bool has_flag(const struct tcp_sock *tp, u64 bit)
{
	return ((const struct sock *)tp)->__sk_common.skc_flags >> bit & 1;
}

static __always_inline u32 urgent_way(const struct tcp_sock *tp)
{
	return has_flag(tp, bpf_core_enum_value(enum sock_flags, SOCK_URGINLINE)) ? URGENT_IN_LINE : URGENT_APART;
}

/* A receive that passes the byte clears it, but where it then fails. So does tcp_disconnect(). Who holds no lock may come
 * while tcp_check_urg() notes the byte. */
static __always_inline bool urgent_is_passed(const struct watch_urgent *u, const struct tcp_sock *tp)
{
	if (tp->urg_seq == u->before)
		return false;
	return tp->urg_data ? (s32)(tp->copied_seq - tp->urg_seq) > 0 : tp->bytes_received != 0;
}

/* A pointer behind all bytes, as of another stack or with net.ipv4.tcp_stdurg. */
static __always_inline bool urgent_is_fin(const struct tcp_sock *tp)
{
	return has_flag(tp, bpf_core_enum_value(enum sock_flags, SOCK_DONE)) && tp->rcv_nxt - tp->urg_seq == 1;
}

static __always_inline void urgent_note(struct watch_urgent *u, const struct tcp_sock *tp)
{
	u->before = tp->urg_seq;
	u->due = 1;
	u->seen = urgent_way(tp);
	if (!urgent_came)
		urgent_came = 1;
}

/* The window opens. */
static __always_inline void urgent_begin(struct watch_urgent *u, const struct tcp_sock *tp)
{
	__builtin_memset(u, 0, sizeof(*u));
	if (!tp->urg_data)
		return;
	urgent_note(u, tp);
	u->before = ~tp->urg_seq;
	u->due = !urgent_is_passed(u, tp);
}

/* A receive may have passed the byte since somebody came last. */
static __always_inline bool urgent_may_settle(struct watch_urgent *u, const struct tcp_sock *tp)
{
	if (!u->due)
		return false;
	/* SO_OOBINLINE may be changed before anybody comes who holds the lock. */
	__sync_fetch_and_or(&u->seen, urgent_way(tp));
	return urgent_is_passed(u, tp);
}

static __always_inline void urgent_passed(struct watch_urgent *u, const struct tcp_sock *tp)
{
	if (!__sync_lock_test_and_set(&u->due, 0))
		return;
	if (u->seen == URGENT_APART)
		u->skipped += !urgent_is_fin(tp);
	else
		u->unsure += u->seen != URGENT_IN_LINE;
}

static __always_inline void urgent_settle(struct watch_urgent *u, const struct tcp_sock *tp)
{
	if (urgent_may_settle(u, tp))
		urgent_passed(u, tp);
}

/* The same without the lock. A byte that tcp_disconnect() throws away, which closes the socket first, looks as if passed. */
static __always_inline void urgent_settle_unlocked(struct watch_urgent *u, const struct tcp_sock *tp)
{
	const volatile unsigned char *state = &((const struct sock *)tp)->__sk_common.skc_state;

	if (urgent_may_settle(u, tp) && *state != BPF_TCP_CLOSE)
		urgent_passed(u, tp);
}

/* A call that still holds the lock has ended: what it passed was read in this way. */
static __always_inline void urgent_settle_as(struct watch_urgent *u, const struct tcp_sock *tp, u32 way)
{
	if (u->due && urgent_is_passed(u, tp))
		u->seen = way;
	urgent_settle(u, tp);
}

/* SO_OOBINLINE was set: a byte that no receive has passed is read so from now on. One that was passed belongs to a receive
 * that waits for more, and may have met the option before or after. */
static __always_inline void urgent_way_set(struct watch_urgent *u, const struct tcp_sock *tp)
{
	if (u->due && !urgent_is_passed(u, tp))
		u->seen = urgent_way(tp);
	else
		urgent_settle(u, tp);
}

/* Before TCP notes that another byte is urgent (tcp_check_urg). Where the one before is next to be read, it is skipped
 * now; anywhere else it is a byte as any other from now on. */
static __always_inline void urgent_arrives(struct watch_urgent *u, const struct tcp_sock *tp)
{
	urgent_settle(u, tp);
	if (u->due && tp->urg_seq == tp->copied_seq && tp->copied_seq != tp->rcv_nxt && urgent_way(tp) == URGENT_APART)
		u->skipped++;
	urgent_note(u, tp);
}

#endif
