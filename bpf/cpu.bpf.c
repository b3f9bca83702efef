// SPDX-License-Identifier: GPL-2.0
/* In what does a process of the subject spend its CPU time? Where each sample of the clock finds it. */
#include "bpf/include/who.bpf.h"

enum { CPU_PLACES = 8192, CPU_THREADS = 16384 };

/* Samples that found no room. */
volatile __u64 cpu_lost __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu_place);
} cpu_found SEC(".maps") __weak;

/* The stack itself is the key, as with causes (bpf/include/cause.bpf.h). */
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

/* The scheduler adds a thread's time up at each of its ticks and when it takes the CPU away. */
static __always_inline void thread_note(u32 tgid, u32 tid)
{
	const struct task_struct *t = (const void *)bpf_get_current_task();
	u64 run_ns = BPF_CORE_READ(t, se.sum_exec_runtime);
	struct cpu_thread first = { .tgid = tgid, .samples = 1, .first_ns = run_ns, .last_ns = run_ns };
	struct cpu_thread *known = bpf_map_lookup_elem(&cpu_threads, &tid);

	/* A number may be used again. */
	if (known && known->tgid == tgid) {
		known->samples++;
		known->last_ns = run_ns;
	} else if (bpf_map_update_elem(&cpu_threads, &tid, &first, BPF_ANY)) {
		__sync_fetch_and_add(&cpu_lost, 1);
	}
}

SEC("?perf_event")
int cpu_sample(void *ctx)
{
	u64 id = bpf_get_current_pid_tgid(), one = 1, *samples;
	u32 tgid = id >> 32, zero = 0;
	struct cpu_place *place = bpf_map_lookup_elem(&cpu_found, &zero);

	/* Process 0 is the idle one. */
	if (!place || !tgid || (watch_filter == WATCH_OF_TASKS && !is_member(tgid)))
		return 0;
	thread_note(tgid, id);
	place->tgid = tgid;
	/* Without a frame of the kernel it was in user space. What is left over of the frames is zeroed. */
	place->user = bpf_get_stack(ctx, place->frames, sizeof(place->frames), 0) <= 0;
	samples = bpf_map_lookup_elem(&cpu_places, place);
	if (samples)
		__sync_fetch_and_add(samples, 1);
	else if (bpf_map_update_elem(&cpu_places, place, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&cpu_lost, 1);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
