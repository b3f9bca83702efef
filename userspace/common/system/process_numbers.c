// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the kernel by a BPF program of three instructions, run once in the calling process.
 *
 * The caller itself makes the test run of a raw tracepoint program (5.10, 1b4d60ec162f "bpf: Enable
 * BPF_PROG_TEST_RUN for raw_tracepoint"), so the helper returns the caller's number. Nothing is
 * attached, and programs that count compare numbers as before.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/common/system/process_numbers.h"

/* The first PID namespace (PROC_PID_INIT_INO, include/linux/proc_ns.h); it has no other mark. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

static long bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* return bpf_get_current_pid_tgid() >> 32; */
static int load(void)
{
	static const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(*code);
	attr.license = (uintptr_t)"GPL";
	strcpy(attr.prog_name, "global_tgid");
	return bpf(BPF_PROG_LOAD, &attr);
}

int64_t global_tgid(void)
{
	union bpf_attr attr;
	int program = load();
	int64_t answer;

	if (program < 0)
		return -errno;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = program;
	answer = bpf(BPF_PROG_TEST_RUN, &attr) ? -errno : (int64_t)attr.test.retval;
	close(program);
	return answer;
}

static bool pids_are_global(void)
{
	struct stat status;

	return !stat("/proc/self/ns/pid", &status) && status.st_ino == FIRST_PID_NAMESPACE;
}

uint32_t run_number(void)
{
	static uint32_t number;
	static pid_t asked_by;
	int64_t answer;

	if (asked_by == getpid())
		return number;
	asked_by = getpid();
	answer = pids_are_global() ? asked_by : global_tgid();
	number = answer > 0 ? answer : asked_by;
	return number;
}

/*
 * Mounts /proc anew in a private mount namespace if it is not of this PID namespace.
 *
 * `unshare --pid --fork` without --mount-proc leaves the /proc of the namespace above, where the
 * number of a child is a stranger's.
 */

/* NSpid has a number for each namespace from that of /proc down to the process's own. */
static bool proc_is_own(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	int outer, inner, numbers = 0;
	char line[256];

	while (file && !numbers && fgets(line, sizeof(line), file))
		numbers = sscanf(line, "NSpid: %d %d", &outer, &inner);
	if (file)
		fclose(file);
	return numbers == 1;
}

static int mount_own_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return -errno;
	return proc_is_own() ? 0 : -ENOENT;
}

/* After unshare --pid without --fork they are not: the first child of the shell becomes the first
 * process of the namespace for children, and when it ends the kernel kills all others. */
static bool children_are_here(void)
{
	struct stat own, theirs;

	return stat("/proc/self/ns/pid", &own) ||
	       (!stat("/proc/self/ns/pid_for_children", &theirs) && own.st_ino == theirs.st_ino);
}

int pid_namespace_settle(const char *program)
{
	int err = proc_is_own() ? 0 : mount_own_proc();

	if (err) {
		fprintf(stderr, "%s: /proc is not of this PID namespace, and mounting it is refused "
			"(%s): start it with unshare --mount-proc\n", program, strerror(-err));
		return err;
	}
	if (children_are_here())
		return 0;
	fprintf(stderr, "%s: its children would live in another PID namespace: give unshare --fork "
		"besides --pid\n", program);
	return -EINVAL;
}
