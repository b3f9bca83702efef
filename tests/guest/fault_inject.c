// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a run a reason to copy that trace_run has no switch for.
 *
 * usage: fault_inject filter|xdp|tun|checksum; waits for the two processes of a run, changes their network
 * namespaces and stays until it is killed.
 *   filter  a capture whose filter looks at one byte of payload: a reader nobody knows
 *   xdp     a program on the first device that lets every packet pass, but wants it in one piece
 *   tun     a detour through user space: what either end sends to the other goes by a tun device
 *   checksum  the same, by one that takes packets in pieces but computes no checksum
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guest/check.h"

enum { ENDS = 2, PAYLOAD_OFFSET = 200, POLL_US = 2000, PATH_BYTES = 300, PACKET_BYTES = 70000 };

static struct end {
	int space;			/* network namespace */
	int tun;
	char address[INET_ADDRSTRLEN];
} ends[ENDS];

/* Reads one byte that lies in a frag, if the packet has it, and wants no packet. */
static int begin_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, PAYLOAD_OFFSET),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = { 2, code };
	int capture = socket(AF_PACKET, SOCK_RAW, 0);
	struct sockaddr_ll all = { .sll_family = AF_PACKET,
				   .sll_protocol = __builtin_bswap16(ETH_P_ALL) };

	if (capture < 0 ||
	    setsockopt(capture, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)))
		return -1;
	return bind(capture, (struct sockaddr *)&all, sizeof(all));
}

static int first_device(void)
{
	struct if_nameindex *devices = if_nameindex();
	int index = 0;

	for (struct if_nameindex *d = devices; d && d->if_index && !index; d++)
		if (strcmp(d->if_name, "lo"))
			index = d->if_index;
	if_freenameindex(devices);
	return index;
}

static int begin_xdp(void)
{
	const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = 2,
				.insns = (uintptr_t)pass, .license = (uintptr_t)"GPL" };
	union bpf_attr link = { 0 };

	link.link_create.prog_fd = syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	link.link_create.target_ifindex = first_device();
	link.link_create.attach_type = BPF_XDP;
	link.link_create.flags = XDP_FLAGS_SKB_MODE;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link)) < 0 ? -1 : 0;
}

static int first_address(char address[INET_ADDRSTRLEN])
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return -1;
	for (struct ifaddrs *each = all; each; each = each->ifa_next)
		if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET &&
		    strcmp(each->ifa_name, "lo"))
			inet_ntop(AF_INET, &((struct sockaddr_in *)each->ifa_addr)->sin_addr, address,
				  INET_ADDRSTRLEN);
	freeifaddrs(all);
	return *address ? 0 : -1;
}

static int begin_tun(struct end *end, bool offload)
{
	struct ifreq tun = { .ifr_name = "tun0", .ifr_flags = IFF_TUN | IFF_NO_PI };

	if (offload)
		tun.ifr_flags |= IFF_VNET_HDR;
	end->tun = open("/dev/net/tun", O_RDWR);
	if (end->tun < 0 || ioctl(end->tun, TUNSETIFF, &tun) || first_address(end->address) ||
	    (offload && ioctl(end->tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)))
		return -1;
	return system("ip link set tun0 up") ? -1 : 0;
}

/* Sends what goes to the other end into the tun device. */
static int divert(const char *address)
{
	char command[PATH_BYTES];

	snprintf(command, sizeof(command), "ip route add %s/32 dev tun0", address);
	return system(command) ? -1 : 0;
}

/* Hands what one end sends to the other, for ever. */
static void relay(void)
{
	struct pollfd ready[ENDS] = { { .fd = ends[0].tun, .events = POLLIN },
				      { .fd = ends[1].tun, .events = POLLIN } };
	static char packet[PACKET_BYTES];

	while (poll(ready, ENDS, -1) > 0) {
		for (int e = 0; e < ENDS; e++) {
			ssize_t n = ready[e].revents ? read(ends[e].tun, packet, sizeof(packet)) : 0;

			/* A packet that the other end does not take is lost, as packets are. */
			if (n > 0 && write(ends[!e].tun, packet, n) != n)
				continue;
		}
	}
}

/* Opens the network namespace of process @name if it is an end of a run and has left @home. */
static int open_end(const char *name, ino_t home)
{
	char path[PATH_BYTES], comm[32] = "";
	struct stat space;
	int fd, n;

	snprintf(path, sizeof(path), "/proc/%s/comm", name);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, comm, sizeof(comm) - 1);
	close(fd);
	if (n < 0 || strcmp(comm, "workload\n"))
		return -1;
	snprintf(path, sizeof(path), "/proc/%s/ns/net", name);
	fd = open(path, O_RDONLY);
	if (fd >= 0 && (fstat(fd, &space) || space.st_ino == home)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Fills the namespaces of @ends as soon as both are where they will stay. */
static void wait_for_ends(void)
{
	struct stat home;
	int found = 0;

	if (stat("/proc/self/ns/net", &home))
		exit(1);
	while (found < ENDS) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;

		for (; found; found--)
			close(ends[found - 1].space);
		while (found < ENDS && (entry = readdir(processes))) {
			int fd = open_end(entry->d_name, home.st_ino);

			if (fd >= 0)
				ends[found++].space = fd;
		}
		closedir(processes);
		usleep(POLL_US);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	bool offload = !strcmp(how, "tun"), tun = offload || !strcmp(how, "checksum");

	wait_for_ends();
	for (int e = 0; e < ENDS; e++) {
		check(setns(ends[e].space, CLONE_NEWNET), "setns");
		check(tun ? begin_tun(&ends[e], offload) :
		      !strcmp(how, "xdp") ? begin_xdp() : begin_filter(), how);
	}
	for (int e = 0; tun && e < ENDS; e++) {
		check(setns(ends[e].space, CLONE_NEWNET), "setns");
		check(divert(ends[!e].address), "ip route");
	}
	if (tun)
		relay();
	pause();
	return 0;
}
