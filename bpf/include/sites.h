/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of copy sites and the books kept for one socket: the only header that kernel
 * and user space share. No includes, and a hole in a struct is a compile error.
 */
#ifndef COPYSCOPE_SITES_H
#define COPYSCOPE_SITES_H

/* X(name, side, meaning): a place where payload is copied, referenced, moved or released. */
#define SITES(X)                                                                              \
	X(user_gather, "sender, user space", "the application's memcpy of fields into one buffer") \
	X(tx_copy, "sender, syscall", "user memory to kernel memory in tcp_sendmsg")          \
	X(tx_reference, "sender, syscall", "user pages attached to the skb as frags")         \
	X(tx_splice, "sender, syscall", "page-cache or pipe pages attached to the skb")       \
	X(late_copy, "either, often softirq", "referenced pages copied after all")            \
	X(reshape, "either", "payload moved between skbs or into the linear part")            \
	X(rx_copy, "receiver, syscall", "kernel memory to user memory")                       \
	X(rx_map, "receiver, syscall", "pages mapped by TCP_ZEROCOPY_RECEIVE")                \
	X(rx_splice, "receiver, syscall", "pages spliced from the socket")                    \
	X(rx_discard, "receiver, syscall", "bytes dropped by MSG_TRUNC")

/* X(name): everything else that is counted for one socket. Units are in the names. */
#define COUNTS(X)                   \
	X(send_calls)               \
	X(accepted_bytes)           \
	X(recv_calls)               \
	X(returned_bytes)           \
	X(zerocopy_asked_sends)     \
	X(zerocopy_sends)           \
	X(zerocopy_bytes)           \
	X(unset_sends)              \
	X(unset_bytes)              \
	X(nosg_sends)               \
	X(nosg_bytes)               \
	X(fastopen_sends)           \
	X(fastopen_bytes)           \
	X(enobufs)                  \
	X(refused_optmem)           \
	X(refused_memlock)          \
	X(pinned_pages)             \
	X(released_pages)           \
	X(completed_sends)          \
	X(copied_sends)             \
	X(wire_copied_bytes)        \
	X(wire_referenced_bytes)    \
	X(wire_referenced_pages)    \
	X(retrans_copied_bytes)     \
	X(retrans_referenced_bytes) \
	X(retrans_referenced_pages) \
	X(user_referenced_bytes)    \
	X(clean_bytes)              \
	X(reshaped_referenced_bytes) \
	X(dropped_referenced_bytes) \
	X(tapped_bytes)             \
	X(mixed_bytes)

/* X(name, function): calls whose cost is measured with --cost. The empty one is a call of nothing,
 * to learn what measuring costs. */
#define COSTS(X)                                   \
	X(send_call, tcp_sendmsg_locked)           \
	X(tx_reference, skb_zerocopy_iter_stream)  \
	X(late_copy, skb_copy_ubufs)               \
	X(reshape, skb_copy_bits)                  \
	X(recv_call, tcp_recvmsg_locked)           \
	X(rx_copy, skb_copy_datagram_iter)         \
	X(empty, bpf_fentry_test1)

#define COST_ENUM(name, function) COST_##name,
enum cost { COSTS(COST_ENUM) COST_COUNT };
#undef COST_ENUM

/* Hardware events read at both ends of a call: the first ones of enum counter_event. */
enum { COST_EVENTS = 4 };

#define SITE_ENUM(name, side, meaning) SITE_##name,
enum site { SITES(SITE_ENUM) SITE_COUNT };
#undef SITE_ENUM

#define COUNT_ENUM(name) COUNT_##name,
enum count { COUNTS(COUNT_ENUM) COUNT_COUNT };
#undef COUNT_ENUM

/* Hooks that run in softirq on top of any task, where a kernel may keep firings from them. */
enum seen_hook { SEEN_WIRE, SEEN_ARRIVAL, SEEN_HANDOVER, SEEN_COUNT };
enum { SEEN_CPUS = 512, SEEN_LINE = 7 };

/* What a run may be told to do wrong, so that a test can see it caught (trace_run --break). */
enum fault_inject {
	FAULT_NONE,
	FAULT_LOSE_UPDATE,
	FAULT_DROP_COMPLETION,
	FAULT_FORGET_DEPARTURES,
};

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct tally {
	unsigned long long bytes;
	unsigned long long calls;
};

/* One socket's books on one CPU. */
struct books {
	struct tally site[SITE_COUNT];
	unsigned long long count[COUNT_COUNT];
	unsigned long long flow_known; /* on this CPU: the flow is in the table of flows */
};

/* Both ends of a flow as they stand in a packet that arrives; IPv4 as ::ffff:a.b.c.d. */
struct flow {
	unsigned int saddr[4];
	unsigned int daddr[4];
	unsigned short sport;
	unsigned short dport;
};

/* Who owns a zero-copy notification, and how many pages it holds. */
struct pin {
	unsigned long long cookie;
	unsigned long long pages;
	unsigned short sends; /* these two as a put found them that may have been the last */
	unsigned short clean;
	unsigned int unused;
};

/* Machine-wide gauges of one run. */
struct gauges {
	unsigned long long outstanding_pages;
	unsigned long long peak_pages; /* filled in by the reader, from struct seen */
	unsigned long long lost_updates;
	unsigned long long first_byte_ns; /* CLOCK_MONOTONIC */
	unsigned long long sabotaged; /* completions dropped on purpose */
};

/* What an event had counted, and for how long it had been wanted and had a counter. */
struct event_span {
	unsigned long long count;
	unsigned long long enabled_ns;
	unsigned long long running_ns;
};

/* What the calls of one function took on one CPU. Only calls that began and ended on that CPU and
 * never slept: what runs in between is not theirs. */
struct cost_sums {
	unsigned long long calls;
	unsigned long long bytes;
	unsigned long long time_ns;
	unsigned long long least_ns;
	unsigned long long moved_calls; /* left out: ended on another CPU */
	unsigned long long slept_calls; /* left out: other tasks ran in between */
	struct event_span event[COST_EVENTS];
	unsigned long long least[COST_EVENTS];
};

/* What one CPU's programs saw since they were attached; a cache line of its own. */
struct seen {
	unsigned long long tp_hits[SEEN_LINE]; /* before the gate and any filter, as perf counts */
	unsigned long long peak_pages; /* most outstanding just after a reference was taken here */
};

/* Frames kept of the stack that led to a copy: enough to reach its cause. */
#define CAUSE_FRAMES 12
/* Different stacks that one run may copy from. */
#define STACKS_MAX 1024

/* What the callers of a copy alone do not tell, as bits. */
enum circumstance {
	COPIED_TAPPED = 1,    /* captures take the packets of its device */
	COPIED_ELSEWHERE = 2, /* its device is in a namespace where no end of the run lives */
	COPIED_UNSURE = 4,    /* the kernel does not show its list of captures */
};

/* Where a byte was copied late or reshaped. */
struct copied_from {
	unsigned long long frames[CAUSE_FRAMES]; /* return addresses, innermost first; 0 ends them */
	unsigned int site;
	unsigned int circumstances;
};

#pragma GCC diagnostic pop

#endif
