// SPDX-License-Identifier: GPL-2.0
// Claims about counters on machines we do not have: a fake sysfs and a fake perf_event_open.
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "userspace/counters/counters.h"

#define CORE_TYPE 4
#define ATOM_TYPE 10
#define ON(pmu_type) ((uint64_t)(pmu_type) << 32)
#define HARDWARE PERF_TYPE_HARDWARE
#define CYCLES PERF_COUNT_HW_CPU_CYCLES
#define INSTRUCTIONS PERF_COUNT_HW_INSTRUCTIONS
#define L1D_MISS ((uint64_t)(PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16))
#define LLC_MISS ((uint64_t)(PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16))

/* What the fake kernel answers for one event; events not listed are absent (ENOENT). */
struct answer {
	uint32_t type;
	uint64_t config;
	int error;
	uint64_t raw[3];	/* count, enabled ns, running ns */
};

static const struct answer *answers;
static int enables, enable_error;
static char root[64];

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags)
{
	const struct answer *a;
	int ends[2];

	assert_true(attr->disabled && attr->inherit && attr->exclude_hv);
	assert_false(attr->exclude_kernel || attr->exclude_user);
	assert_int_equal(pid, getpid());
	assert_true(cpu == -1 && group_fd == -1 && flags == PERF_FLAG_FD_CLOEXEC);
	for (a = answers; a->error || a->raw[0] || a->raw[1]; a++)
		if (a->type == attr->type && a->config == attr->config)
			break;
	if (a->error || !(a->raw[0] || a->raw[1])) {
		errno = a->error ? a->error : ENOENT;
		return -1;
	}
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], a->raw, sizeof(a->raw)), sizeof(a->raw));
	close(ends[1]);
	return ends[0];
}

static int fake_enable(int fd)
{
	enables++;
	errno = enable_error;
	return enable_error ? -1 : 0;
}

static void read_all(const struct answer *list, struct counter_value values[COUNTER_COUNT])
{
	const struct counter_env env = { root, fake_open, fake_enable };
	struct counter_set *set;

	answers = list;
	enables = 0;
	assert_int_equal(counters_open(&set, getpid(), &env), 0);
	assert_int_equal(enables, 0);
	assert_int_equal(counters_enable(set), -enable_error);
	assert_int_equal(counters_read(set, values), 0);
	counters_close(set);
}

static void pmu_add(const char *name, const char *cpus_file, int type)
{
	char command[512];

	snprintf(command, sizeof(command), "cd %s/bus/event_source/devices && mkdir -p %s && "
		 "echo 0-3 > %s/%s && echo %d > %s/type", root, name, name, cpus_file, type, name);
	assert_int_equal(system(command), 0);
}

static int plain_machine(void **state)
{
	char command[256];

	strcpy(root, "/tmp/copyscope-counters-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), "mkdir -p %s/bus/event_source/devices", root);
	assert_int_equal(system(command), 0);
	pmu_add("uncore_imc", "cpumask", 20);
	enable_error = 0;
	return 0;
}

static int hybrid_machine(void **state)
{
	plain_machine(state);
	pmu_add("cpu_core", "cpus", CORE_TYPE);
	pmu_add("cpu_atom", "cpus", ATOM_TYPE);
	return 0;
}

static int remove_machine(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void assert_unknown(const struct counter_value *value, const char *why)
{
	assert_false(value->known);
	if (!strstr(value->why, why))
		fail_msg("why is \"%s\", not \"%s\"", value->why, why);
}

static void assert_known(const struct counter_value *value, uint64_t expected)
{
	assert_string_equal(value->why, "");
	assert_true(value->known);
	assert_int_equal(value->value, expected);
}

TEST_BETWEEN(plain_counts_read_as_they_are, plain_machine, remove_machine)
{
	static const struct answer list[] = {
		{ HARDWARE, CYCLES, 0, { 94139, 500, 500 } },
		{ HARDWARE, INSTRUCTIONS, 0, { 257, 500, 500 } },
		{ PERF_TYPE_HW_CACHE, L1D_MISS, 0, { 23, 500, 500 } },
		{ PERF_TYPE_HW_CACHE, LLC_MISS, 0, { 0, 500, 500 } },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, { 0, 500, 500 } },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, { 499, 500, 500 } },
		{ 0 }
	};
	struct counter_value v[COUNTER_COUNT];

	read_all(list, v);
	assert_int_equal(enables, 6);
	assert_known(&v[COUNTER_CYCLES], 94139);
	assert_int_equal(v[COUNTER_CYCLES].parts, 1);
	assert_string_equal(v[COUNTER_CYCLES].part[0].pmu, "cpu");
	assert_false(v[COUNTER_CYCLES].scaled);
	assert_known(&v[COUNTER_L1D_LOAD_MISSES], 23);
	assert_known(&v[COUNTER_LLC_LOAD_MISSES], 0);	/* so short a run may have none */
	assert_known(&v[COUNTER_PAGE_FAULTS], 0);
	assert_known(&v[COUNTER_TASK_CLOCK], 499);
	assert_string_equal(v[COUNTER_TASK_CLOCK].part[0].pmu, "software");
	assert_unknown(&v[COUNTER_CONTEXT_SWITCHES], "no such hardware counter");
}

