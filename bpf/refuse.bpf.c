// SPDX-License-Identifier: GPL-2.0
/*
 * Why did a zero-copy send get ENOBUFS?
 *
 * tcp_sendmsg_locked returns ENOBUFS when *_zerocopy_realloc returns NULL, and that has two
 * reasons. Either sock_omalloc, called inside it, refused the socket more option memory
 * (net.core.optmem_max), or else mm_account_pinned_pages refused the user more pages
 * (RLIMIT_MEMLOCK). The second is not hooked: where it lies in one file with its caller the
 * compiler may inline it, and its hook then sees nothing.
 */
#include "bpf/include/detail.bpf.h"

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

char LICENSE[] SEC("license") __weak = "GPL";
