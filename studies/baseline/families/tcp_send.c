// SPDX-License-Identifier: GPL-2.0
/*
 * Family send: what one send on a loopback connection costs while a peer drains it: by copy, by
 * reference (MSG_ZEROCOPY, notifications read before a buffer is sent again), and what each piece
 * of a message adds. Small segments may wait for each other, as in any stream.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/bench/memory.h"
#include "studies/baseline/families/families.h"

enum { COPY, ZEROCOPY, ZEROCOPY_PIECES, WRITE_PIECES, WRITE_WHOLE };
enum { PAGE_BYTES = 4096, DEFAULT_BYTES = 4096, SMALLEST = 8, LARGEST = 1 << 20 };
enum { PIECES_MAX = 16, PIECE_BYTES = 8, BYTES_FULL_TURNS = 65536 };
/* As many buffers in flight as the workload has. */
enum { POOL_BYTES = 4 << 20, POOL_MAX = 256 };

/* One connection and the process that drains it. */
struct stream {
	struct net net;
	char *buffer;
	int fd;
	struct drain drain;
	uint64_t sent, notified;	/* zero-copy sends, and those whose notification was read */
};

static int prepare_send(struct work *w, const struct row *row)
{
	struct stream *s = w->own = malloc(sizeof(*s));

	if (!s)
		return work_fail(w, ENOMEM, "no memory");
	*s = (struct stream){ .net = NET_NONE };
	s->buffer = ram_get(POOL_BYTES);
	if (!s->buffer)
		return work_fail(w, errno, "no memory");
	if (row->which == WRITE_PIECES || row->which == WRITE_WHOLE)
		return 0;
	return net_loopback(w, &s->net);
}

static void undo_send(struct work *w)
{
	struct stream *s = w->own;

	if (!s)
		return;
	ram_free(s->buffer, POOL_BYTES);
	net_end(&s->net);
	free(s);
}

static int stream_open(struct work *w, struct stream *s, bool zerocopy)
{
	int zero = 0, one = 1;

	s->sent = s->notified = 0;
	s->fd = drain_start(w, &s->drain, &s->net);
	if (s->fd < 0)
		return s->fd;
	if (setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &zero, sizeof(zero)) ||
	    (zerocopy && setsockopt(s->fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one))))
		return work_fail(w, errno, "the kernel refuses an option of the socket");
	return 0;
}

/* Waits until all has arrived. */
static void stream_close(struct work *w, struct stream *s)
{
	w->witness[WITNESS_BYTES] = drain_wait(&s->drain, s->fd);
	w->witness[WITNESS_COMPLETIONS] = s->notified;
}

static void stream_free(struct stream *s)
{
	close(s->fd);
	drain_free(&s->drain);
}

