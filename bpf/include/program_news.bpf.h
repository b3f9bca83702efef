/* SPDX-License-Identifier: GPL-2.0 */
/* Tells user space of a process whose code is worth a look: it may end soon. */
#ifndef COPYSCOPE_PROGRAM_NEWS_BPF_H
#define COPYSCOPE_PROGRAM_NEWS_BPF_H

#include "bpf/include/who.bpf.h"

enum { STACK_NEWS_BYTES = 64 << 10 };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STACK_NEWS_BYTES);
} stack_news SEC(".maps") __weak;

/* Where there is no room, the next time tells. */
static __always_inline void program_met(u32 tgid, u64 started_ns)
{
	struct stack_task task = { .started_ns = started_ns, .tgid = tgid };

	bpf_ringbuf_output(&stack_news, &task, sizeof(task), BPF_RB_FORCE_WAKEUP);
}

#endif
