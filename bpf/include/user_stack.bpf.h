/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which call of a program moved bytes: the stack of the current task in user space, and what moved, by site.
 *
 * The walk is not bpf_get_stack()'s. That begins at the register of the frame pointer. The C library's functions
 * that make system calls have no frame of their own: they leave the register as their caller has it, so that the
 * caller itself is missing, or use it for something else, as send() of glibc 2.36 does in a process with threads:
 * then all is missing. So words at the stack pointer are looked at, too: whether one is a saved frame pointer, and
 * which may be return addresses. User space checks these with what the program's file says of its frames.
 *
 * The stack itself is the key, as with causes (bpf/include/cause.bpf.h).
 */
#ifndef COPYSCOPE_USER_STACK_BPF_H
#define COPYSCOPE_USER_STACK_BPF_H

#include "bpf/include/datagram.bpf.h"

#define PF_IO_WORKER_FLAG 0x00000010 /* include/linux/sched.h */
#define LOWEST_CODE 0x1000		/* vm.mmap_min_addr, as it is in general */
#define HIGHEST_CODE 0x1000000000000	/* 48 bits; above, some processors keep signatures of addresses */
#define STACK_BYTES_MOST (64ull << 20)

enum { USER_STACKS_MAX = 8192 };

/* Bytes that move are put to stacks. */
volatile __u32 stacks_open __weak = 0;

volatile __u64 stacks_lost_bytes __weak = 0, stacks_lost_calls __weak = 0;	/* found no room */

/* Programs that may interrupt each other on a processor. One that runs there already does not. */
enum stack_program {
	STACK_BY_SEND, STACK_BY_SENDPAGES, STACK_BY_DATAGRAM_SEND, STACK_BY_DATAGRAM_SEND_V6, STACK_BY_DATAGRAM_PAGE,
	STACK_BY_RECEIVE, STACK_BY_SPLICE, STACK_BY_MAP, STACK_BY_DATAGRAM_RECEIVE, STACK_BY_DATAGRAM_RECEIVE_V6,
	STACK_PROGRAMS
};

/* Set before load: one byte of so many is sampled; 0: every call has its stack. */
const volatile __u32 stack_every __weak = 0;

/* How many bytes it is to the next sample on this processor. The gap is drawn each time, so that no pattern of sizes
 * keeps step with it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, s64);
} stack_gaps SEC(".maps") __weak;

struct stack_walk {
	struct user_stack stack;
	u64 words[USER_WORDS];	/* at the stack pointer */
	u64 sp, fp;		/* .fp: of the next frame; 0: not known */
	u32 found;		/* .callers */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_PROGRAMS);
	__type(key, u32);
	__type(value, struct stack_walk);
} stack_walks SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USER_STACKS_MAX);
	__type(key, struct user_stack);
	__type(value, struct tally);
} user_stacks SEC(".maps") __weak;

struct pt_regs___user {
#ifdef __TARGET_ARCH_x86
	unsigned long ip, sp, bp;
#else
	u64 regs[31], sp, pc;
#endif
} OF_KERNEL;

/* A saved frame pointer, and the return address beside it. */
struct frame_record {
	u64 next, caller;
};

static __always_inline struct stack_walk *walk_of(u32 program)
{
	return bpf_map_lookup_elem(&stack_walks, &program);
}

static __always_inline bool is_on_stack(u64 sp, u64 address)
{
	return address >= sp && address - sp < STACK_BYTES_MOST && !(address & 7);
}

/* Is the instruction before it a call? */
static __always_inline bool follows_call(u64 address)
{
#ifdef __TARGET_ARCH_x86
	u8 code[7];	/* call rel32: 5 bytes; call by a register or through memory: 2 to 7 */

	if (address < LOWEST_CODE || address >= HIGHEST_CODE ||
	    bpf_probe_read_user(code, sizeof(code), (void *)(address - sizeof(code))))
		return false;
	return code[2] == 0xe8 || (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[4] == 0xff && (code[5] & 0x38) == 0x10) || (code[3] == 0xff && (code[4] & 0x38) == 0x10) ||
	       (code[1] == 0xff && (code[2] & 0x38) == 0x10) || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
#else
	u32 code;	/* bl; blr and its kin that check a signature */

	if (address < LOWEST_CODE || address >= HIGHEST_CODE ||
	    bpf_probe_read_user(&code, sizeof(code), (void *)(address - sizeof(code))))
		return false;
	return code >> 26 == 0x25 || (code & 0xfefff000) == 0xd63f0000;
#endif
}

static __always_inline bool is_frame(u64 sp, u64 fp)
{
	struct frame_record record;

	return is_on_stack(sp, fp) && !bpf_probe_read_user(&record, sizeof(record), (void *)fp) &&
	       follows_call(record.caller & (HIGHEST_CODE - 1));
}

/* The word at a place above the stack pointer, in frames that have no pointer. */
static long word_look(u32 at, void *program)
{
	struct stack_walk *w = walk_of(*(u32 *)program);
	u64 word, place;
	u32 found;

	if (!w || at >= USER_WORDS)
		return 1;
	place = w->sp + at * sizeof(word);
	if (w->fp && place >= w->fp)
		return 1;
	word = w->words[at];
	if (is_on_stack(place + sizeof(word), word)) {
		if (!w->fp && is_frame(w->sp, word))
			w->fp = word;
		return 0;
	}
	found = w->found;
	if (found < USER_CALLERS && follows_call(word)) {
		w->stack.callers[found & (USER_CALLERS - 1)] = word;
		w->stack.caller_at[found & (USER_CALLERS - 1)] = at + 1;
		w->found = found + 1;
	}
	return 0;
}

