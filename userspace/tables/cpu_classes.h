/* SPDX-License-Identifier: GPL-2.0 */
/* What a processor works at when a sample finds it in the kernel, and the functions that tell. */
#ifndef COPYSCOPE_CPU_CLASSES_H
#define COPYSCOPE_CPU_CLASSES_H

/* X(symbol, key, meaning, copies): copies: it moves payload from one place of memory to another. */
#define CPU_CLASSES(X)                                                                      \
	X(SEND_COPY, "send_copy", "copying payload in send", true)                          \
	X(RECV_COPY, "recv_copy", "copying payload in recv", true)                          \
	X(LATE_COPY, "late_copy", "copying user pages late, behind send", true)             \
	X(RESHAPE, "reshape", "copying from packet buffer to packet buffer", true)          \
	X(CHECKSUM, "checksum", "checksums", false)                                         \
	X(PIN, "pin", "pinning pages of zero-copy sends", false)                            \
	X(COMPLETION, "completion", "completions of zero-copy sends, and the error queue", false) \
	X(NETWORK, "network", "the rest of the network stack", false)                       \
	X(PROBES, "probes", "BPF programs, copyscope's own among them", false)              \
	X(KERNEL, "kernel", "the rest of the kernel", false)                                \
	X(USER, "user", "user space", false)                                                \
	X(HIDDEN, "hidden", "not known: the kernel gave no names, or there was no room", false)

/* X(symbol, key, meaning): what samples in user space are made of. */
#define CPU_USER_KINDS(X)                                                                 \
	X(COPIES, "copies", "in memcpy and its kin")                                      \
	X(OTHERS, "others", "in other functions")                                         \
	X(UNNAMED, "unnamed", "in functions without a name, which may copy")

#define CPU_CLASS_ENUM(symbol, key, meaning, copies) CPU_##symbol,
enum cpu_class { CPU_CLASSES(CPU_CLASS_ENUM) CPU_CLASS_COUNT };
#undef CPU_CLASS_ENUM

#define CPU_USER_ENUM(symbol, key, meaning) CPU_USER_##symbol,
enum cpu_user_kind { CPU_USER_KINDS(CPU_USER_ENUM) CPU_USER_KIND_COUNT };
#undef CPU_USER_ENUM

/*
 * X(function, says): what a function in a stack says. The first from within that decides counts. FROM_USER and
 * TO_USER copy for anyone: whose call they are in, SENDING or RECEIVING further out, makes it payload. A copy
 * that is no payload is of the rest of the kernel. What looks pages up for anyone, as iov_iter_extract_pages() for
 * sendfile, pins them in a zero-copy function alone, which decides. LATE_COPY and RESHAPE are functions that allocate
 * pages and release buffers besides: what is neither their own time nor that of COPIERS is of the rest of the network
 * stack. Names are as of 5.15 to 7.2; a function that is
 * inlined has its time charged to its caller.
 */
