// SPDX-License-Identifier: GPL-2.0
/* Applies what was requested beside the path: offloads off, MTU, lost packets, a capture. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/system/helper.h"
#include "userspace/path/parts.h"
#include "userspace/path/path.h"

enum { TC_WORDS = 40, TC_SAID_BYTES = 512 };

static bool queue_requested(const struct path_request *request)
{
	return *request->netem || *request->qdisc;
}

static void exec_tc(const char *device, const struct path_request *request, int said)
{
	const char *argv[TC_WORDS + 1] = { "tc", "qdisc", "add", "dev", device, "root", "netem" };
	char words[QDISC_BYTES], *rest = words;
	int n = *request->netem ? 7 : 6, err;

	snprintf(words, sizeof(words), "%s", *request->netem ? request->netem : request->qdisc);
	while (n < TC_WORDS && (argv[n] = strtok_r(rest, " ", &rest)))
		n++;
	dup2(said, STDOUT_FILENO);
	dup2(said, STDERR_FILENO);
	err = helper_become(argv, NULL, 0);
	dprintf(STDERR_FILENO, "cannot run tc: %s; install iproute2", strerror(-err));
	_exit(127);
}

/* 0, or -errno with the first line of the output of tc(8): -ENOENT if there is no such queue. */
static int add_queue(const char *device, const struct path_request *request, char said[TC_SAID_BYTES])
{
	int out[2], status;
	ssize_t n, used = 0;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		exec_tc(device, request, out[1]);
	close(out[1]);
	while ((n = read(out[0], said + used, TC_SAID_BYTES - 1 - used)) > 0)
		used += n;
	close(out[0]);
	said[used] = '\0';
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (strstr(said, "qdisc kind is unknown") || WEXITSTATUS(status) == 127)
		return -ENOENT;
	said[strcspn(said, "\n")] = '\0';
	return -EINVAL;
}

static int try_queue(const struct path_request *request)
{
	const char *option = *request->netem ? "netem" : "qdisc";
	char said[TC_SAID_BYTES];
	int err = add_queue("lo", request, said);

	if (err == -ENOENT)
		fprintf(stderr, "trace_run: --%s: this kernel has no sch_%.*s, or tc is missing; "
			"try --kernel 6.12\n", option,
			*request->netem ? 5 : (int)strcspn(request->qdisc, " "),
			*request->netem ? "netem" : request->qdisc);
	else if (err)
		fprintf(stderr, "trace_run: --%s '%s': tc reports: %s\n", option,
			printable(*request->netem ? request->netem : request->qdisc), printable(said));
	return err;
}

/* Prints the line of an error that has none yet; returns @err. */
static int cannot_try(int err)
{
	fprintf(stderr, "trace_run: cannot test the options of the path's devices: %s\n", strerror(-err));
	return err;
}

/* In a namespace of its own, where nothing else can be touched. */
static int try_switches(const struct path_request *request)
{
	if (unshare(CLONE_NEWNET))
		return cannot_try(-errno);
	if (path_has(request->kind, PATH_ONE_DEVICE) && device_switch_off("lo", request->no_sg, request->no_tso)) {
		fprintf(stderr, "trace_run: --no-%s: lo of this kernel cannot switch it off; use "
			"--path veth\n", request->no_sg ? "sg" : "tso");
		return -EINVAL;
	}
	return queue_requested(request) ? try_queue(request) : 0;
}

int switches_check(const struct path_request *request)
{
	int status;
	pid_t pid;

	if (!queue_requested(request) && !request->no_sg && !request->no_tso)
		return 0;
	pid = fork();
	if (pid < 0)
		return cannot_try(-errno);
	if (!pid)
		_exit(-try_switches(request));
	if (waitpid(pid, &status, 0) < 0)
		return cannot_try(-errno);
	/* If it was killed, for example by the OOM killer, it printed nothing. */
	return WIFEXITED(status) ? -WEXITSTATUS(status) : cannot_try(-EIO);
}

/* The kernel copies for a capture even if nobody reads it: nobody reads ours. */
static int open_tap(int *tap)
{
	*tap = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	return *tap < 0 ? -errno : 0;
}

static int open_taps(struct path *path, const struct path_request *request)
{
	int err = 0;

	for (int t = 0; t < TAP_COUNT && !err; t++) {
		if (!request->tap[t])
			continue;
		if (t == TAP_OTHER)
			err = unshare(CLONE_NEWNET) ? -errno : 0;
		else
			err = path_enter(path, t == TAP_TX ? END_SENDER : END_RECEIVER);
		if (!err)
			err = open_tap(&path->tap[t]);
	}
	return err;
}

/* -ECANCELED: told. */
static int refused(const char *device, const char *what, const char *advice, int err)
{
	fprintf(stderr, "trace_run: %s: device %s refuses: %s; %s\n", what, device, strerror(-err),
		advice);
	return -ECANCELED;
}

static int set_mtu(const char *device, int mtu)
{
	int err = device_set_mtu(device, mtu);
	char what[32];

	if (!err)
		return 0;
	snprintf(what, sizeof(what), "--mtu %d", mtu);
	return refused(device, what, "give one that it can have, such as 1500", err);
}

static int switch_off(const char *device, const struct path_request *request)
{
	int err = device_switch_off(device, request->no_sg, request->no_tso);

	return err ? refused(device, request->no_sg ? "--no-sg" : "--no-tso",
			     "leave it out, or use --path veth", err) : 0;
}

static int apply_to_device(const struct path_device *device, const struct path_request *request,
			   struct path_info *info)
{
	int err = setns(device->ns, CLONE_NEWNET) ? -errno : 0;

	if (!err && request->mtu)
		err = set_mtu(device->name, request->mtu);
	if (!err && device->sends)
		err = switch_off(device->name, request);
	if (!err && device->sends)
		device_read(device->name, info);
	if (!err && !info->mtu)
		info->mtu = device_mtu(device->name);
	return err;
}

int switches_apply(struct path *path, const struct path_request *request, struct path_info *info)
{
	const struct path_device *first = &path->device[0];
	char said[TC_SAID_BYTES];
	int err = 0;

	info->scatter_gather = info->tso = true;
	for (int i = 0; i < path->device_count && !err; i++)
		err = apply_to_device(&path->device[i], request, info);
	if (!err && queue_requested(request))
		err = setns(first->ns, CLONE_NEWNET) ? -errno : add_queue(first->name, request, said);
	if (!err)
		err = open_taps(path, request);
	if (path->ns[END_SENDER] >= 0)
		snprintf(info->tx_dev, sizeof(info->tx_dev), "%s", first->name);
	if (path->ns[END_RECEIVER] >= 0)
		snprintf(info->rx_dev, sizeof(info->rx_dev), "%s",
			 path->device[path->device_count - 1].name);
	snprintf(info->netem, sizeof(info->netem), "%s", request->netem);
	snprintf(info->qdisc, sizeof(info->qdisc), "%s", request->qdisc);
	memcpy(info->tap, request->tap, sizeof(info->tap));
	info->ipv6 = strchr(path->address, ':');
	return err;
}
