// SPDX-License-Identifier: GPL-2.0
/*
 * What does a call cost, from entry to exit: time, and events that the processor counts?
 *
 * Loaded with --cost alone. A call's start is stored under its task and its first argument, because
 * a softirq may run the same function on top of it. Calls that ended on another CPU, or whose task
 * slept, are recognised and left out: the counters belong to the CPU, not to the task.
 */
#include "bpf/include/detail.bpf.h"
#include "bpf/include/owner.bpf.h"

/* Set before load: events that this machine counts. */
const volatile bool cost_counts[COST_EVENTS] = {};
/* Set while the empty call is made, before the gate opens. */
volatile __u32 cost_calibrating = 0;

struct call {
	u64 task;
	u64 argument;
	u64 cost;
};

struct beginning {
	u64 switches;
	u64 cpu;
	u64 time_ns;
	struct event_span event[COST_EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct call);
	__type(value, struct beginning);
} cost_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COST_COUNT);
	__type(key, u32);
	__type(value, struct cost_sums);
} cost_sums SEC(".maps");

#define EVENT_MAP(n)                                          \
	struct {                                              \
		__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);  \
		__uint(key_size, sizeof(u32));                \
		__uint(value_size, sizeof(u32));              \
	} cost_event_##n SEC(".maps")

EVENT_MAP(0);
EVENT_MAP(1);
EVENT_MAP(2);
EVENT_MAP(3);

static __always_inline void event_read(void *map, int n, struct event_span *span)
{
	struct bpf_perf_event_value value = {};

	if (!cost_counts[n] ||
	    bpf_perf_event_read_value(map, BPF_F_CURRENT_CPU, &value, sizeof(value)))
		return;
	span[n].count = value.counter;
	span[n].enabled_ns = value.enabled;
	span[n].running_ns = value.running;
}

static __always_inline u64 switches_now(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* Everything slow comes before the first reading here, and after the last one at the end. */
static __always_inline int call_begins(enum cost cost, u64 argument)
{
	static const struct beginning empty;
	struct call call = { bpf_get_current_pid_tgid(), argument, cost };
	struct beginning *b;

	if (bpf_map_update_elem(&cost_calls, &call, &empty, BPF_ANY)) {
		note_lost_update();
		return 0;
	}
	b = bpf_map_lookup_elem(&cost_calls, &call);
	if (!b)
		return 0;
	b->switches = switches_now();
	b->cpu = bpf_get_smp_processor_id();
	event_read(&cost_event_3, 3, b->event);
	event_read(&cost_event_2, 2, b->event);
	event_read(&cost_event_0, 0, b->event);
	event_read(&cost_event_1, 1, b->event);
	b->time_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void span_add(struct cost_sums *sums, int n, const struct beginning *b,
				     const struct event_span *now)
{
	u64 count = now[n].count - b->event[n].count;

	if (!cost_counts[n])
		return;
	add(&sums->event[n].count, count);
	add(&sums->event[n].enabled_ns, now[n].enabled_ns - b->event[n].enabled_ns);
	add(&sums->event[n].running_ns, now[n].running_ns - b->event[n].running_ns);
	if (!sums->least[n] || count < sums->least[n])
		sums->least[n] = count;
}

static __always_inline void call_book(enum cost cost, const struct beginning *b, u64 time_ns,
				      const struct event_span *now, u64 bytes)
{
	u64 took_ns = time_ns - b->time_ns;
	struct cost_sums *sums;
	u32 key = cost;

	sums = bpf_map_lookup_elem(&cost_sums, &key);
	if (!sums)
		return;
	if (b->cpu != bpf_get_smp_processor_id()) {
		add(&sums->moved_calls, 1);
		return;
	}
	if (b->switches != switches_now()) {
		add(&sums->slept_calls, 1);
		return;
	}
	add(&sums->calls, 1);
	add(&sums->bytes, bytes);
	add(&sums->time_ns, took_ns);
	if (!sums->least_ns || took_ns < sums->least_ns)
		sums->least_ns = took_ns;
	span_add(sums, 0, b, now);
	span_add(sums, 1, b, now);
	span_add(sums, 2, b, now);
	span_add(sums, 3, b, now);
}

static __always_inline int call_ends(enum cost cost, u64 argument, u64 bytes, u64 time_ns,
				     const struct event_span *now)
{
	struct call call = { bpf_get_current_pid_tgid(), argument, cost };
	struct beginning *b = bpf_map_lookup_elem(&cost_calls, &call);

	if (!b)
		return 0;
	call_book(cost, b, time_ns, now, bytes);
	bpf_map_delete_elem(&cost_calls, &call);
	return 0;
}

/* Positive results of any function, whatever its number of arguments (5.17 and later). */
static __always_inline u64 returned_bytes(void *ctx)
{
	u64 result = 0;

	bpf_get_func_ret(ctx, &result);
	return (int)result > 0 ? (int)result : 0;
}

/* @OURS may use the context; @BYTES is evaluated after the readings. */
#define COST_PAIR(name, function, OPEN, OURS, BYTES)                             \
	SEC("?fentry/" #function)                                                \
	int cost_enter_##name(unsigned long long *ctx)                           \
	{                                                                        \
		return (OPEN) && (OURS) ? call_begins(COST_##name, ctx[0]) : 0;  \
	}                                                                        \
	SEC("?fexit/" #function)                                                 \
	int cost_exit_##name(unsigned long long *ctx)                            \
	{                                                                        \
		struct event_span now[COST_EVENTS] = {};                         \
		u64 time_ns;                                                     \
										 \
		if (!(OPEN))                                                     \
			return 0;                                                \
		time_ns = bpf_ktime_get_ns();                                    \
		event_read(&cost_event_1, 1, now);                               \
		event_read(&cost_event_0, 0, now);                               \
		event_read(&cost_event_2, 2, now);                               \
		event_read(&cost_event_3, 3, now);                               \
		return call_ends(COST_##name, ctx[0], BYTES, time_ns, now);      \
	}

static __always_inline bool sock_is_ours(const struct sock *sk)
{
	return books_find(cookie_of(sk));
}

/* As the site rx_copy has it: a completion is read from the error queue as a packet without bytes. */
static __always_inline bool reader_is_ours(const struct sk_buff *skb, int len)
{
	return len > 0 && books_find(cookie_of(skb->sk));
}

static __always_inline bool pages_are_ours(const struct sk_buff *skb)
{
	u64 uarg = uarg_of(skb);

	return uarg && bpf_map_lookup_elem(&pins, &uarg);
}

#define SKB ((const struct sk_buff *)ctx[0])

COST_PAIR(send_call, tcp_sendmsg_locked, window_open(), task_is_ours(), returned_bytes(ctx))
COST_PAIR(recv_call, tcp_recvmsg_locked, window_open(), task_is_ours(), returned_bytes(ctx))
COST_PAIR(tx_reference, skb_zerocopy_iter_stream, window_open(),
	  sock_is_ours((const struct sock *)ctx[0]), returned_bytes(ctx))
COST_PAIR(rx_copy, skb_copy_datagram_iter, window_open(), reader_is_ours(SKB, ctx[3]), (u32)ctx[3])
COST_PAIR(late_copy, skb_copy_ubufs, window_open(), pages_are_ours(SKB), SKB->data_len)
COST_PAIR(reshape, skb_copy_bits, window_open(), number_of_skb(SKB), (u32)ctx[3])
COST_PAIR(empty, bpf_fentry_test1, cost_calibrating, true, 0)

char LICENSE[] SEC("license") __weak = "GPL";
