// SPDX-License-Identifier: GPL-2.0
/* Keeps the tasks of a guest and their frames. */
#include "studies/plugin/follow.h"

#include <stdio.h>
#include <stdlib.h>

enum { TASKS_MAX = 1 << 14 };

/* The kernel's memory areas are further apart, also where their bases are random (arch/x86/mm/kaslr.c). */
static const uint64_t area_bytes = 1ull << 40;
/* From here on lies the kernel's image, with the stack of its first task. */
static const uint64_t image = 0xffffffff80000000;

uint64_t follow_stack_bytes = 1;
/* On the stack of some task; 0: none is known yet. */
static uint64_t stack_seen;
static struct task *tasks[TASKS_MAX];

/* Never NULL. */
static struct task *task_of(uint64_t key)
{
	uint64_t place = key * 0x9e3779b97f4a7c15ull >> 50;

	for (unsigned int tries = 0; tries < TASKS_MAX; tries++, place++) {
		struct task **task = &tasks[place % TASKS_MAX];

		if (!*task) {
			*task = calloc(1, sizeof(**task));
			if (*task)
				(*task)->key = key;
		}
		if (!*task)
			break;
		if ((*task)->key == key)
			return *task;
	}
	fprintf(stderr, "copyscope plugin: no room for another task of the guest\n");
	abort();
}

static void leave_all(struct task *t)
{
	t->depth = 0;
	t->site = t->call = 0;
	t->softirq = false;
}

void follow_begin(struct runner *r, unsigned int processor)
{
	*r = (struct runner){ .task = task_of(processor + 1) };
}

static void push(struct task *t, uint64_t returns_to)
{
	if (t->depth < FRAMES_MAX)
		t->frame[t->depth++] = (struct frame){ .returns_to = returns_to };
}

/* The return may be of a frame further down, as a function may leave some that it called without a return. */
static void pop_to(struct task *t, uint64_t address)
{
	unsigned int place = t->depth;

	while (place && t->frame[place - 1].returns_to != address)
		place--;
	if (!place--)
		return;
	while (t->depth > place) {
		const struct frame *f = &t->frame[--t->depth];

		if (f->entered) {
			t->site = f->site;
			t->call = f->call;
			t->softirq = f->softirq;
		}
	}
}

static bool is_top(const struct task *t, uint64_t address)
{
	return t->depth && t->frame[t->depth - 1].returns_to == address;
}

/* True if it is a site that counts here. */
static bool enter(struct task *t, const struct block *b)
{
	struct frame *f = t->depth ? &t->frame[t->depth - 1] : NULL;
	bool counts = b->enters == ENTRY_SITE && (!b->call || b->call == t->call);

	if (b->enters == ENTRY_FRESH_TASK) {
		leave_all(t);
		t->role = t->user_site = 0;
		return false;
	}
	/* Without a frame nothing would tell its end. */
	if (!f || (b->enters == ENTRY_SITE && !counts))
		return false;
	if (!f->entered)
		*f = (struct frame){ f->returns_to, true, t->site, t->call, t->softirq };
	t->site = counts ? b->site : 0;
	/* What interrupts a call does not belong to it. */
	t->call = b->enters == ENTRY_CALL ? b->call : counts ? t->call : 0;
	t->softirq |= b->enters == ENTRY_SOFTIRQ;
	return counts;
}

bool follow_is_stack(const struct task *t, uint64_t address)
{
	if (follow_stack_bytes == 1)
		return false;
	return address / follow_stack_bytes == t->key ||
	       (stack_seen && address - stack_seen + area_bytes < 2 * area_bytes);
}

void follow_anew(void)
{
	for (int i = 0; i < TASKS_MAX; i++) {
		free(tasks[i]);
		tasks[i] = NULL;
	}
}

bool follow_block(struct runner *r, const struct block *b)
{
	const struct block *before = r->block;
	struct task *t;

	if (r->switched_to) {
		r->task = task_of(r->switched_to);
		/* Within the function that switches, the last access may be to a task's own memory. */
		if (!b->switches && r->task->key < image / follow_stack_bytes)
			stack_seen = r->task->key * follow_stack_bytes;
		r->switched_to = 0;
	}
	t = r->task;
	r->block = b;
	if (!b->kernel) {
		if (t->depth)
			leave_all(t);
		return false;
	}
	if (before && before->kernel && before->ends == ENDS_WITH_CALL)
		push(t, before->end);
	/* An interrupt may have come between the return and what it returns to. */
	else if ((before && before->ends == ENDS_WITH_RETURN) || is_top(t, b->start))
		pop_to(t, b->start);
	return b->enters != ENTRY_NONE && enter(t, b);
}
