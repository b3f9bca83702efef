// SPDX-License-Identifier: GPL-2.0
/* Arranges network namespaces, the devices that join them, and a delay between these. */
#include "studies/baseline/bench/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/proof.h"
#include "userspace/common/clock.h"
#include "userspace/common/system/confine.h"
#include "userspace/common/system/helper.h"
#include "userspace/common/system/net_namespace.h"

/* The same name on both sides, so that one filter counts the packets of both. */
#define DEVICE "path0"

enum { QUEUE_PACKETS = 10000, BATCH_BYTES = 256, MS = 1000000 };
/* What the kernel needs to give a card back, and a card to find its link. */
enum { WAIT_US = 10000, WAITS = 1000 };

static const char *const addresses[2] = { "10.251.0.1", "10.251.0.2" };

static struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	inet_pton(AF_INET, text, &a.sin_addr);
	return a;
}

/* Up, with an address and a queue that is long enough for a burst; without ip(8). */
static int device_up(const char *device, const char *address)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	struct sockaddr_in a = address_of(address), mask = address_of("255.255.255.0");
	struct ifreq r = {};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	if (strcmp(device, "lo")) {
		r.ifr_qlen = QUEUE_PACKETS;
		err = ioctl(fd, SIOCSIFTXQLEN, &r);
		memcpy(&r.ifr_addr, &a, sizeof(a));
		err = err || ioctl(fd, SIOCSIFADDR, &r);
		memcpy(&r.ifr_netmask, &mask, sizeof(mask));
		err = err || ioctl(fd, SIOCSIFNETMASK, &r);
	}
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	err = err || ioctl(fd, SIOCSIFFLAGS, &r);
	err = err ? -errno : 0;
	close(fd);
	return err;
}

/* Writes a setting of this network namespace. Kernels that lack it need nothing. */
static void set(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

static int new_side(struct work *w, struct net *n, enum side side)
{
	int err = net_namespace_new(&n->ns[side]);

	if (err)
		return work_fail(w, -err, "cannot make a network namespace");
	err = device_up("lo", "127.0.0.1");
	if (err)
		return work_fail(w, -err, "cannot bring up the loopback device");
	/* IPv6 would send packets of its own, for routers and groups. */
	set("ipv6/conf/all/disable_ipv6", "1");
	set("ipv6/conf/default/disable_ipv6", "1");
	set("ipv4/ping_group_range", "0 2147483647");
	set("ipv4/ip_local_port_range", "1024 65535");
	return 0;
}

int net_enter(struct work *w, const struct net *n, enum side side)
{
	return setns(n->ns[side], CLONE_NEWNET) ? work_fail(w, errno, "cannot change sides") : 0;
}

int net_loopback(struct work *w, struct net *n)
{
	int err = new_side(w, n, NEAR);

	n->ns[FAR] = n->ns[NEAR];
	n->far = address_of("127.0.0.1").sin_addr;
	snprintf(w->device, sizeof(w->device), "lo");
	snprintf(w->how, sizeof(w->how), "loopback device of a private network namespace");
	return err;
}

int net_nowhere(struct work *w, struct net *n)
{
	static const char batch[] = "link add " DEVICE " mtu 65535 type veth peer name nobody\n";
	int err = new_side(w, n, NEAR);

	n->ns[FAR] = n->ns[NEAR];
	n->far = address_of(addresses[FAR]).sin_addr;
	if (!err && (net_namespace_run_ip(batch, NULL, 0) || device_up(DEVICE, addresses[NEAR])))
		err = work_fail(w, 0, "cannot make a device of its own");
	snprintf(w->device, sizeof(w->device), DEVICE);
	snprintf(w->how, sizeof(w->how), "a veth device of a private network namespace, which gets no packet");
	return err;
}

static int run_tc(const char *device, const char *delay)
{
	const char *const argv[] = { "tc", "qdisc", "add", "dev", device, "root", "netem", "delay",
				     delay, "limit", "100000", NULL };
	int status;
	pid_t pid = task_fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDERR_FILENO);
		helper_become(argv, NULL, 0);
		_exit(127);
	}
	return waitpid(pid, &status, 0) < 0 || status ? -1 : 0;
}

/* Tries on the loopback device of the near side whether the kernel has netem. */
static bool kernel_delays(void)
{
	return !run_tc("lo", "0ms");
}

