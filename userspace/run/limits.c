// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out before a run what a container, a user namespace or a seccomp filter refuses.
 *
 * Makes each call that the run will make, with arguments that change nothing. Names the origin of a
 * refusal in the order in which the kernel decides: the filter first, then the capability, then the
 * namespace in which the capability holds.
 */
#include "userspace/run/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/common/perf_open.h"
#include "userspace/common/system/confine.h"
#include "userspace/common/system/process_numbers.h"
#include "userspace/common/system/ring_offer.h"
#include "userspace/tables/receivers.h"
#include "userspace/tables/variants.h"

/* The first user namespace (PROC_USER_INIT_INO, include/linux/proc_ns.h). */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDu

enum { NAMES_BYTES = 160 };

/* What the run needs each for. */
static const struct {
	cap_value_t capability;
	const char *name;
	enum { ALWAYS, WITH_PROBES, WITH_CAPTURES } when;
} needed[] = {
	{ CAP_SYS_ADMIN, "SYS_ADMIN", ALWAYS },	/* network namespaces */
	{ CAP_NET_ADMIN, "NET_ADMIN", ALWAYS },	/* devices in them */
	{ CAP_SETUID, "SETUID", ALWAYS },	/* the workload becomes another user */
	{ CAP_SETGID, "SETGID", ALWAYS },
	{ CAP_SETPCAP, "SETPCAP", ALWAYS },	/* for good */
	{ CAP_KILL, "KILL", ALWAYS },		/* and the tool ends it */
	{ CAP_BPF, "BPF", WITH_PROBES },
	{ CAP_PERFMON, "PERFMON", WITH_PROBES },
	{ CAP_SYSLOG, "SYSLOG", WITH_PROBES },	/* names of the functions that copied */
	{ CAP_NET_RAW, "NET_RAW", WITH_CAPTURES },
};

static bool in_user_namespace(void)
{
	struct stat status;

	return !stat("/proc/self/ns/user", &status) && status.st_ino != FIRST_USER_NAMESPACE;
}

static bool is_filtered(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (file)
		fclose(file);
	return mode;
}

/* Writes the missing ones as "CAP_A, CAP_B" into @names; returns how many. */
static int missing(bool probes, bool captures, char names[NAMES_BYTES])
{
	const bool asked[] = { [ALWAYS] = true, [WITH_PROBES] = probes, [WITH_CAPTURES] = captures };
	cap_t caps = cap_get_proc();
	cap_flag_value_t has;
	size_t length = 0;
	int count = 0;

	*names = '\0';
	for (size_t i = 0; caps && i < sizeof(needed) / sizeof(*needed); i++) {
		if (!asked[needed[i].when] ||
		    cap_get_flag(caps, needed[i].capability, CAP_EFFECTIVE, &has) || has == CAP_SET)
			continue;
		length += snprintf(names + length, NAMES_BYTES - length, "%sCAP_%s",
				   count++ ? ", " : "", needed[i].name);
	}
	cap_free(caps);
	return count;
}

static int check_capabilities(bool probes, bool captures)
{
	char names[NAMES_BYTES];

	if (!missing(probes, captures, names))
		return 0;
	fprintf(stderr, "trace_run: this root lacks %s: give the container --cap-add for each, or "
		"--privileged\n", names);
	return -EPERM;
}

/* Explains why @call failed with @err, although the process has every capability that it needs. */
static int tell_refused(const char *call, int err)
{
	if (in_user_namespace())
		fprintf(stderr, "trace_run: the kernel refuses %s in a user namespace (%s): run it as "
			"root outside of it, or without probes (--no-probes)\n", call, strerror(-err));
	else if (is_filtered())
		fprintf(stderr, "trace_run: %s is refused (%s), as by the seccomp filter of a container: "
			"start it with --security-opt seccomp=unconfined or --privileged\n", call,
			strerror(-err));
	else
		fprintf(stderr, "trace_run: the kernel refuses %s (%s): look for lockdown or a security "
			"module that forbids it, or use --kernel 6.12\n", call, strerror(-err));
	return err;
}

static int ask_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .size = sizeof(attr),
		.disabled = 1,
	};
	int fd = perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -errno;
}

