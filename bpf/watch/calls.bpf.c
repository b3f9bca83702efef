// SPDX-License-Identifier: GPL-2.0
/*
 * References, splices and maps by the functions that make them, for kernels with trampolines. Plain
 * sends and receives pass none of these.
 *
 * All of them run under the socket's lock. They move the place from which bytes count as copied, so
 * that what the sequence numbers say besides is copied.
 */
#include "bpf/watch/census.bpf.h"

/* pid_tgid -> cookie of the socket that a task splices into */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u64);
} splicing_into SEC(".maps") __weak;

static __always_inline void sent_not_copied(struct watch_slot *slot, enum watch_kind kind, u64 bytes)
{
	slot->sent_as[kind] += bytes;
	slot->since += bytes;
}

static __always_inline int reference_made(struct sock *sk, const struct msghdr *msg, int ret)
{
	u64 cookie = cookie_of(sk);
	struct watch_slot *slot;

	if (ret <= 0)
		return 0;
	slot = slot_of_sender(sk);
	if (!slot)
		return 0;
	sent_not_copied(slot, WATCH_KIND_REFERENCE, ret);
	note_ring_send(msg, cookie, slot);
	pages_note(slot, sk);
	return 0;
}

SEC("?fexit/skb_zerocopy_iter_stream")
int BPF_PROG(watch_reference_5, struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int len,
	     struct ubuf_info *uarg, int ret)
{
	return reference_made(sk, msg, ret);
}

/* 6.17 added the devmem binding (bd61848900bf, "net: devmem: Implement TX path"). */
SEC("?fexit/skb_zerocopy_iter_stream")
int BPF_PROG(watch_reference_6, struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int len,
	     struct ubuf_info *uarg, void *binding, int ret)
{
	return reference_made(sk, msg, ret);
}

/* It may wait for room in between, without the lock: what was added from its entry to its exit is
 * spliced, also for a reading in between. */
static __always_inline struct watch_slot *kind_changes(struct sock *sk, enum watch_kind kind)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct watch_slot *slot = slot_of_sender(sk);

	if (!tp || !slot)
		return NULL;
	slot_charge(slot, accepted_of(tp));
	slot->kind = kind;
	if (kind != WATCH_KIND_COPY)
		pages_note(slot, sk);
	return slot;
}

SEC("?fentry/do_tcp_sendpages")
int BPF_PROG(watch_sendpages_enter, struct sock *sk)
{
	kind_changes(sk, WATCH_KIND_SPLICE);
	return 0;
}

SEC("?fexit/do_tcp_sendpages")
int BPF_PROG(watch_sendpages, struct sock *sk, struct page *page, int offset, size_t size, int flags,
	     long ret)
{
	struct watch_slot *slot = kind_changes(sk, WATCH_KIND_COPY);

	if (slot && ret > 0)
		__sync_fetch_and_add(&slot->sends_returned, ret);
	return 0;
}

/* Whoever splices in user space comes here; the function that attaches pages is told no socket. */
SEC("?fentry/splice_to_socket")
int BPF_PROG(watch_splice_enter, struct pipe_inode_info *pipe, struct file *out)
{
	struct socket *socket = bpf_sock_from_file(out);
	u64 task = bpf_get_current_pid_tgid(), cookie = socket ? cookie_of(socket->sk) : 0;
	struct watch_slot *slot = slot_find(cookie);

	if (!slot)
		return 0;
	bpf_map_update_elem(&splicing_into, &task, &cookie, BPF_ANY);
	pages_note(slot, socket->sk);
	return 0;
}

SEC("?fexit/splice_to_socket")
int BPF_PROG(watch_splice_exit, struct pipe_inode_info *pipe, struct file *out)
{
	u64 task = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&splicing_into, &task);
	return 0;
}

static __always_inline int pages_spliced(long ret)
{
	u64 task = bpf_get_current_pid_tgid(), *cookie;
	struct watch_slot *slot;

	if (ret <= 0)
		return 0;
	cookie = bpf_map_lookup_elem(&splicing_into, &task);
	slot = cookie ? slot_find(*cookie) : NULL;
	if (slot)
		sent_not_copied(slot, WATCH_KIND_SPLICE, ret);
	return 0;
}

SEC("?fexit/skb_splice_from_iter")
int BPF_PROG(watch_pages_4, struct sk_buff *skb, struct iov_iter *iter, long most, unsigned int gfp,
	     long ret)
{
	return pages_spliced(ret);
}

SEC("?fexit/skb_splice_from_iter")
int BPF_PROG(watch_pages_3, struct sk_buff *skb, struct iov_iter *iter, long most, long ret)
{
	return pages_spliced(ret);
}

/* Of each packet, within tcp_splice_read() and under the lock, unlike that. tcp_read_sock() between the
 * two may be a copy of it that the compiler made for this caller, and is never entered. */
SEC("?fexit/skb_splice_bits")
int BPF_PROG(watch_splice_read, struct sk_buff *skb, struct sock *sk, unsigned int offset,
	     struct pipe_inode_info *pipe, unsigned int most, unsigned int flags, int ret)
{
	struct watch_slot *slot = ret > 0 ? slot_find(cookie_of(sk)) : NULL;

	if (slot)
		__sync_fetch_and_add(&slot->rx_spliced, ret);
	return 0;
}

/* Without an error .length is what was mapped, with one what the process asked for. */
SEC("?fexit/tcp_zerocopy_receive")
int BPF_PROG(watch_map, struct sock *sk, struct tcp_zerocopy_receive *zc,
	     struct scm_timestamping_internal *tss, int ret)
{
	struct watch_slot *slot = ret ? NULL : slot_find(cookie_of(sk));

	if (!slot || !found_bytes(zc))
		return 0;
	__sync_fetch_and_add(&slot->map_calls, 1);
	__sync_fetch_and_add(&slot->rx_mapped, zc->length);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
