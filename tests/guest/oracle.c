// SPDX-License-Identifier: GPL-2.0
/*
 * Counts copies of payload where they are made, for processes named "workload".
 *
 * Two oracles that share nothing with copyscope's probes: the kernel's checks before each copy
 * (__check_object_size), and the processor's breakpoints on the copying functions themselves, which
 * nothing in software can hook because lib/ is built without ftrace. Both are far too slow for
 * daily use. Says PROBES_ATTACHED on stderr when it counts; prints as bpftrace does when it is told to end:
 *   @copied_from_user[workload, 181]: 94139
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include "tests/guest/oracle.h"
#include "tests/guest/oracle.skel.h"

static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(1);
}

static uint64_t address_of(const char *symbol)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	uint64_t address, found = 0;
	char line[512], name[256];

	if (!file)
		fail("/proc/kallsyms");
	while (!found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) == 2 && !strcmp(name, symbol))
			found = address;
	fclose(file);
	return found;
}

#define LOAD_IF_THERE(oracle, function) \
	load_both((oracle)->progs.function##_begins, (oracle)->progs.function##_ends, \
		  address_of(#function))

static void load_both(struct bpf_program *begins, struct bpf_program *ends, bool there)
{
	bpf_program__set_autoload(begins, there);
	bpf_program__set_autoload(ends, there);
}

/* On every processor; each firing runs the program. */
static void break_at(uint64_t address, struct bpf_program *program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .sample_period = 1,
		.bp_type = HW_BREAKPOINT_X, .bp_addr = address, .bp_len = sizeof(long),
	};

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		int event = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (event < 0)
			fail("breakpoint at %" PRIx64 " on processor %d", address, cpu);
		if (!bpf_program__attach_perf_event(program, event))
			fail("program at breakpoint %" PRIx64, address);
	}
}

static void break_at_symbol(const char *symbol, struct bpf_program *program)
{
	uint64_t at = address_of(symbol);

	if (!at) {
		errno = ENOENT;
		fail("%s in /proc/kallsyms", symbol);
	}
	break_at(at, program);
}

static void print_sums(int map)
{
	uint32_t process, *last = NULL;
	struct sums sums;

	while (!bpf_map_get_next_key(map, last, &process)) {
		if (bpf_map_lookup_elem(map, &process, &sums))
			fail("sums of process %u", process);
#define PRINT(name) printf("@" #name "[workload, %u]: %" PRIu64 "\n", process, (uint64_t)sums.name);
		ORACLE_SUMS(PRINT)
#undef PRINT
		last = &process;
	}
}

/* Runs of all programs here, the other witnesses' too, that the kernel skipped because it had stopped a
 * task inside the program (6.18 and 7.2 do). */
static uint64_t skipped_runs(void)
{
	uint64_t sum = 0;
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);
		int program = bpf_prog_get_fd_by_id(id);

		if (program < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(program, &info, &size))
			sum += info.recursion_misses;
		close(program);
	}
	return sum;
}

int main(void)
{
	struct oracle *oracle;
	sigset_t ends;
	int signal;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);

	oracle = oracle__open();
	if (!oracle)
		fail("oracle");
	/* Of a module, and of kernels up to 6.4. */
	LOAD_IF_THERE(oracle, tls_sw_recvmsg);
	LOAD_IF_THERE(oracle, do_tcp_sendpages);
	if (oracle__load(oracle) || oracle__attach(oracle))
		fail("oracle");
	break_at_symbol("_copy_from_iter", oracle->progs.copy_from_user);
	break_at_symbol("_copy_to_iter", oracle->progs.copy_to_user);
	fprintf(stderr, "PROBES_ATTACHED\n");
	sigwait(&ends, &signal);
	print_sums(bpf_map__fd(oracle->maps.processes));
	printf("@skipped: %" PRIu64 "\n", skipped_runs());
	oracle__destroy(oracle);
	return fflush(stdout) ? 1 : 0;
}
