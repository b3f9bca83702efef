// SPDX-License-Identifier: GPL-2.0
/* In what does a process of the subject spend its CPU time? Where each sample of the clock finds it. */
#include "bpf/include/who.bpf.h"

volatile __u32 cpu_turn __weak = 0;

/* The last reading comes: what it counts does not change any more. */
volatile __u32 cpu_closed __weak = 0;

/* Samples that found no room. */
volatile __u64 cpu_lost __weak = 0;

volatile __u64 cpu_stacks_met __weak = 0;

/* Of a clock whose periods are all as long; 0: it has none. */
volatile __u64 cpu_period_ns __weak = 0;

/* New ones of this turn. */
volatile __u64 cpu_new_stacks __weak = 0, cpu_new_places __weak = 0, cpu_new_threads __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_frames);
} cpu_found SEC(".maps") __weak;

/* When a processor's last sample was. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} cpu_sampled_ns SEC(".maps") __weak;

/* A stack's number, from 1 on. The stack itself is the key, as with causes (bpf/include/cause.bpf.h). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CPU_STACKS);
	__type(key, struct cpu_frames);
	__type(value, u64);
} cpu_stacks SEC(".maps") __weak;

/* -> how many samples */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CPU_PLACES);
	__type(key, struct cpu_place);
	__type(value, u64);
} cpu_places SEC(".maps") __weak;

/* tid -> a thread */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CPU_THREADS);
	__type(key, u32);
	__type(value, struct cpu_thread);
} cpu_threads SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CPU_PROGRAMS);
	__type(key, u32);
	__type(value, struct cpu_program);
} cpu_programs SEC(".maps") __weak;

/* This processor's last sample before this one, which is the last from here on. 0: there was none. */
static __always_inline u64 sampled_before(u64 now)
{
	u32 zero = 0;
	u64 *sampled_ns = bpf_map_lookup_elem(&cpu_sampled_ns, &zero), before;

	if (!sampled_ns)
		return 0;
	before = *sampled_ns;
	*sampled_ns = now;
	return before;
}

/*
 * The periods of a thread that passed without a sample, since the processor's last one. Time goes on while a hypervisor
 * has the processor, and the clock does not make up for it (swevent_hrtimer forwards itself, kernel/events/core.c). What
 * passed before the thread had the processor is not its own: where the hypervisor takes it in the midst of a switch, the
 * next thread meets the clock.
 */
static __always_inline u64 periods_skipped(const struct cpu_thread *thread, u64 before, u64 now)
{
	u64 period = cpu_period_ns, from = before > thread->since_ns ? before : thread->since_ns;

	if (!period || !before || !thread->since_ns)
		return 0;
	return now - from > period ? (now - from - period / 2) / period : 0;
}

/* False if there is no room. */
static __always_inline bool thread_note(u32 tgid, u32 tid, u32 turn, u64 before, u64 now)
{
	struct cpu_thread first = { .tgid = tgid, .turn = turn, .samples = 1, .first_ns = now, .since_ns = now };
	struct cpu_thread *known = bpf_map_lookup_elem(&cpu_threads, &tid);

	/* A number may be used again. */
	if (!known || known->tgid != tgid) {
		bpf_get_current_comm(first.comm, sizeof(first.comm));
		if (bpf_map_update_elem(&cpu_threads, &tid, &first, BPF_ANY))
			return false;
		__sync_fetch_and_add(&cpu_new_threads, 1);
		return true;
	}
	known->turn = turn;
	known->samples++;
	known->skipped += periods_skipped(known, before, now);
	known->ran_ns = known->left_ns + (known->since_ns ? now - known->since_ns : 0);
	bpf_get_current_comm(known->comm, sizeof(known->comm));
	return true;
}