/* Leaves no namespace, and enters the one that it is in. */
static int check_namespaces(void)
{
	int home, err;

	if (unshare(0))
		return tell_refused("unshare()", -errno);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	err = home < 0 || setns(home, CLONE_NEWNET) ? -errno : 0;
	if (home >= 0)
		close(home);
	if (!err || !in_user_namespace())
		return err ? tell_refused("setns()", err) : 0;
	fprintf(stderr, "trace_run: in this user namespace the run cannot return to its network "
		"namespace (%s): give it one of its own (unshare --net)\n", strerror(-err));
	return err;
}

/* Only a user namespace may lack other users, and may forbid to drop groups. */
static int check_other_user(void)
{
	int status = 0;
	pid_t pid;

	if (!in_user_namespace())
		return 0;
	pid = fork();
	if (!pid)
		_exit(-confine_for_good());
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	if (!status)
		return 0;
	fprintf(stderr, "trace_run: in this user namespace the workload cannot become another user (%s): map "
		"a range of users (unshare --map-auto) or run it outside\n",
		strerror(WEXITSTATUS(status)));
	return -EPERM;
}

int permits_look(void)
{
	if (geteuid()) {
		fprintf(stderr, "trace_run: needs root to attach probes: run it with sudo\n");
		return -EPERM;
	}
	if (pid_namespace_settle("trace_run"))
		return -EPERM;
	if (access("/sys/kernel", F_OK)) {
		fprintf(stderr, "trace_run: /sys is not mounted: mount -t sysfs sysfs /sys\n");
		return -ENOENT;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr, "trace_run: this kernel has no BTF (/sys/kernel/btf/vmlinux): boot one "
			"with CONFIG_DEBUG_INFO_BTF, or use --kernel 6.12\n");
		return -ENOENT;
	}
	return 0;
}

static int check_probes(void)
{
	int err = global_tgid();

	if (err < 0)
		return tell_refused("bpf()", err);
	err = ask_perf();
	if (err == -EPERM || err == -EACCES || (err == -ENOSYS && is_filtered()))
		return tell_refused("perf_event_open()", err);
	/* Without such events at all, the record has the reason. */
	return 0;
}

int permits_check(bool probes, bool captures)
{
	int err = check_capabilities(probes, captures);

	/* First what nobody can grant in a user namespace. */
	if (!err && probes)
		err = check_probes();
	if (!err)
		err = check_namespaces();
	return err ? err : check_other_user();
}

/* What the ends of a run need of io_uring. */

static bool lacks(const struct ring_offer *offer, const char *what, const char *name, bool newer)
{
	const char *missing = ring_offer_lacks(offer, newer);

	if (missing)
		fprintf(stderr, "trace_run: %s %s needs %s\n", what, name, missing);
	return missing;
}

/* As the user that the workload will be: the kernel may refuse a ring to all but root. */
static int ask_for_rings(const struct workload_plan *plan)
{
	struct ring_offer offer;

	/* What keeps it root here is told by others. */
	if (confine_for_good())
		return 0;
	offer = ring_offer_ask();
	if (variant_has(plan->variant, VARIANT_RING) &&
	    lacks(&offer, "variant", plan->variant, plan_notified_by_ring(plan)))
		return 1;
	return receiver_has(plan->receiver, RECEIVER_RING) &&
	       lacks(&offer, "receiver", plan->receiver, receiver_has(plan->receiver, RECEIVER_MULTISHOT));
}

static int check_rings(const struct workload_plan *plan)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int status = 0;
	pid_t pid;

	if (!plan_has_rings(plan))
		return 0;
	/* A container may not let it: the workload says so if its memory is too much. */
	if (variant_has(plan->variant, VARIANT_REGISTERED))
		setrlimit(RLIMIT_MEMLOCK, &all);
	pid = fork();
	if (!pid)
		_exit(ask_for_rings(plan));
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status ? -1 : 0;
}

/* Compares a plan with the limits of descriptors, processes and threads of the tool. */

enum {
	/* Programs, maps, links and counters of the backend with the most hooks, and some more. */
	TOOL_DESCRIPTORS = 256,
	/* Of an end, beside one for each connection: the listener, pipes, stdio. */
	END_DESCRIPTORS = 16,
	/* Beside the threads of both ends: the tool, its tries and helpers, each end's first thread. */
	OTHER_TASKS = 8,
};