TEST_BETWEEN(multiplexed_count_is_scaled_and_says_so, plain_machine, remove_machine)
{
	static const struct answer list[] = {
		{ HARDWARE, CYCLES, 0, { 1000, 4000, 1000 } },
		{ HARDWARE, INSTRUCTIONS, 0, { 0, 4000, 0 } },
		{ PERF_TYPE_HW_CACHE, L1D_MISS, 0, { 7, 0, 0 } },
		/* count * enabled exceeds 64 bits */
		{ PERF_TYPE_HW_CACHE, LLC_MISS, 0, { 1ULL << 40, 3ULL << 40, 1ULL << 40 } },
		{ 0 }
	};
	struct counter_value v[COUNTER_COUNT];

	read_all(list, v);
	assert_known(&v[COUNTER_CYCLES], 4000);
	assert_true(v[COUNTER_CYCLES].scaled && v[COUNTER_CYCLES].running_share == 0.25);
	assert_unknown(&v[COUNTER_INSTRUCTIONS], "never got a hardware counter");
	assert_unknown(&v[COUNTER_L1D_LOAD_MISSES], "was not enabled");
	assert_known(&v[COUNTER_LLC_LOAD_MISSES], 3ULL << 40);
}

TEST_BETWEEN(impossible_zero_is_not_a_measurement, plain_machine, remove_machine)
{
	static const struct answer list[] = {
		{ HARDWARE, CYCLES, 0, { 0, 500, 500 } },
		{ HARDWARE, INSTRUCTIONS, 0, { 1000001, 500, 500 } },
		{ PERF_TYPE_HW_CACHE, L1D_MISS, 0, { 1, 500, 500 } },
		{ PERF_TYPE_HW_CACHE, LLC_MISS, 0, { 0, 500, 500 } },
		{ 0 }
	};
	struct counter_value v[COUNTER_COUNT];

	read_all(list, v);
	assert_unknown(&v[COUNTER_CYCLES], "opened but counted nothing");
	assert_known(&v[COUNTER_L1D_LOAD_MISSES], 1);
	assert_unknown(&v[COUNTER_LLC_LOAD_MISSES], "counted nothing in 1000001 instructions");
}

TEST_BETWEEN(refusal_is_named_in_words, plain_machine, remove_machine)
{
	static const struct { int error; const char *why; } cases[] = {
		{ ENOENT, "no PMU" }, { EOPNOTSUPP, "no PMU" }, { EACCES, "perf_event_paranoid" },
		{ EPERM, "CAP_PERFMON" }, { EMFILE, "ulimit -n" }, { ENFILE, "ulimit -n" },
		{ EBUSY, "another program" }, { ENODEV, "no PMU" }, { EINVAL, "EINVAL" },
		{ ENOSYS, "CONFIG_PERF_EVENTS" }, { EIO, "Input/output error" },
	};
	struct answer list[] = { { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, { 0 } },
				 { 0 } };
	struct counter_value v[COUNTER_COUNT];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		list[0].error = cases[i].error;
		read_all(list, v);
		assert_unknown(&v[COUNTER_PAGE_FAULTS], cases[i].why);
	}
}