/*
 * The scheduler's own sum is not that: where a task that wakes up is to run at once, it leaves its clock as it was
 * (rq_clock_skip_update() in wakeup_preempt()), and a kernel that does not preempt itself finishes the system call first,
 * which is then on the clock of the one that woke up: 4 to 9 % of a program that copies in recv beside others. Between
 * two of its ticks the sum stands still, too.
 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(cpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now = bpf_ktime_get_ns();
	u32 tid = prev->pid;
	struct cpu_thread *known = bpf_map_lookup_elem(&cpu_threads, &tid);

	if (known && known->since_ns) {
		known->left_ns += now - known->since_ns;
		known->since_ns = 0;
	}
	tid = next->pid;
	known = bpf_map_lookup_elem(&cpu_threads, &tid);
	if (known)
		known->since_ns = now;
	return 0;
}

/* User space looks at its code after 1, 2, 4, 8 ... samples, which finds what it loads later, too. */
static __always_inline void program_note(u32 tgid)
{
	const struct task_struct *t = (const void *)bpf_get_current_task();
	struct cpu_program *known = bpf_map_lookup_elem(&cpu_programs, &tgid);
	struct cpu_program first = { .started_ns = BPF_CORE_READ(t, group_leader, start_boottime), .samples = 1 };
	u64 samples = 1;

	if (known && known->started_ns == first.started_ns)
		samples = __sync_fetch_and_add(&known->samples, 1) + 1;
	else if (bpf_map_update_elem(&cpu_programs, &tgid, &first, BPF_ANY))
		return;
	if (!(samples & (samples - 1)))
		program_met(tgid, first.started_ns);
}

/* 0: there is no room. What is left over of the frames was zeroed. */
static __always_inline u64 stack_number(const struct cpu_frames *stack)
{
	u64 *known = bpf_map_lookup_elem(&cpu_stacks, stack), number;

	if (known)
		return *known;
	number = __sync_fetch_and_add(&cpu_stacks_met, 1) + 1;
	__sync_fetch_and_add(&cpu_new_stacks, 1);
	bpf_map_update_elem(&cpu_stacks, stack, &number, BPF_NOEXIST);
	known = bpf_map_lookup_elem(&cpu_stacks, stack);
	return known ? *known : 0;
}

static __always_inline bool place_count(const struct cpu_place *place)
{
	u64 one = 1, *samples = bpf_map_lookup_elem(&cpu_places, place);

	if (!samples && !bpf_map_update_elem(&cpu_places, place, &one, BPF_NOEXIST))
		return true;
	if (!samples)
		samples = bpf_map_lookup_elem(&cpu_places, place);
	if (samples)
		__sync_fetch_and_add(samples, 1);
	return samples;
}

static __always_inline void place_note(struct cpu_place *place)
{
	u64 *samples = bpf_map_lookup_elem(&cpu_places, place);

	if (samples) {
		__sync_fetch_and_add(samples, 1);
		return;
	}
	if (__sync_fetch_and_add(&cpu_new_places, 1) >= CPU_PLACES_TOLD) {
		place->tid = 0;
		if (place->user)
			place->at = 0;
	}
	if (!place_count(place))
		__sync_fetch_and_add(&cpu_lost, 1);
}

SEC("?perf_event")
int cpu_sample(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns(), before = sampled_before(now);
	u32 tgid = id >> 32, zero = 0;
	struct cpu_frames *stack = bpf_map_lookup_elem(&cpu_found, &zero);
	struct cpu_place place = { .tgid = tgid, .tid = id, .turn = cpu_turn };

	/* Process 0 is the idle one. */
	if (cpu_closed || !stack || !tgid || !process_counts(tgid))
		return 0;
	if (!thread_note(tgid, id, place.turn, before, now))
		place.tid = 0;
	stack->turn = place.turn;
	/* Without a frame of the kernel it was in user space. */
	place.user = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), 0) <= 0;
	if (!place.user) {
		place.at = stack_number(stack);
	} else {
		program_note(tgid);
		if (bpf_get_stack(ctx, &place.at, sizeof(place.at), BPF_F_USER_STACK) <= 0)
			place.at = 0;
	}
	place_note(&place);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
