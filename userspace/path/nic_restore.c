// SPDX-License-Identifier: GPL-2.0
/*
 * Gives borrowed NICs back as they were, however the run ends.
 *
 * The kernel moves a NIC back when its namespace dies, but down and with the offloads and the MTU
 * of the run. And the namespace lives for minutes if a connection in it has bytes to send and no
 * way to its peer, although its process is gone. So a process of its own notes the NICs, waits
 * until the run closes a pipe, which SIGKILL does too, and moves them back itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/system/confine.h"
#include "userspace/path/parts.h"

enum { HOME_MS = 10000, STEP_MS = 5 };

static void await_device(const char *name)
{
	for (int ms = 0; ms < HOME_MS && !if_nametoindex(name); ms += STEP_MS)
		usleep(STEP_MS * 1000);
}

/* A NIC, and a socket in the namespace that it is lent to. */
struct borrowed {
	char name[IFNAMSIZ];
	struct device_state state;
	int rtnetlink;
};

static int open_rtnetlink(int ns)
{
	int fd;

	if (setns(ns, CLONE_NEWNET))
		return -errno;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	return fd < 0 ? -errno : fd;
}

/* The kernel answers when it has finished, and
 * fails if the NIC is not there: it was never moved, or is back already. */
static void bring_home(const struct borrowed *nic, int home)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
		struct rtattr name;
		char name_bytes[IFNAMSIZ];
		struct rtattr ns;
		int ns_fd;
	} move = {
		.header = { .nlmsg_len = sizeof(move), .nlmsg_type = RTM_SETLINK,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.name = { .rta_type = IFLA_IFNAME, .rta_len = RTA_LENGTH(IFNAMSIZ) },
		.ns = { .rta_type = IFLA_NET_NS_FD, .rta_len = RTA_LENGTH(sizeof(int)) },
		.ns_fd = home,
	};
	char answer[1024];

	snprintf(move.name_bytes, sizeof(move.name_bytes), "%s", nic->name);
	if (write(nic->rtnetlink, &move, sizeof(move)) == sizeof(move))
		(void)!read(nic->rtnetlink, answer, sizeof(answer));
	close(nic->rtnetlink);
}

static void restore_when_closed(int let_go, int home, struct borrowed nic[END_COUNT],
				const int ns[END_COUNT])
{
	static const int deaf[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	int keep[] = { let_go, home, -1, -1 };
	char byte;

	setsid();
	prctl(PR_SET_NAME, "nic-restore");
	for (size_t i = 0; i < sizeof(deaf) / sizeof(*deaf); i++)
		signal(deaf[i], SIG_IGN);
	for (int e = 0; e < END_COUNT; e++)
		keep[2 + e] = nic[e].rtnetlink = open_rtnetlink(ns[e]);
	/* Closes standard output and error, too: they may be a pipe whose reader waits for its
	 * end. */
	if (nic[0].rtnetlink < 0 || nic[1].rtnetlink < 0 || setns(home, CLONE_NEWNET) ||
	    confine_descriptors(keep, sizeof(keep) / sizeof(*keep)) ||
	    confine_root_but(1ull << CAP_NET_ADMIN))
		_exit(1);
	while (read(let_go, &byte, 1) < 0 && errno == EINTR)
		;
	for (int e = 0; e < END_COUNT; e++)
		bring_home(&nic[e], home);
	for (int e = 0; e < END_COUNT; e++) {
		await_device(nic[e].name);
		device_restore(nic[e].name, &nic[e].state);
	}
	_exit(0);
}

int nic_restore_start(struct path *path, char name[END_COUNT][IFNAMSIZ],
		      const int ns[END_COUNT])
{
	struct borrowed nic[END_COUNT];
	int pipe_fds[2], err = 0;

	for (int e = 0; e < END_COUNT && !err; e++) {
		memcpy(nic[e].name, name[e], IFNAMSIZ);
		err = device_save(name[e], &nic[e].state);
	}
	if (err)
		return err;
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	path->nic_restore_pid = fork();
	if (path->nic_restore_pid < 0)
		return -errno;
	if (!path->nic_restore_pid) {
		close(pipe_fds[1]);
		restore_when_closed(pipe_fds[0], path->home_ns, nic, ns);
	}
	close(pipe_fds[0]);
	path->nic_restore_pipe = pipe_fds[1];
	return 0;
}

void nic_restore_end(struct path *path)
{
	if (path->nic_restore_pid <= 0)
		return;
	close(path->nic_restore_pipe);
	waitpid(path->nic_restore_pid, NULL, 0);
}
