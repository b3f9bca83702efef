// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a run a reason to copy that trace_run has no switch for.
 *
 * usage: meddle filter|xdp; waits for the two processes of a run, meddles in their network
 * namespaces and stays until it is killed.
 *   filter  a capture whose filter looks at one byte of payload: a reader nobody knows
 *   xdp     a program on the first device that lets every packet pass, but wants it in one piece
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENDS = 2, PAYLOAD_OFFSET = 200, POLL_US = 2000, PATH_BYTES = 300 };

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

/* Fills @spaces as soon as both ends are where they will stay. */
static void wait_for_ends(int spaces[ENDS])
{
	struct stat home;
	int found = 0;

	if (stat("/proc/self/ns/net", &home))
		exit(1);
	while (found < ENDS) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;

		for (; found; found--)
			close(spaces[found - 1]);
		while (found < ENDS && (entry = readdir(processes))) {
			int fd = open_end(entry->d_name, home.st_ino);

			if (fd >= 0)
				spaces[found++] = fd;
		}
		closedir(processes);
		usleep(POLL_US);
	}
}

int main(int argc, char **argv)
{
	int (*begin)(void) = argc == 2 && !strcmp(argv[1], "xdp") ? begin_xdp : begin_filter;
	int spaces[ENDS];

	wait_for_ends(spaces);
	for (int e = 0; e < ENDS; e++) {
		if (setns(spaces[e], CLONE_NEWNET) || begin()) {
			fprintf(stderr, "meddle: %s: %s\n", argv[1], strerror(errno));
			return 1;
		}
	}
	pause();
	return 0;
}