static int join_by_veth(struct work *w, struct net *n)
{
	unsigned int delay_us = fault_inject_rtt_ms(w->protocol->fault, w->protocol->rtt_ms) * 1000 / 2;
	char batch[BATCH_BYTES], delay[32];
	int err;

	snprintf(delay, sizeof(delay), "%uus", delay_us);
	snprintf(batch, sizeof(batch),
		 "link add " DEVICE " type veth peer name " DEVICE " netns /proc/self/fd/%d\n",
		 n->ns[FAR]);
	err = net_enter(w, n, NEAR);
	if (!err && net_namespace_run_ip(batch, &n->ns[FAR], 1))
		err = work_fail(w, 0, "cannot make a veth pair");
	for (enum side side = NEAR; side <= FAR && !err; side++) {
		err = net_enter(w, n, side);
		if (!err && (device_up(DEVICE, addresses[side]) || run_tc(DEVICE, delay)))
			err = work_fail(w, 0, "cannot delay a veth pair by netem");
	}
	/* Else the kernel asks by ARP again within a minute, and packets are counted for no trip. */
	for (enum side side = NEAR; side <= FAR && !err; side++) {
		err = net_enter(w, n, side);
		set("ipv4/neigh/" DEVICE "/base_reachable_time_ms", "86400000");
	}
	snprintf(w->how, sizeof(w->how), "veth pair, delayed %u us each way by the kernel's netem",
		 delay_us);
	return err;
}

/* -1: there is no such device in this namespace. */
static int flags_of(const char *device)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;
	struct ifreq r = {};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	err = ioctl(fd, SIOCGIFFLAGS, &r);
	close(fd);
	return err ? -1 : (unsigned short)r.ifr_flags;
}

/* The cards of an earlier pass come back when the kernel has taken its namespaces down. */
static int find_nics(struct work *w)
{
	for (enum side side = NEAR; side <= FAR; side++) {
		const char *nic = w->protocol->nics[side];

		for (int i = 0; i < WAITS && flags_of(nic) < 0; i++)
			usleep(WAIT_US);
		if (flags_of(nic) < 0)
			return work_fail(w, 0, "there is no network card %s", nic);
		if (flags_of(nic) & IFF_UP)
			return work_fail(w, 0, "%s is up: only a card that nobody uses is taken", nic);
	}
	return 0;
}

static int nic_up(struct work *w, const char *nic, const char *address)
{
	char setting[64];

	if (device_up(nic, address))
		return work_fail(w, errno, "cannot bring up %s", nic);
	snprintf(setting, sizeof(setting), "ipv4/neigh/%s/base_reachable_time_ms", nic);
	set(setting, "86400000");
	for (int i = 0; i < WAITS && !(flags_of(nic) & IFF_RUNNING); i++)
		usleep(WAIT_US);
	return flags_of(nic) & IFF_RUNNING ? 0 : work_fail(w, 0, "%s has no link", nic);
}

/* @home is where the cards are. The kernel moves them back when the namespaces end. */
static int join_by_nics(struct work *w, struct net *n, int home)
{
	const char (*nic)[16] = w->protocol->nics;
	char batch[BATCH_BYTES];
	int err = 0;

	snprintf(batch, sizeof(batch),
		 "link set dev %s netns /proc/self/fd/%d\nlink set dev %s netns /proc/self/fd/%d\n",
		 nic[NEAR], n->ns[NEAR], nic[FAR], n->ns[FAR]);
	if (setns(home, CLONE_NEWNET) || net_namespace_run_ip(batch, n->ns, 2))
		return work_fail(w, 0, "cannot move %s and %s to a namespace each", nic[NEAR], nic[FAR]);
	for (enum side side = NEAR; side <= FAR && !err; side++) {
		err = net_enter(w, n, side);
		if (!err)
			err = nic_up(w, nic[side], addresses[side]);
	}
	snprintf(w->device, sizeof(w->device), "%s", nic[NEAR]);
	snprintf(w->how, sizeof(w->how), "network cards %s and %s in a namespace each, no delay added",
		 nic[NEAR], nic[FAR]);
	return err;
}

static int open_tun(struct work *w)
{
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct ifreq r = { .ifr_flags = IFF_TUN | IFF_NO_PI };

	snprintf(r.ifr_name, sizeof(r.ifr_name), DEVICE);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &r))
		return work_fail(w, errno, "this kernel has neither netem nor a TUN device");
	return fd;
}

enum { PACKETS = 16384, PACKET_BYTES = 2048 };

struct packet {
	uint64_t due_ns;
	int bytes;
	char data[PACKET_BYTES];
};

/* Packets on their way in one direction: first in, first out, each due later than the last. */
struct way {
	int from, to;
	unsigned int head, tail;
	struct packet *packets;
};

/* When the queue is full, packets stay in the device, which drops some as any full link does. */
static void take(struct way *way, uint64_t delay_ns)
{
	while (way->head - way->tail < PACKETS) {
		struct packet *p = &way->packets[way->head % PACKETS];

		p->bytes = read(way->from, p->data, sizeof(p->data));
		if (p->bytes <= 0)
			return;
		p->due_ns = monotonic_ns() + delay_ns;
		way->head++;
	}
}

static void deliver(struct way *way)
{
	while (way->tail != way->head) {
		struct packet *p = &way->packets[way->tail % PACKETS];

		if (p->due_ns > monotonic_ns())
			return;
		if (write(way->to, p->data, p->bytes) < 0 && errno == EAGAIN)
			return;
		way->tail++;
	}
}