TEST_BETWEEN(hybrid_parts_are_summed_and_kept_apart, hybrid_machine, remove_machine)
{
	static const struct answer list[] = {
		{ HARDWARE, ON(CORE_TYPE) | CYCLES, 0, { 700, 1000, 600 } },
		{ HARDWARE, ON(ATOM_TYPE) | CYCLES, 0, { 50, 1000, 400 } },
		{ HARDWARE, ON(CORE_TYPE) | INSTRUCTIONS, 0, { 600, 1000, 300 } },
		{ HARDWARE, ON(ATOM_TYPE) | INSTRUCTIONS, 0, { 20, 1000, 200 } },
		{ 0 }
	};
	struct counter_value v[COUNTER_COUNT];

	read_all(list, v);
	assert_known(&v[COUNTER_CYCLES], 750);	/* no time was lost, so nothing is scaled */
	assert_false(v[COUNTER_CYCLES].scaled);
	assert_int_equal(v[COUNTER_CYCLES].parts, 2);
	assert_string_equal(v[COUNTER_CYCLES].part[0].pmu, "cpu_atom");
	assert_int_equal(v[COUNTER_CYCLES].part[0].value, 50);
	assert_true(v[COUNTER_CYCLES].part[0].running_share == 0.4);
	assert_string_equal(v[COUNTER_CYCLES].part[1].pmu, "cpu_core");
	assert_int_equal(v[COUNTER_CYCLES].part[1].value, 700);
	assert_known(&v[COUNTER_INSTRUCTIONS], 1240);
	assert_true(v[COUNTER_INSTRUCTIONS].scaled);
	assert_true(v[COUNTER_INSTRUCTIONS].running_share == 0.5);
	assert_int_equal(v[COUNTER_INSTRUCTIONS].part[0].value, 40);
	assert_int_equal(v[COUNTER_INSTRUCTIONS].part[1].value, 1200);
	assert_unknown(&v[COUNTER_LLC_LOAD_MISSES], "cpu_atom: this machine has no such");
}

TEST_BETWEEN(half_absent_hybrid_is_known_only_if_the_other_half_saw_all, hybrid_machine, remove_machine)
{
	static const struct answer list[] = {
		{ HARDWARE, ON(CORE_TYPE) | CYCLES, 0, { 700, 1000, 1000 } },
		{ HARDWARE, ON(ATOM_TYPE) | CYCLES, 0, { 0, 1000, 0 } },
		{ PERF_TYPE_HW_CACHE, ON(CORE_TYPE) | L1D_MISS, 0, { 23, 1000, 1000 } },
		{ PERF_TYPE_HW_CACHE, ON(CORE_TYPE) | LLC_MISS, 0, { 11, 1000, 999 } },
		{ 0 }
	};
	struct counter_value v[COUNTER_COUNT];

	read_all(list, v);
	assert_known(&v[COUNTER_CYCLES], 700);
	assert_false(v[COUNTER_CYCLES].part[0].known);
	assert_known(&v[COUNTER_L1D_LOAD_MISSES], 23);
	assert_false(v[COUNTER_L1D_LOAD_MISSES].part[0].known);
	assert_unknown(&v[COUNTER_LLC_LOAD_MISSES], "cpu_atom: this machine has no such");
	assert_true(v[COUNTER_LLC_LOAD_MISSES].part[1].known);
	assert_int_equal(v[COUNTER_LLC_LOAD_MISSES].part[1].value, 11);
}

TEST_BETWEEN(event_that_fails_to_start_is_not_known, plain_machine, remove_machine)
{
	static const struct answer list[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, { 5, 500, 500 } },
		{ 0 }
	};
	struct counter_value v[COUNTER_COUNT];

	enable_error = EIO;
	read_all(list, v);
	assert_unknown(&v[COUNTER_PAGE_FAULTS], "could not be started");
	assert_int_equal(counters_read(NULL, v), -EINVAL);
	assert_unknown(&v[COUNTER_CYCLES], "never opened");
	counters_close(NULL);
}
