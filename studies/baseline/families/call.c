// SPDX-License-Identifier: GPL-2.0
/* Family call: a procedure call with 0 to 7 arguments. */
#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/families/families.h"

/* Few are counted, because the uprobe stops each call at a breakpoint. */
enum { UNROLLED = 16, TIMED_SINGLY = 8, COUNTED_CALLS = 127 * UNROLLED };

/* Neither inlined nor specialised, so that every argument is passed. Clang has no noipa; there each
 * callee uses its arguments. */
#if __has_attribute(noipa)
#define CALLEE __attribute__((noipa)) static void
#else
#define CALLEE __attribute__((noinline)) static void
#endif
CALLEE call0(void) { asm volatile(""); }
CALLEE call1(int a) { asm volatile("" : : "r"(a)); }
CALLEE call2(int a, int b) { asm volatile("" : : "r"(a), "r"(b)); }
CALLEE call3(int a, int b, int c) { asm volatile("" : : "r"(a), "r"(b), "r"(c)); }
CALLEE call4(int a, int b, int c, int d)
{
	asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
}
CALLEE call5(int a, int b, int c, int d, int e)
{
	asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e));
}
CALLEE call6(int a, int b, int c, int d, int e, int f)
{
	asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}
CALLEE call7(int a, int b, int c, int d, int e, int f, int g)
{
	asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "m"(g));
}

#define TWICE(call) call; call
#define UNROLL(call) do { TWICE(TWICE(TWICE(TWICE(call)))); } while (0)

static void make_calls(int arguments, uint64_t turns)
{
	while (turns--) {
		switch (arguments) {
		case 0: UNROLL(call0()); break;
		case 1: UNROLL(call1(1)); break;
		case 2: UNROLL(call2(1, 2)); break;
		case 3: UNROLL(call3(1, 2, 3)); break;
		case 4: UNROLL(call4(1, 2, 3, 4)); break;
		case 5: UNROLL(call5(1, 2, 3, 4, 5)); break;
		case 6: UNROLL(call6(1, 2, 3, 4, 5, 6)); break;
		default: UNROLL(call7(1, 2, 3, 4, 5, 6, 7)); break;
		}
	}
}

static int prepare_call(struct work *w, const struct row *row)
{
	static void *const callees[] = {
		call0, call1, call2, call3, call4, call5, call6, call7, [TIMED_SINGLY] = call0,
	};

	w->function = callees[row->which];
	return 0;
}

/* As the published program timed it: a reading of the clock before and after each call. */
static int time_singly(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t sum = 0;

	region_begin(w);
	for (uint64_t i = 0; i < calls; i++) {
		uint64_t from = clock_end();

		call0();
		sum += clock_end() - from;
	}
	region_end(w);
	w->spent_ticks = sum;
	region_per_call(w, row, calls);
	return 0;
}

static int time_call(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t turns = calls / UNROLLED;

	task_pin(0);
	/* The first breakpoint maps a page to step in, which is a fault of its own. */
	if (w->counting)
		make_calls(row->which % TIMED_SINGLY, 1);
	if (row->which == TIMED_SINGLY)
		return time_singly(w, row, calls);
	region_begin(w);
	make_calls(row->which, turns);
	region_end(w);
	region_per_call(w, row, turns * UNROLLED);
	return 0;
}

#define ROW(id, text, number, is_extra)                                                    \
	{ .name = id, .title = text, .unit = "ns", .which = number, .extra = is_extra,      \
	  .calls = 1000000, .quick_calls = 1000000, .counted_calls = COUNTED_CALLS,         \
	  .invariants = { ALL_IN_USER_MODE,                                                 \
		{ EXACTLY, EVENT_entries, 1, 0, 0, "the function is entered once a call" } } }

static const struct row rows[] = {
	ROW("call-0", "procedure call, no argument", 0, false),
	ROW("call-1", "procedure call, 1 argument", 1, false),
	ROW("call-2", "procedure call, 2 arguments", 2, false),
	ROW("call-3", "procedure call, 3 arguments", 3, false),
	ROW("call-4", "procedure call, 4 arguments", 4, false),
	ROW("call-5", "procedure call, 5 arguments", 5, false),
	ROW("call-6", "procedure call, 6 arguments", 6, false),
	ROW("call-7", "procedure call, 7 arguments", 7, false),
	ROW("call-0-timed-singly", "procedure call, no argument, clock read around each",
	    TIMED_SINGLY, true),
};

const struct family family_call = {
	.name = "call", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_call, .time = time_call,
};
