// SPDX-License-Identifier: GPL-2.0
/* Claims about the table of attach targets: it finds what a search of BTF finds, and nothing else. */
#include <bpf/btf.h>
#include <stdio.h>

#include "tests/unit/unit.h"
#include "userspace/engine/targets.h"

enum { MANY = 5000 };

/* Functions f0 to f4999, with a variable, a tracepoint and a second f7 among them. */
static struct btf *made(void)
{
	struct btf *btf = btf__new_empty();
	int number, prototype, pointer;
	char name[32];

	assert_non_null(btf);
	number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	prototype = btf__add_func_proto(btf, number);
	pointer = btf__add_ptr(btf, prototype);
	btf__add_var(btf, "a_variable", BTF_VAR_STATIC, number);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_true(btf__add_func(btf, name, BTF_FUNC_GLOBAL, prototype) > 0);
	}
	btf__add_typedef(btf, "btf_trace_a_tracepoint", pointer);
	btf__add_typedef(btf, "no_tracepoint", pointer);
	btf__add_func(btf, "f7", BTF_FUNC_GLOBAL, prototype);
	return btf;
}

TEST(functions_are_found_as_a_search_finds_them)
{
	struct targets *targets = targets_read(made());
	char name[32];

	assert_non_null(targets);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_int_equal(targets_function(targets, name),
				 btf__find_by_name_kind(targets_btf(targets), name, BTF_KIND_FUNC));
	}
	targets_free(targets);
}

TEST(what_is_no_target_is_not_found)
{
	static const char *const others[] = {
		"f5000", "", "int", "a_variable", "a_tracepoint", "btf_trace_a_tracepoint",
	};
	struct targets *targets = targets_read(made());

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(targets_function(targets, others[i]), 0);
	assert_int_equal(targets_tracepoint(targets, "f1"), 0);
	assert_int_equal(targets_tracepoint(targets, "no_tracepoint"), 0);
	targets_free(targets);
}

TEST(a_tracepoint_is_found_by_its_own_name)
{
	struct targets *targets = targets_read(made());

	assert_int_equal(targets_tracepoint(targets, "a_tracepoint"),
			 btf__find_by_name_kind(targets_btf(targets), "btf_trace_a_tracepoint",
						BTF_KIND_TYPEDEF));
	targets_free(targets);
}

TEST(a_name_too_long_for_a_tracepoint_is_not_found)
{
	struct targets *targets = targets_read(made());
	char name[512];

	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = 'a';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(targets_tracepoint(targets, name), 0);
	targets_free(targets);
}

TEST(without_btf_there_are_no_targets)
{
	assert_null(targets_read(NULL));
	targets_free(NULL);
}
