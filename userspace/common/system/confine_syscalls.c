// SPDX-License-Identifier: GPL-2.0
/* The system calls that a process may make from now on: a list for each role. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/common/system/confine.h"

/* The last of a list. No system call has this number. */
enum { END = -1 };

/* What isatty() asks since glibc 2.42. */
#define TCGETS2_NUMBER 0x802c542a

/* A call that is allowed if these bits of one argument have this value. */
struct narrow {
	int call;
	unsigned int argument;
	uint64_t bits, value;
};

enum { ALL_OF_INT = 0xffffffffu };

/* malloc, stdio, waits, threads and exit of glibc; signals, also for a process that was stopped and continued. */
static const int every[] = {
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(brk), SCMP_SYS(munmap),
	SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(fstat), SCMP_SYS(lseek),
	SCMP_SYS(getrandom), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(gettid),
	SCMP_SYS(getpid), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep), SCMP_SYS(rseq), SCMP_SYS(set_robust_list),
	SCMP_SYS(sched_getaffinity), END,
};

static const struct narrow every_narrow[] = {
	/* No memory may become executable. */
	{ SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
	/* fstat() of glibc before 2.39. */
	{ SCMP_SYS(newfstatat), 3, AT_EMPTY_PATH, AT_EMPTY_PATH },
	/* malloc names its memory if GLIBC_TUNABLES says so (glibc.mem.decorate_maps, since 2.39). */
	{ SCMP_SYS(prctl), 0, ALL_OF_INT, PR_SET_VMA },
	/* isatty() */
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, TCGETS },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, TCGETS2_NUMBER },
	/* A thread. clone3 has its flags where no filter can look: see below. */
	{ SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD },
	{ .call = END },
};

static const int measures[] = {
	SCMP_SYS(wait4), SCMP_SYS(kill), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(ftruncate),
	SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(geteuid), END,
};

static const struct narrow measures_narrow[] = {
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_MAP_LOOKUP_ELEM },
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_MAP_GET_NEXT_KEY },
	/* libbpf removes the entry of a USDT probe. */
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_MAP_DELETE_ELEM },
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_OBJ_GET_INFO_BY_FD },
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_ITER_CREATE },
	/* All of a table at once: entries may go while it is read. */
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_MAP_LOOKUP_BATCH },
	/* A watch attaches more of its programs when they are needed. */
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_LINK_CREATE },
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_RAW_TRACEPOINT_OPEN },
	/* Runs a program that names addresses (bpf/symbols.bpf.c). */
	{ SCMP_SYS(bpf), 0, ALL_OF_INT, BPF_PROG_TEST_RUN },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, PERF_EVENT_IOC_ENABLE },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, PERF_EVENT_IOC_DISABLE },
	/* libelf asks whether what it is to read is open. */
	{ SCMP_SYS(fcntl), 1, ALL_OF_INT, F_GETFD },
	{ .call = END },
};

static const int transfers[] = {
	SCMP_SYS(sendto), SCMP_SYS(recvfrom), SCMP_SYS(sendmsg), SCMP_SYS(recvmsg),
	SCMP_SYS(getsockopt), SCMP_SYS(setsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
	SCMP_SYS(shutdown), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
	SCMP_SYS(connect),
	/* Pages of a file or a pipe. */
	SCMP_SYS(sendfile), SCMP_SYS(splice), SCMP_SYS(vmsplice), SCMP_SYS(pipe2), SCMP_SYS(memfd_create),
	SCMP_SYS(ftruncate), SCMP_SYS(pread64),
	/* A thread that is to stay on a processor. */
	SCMP_SYS(sched_setaffinity),
	/* A client whose connections are processes. */
	SCMP_SYS(wait4), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(getppid), END,
};

static const struct narrow transfers_narrow[] = {
	{ SCMP_SYS(fcntl), 1, ALL_OF_INT, F_SETPIPE_SZ },
	{ SCMP_SYS(socket), 0, ALL_OF_INT, AF_INET },
	{ SCMP_SYS(socket), 0, ALL_OF_INT, AF_INET6 },
	/* getnameinfo() reads the device of a link-local address with it. */
	{ SCMP_SYS(socket), 0, ALL_OF_INT, AF_UNIX },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, SIOCGIFNAME },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, SIOCGIFINDEX },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, SIOCOUTQ },
	{ SCMP_SYS(ioctl), 1, ALL_OF_INT, SIOCINQ },
	/* getrlimit(): the workload reads the limit that stopped a send. */
	{ SCMP_SYS(prlimit64), 2, UINT64_MAX, 0 },
	/* fork() of glibc: a process that shares nothing but descriptors and names nothing of its own. */
	{ SCMP_SYS(clone), 0, ~(uint64_t)(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID), SIGCHLD },
	{ SCMP_SYS(prctl), 0, ALL_OF_INT, PR_SET_PDEATHSIG },
	{ .call = END },
};