static void next_due(const struct way *way, uint64_t *due_ns)
{
	const struct packet *p = &way->packets[way->tail % PACKETS];

	if (way->tail != way->head && p->due_ns < *due_ns)
		*due_ns = p->due_ns;
}

static void relay(struct way ways[2], uint64_t delay_ns)
{
	struct pollfd ready[2] = {
		{ .fd = ways[0].from, .events = POLLIN }, { .fd = ways[1].from, .events = POLLIN },
	};

	for (;;) {
		uint64_t due_ns = UINT64_MAX, now;
		struct timespec wait;

		for (int i = 0; i < 2; i++) {
			take(&ways[i], delay_ns);
			deliver(&ways[i]);
			next_due(&ways[i], &due_ns);
		}
		now = monotonic_ns();
		due_ns = due_ns == UINT64_MAX ? NS_PER_S : due_ns > now ? due_ns - now : 0;
		wait = (struct timespec){ due_ns / NS_PER_S, due_ns % NS_PER_S };
		ppoll(ready, 2, &wait, NULL);
	}
}

/*
 * For kernels that have no netem: starts a child that carries every packet from one of two TUN devices to
 * the other, @delay_ns later. It owns both descriptors. Returns its pid or -errno.
 */
static pid_t relay_start(const int tun[2], uint64_t delay_ns)
{
	struct way ways[2] = {
		{ .from = tun[0], .to = tun[1] }, { .from = tun[1], .to = tun[0] },
	};
	pid_t pid = task_fork();

	if (pid)
		return pid < 0 ? -errno : pid;
	/* Else the kernel may be 50 us late. */
	prctl(PR_SET_TIMERSLACK, 1);
	for (int i = 0; i < 2; i++) {
		ways[i].packets = calloc(PACKETS, sizeof(struct packet));
		if (!ways[i].packets)
			_exit(1);
	}
	if (!confine_descriptors(tun, 2) && !confine_for_good())
		relay(ways, delay_ns);
	_exit(1);
}

static int join_by_relay(struct work *w, struct net *n)
{
	uint64_t delay_ns = fault_inject_rtt_ms(w->protocol->fault, w->protocol->rtt_ms) * MS / 2;
	int tun[2], err = 0;

	for (enum side side = NEAR; side <= FAR && !err; side++) {
		err = net_enter(w, n, side);
		tun[side] = err ? -1 : open_tun(w);
		err = tun[side] < 0 ? tun[side] : device_up(DEVICE, addresses[side]);
	}
	if (err)
		return *w->why ? err : work_fail(w, -err, "cannot arrange the TUN devices");
	n->relay = relay_start(tun, delay_ns);
	close(tun[NEAR]);
	close(tun[FAR]);
	snprintf(w->how, sizeof(w->how), "two TUN devices and a process that carries each packet "
		 "%llu us later: this kernel has no netem", (unsigned long long)delay_ns / 1000);
	return n->relay < 0 ? work_fail(w, -n->relay, "cannot start the relay") : 0;
}

/* Both sides, with nothing between them. */
static int new_sides(struct work *w, struct net *n)
{
	int err = new_side(w, n, FAR);

	return err ? err : new_side(w, n, NEAR);
}

static int between_nics(struct work *w, struct net *n)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), err = find_nics(w);

	n->far = address_of(addresses[FAR]).sin_addr;
	if (!err)
		err = new_sides(w, n);
	if (!err)
		err = join_by_nics(w, n, home);
	close(home);
	return err ? err : net_enter(w, n, NEAR);
}

int net_remote(struct work *w, struct net *n)
{
	bool by_kernel;
	int err;

	if (*w->protocol->nics[NEAR])
		return between_nics(w, n);
	err = new_sides(w, n);
	if (err)
		return err;
	by_kernel = kernel_delays();
	/* kernel_delays() left a queue on lo. A new namespace has none. */
	if (by_kernel) {
		close(n->ns[NEAR]);
		err = new_side(w, n, NEAR);
	}
	snprintf(w->device, sizeof(w->device), DEVICE);
	n->far = address_of(addresses[FAR]).sin_addr;
	if (!err)
		err = by_kernel ? join_by_veth(w, n) : join_by_relay(w, n);
	return err ? err : net_enter(w, n, NEAR);
}

void net_end(struct net *n)
{
	if (n->relay > 0)
		task_reap(n->relay);
	close(n->ns[NEAR]);
	if (n->ns[FAR] != n->ns[NEAR])
		close(n->ns[FAR]);
}

int net_own(struct work *w, bool remote)
{
	struct net *n = w->own = malloc(sizeof(*n));

	if (!n)
		return work_fail(w, ENOMEM, "cannot make a network");
	*n = (struct net)NET_NONE;
	return remote ? net_remote(w, n) : net_loopback(w, n);
}

void net_disown(struct work *w)
{
	if (w->own)
		net_end(w->own);
	free(w->own);
}
