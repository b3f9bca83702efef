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
typedef __s32 s32;
typedef __s64 s64;
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

/* include/linux/rbtree_types.h */
struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

/* include/linux/ns_common.h, include/net/net_namespace.h */
struct ns_common {
	unsigned int inum;
};

struct netns_core {
};

struct net {
	struct ns_common ns;
	struct netns_core core;
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
	volatile unsigned char skc_state;
	possible_net_t skc_net;
};

struct sk_buff;
struct socket_wq;

/* include/linux/skbuff.h */
struct sk_buff_head {
	struct sk_buff *next;
	struct sk_buff *prev;
};

typedef struct {
	int owned;
} socket_lock_t;

struct sock {
	struct sock_common __sk_common;
	u16 sk_type;
	u16 sk_protocol;
	u64 sk_route_caps;
	int sk_rx_dst_ifindex;
	socket_lock_t sk_lock;
	struct sk_buff_head sk_error_queue;
	struct sk_buff_head sk_receive_queue;
	struct sk_buff_head sk_write_queue;
	struct rb_root tcp_rtx_queue;
	atomic_t sk_zckey;
	atomic_t sk_omem_alloc;
	struct socket_wq *sk_wq;
	void *sk_user_data;
	u8 sk_kern_sock : 1;
	atomic_t sk_drops;
};

/* include/linux/udp.h: .len counts the header, too */
struct udp_sock {
	int pending;
	u16 len;
	struct sk_buff_head reader_queue;
};

struct socket {
	struct sock *sk;
};

/* include/linux/wait.h, include/linux/net.h: private is the task that waits, if it is one */
struct wait_queue_entry {
	void *private;
	struct list_head entry;
};

struct wait_queue_head {
	struct list_head head;
};

struct socket_wq {
	struct wait_queue_head wait;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct inode {
	unsigned short i_mode;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

/* include/linux/fdtable.h */
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* include/net/inet_sock.h, include/net/inet_connection_sock.h */
struct inet_sock {
	__be16 inet_sport;
};

struct tcp_ulp_ops {
	char name[16];
};

struct inet_connection_sock {
	const struct tcp_ulp_ops *icsk_ulp_ops;
	void *icsk_ulp_data;
};

/* include/linux/crypto.h, include/crypto/aead.h */
struct crypto_tfm {
	u32 crt_flags;
};

struct crypto_async_request {
	struct crypto_tfm *tfm;
};

struct aead_request {
	struct crypto_async_request base;
	unsigned int cryptlen;
};

struct crypto_aead {
	struct crypto_tfm base;
};

/* include/net/tls.h */
struct tls_prot_info {
	u16 prepend_size;
	u16 tag_size;
	u16 overhead_size;
	u16 tail_size;
};

struct tls_rec;

struct tls_sw_context_tx {
	struct crypto_aead *aead_send;
	struct tls_rec *open_rec;
	struct list_head tx_list;
};

struct tls_strparser {
	u32 copy_mode : 1;
	struct sk_buff *anchor;
};

struct tls_sw_context_rx {
	struct crypto_aead *aead_recv;
	struct sk_buff_head rx_list;
	struct tls_strparser strp;
};

/* include/linux/scatterlist.h */
struct scatterlist {
	unsigned long page_link;
	unsigned int length;
};

struct tls_context {
	struct tls_prot_info prot_info;
	u8 tx_conf : 3;
	u8 rx_conf : 3;
	void *priv_ctx_tx;
	void *priv_ctx_rx;
	struct scatterlist *partially_sent_record;
	u16 partially_sent_offset;
};

/* include/linux/skmsg.h */
struct sk_msg_sg {
	u32 size;
};

struct sk_msg {
	struct sk_msg_sg sg;
};

/* include/net/strparser.h */
struct strp_msg {
	int full_len;
};

struct _strp_msg {
	struct strp_msg strp;
};

struct sk_skb_cb {
	struct _strp_msg strp;
};

/* include/uapi/linux/tcp.h */
struct tcphdr {
	__be32 seq;
	__u16 doff : 4;
	__u16 syn : 1;
};

/* include/linux/tcp.h */
struct tcp_sock {
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 rcv_nxt;
	u32 copied_seq;
	u64 bytes_sent;
	u64 bytes_retrans;
	u64 bytes_acked;
	u64 bytes_received;
	u32 lsndtime;
	u32 urg_seq;
	u16 urg_data;
	u8 repair : 1;
};

/* The bit numbers move between releases: read them with bpf_core_enum_value(). */
enum sock_flags {
	SOCK_DEAD = 0,
	SOCK_DONE = 1,
	SOCK_URGINLINE = 5,
	SOCK_ZEROCOPY = 18,
};

/* include/linux/kernfs.h, include/linux/cgroup-defs.h */
struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[1];
};

/* include/linux/nsproxy.h */
struct nsproxy {
	struct net *net_ns;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

/* include/linux/pid.h: the number of a task in each PID namespace that sees it */
struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

/* include/linux/sched/signal.h: how many threads a process has */
struct signal_struct {
	atomic_t live;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long arg_start;
};

/* include/linux/cred.h */
typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t uid;
};

/* include/linux/sched.h: nvcsw and nivcsw tell how often the task gave up the CPU, voluntarily or
 * not */
struct sched_entity {
	u64 sum_exec_runtime;
};

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	struct sched_entity se;
	u64 start_boottime;
	struct mm_struct *mm;
	char comm[16];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct css_set *cgroups;
	struct nsproxy *nsproxy;
	struct files_struct *files;
	struct pid *thread_pid;
	const struct cred *cred;
	unsigned long nvcsw;
	unsigned long nivcsw;
};