static int check_descriptors(uint64_t connections)
{
	uint64_t need = connections + END_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (need < TOOL_DESCRIPTORS)
		need = TOOL_DESCRIPTORS;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= need)
		return 0;
	fprintf(stderr, "trace_run: the run needs %" PRIu64 " descriptors in one process, and the hard "
		"limit is %" PRIu64 ": raise it (ulimit -Hn %" PRIu64 ")%s\n", need,
		(uint64_t)limit.rlim_max, need,
		need > TOOL_DESCRIPTORS ? " or take fewer connections" : "");
	return -1;
}

/* UINT64_MAX for "max" and for a missing file. */
static uint64_t group_limit(const char *folder, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return number_in_file(path, UINT64_MAX);
}

/* How many more tasks the control group of this line of /proc/self/cgroup and those above it
 * allow. */
static uint64_t tasks_left(char *line)
{
	uint64_t left = UINT64_MAX;
	char folder[PATH_MAX], *controller = strchr(line, ':'), *at;
	size_t root;

	at = controller ? strchr(controller + 1, ':') : NULL;
	if (!at)
		return left;
	*at++ = '\0';
	at[strcspn(at, "\n")] = '\0';
	/* Version 2 has no controller in its line; version 1 one hierarchy for tasks. */
	if (controller[1] && strcmp(controller + 1, "pids"))
		return left;
	root = snprintf(folder, sizeof(folder), "/sys/fs/cgroup%s", controller[1] ? "/pids" : "");
	if (root + strlen(at) >= sizeof(folder))
		return left;
	strcpy(folder + root, at);
	for (;;) {
		uint64_t most = group_limit(folder, "pids.max");
		uint64_t now = group_limit(folder, "pids.current");
		char *end = strrchr(folder + root, '/');

		if (most != UINT64_MAX && now != UINT64_MAX && (most < now ? 0 : most - now) < left)
			left = most < now ? 0 : most - now;
		if (!end)
			return left;
		*end = '\0';
	}
}

static int check_tasks(uint64_t need)
{
	char line[PATH_MAX + 64];
	uint64_t left = UINT64_MAX;
	struct rlimit limit;
	FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, sizeof(line), file)) {
		uint64_t of_one = tasks_left(line);

		left = of_one < left ? of_one : left;
	}
	if (file)
		fclose(file);
	if (left < need) {
		fprintf(stderr, "trace_run: the run needs %" PRIu64 " processes and threads, and its control "
			"group takes %" PRIu64 " more: raise pids.max or take fewer connections\n",
			need, left);
		return -1;
	}
	/* The ends run as nobody, and the limit holds for nobody, unlike root. */
	if (!getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur < need) {
		fprintf(stderr, "trace_run: the run needs %" PRIu64 " processes and threads, and the limit is "
			"%" PRIu64 ": raise it (ulimit -u %" PRIu64 ") or take fewer connections\n",
			need, (uint64_t)limit.rlim_cur, need);
		return -1;
	}
	return 0;
}

/* A socket that is not connected gets no TLS: ENOTCONN, but of a kernel that has none, also after it was asked to load
 * its module, ENOENT. */
static int check_tls(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	err = fd < 0 || !setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) ? 0 : errno;
	if (fd >= 0)
		close(fd);
	if (!err || err == ENOTCONN)
		return 0;
	fprintf(stderr, "trace_run: this kernel has no kernel TLS (its module tls): use --kernel 6.12\n");
	return -1;
}

int room_check(const struct workload_plan *plan)
{
	uint64_t sockets = plan->threads, senders = sockets * (plan->senders ? plan->senders : 1);
	uint64_t receivers = sockets * (plan->readers ? plan->readers : 1);
	uint64_t tasks = senders + receivers + OTHER_TASKS;

	if (plan_has_tls(plan) && check_tls())
		return -1;
	/* A thread of the kernel's for each sender counts as the sender's. */
	if (variant_has(plan->variant, VARIANT_POLLED))
		tasks += senders;
	return check_descriptors(plan_has_rings(plan) ? 2 * sockets : sockets) || check_tasks(tasks) || check_rings(plan) ? -1 : 0;
}