static long frame_follow(u32 i, void *program)
{
	struct stack_walk *w = walk_of(*(u32 *)program);
	struct frame_record record;
	u32 depth;

	if (!w || bpf_probe_read_user(&record, sizeof(record), (void *)w->fp) || !record.caller)
		return 1;
	depth = w->stack.depth;
	if (depth >= USER_FRAMES) {
		w->stack.cut = 1;
		return 1;
	}
	w->stack.frames[depth] = record.caller & (HIGHEST_CODE - 1);
	w->stack.depth = depth + 1;
	if (record.next <= w->fp || !is_on_stack(w->sp, record.next))
		return 1;
	w->fp = record.next;
	return 0;
}

static __always_inline void stack_clear(struct stack_walk *w)
{
	__builtin_memset(w->stack.frames, 0, sizeof(w->stack.frames));
	/* The compiler would make one of both, which is too long for it. */
	barrier();
	__builtin_memset(&w->stack, 0, offsetof(struct user_stack, frames));
	w->found = 0;
}

/* Of the current task, which made the call; a kernel thread has none, nor has a worker of io_uring's. */
static __noinline void stack_take(struct stack_walk *w, u32 program)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs___user *regs;

	stack_clear(w);
	w->stack.tgid = task->tgid;
	w->stack.started_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	w->stack.cut = !!(task->flags & PF_IO_WORKER_FLAG);
	if (task->flags & (PF_KTHREAD_FLAG | PF_IO_WORKER_FLAG))
		return;
	regs = (void *)bpf_task_pt_regs(task);
	w->sp = regs->sp;
#ifdef __TARGET_ARCH_x86
	w->stack.frames[0] = regs->ip;
	w->fp = is_frame(w->sp, regs->bp) ? regs->bp : 0;
#else
	w->stack.frames[0] = regs->pc;
	w->fp = is_frame(w->sp, regs->regs[29]) ? regs->regs[29] : 0;
	/* The return address of a function that has not saved it. */
	if (follows_call(regs->regs[30])) {
		w->stack.callers[0] = regs->regs[30];
		w->stack.caller_at[0] = CALLER_IN_REGISTER;
		w->found = 1;
	}
#endif
	w->stack.depth = 1;
	/* Without frames of pointers, the stack may end before the words do. */
	if (!bpf_probe_read_user(w->words, sizeof(w->words), (void *)w->sp))
		bpf_loop(USER_WORDS, word_look, &program, 0);
	if (w->fp)
		bpf_loop(USER_FRAMES, frame_follow, &program, 0);
}

/* Does the call count for the subject? */
static __always_inline bool call_is_ours(const struct sock *sk)
{
	if (ports_decide() && !ports_are_ours(sk->__sk_common.skc_num, bpf_ntohs(sk->__sk_common.skc_dport)))
		return false;
	if (watch_filter == WATCH_OF_TASKS)
		return current_is_ours();
	return process_counts(bpf_get_current_pid_tgid() >> 32) &&
	       (watch_filter != WATCH_OF_NETNS || inum_is_ours(netns_of(sk)));
}

enum { GAPS_OF_REST = 3 };

/* Which samples of @every bytes each a call of so many has: each whole @every is one, and of the rest each byte may be. */
static __always_inline u64 stack_samples(u64 bytes, u32 every)
{
	u32 zero = 0;
	s64 *left = bpf_map_lookup_elem(&stack_gaps, &zero);
	u64 samples = bytes / every;

	if (!left)
		return samples;
	*left -= bytes % every;
	/* A gap is half of @every at least, and the rest less than that. */
	#pragma unroll
	for (int i = 0; i < GAPS_OF_REST; i++) {
		if (*left > 0)
			break;
		*left += every / 2 + bpf_get_prandom_u32() % every;
		samples++;
	}
	return samples;
}

/* False if there is no room. */
static __always_inline bool stack_add(const struct user_stack *stack, u64 bytes, u64 calls)
{
	static const struct tally empty;
	struct tally *t = bpf_map_lookup_elem(&user_stacks, stack);

	if (!t && !bpf_map_update_elem(&user_stacks, stack, &empty, BPF_NOEXIST))
		program_met(stack->tgid, stack->started_ns);
	if (!t)
		t = bpf_map_lookup_elem(&user_stacks, stack);
	if (!t)
		return false;
	if (is_lost(FAULT_LOSE_STACK))
		return true;
	add(&t->bytes, bytes);
	add(&t->calls, calls);
	return true;
}

/* A call that used the socket whose slot is at @place has moved bytes at a site, or at one that calls do not tell
 * (WATCH_ACCEPTED, WATCH_RETURNED). */
static __always_inline void stack_count(u32 place, const struct sock *sk, u32 program, u32 site, u64 bytes)
{
	struct stack_sum *sum = stacks_wanted && window_is_open ? bpf_map_lookup_elem(&stack_sums, &place) : NULL;
	struct stack_walk *w;
	u64 calls = 1;

	if (!sum)
		return;
	w = stacks_open && call_is_ours(sk) ? walk_of(program) : NULL;
	if (!w) {
		add(&sum->unstacked, bytes);
		return;
	}
	if (stack_every)
		calls = stack_samples(bytes, stack_every);
	if (!calls) {
		add(&sum->stacked, bytes);
		return;
	}
	stack_take(w, program);
	w->stack.site = site;
	if (stack_add(&w->stack, stack_every ? calls * stack_every : bytes, calls)) {
		add(&sum->stacked, bytes);
		return;
	}
	add(&sum->unstacked, bytes);
	__sync_fetch_and_add(&stacks_lost_bytes, bytes);
	__sync_fetch_and_add(&stacks_lost_calls, 1);
}

#endif