/* include/linux/socket.h, include/linux/uio.h */
struct ubuf_info;

struct msghdr {
	unsigned int msg_flags;
	struct ubuf_info *msg_ubuf;
};

struct iov_iter;

/* include/linux/skbuff.h */
typedef struct skb_frag {
	unsigned int offset;
} skb_frag_t;

struct skb_shared_info {
	u8 flags;
	u8 nr_frags;
	atomic_t dataref;
	void *destructor_arg;
	skb_frag_t frags[17];
};

/* include/linux/netdevice.h: XDP programs of the stack, the driver, the hardware */
struct bpf_xdp_entity {
	struct bpf_prog *prog;
	struct bpf_xdp_link *link;
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

/* include/net/rtnetlink.h */
struct rtnl_link_ops {
	const char *kind;
};

struct net_device {
	struct device dev;
	unsigned int flags;
	u64 features;
	u64 hw_features;
	const struct rtnl_link_ops *rtnl_link_ops;
	struct Qdisc *qdisc;
	unsigned short hard_header_len;
	possible_net_t nd_net;
	struct list_head ptype_all;
	struct bpf_prog *xdp_prog;
	struct bpf_xdp_entity xdp_state[3];
};

struct sk_buff {
	struct sk_buff *next;
	struct sk_buff *prev;
	struct rb_node rbnode;
	struct net_device *dev;
	struct sock *sk;
	unsigned long _skb_refdst;
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

/* include/net/ip.h, include/linux/ipv6.h: what IP keeps in skb->cb */
struct inet_skb_parm {
	u16 flags;
};

struct inet6_skb_parm {
	__u16 flags;
};

/* include/net/dst.h */
struct dst_entry {
	struct xfrm_state *xfrm;
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
	u32 bytelen;
};

/* include/uapi/linux/tcp.h: length is the number of bytes mapped */
struct tcp_zerocopy_receive {
	u32 length;
	u32 recv_skip_hint;
	s32 copybuf_len;	/* 18fb76ed5386 ("net-zerocopy: Copy straggler unaligned data for TCP Rx."), 5.11 */
};

/* include/uapi/linux/errqueue.h, include/linux/errqueue.h */
struct sock_extended_err {
	u32 ee_errno;
	u8 ee_origin;
	u8 ee_code;
	u32 ee_info;
	u32 ee_data;
};

struct sock_exterr_skb {
	struct sock_extended_err ee;
};

/* include/linux/bpf.h, net/ipv4/tcp_ipv4.c, kernel/bpf/task_iter.c, net/core/bpf_sk_storage.c: what
 * iterators pass to their programs */
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct file *file;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
};

/* include/linux/mm_types.h: a page that a process or a file has is mapped by something */
struct page {
	void *mapping;
};

struct bpf_map {
	enum bpf_map_type map_type;
};

struct bpf_iter__bpf_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
};

/* Used by name only */
struct pipe_inode_info;
struct scm_timestamping_internal;

#pragma clang attribute pop

#endif