#define CPU_FUNCTIONS(X)                              \
	X("_copy_from_iter", FROM_USER)               \
	X("_copy_from_iter_nocache", FROM_USER)       \
	X("copy_page_from_iter", FROM_USER)           \
	X("csum_and_copy_from_iter", FROM_USER)       \
	X("csum_and_copy_from_iter_full", FROM_USER)  \
	X("_copy_to_iter", TO_USER)                   \
	X("copy_page_to_iter", TO_USER)               \
	X("simple_copy_to_iter", TO_USER)             \
	X("csum_and_copy_to_iter", TO_USER)           \
	X("tcp_sendmsg_locked", SENDING)              \
	X("tcp_sendmsg", SENDING)                     \
	X("udp_sendmsg", SENDING)                     \
	X("udpv6_sendmsg", SENDING)                   \
	X("tls_sw_sendmsg", SENDING)                  \
	X("tls_sw_sendmsg_locked", SENDING)           \
	X("mptcp_sendmsg", SENDING)                   \
	X("tcp_recvmsg_locked", RECEIVING)            \
	X("tcp_recvmsg", RECEIVING)                   \
	X("udp_recvmsg", RECEIVING)                   \
	X("udpv6_recvmsg", RECEIVING)                 \
	X("tls_sw_recvmsg", RECEIVING)                \
	X("mptcp_recvmsg", RECEIVING)                 \
	X("skb_copy_ubufs", LATE_COPY)                \
	X("skb_copy_bits", RESHAPE)                   \
	X("skb_copy_and_csum_bits", RESHAPE)          \
	X("skb_copy", RESHAPE)                        \
	X("skb_copy_expand", RESHAPE)                 \
	X("__pskb_pull_tail", RESHAPE)                \
	X("skb_cow_data", RESHAPE)                    \
	X("csum_partial", CHECKSUM)                   \
	X("skb_checksum", CHECKSUM)                   \
	X("__skb_checksum", CHECKSUM)                 \
	X("__skb_checksum_complete", CHECKSUM)        \
	X("skb_checksum_help", CHECKSUM)              \
	X("zerocopy_fill_skb_from_iter", PIN)         \
	X("__zerocopy_sg_from_iter", PIN)             \
	X("skb_zerocopy_iter_stream", PIN)            \
	X("msg_zerocopy_realloc", COMPLETION)         \
	X("msg_zerocopy_callback", COMPLETION)        \
	X("msg_zerocopy_complete", COMPLETION)        \
	X("__msg_zerocopy_callback", COMPLETION)      \
	X("sock_recv_errqueue", COMPLETION)           \
	X("ip_recv_error", COMPLETION)                \
	X("ipv6_recv_error", COMPLETION)

/* X(name): functions of the kernel that copy memory begin so, after underscores. */
#define CPU_COPIERS(X) \
	X("memcpy") X("memmove") X("pi_memcpy") X("pi_memmove") X("rep_movs") X("copy_page") X("copy_highpage") X("copy_mc")

/* X(prefix): names of the network stack begin so. */
#define CPU_NETWORK(X)                                                                               \
	X("tcp_") X("__tcp_") X("udp") X("__udp") X("ip_") X("__ip_") X("ip6_") X("inet") X("sock_")  \
	X("__sock_") X("sk_") X("__sk_") X("skb_") X("__skb_") X("__alloc_skb") X("kfree_skb")        \
	X("__kfree_skb") X("consume_skb") X("napi_") X("__napi_") X("net_rx_action") X("net_tx_action") \
	X("netif_") X("__netif_") X("process_backlog") X("dev_") X("__dev_") X("veth_") X("loopback_") \
	X("__sys_send") X("__sys_recv") X("____sys_send") X("____sys_recv") X("___sys_send")          \
	X("___sys_recv") X("br_") X("nf_") X("sch_") X("qdisc_") X("__qdisc_") X("gro_") X("lock_sock") \
	X("release_sock") X("__release_sock") X("__lock_sock") X("tls_") X("mptcp_") X("ipv6_")

/* X(function): a softirq begins here, on the time of whoever it interrupted or whose call raised it. What lies
 * further out is not what the processor works at. */
#define CPU_SOFTIRQS(X) X("handle_softirqs") X("__do_softirq")

/* X(name): functions of user space that copy begin so, after underscores and a package's name: the C library has one for
 * each kind of processor (__memmove_avx_unaligned_erms). A word goes on behind a name with none of a to z. */
#define CPU_USER_COPIES(X)                                                                     \
	X("memcpy") X("memmove") X("mempcpy") X("wmemcpy") X("wmemmove") X("wmempcpy") X("bcopy") \
	X("runtime.memmove")

/* X(prefix): an interrupt begins here: the same. */
#define CPU_INTERRUPTS(X) X("asm_sysvec_") X("asm_common_interrupt") X("el1_interrupt") X("el1h_64_irq")

#endif
