// SPDX-License-Identifier: GPL-2.0
/*
 * Why did a zero-copy send get ENOBUFS, or copy although it was allowed to reference?
 *
 * tcp_sendmsg_locked returns ENOBUFS when *_zerocopy_realloc returns NULL, and that has two
 * reasons. Either sock_omalloc, called inside it, refused the socket more option memory
 * (net.core.optmem_max), or else mm_account_pinned_pages refused the user more pages
 * (RLIMIT_MEMLOCK). The second is not hooked: where it lies in one file with its caller the
 * compiler may inline it, as in 5.10, and its hook then sees nothing.
 */
#include "bpf/include/gate.bpf.h"

/* pid_tgid -> 1 if the kernel just refused that task option memory */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} over_optmem SEC(".maps");

SEC("?fexit/sock_omalloc")
int BPF_PROG(optmem_exit, struct sock *sk, unsigned long size, unsigned int gfp, void *ret)
{
	if (window_open() && !ret && task_is_ours())
		task_note(&over_optmem, 1);
	return 0;
}

static __always_inline int notification_refused(const struct sock *sk)
{
	u64 *noted, over;

	if (!window_open() || !task_is_ours())
		return 0;
	noted = task_noted(&over_optmem);
	over = noted ? *noted : 0;
	if (over)
		*noted = 0;
	count(books_find(cookie_of(sk)), over ? COUNT_refused_optmem : COUNT_refused_memlock, 1);
	return 0;
}

/* Until 8c793822c580 ("skbuff: rename sock_zerocopy_* to msg_zerocopy_*"), 5.12. */
SEC("?fexit/sock_zerocopy_realloc")
int BPF_PROG(realloc_exit_sock, struct sock *sk, size_t size, void *uarg, void *ret)
{
	return ret ? 0 : notification_refused(sk);
}

SEC("?fexit/msg_zerocopy_realloc")
int BPF_PROG(realloc_exit_3, struct sock *sk, size_t size, void *uarg, void *ret)
{
	return ret ? 0 : notification_refused(sk);
}

/* bd61848900bf ("net: devmem: Implement TX path"): one argument more. */
SEC("?fexit/msg_zerocopy_realloc")
int BPF_PROG(realloc_exit_4, struct sock *sk, size_t size, void *uarg, bool devmem, void *ret)
{
	return ret ? 0 : notification_refused(sk);
}

/* The kernel copies the payload of a SYN even for a zero-copy send (tcp_send_syn_data). */
SEC("?fexit/tcp_sendmsg_fastopen")
int BPF_PROG(fastopen_exit, struct sock *sk, struct msghdr *msg, int *copied, size_t size,
	     struct ubuf_info *uarg, int ret)
{
	int bytes = 0;

	if (!window_open() || !task_is_ours() || !(msg->msg_flags & MSG_ZEROCOPY_FLAG))
		return 0;
	bpf_probe_read_kernel(&bytes, sizeof(bytes), copied);
	if (bytes <= 0)
		return 0;
	count(books_find(cookie_of(sk)), COUNT_fastopen_sends, 1);
	count(books_find(cookie_of(sk)), COUNT_fastopen_bytes, bytes);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