static const int rings[] = {
	SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_register), END,
};

static const int none[] = { END };

static const struct {
	const int *list, *more;
	const struct narrow *narrow;
} roles[CONFINE_ROLES] = {
	[CONFINE_MEASURE] = { measures, none, measures_narrow },
	[CONFINE_WORKLOAD] = { transfers, none, transfers_narrow },
	[CONFINE_RINGS] = { rings, transfers, transfers_narrow },
};

/* -EDOM: this architecture has no such call, as arm64 has no poll. */
static int add(scmp_filter_ctx filter, uint32_t action, int call, unsigned int count,
	       struct scmp_arg_cmp compare)
{
	int err = seccomp_rule_add(filter, action, call, count, compare);

	return err == -EDOM ? 0 : err;
}

static int add_list(scmp_filter_ctx filter, const int *list)
{
	int err = 0;

	for (; *list != END && !err; list++)
		err = add(filter, SCMP_ACT_ALLOW, *list, 0, (struct scmp_arg_cmp){});
	return err;
}

static int add_narrow(scmp_filter_ctx filter, const struct narrow *list)
{
	int err = 0;

	for (; list->call != END && !err; list++)
		err = add(filter, SCMP_ACT_ALLOW, list->call, 1,
			  SCMP_CMP64(list->argument, SCMP_CMP_MASKED_EQ, list->bits, list->value));
	return err;
}

/* Calls that fail with an error instead, because glibc has another way. */
static int add_refusals(scmp_filter_ctx filter)
{
	int err = add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 1,
		      SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT, O_RDONLY));

	/* libdw asks what the file that it reads is called. */
	if (!err)
		err = add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(readlink), 0, (struct scmp_arg_cmp){});
	if (!err)
		err = add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(readlinkat), 0, (struct scmp_arg_cmp){});
	return err ? err : add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0,
			       (struct scmp_arg_cmp){});
}

/* What a role calls most stands first: before 5.11 a filter is run for each call. */
static int add_role(scmp_filter_ctx filter, enum confine_role role)
{
	int err = add_refusals(filter);

	if (!err)
		err = add_list(filter, roles[role].list);
	if (!err)
		err = add_list(filter, roles[role].more);
	if (!err)
		err = add_list(filter, every);
	if (!err)
		err = add_narrow(filter, every_narrow);
	if (!err)
		err = add_narrow(filter, roles[role].narrow);
	/* abort() may signal its own process, and no other. */
	return err ? err : add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
			       SCMP_CMP64(0, SCMP_CMP_EQ, getpid()));
}

/* The sanitizer makes many calls, and others in each version: with it only execve is forbidden. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

static int forbid_execve(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp always = {};
	int err = add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(execve), 0, always);

	return err ? err : add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(execveat), 0, always);
}

/* Loads the filter, unless @err is set already, and releases it. */
static int load(scmp_filter_ctx filter, int err)
{
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* Up to 5.15 a filter would also slow the processor's stores, and change the times
	 * measured. */
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	/* Costs a few comparisons a call on kernels that do not cache the answer (before 5.11). */
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int confine_syscalls(enum confine_role role)
{
	scmp_filter_ctx filter = seccomp_init(SANITIZED ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS);

	if (!filter)
		return -ENOMEM;
	return load(filter, SANITIZED ? forbid_execve(filter) : add_role(filter, role));
}
