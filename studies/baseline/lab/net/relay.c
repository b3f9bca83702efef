// SPDX-License-Identifier: GPL-2.0
/* Keeps packets in two queues until they are due. */
#include "studies/baseline/lab/net/relay.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "studies/baseline/bench/task.h"
#include "userspace/common/clock.h"
#include "userspace/common/confine/confine.h"

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

pid_t relay_start(const int tun[2], uint64_t delay_ns)
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
	if (!confine_descriptors(tun, 2) && !confine_for_good() && !confine_syscalls(CONFINE_RELAY))
		relay(ways, delay_ns);
	_exit(1);
}
