/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel types and fields that copyscope's probes touch, and no others.
 *
 * Offsets are not taken from here: every access is relocated against the running
 * kernel's BTF (CO-RE), so only names have to be right. vmlinux/check compares them
 * with the BTF of any kernel.
 */
#ifndef COPYSCOPE_VMLINUX_H
#define COPYSCOPE_VMLINUX_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef struct {
	int counter;
} atomic_t;
typedef struct {
	long long counter;
} atomic64_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

/* include/linux/ns_common.h, include/net/net_namespace.h */
struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

/* include/net/sock.h */
struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
	unsigned long skc_flags;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	u64 sk_route_caps;
};

/* include/linux/tcp.h: the first byte that was sent and is not acknowledged */
struct tcp_sock {
	u32 snd_una;
};

/* The bit numbers move between releases: read them with bpf_core_enum_value(). */
enum sock_flags {
	SOCK_ZEROCOPY = 18,
};

/* include/linux/sched.h: how often the task gave up the CPU, voluntarily or not */
struct task_struct {
	int tgid;
	struct task_struct *real_parent;
	unsigned long nvcsw;
	unsigned long nivcsw;
};

/* include/linux/socket.h, include/linux/uio.h */
struct msghdr {
	unsigned int msg_flags;
};

struct iov_iter;

/* include/linux/skbuff.h */
struct skb_shared_info {
	u8 flags;
	u8 nr_frags;
	void *destructor_arg;
};

/* include/linux/device.h, include/linux/netdevice.h: a device on a bus has a parent there */
struct device {
	struct device *parent;
};

/* include/net/sch_generic.h */
struct Qdisc_ops {
	char id[16];
};

struct Qdisc {
	void *enqueue;
	const struct Qdisc_ops *ops;
};

struct net_device {
	struct device dev;
	struct Qdisc *qdisc;
	unsigned short hard_header_len;
	possible_net_t nd_net;
	struct list_head ptype_all;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	char cb[48];
	unsigned int len;
	unsigned int data_len;
	__be16 protocol;
	u16 transport_header;
	u16 network_header;
	u16 mac_header;
	int skb_iif;
	unsigned int end;
	unsigned char *head;
	unsigned char *data;
};

struct refcount_struct {
	atomic_t refs;
};

struct ubuf_info {
	struct refcount_struct refcnt;
};

/* One MSG_ZEROCOPY notification in the making: ids [id, id + len). */
struct ubuf_info_msgzc {
	u32 id;
	u16 len;
	u16 zerocopy : 1;
};

/* include/uapi/linux/tcp.h: length is the number of bytes mapped */
struct tcp_zerocopy_receive {
	u32 length;
};

/* Used by name only */
struct page;
struct pipe_inode_info;
struct socket;
struct scm_timestamping_internal;

#pragma clang attribute pop

#endif
