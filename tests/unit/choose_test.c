// SPDX-License-Identifier: GPL-2.0
/* Claims about which hooks are chosen: by what a kernel has, by the backend, by what is wanted. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/engine/hooks.h"
#include "userspace/engine/targets.h"

enum { WATCH_SETS = HOOKS_ALWAYS | HOOKS_ZEROCOPY | HOOKS_CALLS, RUN_SETS = WATCH_SETS | HOOKS_DETAIL };

static const char refuses[] = "it refuses trampolines";

/* A kernel that has the target of each row, with as many arguments as the first such row reads, but @without. */
static struct targets *made_kernel(const char *without)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	char name[128];

	for (const struct hook *hook = hooks; hook->program; hook++) {
		bool tracepoint = hook->kind == HOOK_TRACEPOINT;
		int prototype, pointer, args = hook->args ? hook->args : 1;

		if (hook->kind == HOOK_USDT || (without && !strcmp(hook->target, without)))
			continue;
		snprintf(name, sizeof(name), "%s%s", tracepoint ? "btf_trace_" : "", hook->target);
		if (btf__find_by_name(btf, name) > 0)
			continue;
		prototype = btf__add_func_proto(btf, number);
		for (int i = 0; i < args + tracepoint; i++)
			btf__add_func_param(btf, "", number);
		if (tracepoint) {
			pointer = btf__add_ptr(btf, prototype);
			assert_true(btf__add_typedef(btf, name, pointer) > 0);
		} else {
			assert_true(btf__add_func(btf, name, BTF_FUNC_GLOBAL, prototype) > 0);
		}
	}
	return targets_read(btf);
}

static int chosen(struct hook_choice *c, const struct hook_wishes *wishes, enum backend backend,
		  const char *without, char why[WHY_BYTES])
{
	struct targets *targets = made_kernel(without);
	int err;

	assert_non_null(targets);
	err = hooks_choose(c, wishes, backend, refuses, targets, why);
	targets_free(targets);
	return err;
}

/* Why a row is left out, "" if it is chosen, NULL if it is not listed. */
static const char *why_out(const struct hook_choice *c, const char *program, const char *metric)
{
	for (int i = 0; i < c->count; i++)
		if (!strcmp(c->row[i]->program, program) && !strcmp(c->row[i]->metric, metric))
			return c->probes[i].why;
	return NULL;
}

TEST(a_program_is_chosen_for_each_of_its_metrics)
{
	struct hook_wishes wishes = { .sets = RUN_SETS };
	char why[WHY_BYTES] = "";
	struct hook_choice c;

	assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, NULL, why), 0);
	assert_string_equal(why_out(&c, "moved", "moved"), "");
	assert_string_equal(why_out(&c, "moved", "reshape"), "");
	assert_string_equal(why_out(&c, "receive_call", "rx_discard"), "");
	assert_string_equal(why_out(&c, "receive_call", "returned"), "");
}

TEST(a_stand_in_is_chosen_where_the_other_is_missing)
{
	struct hook_wishes wishes = { .sets = WATCH_SETS };
	char why[WHY_BYTES] = "";
	struct hook_choice c;

	assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, NULL, why), 0);
	assert_string_equal(why_out(&c, "receive_exit", "rx_discard"), "not needed: this kernel has sock_recv_length");
	assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, "sock_recv_length", why), 0);
	assert_string_equal(why_out(&c, "receive_exit", "rx_discard"), "");
	assert_string_equal(why_out(&c, "receive_call", "rx_discard"), "this kernel has no tp_btf/sock_recv_length");
	wishes.sets = RUN_SETS;
	assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, "sock_recv_length", why), 0);
	assert_string_equal(why_out(&c, "receive_exit", "returned"), "");
	assert_int_equal(chosen(&c, &wishes, BACKEND_TRACEPOINT, "sock_recv_length", why), -ENOTSUP);
	assert_non_null(strstr(why, "sock_recv_length"));
}

TEST(a_watch_lists_what_the_backend_lacks_and_a_run_does_not)
{
	struct hook_wishes watch = { .sets = WATCH_SETS }, run = { .sets = RUN_SETS };
	char why[WHY_BYTES] = "";
	struct hook_choice c;

	assert_int_equal(chosen(&c, &watch, BACKEND_TRACEPOINT, NULL, why), 0);
	assert_string_equal(why_out(&c, "tap", "taps"), refuses);
	assert_int_equal(chosen(&c, &watch, BACKEND_TRAMPOLINE, NULL, why), 0);
	assert_string_equal(why_out(&c, "arrival", "late_copy"), "not needed: this kernel accepts trampolines");
	assert_int_equal(chosen(&c, &run, BACKEND_TRACEPOINT, NULL, why), 0);
	assert_null(why_out(&c, "tap", "taps"));
	assert_string_equal(why_out(&c, "arrival", "late_copy"), "");
}

TEST(whoever_lacks_what_is_needed_is_refused)
{
	static const char *const needed[] = { "tcp_destroy_sock", "inet_sock_set_state", "tcp_sendmsg_locked" };
	struct hook_wishes wishes = { .sets = RUN_SETS };
	struct hook_choice c;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		char why[WHY_BYTES] = "";

		assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, needed[i], why), -ENOTSUP);
		assert_non_null(strstr(why, needed[i]));
	}
}

TEST(what_is_detached_counts_nothing_else_either)
{
	struct hook_wishes wishes = { .sets = RUN_SETS, .detach = "tx_copy" };
	static const char off[] = "left off on purpose (--break detach:tx_copy)";
	char why[WHY_BYTES] = "";
	struct hook_choice c;

	assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, NULL, why), 0);
	assert_string_equal(why_out(&c, "departure", "tx_copy"), off);
	assert_string_equal(why_out(&c, "departure", "departures"), off);
	wishes.detach = "moved packets";
	assert_int_equal(chosen(&c, &wishes, BACKEND_TRAMPOLINE, NULL, why), -EINVAL);
	assert_non_null(strstr(why, "no hook of the trampoline backend is for it"));
}

TEST(a_derived_number_is_a_witness_where_others_leave_it)
{
	struct hook_wishes wishes = { .sets = WATCH_SETS };
	char why[WHY_BYTES] = "";
	struct hook_choice c;

	for (enum backend b = BACKEND_TRAMPOLINE; b <= BACKEND_TRACEPOINT; b++) {
		assert_int_equal(chosen(&c, &wishes, b, NULL, why), 0);
		for (int i = 0; i < c.count; i++)
			if (!strcmp(c.row[i]->program, "rx_copy"))
				assert_int_equal(hook_sets_of(&c, i, b), b == BACKEND_TRAMPOLINE ? HOOKS_CALLS : HOOKS_ALWAYS);
	}
}
