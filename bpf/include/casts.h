/* SPDX-License-Identifier: GPL-2.0 */
/* The types that programs read pointers of, by their numbers in the running kernel's BTF. */
#ifndef COPYSCOPE_CASTS_H
#define COPYSCOPE_CASTS_H

/* What stands for the number of bpf_rdonly_cast() until programs are loaded: no helper has this one. */
#define CAST_CALL 0x7ca57

#define CAST_TYPES(X) \
	X(list_head)  \
	X(msghdr)     \
	X(net_device) \
	X(sk_buff)    \
	X(skb_shared_info) \
	X(sock)       \
	X(task_struct) \
	X(tcp_sock)   \
	X(tcphdr)

#define CAST_NUMBER(type) unsigned int type;

struct cast_numbers {
	CAST_TYPES(CAST_NUMBER)
};

#endif