static void read_notifications(struct stream *s)
{
	char control[128];

	for (;;) {
		struct msghdr header = { .msg_control = control, .msg_controllen = sizeof(control) };
		struct cmsghdr *part;

		if (recvmsg(s->fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		part = CMSG_FIRSTHDR(&header);
		if (part) {
			const struct sock_extended_err *e = (const void *)CMSG_DATA(part);

			s->notified += (uint32_t)(e->ee_data - e->ee_info) + 1;
		}
	}
}

static void wait_for_notifications(struct stream *s, uint64_t most_outstanding)
{
	while (s->sent - s->notified > most_outstanding) {
		struct pollfd wait = { .fd = s->fd };

		poll(&wait, 1, 100);
		read_notifications(s);
	}
}

static int send_copies(struct work *w, struct stream *s, uint64_t calls, uint64_t bytes)
{
	for (uint64_t i = 0; i < calls; i++)
		if (send(s->fd, s->buffer, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
			return work_fail(w, errno, "the connection broke");
	return 0;
}

/* @pieces of @bytes, each on pages of its own. */
static int send_references(struct work *w, struct stream *s, uint64_t calls, int pieces,
			   uint64_t bytes)
{
	uint64_t room = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	uint64_t pool = POOL_BYTES / (room * pieces);
	struct iovec piece[PIECES_MAX];
	struct msghdr header = { .msg_iov = piece, .msg_iovlen = pieces };

	pool = pool > POOL_MAX ? POOL_MAX : pool;
	for (uint64_t i = 0; i < calls; i++) {
		char *at = s->buffer + i % pool * room * pieces;
		ssize_t sent;

		for (int n = 0; n < pieces; n++)
			piece[n] = (struct iovec){ at + n * room, bytes };
		wait_for_notifications(s, pool - 1);
		while ((sent = sendmsg(s->fd, &header, MSG_NOSIGNAL | MSG_ZEROCOPY)) < 0 &&
		       errno == ENOBUFS && s->sent > s->notified)
			wait_for_notifications(s, s->sent - s->notified - 1);
		if (sent != (ssize_t)(bytes * pieces))
			return work_fail(w, errno, "a zero-copy send was refused or cut short");
		s->sent++;
	}
	wait_for_notifications(s, 0);
	return 0;
}

static int time_stream_of(struct work *w, const struct row *row, uint64_t calls, uint64_t x)
{
	struct stream *s = w->own;
	bool zerocopy = row->which != COPY;
	int err = stream_open(w, s, zerocopy);

	if (err) {
		stream_free(s);
		return err;
	}
	net_region_begin(w);
	if (!zerocopy)
		err = send_copies(w, s, calls, x);
	else if (row->which == ZEROCOPY)
		err = send_references(w, s, calls, 1, x);
	else
		err = send_references(w, s, calls, x, PIECE_BYTES);
	stream_close(w, s);
	net_region_end(w);
	stream_free(s);
	return err;
}

/* Writes to the page cache: no peer, packet or wake-up adds to the time of a piece. */
static int time_write(struct work *w, uint64_t calls, int pieces, bool whole)
{
	int fd = memfd_create("pieces", MFD_CLOEXEC), err = 0;
	struct stream *s = w->own;
	struct iovec piece[PIECES_MAX];
	ssize_t all = pieces * PIECE_BYTES;

	for (int n = 0; n < pieces; n++)
		piece[n] = (struct iovec){ s->buffer + n * PAGE_BYTES, PIECE_BYTES };
	if (fd < 0 || pwritev(fd, piece, pieces, 0) != all)
		return work_fail(w, errno, "cannot write to a file in memory");
	region_begin(w);
	if (whole)
		for (uint64_t i = 0; i < calls && !err; i++)
			err = pwrite(fd, s->buffer, all, 0) != all;
	else
		for (uint64_t i = 0; i < calls && !err; i++)
			err = pwritev(fd, piece, pieces, 0) != all;
	region_end(w);
	close(fd);
	return err ? work_fail(w, errno, "cannot write to a file in memory") : 0;
}

static int time_send(struct work *w, const struct row *row, uint64_t calls)
{
	bool write = row->which == WRITE_PIECES || row->which == WRITE_WHOLE;
	bool pieces = write || row->which == ZEROCOPY_PIECES;
	uint64_t x = w->x ? w->x : pieces ? 1 : DEFAULT_BYTES;
	int err;

	/* Large sends are fewer, so that each point of a curve takes about as long. */
	if (!pieces && x > BYTES_FULL_TURNS)
		calls = calls * BYTES_FULL_TURNS / x;
	if (write)
		err = time_write(w, calls, x, row->which == WRITE_WHOLE);
	else
		err = time_stream_of(w, row, calls, x);
	region_per_call(w, row, calls);
	return err;
}

static uint64_t sizes(const struct work *w, int i)
{
	uint64_t bytes = (uint64_t)SMALLEST << i;

	return bytes <= LARGEST ? bytes : 0;
}

static uint64_t piece_counts(const struct work *w, int i)
{
	return 1u << i <= PIECES_MAX ? 1u << i : 0;
}

#define ON_LOOPBACK                                                                         \
	{ EXACTLY, WITNESS(WITNESS_STRAYS), 0, 0, 0, "no packet takes another device" },    \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" }

#define BY_REFERENCE(bytes)                                                                 \
	{ EXACTLY, EVENT_sendmsgs, 1, 0, 0, "one sendmsg a call" },                         \
	{ EXACTLY, WITNESS(WITNESS_COMPLETIONS), 1, 0, 0, "each is notified once" },        \
	{ EXACTLY, WITNESS(WITNESS_BYTES), bytes, 0, 0, "every byte arrived" }, ON_LOOPBACK

#define INTO_MEMORY                                                                         \
	{ EXACTLY, EVENT_syscalls, 1, 0, 0, "one system call a call" },                     \
	{ EXACTLY, EVENT_block_reads, 0, 0, 0, "no disk is read" },                         \
	{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" }

static const struct row rows[] = {
	{ .name = "send-copy", .title = "send of 4096 bytes, copied, loopback", .unit = "ns",
	  .which = COPY, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one send a call" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" },
		ON_LOOPBACK } },
	{ .name = "send-zerocopy", .title = "send of 4096 bytes, MSG_ZEROCOPY, loopback",
	  .unit = "ns", .which = ZEROCOPY, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes, .x_unit = "bytes",
	  .invariants = { BY_REFERENCE(DEFAULT_BYTES) } },
	{ .name = "zerocopy-pieces", .title = "sendmsg of a piece of 8 bytes, MSG_ZEROCOPY, loopback",
	  .unit = "ns", .which = ZEROCOPY_PIECES, .extra = true, .calls = 8000,
	  .quick_calls = 2000, .counted_calls = 1009, .point = piece_counts, .x_unit = "pieces",
	  .invariants = { BY_REFERENCE(PIECE_BYTES) } },
	{ .name = "write-pieces", .title = "pwritev of a piece of 8 bytes to the page cache",
	  .unit = "ns", .which = WRITE_PIECES, .extra = true, .calls = 200000,
	  .quick_calls = 50000, .counted_calls = 10007, .point = piece_counts,
	  .x_unit = "pieces", .invariants = { INTO_MEMORY } },
	{ .name = "write-whole", .title = "pwrite of 8 bytes to the page cache",
	  .unit = "ns", .which = WRITE_WHOLE, .extra = true, .calls = 200000,
	  .quick_calls = 50000, .counted_calls = 10007, .invariants = { INTO_MEMORY } },
};

const struct family family_send = {
	.name = "send", .root = true, .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_send, .time = time_send, .undo = undo_send,
};
