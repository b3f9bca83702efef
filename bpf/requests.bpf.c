// SPDX-License-Identifier: GPL-2.0
/*
 * Which options of sockets tasks of the subject asked for, and were refused: kernel TLS, and SO_ZEROCOPY; when
 * SO_OOBINLINE changes.
 *
 * With trampolines two functions tell that none but such calls pass. No tracepoint does but that of all system calls,
 * which costs each of this machine's, so that it is attached with details alone.
 */
#include "bpf/include/datagram.bpf.h"

#define SOL_SOCKET_NUMBER 1
#define SO_ZEROCOPY_NUMBER 60
#define SO_OOBINLINE_NUMBER 10
#define SOL_TCP_NUMBER 6
#define TCP_ULP_NUMBER 31

#ifdef __TARGET_ARCH_x86
#define SYSCALL_OF(regs) ((int)BPF_CORE_READ(regs, orig_ax))
#define SETSOCKOPT_NUMBER 54
#else
#define SYSCALL_OF(regs) BPF_CORE_READ(regs, syscallno)
#define SETSOCKOPT_NUMBER 208
#endif

struct pt_regs___call {
#ifdef __TARGET_ARCH_x86
	unsigned long si, dx, r10, orig_ax;
#else
	u64 regs[31];
	s32 syscallno;
#endif
} OF_KERNEL;

static __always_inline void request_refused(enum watch_request request, int error)
{
	if (!window_is_open)
		return;
	gauge_add(&watch_gauges.refused[request], 1);
	watch_gauges.refused_error[request] = -error;
}

/* Who asks by no port is of no subject that ports name. */
static __always_inline bool request_is_wanted(const struct sock *sk)
{
	return !ports_decide() && datagram_is_wanted(sk);
}

static __always_inline bool is_tls(const char name[4])
{
	return name[0] == 't' && name[1] == 'l' && name[2] == 's';
}

SEC("?fexit/tcp_set_ulp")
int BPF_PROG(ulp_exit, struct sock *sk, const char *name, int ret)
{
	char asked[4] = {};

	if (ret >= 0 || bpf_probe_read_kernel(asked, sizeof(asked), name) || !is_tls(asked) || !request_is_wanted(sk))
		return 0;
	request_refused(WATCH_REQUEST_TLS, ret);
	return 0;
}

static __always_inline void urgent_option_set(struct sock *sk)
{
	const struct tcp_sock *tp = is_tcp(sk) ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct watch_book *book = tp ? bpf_sk_storage_get(&watch_books, sk, 0, 0) : NULL;

	if (book)
		urgent_way_set(&book->urgent, tp);
}

/* (socket, level, option, value, bytes): the value takes two places. */
SEC("?fexit/sock_setsockopt")
int BPF_PROG(option_exit, struct socket *socket, int level, int option)
{
	int ret = ctx[6];

	if (option == SO_ZEROCOPY_NUMBER && ret < 0 && request_is_wanted(socket->sk))
		request_refused(WATCH_REQUEST_ZEROCOPY, ret);
	if (option == SO_OOBINLINE_NUMBER && urgent_came)
		urgent_option_set(socket->sk);
	return 0;
}

static __always_inline bool caller_is_wanted(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task();

	if (watch_filter == WATCH_OF_NETNS)
		return inum_is_ours(BPF_CORE_READ(task, nsproxy, net_ns, ns.inum));
	return !ports_decide() && process_counts(bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void option_refused(int level, int option, const void *value, int ret)
{
	char name[4] = {};

	if (level == SOL_SOCKET_NUMBER && option == SO_ZEROCOPY_NUMBER)
		request_refused(WATCH_REQUEST_ZEROCOPY, ret);
	else if (level == SOL_TCP_NUMBER && option == TCP_ULP_NUMBER &&
		 !bpf_probe_read_user(name, sizeof(name) - 1, value) && is_tls(name))
		request_refused(WATCH_REQUEST_TLS, ret);
}

/* The registers are still those of the call, but for its result. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(call_refused, const struct pt_regs___call *regs, long ret)
{
	if (ret >= 0 || SYSCALL_OF(regs) != SETSOCKOPT_NUMBER || !caller_is_wanted())
		return 0;
#ifdef __TARGET_ARCH_x86
	option_refused(BPF_CORE_READ(regs, si), BPF_CORE_READ(regs, dx), (void *)BPF_CORE_READ(regs, r10), ret);
#else
	option_refused(BPF_CORE_READ(regs, regs[1]), BPF_CORE_READ(regs, regs[2]), (void *)BPF_CORE_READ(regs, regs[3]), ret);
#endif
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
