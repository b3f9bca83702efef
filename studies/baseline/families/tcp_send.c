// SPDX-License-Identifier: GPL-2.0
/*
 * Family send: what one send on a loopback connection costs while a peer drains it: by copy, by
 * reference (MSG_ZEROCOPY, notifications read before a buffer is sent again), by io_uring, and what each piece
 * of a message adds. Small segments may wait for each other, as in any stream.
 *
 * Rows of processor time have the task clock of both ends, which other programs do not lengthen. Of those
 * that stay in the queue of their socket, nothing is copied behind it, as where a device takes pages: a
 * connection under repair (TCP_REPAIR) has nobody at its other end, queues what it is given as any other
 * does, sends none of it, and frees it when it is dropped (tcp_disconnect() in net/ipv4/tcp.c).
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/sockios.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/bench/memory.h"
#include "studies/baseline/families/families.h"
#include "userspace/common/system/ring_offer.h"

enum {
	COPY, ZEROCOPY, ZEROCOPY_PIECES, WRITE_PIECES, WRITE_WHOLE,
	CPU_COPY, CPU_REFERENCE, CPU_FILE, CPU_READ, CPU_RING, CPU_RING_REFERENCE,
	TURN_COPY, TURN_REFERENCE, TURN_FILE, TURN_RING, TURN_RING_REFERENCE,
	AWAY_COPY, AWAY_COLD, AWAY_REFERENCE, AWAY_FILE, AWAY_RING, AWAY_RING_REFERENCE,
	ALONE_COPY, ALONE_REFERENCE, ALONE_RING_REFERENCE,
};
enum { PAGE_BYTES = 4096, DEFAULT_BYTES = 4096, SMALLEST = 8, LARGEST = 1 << 20 };
enum { PIECES_MAX = 16, PIECE_BYTES = 8, BYTES_FULL_TURNS = 65536 };
/* As many buffers in flight as the workload has. */
enum { POOL_BYTES = 4 << 20, POOL_MAX = 256 };
/*
 * Sends that are in the queue together, and are freed and notified together: a packet of them at most, as one
 * acknowledgement covers. More would ask for memory that nobody has just freed.
 */
enum { AWAY_BATCH = 16, AWAY_BATCH_BYTES = 65536, AWAY_QUEUE_BYTES = 1 << 20, DISCARD_PORT = 9 };
/* One request at a time, as the workload makes them; notifications come later. */
enum { RING_ENTRIES = 4, RING_COMPLETIONS = 2 * POOL_MAX };

/* One connection and the process that drains it. */
struct stream {
	struct net net;
	char *buffer;
	int fd;
	struct drain drain;
	uint64_t sent, notified;	/* zero-copy sends, and those whose notification was read */
	bool turns;			/* each send has an answer that is awaited */
	bool queued;			/* nothing is notified before the connection is dropped */
	uint64_t copied;		/* of these, where it says that bytes were copied after all */
	int file;			/* what sendfile() sends, or is read before a send; -1: nothing */
	struct io_uring ring;
};

static bool is_away(const struct row *row)
{
	return row->which >= AWAY_COPY;
}

static bool in_turns(const struct row *row)
{
	return row->which >= TURN_COPY && row->which <= TURN_RING_REFERENCE;
}

static bool of_file(const struct row *row)
{
	return row->which == CPU_FILE || row->which == TURN_FILE || row->which == AWAY_FILE;
}

static bool by_ring(const struct row *row)
{
	return row->which == CPU_RING || row->which == CPU_RING_REFERENCE || row->which == TURN_RING ||
	       row->which == TURN_RING_REFERENCE || row->which == AWAY_RING ||
	       row->which == AWAY_RING_REFERENCE || row->which == ALONE_RING_REFERENCE;
}

static bool by_reference(const struct row *row)
{
	return row->which == ZEROCOPY || row->which == ZEROCOPY_PIECES ||
	       row->which == CPU_REFERENCE || row->which == TURN_REFERENCE ||
	       row->which == CPU_RING_REFERENCE || row->which == TURN_RING_REFERENCE ||
	       row->which == AWAY_REFERENCE || row->which == AWAY_RING_REFERENCE ||
	       row->which == ALONE_REFERENCE || row->which == ALONE_RING_REFERENCE;
}

/* As programs have it: pages that lie together are referenced for less. */
static char *small_pages(void)
{
	char *at = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, POOL_BYTES, MADV_NOHUGEPAGE);
	memset(at, 1, POOL_BYTES);
	return at;
}

static int prepare_send(struct work *w, const struct row *row)
{
	struct stream *s = w->own = malloc(sizeof(*s));

	if (!s)
		return work_fail(w, ENOMEM, "no memory");
	*s = (struct stream){ .net = NET_NONE, .file = -1 };
	s->buffer = row->which >= CPU_COPY ? small_pages() : ram_get(POOL_BYTES);
	if (!s->buffer)
		return work_fail(w, errno, "no memory");
	if (row->which == WRITE_PIECES || row->which == WRITE_WHOLE)
		return 0;
	if (of_file(row) || row->which == CPU_READ) {
		s->file = memfd_create("sent", MFD_CLOEXEC);
		if (s->file < 0 || write(s->file, s->buffer, POOL_BYTES) != POOL_BYTES)
			return work_fail(w, errno, "cannot write to a file in memory");
	}
	return is_away(row) ? net_nowhere(w, &s->net) : net_loopback(w, &s->net);
}

static void undo_send(struct work *w)
{
	struct stream *s = w->own;

	if (!s)
		return;
	ram_free(s->buffer, POOL_BYTES);
	net_end(&s->net);
	close(s->file);
	free(s);
}

static int stream_open(struct work *w, struct stream *s, bool zerocopy, uint64_t turn_bytes)
{
	int zero = 0, one = 1;

	s->turns = turn_bytes;

	s->sent = s->notified = s->copied = 0;
	s->fd = drain_start(w, &s->drain, &s->net, turn_bytes);
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
			if (e->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
				s->copied += (uint32_t)(e->ee_data - e->ee_info) + 1;
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

static bool answered(const struct stream *s)
{
	char answer;

	return !s->turns || recv(s->fd, &answer, 1, 0) == 1;
}

static int send_copies(struct work *w, struct stream *s, uint64_t calls, uint64_t bytes)
{
	for (uint64_t i = 0; i < calls; i++)
		if (send(s->fd, s->buffer, bytes, MSG_NOSIGNAL) != (ssize_t)bytes || !answered(s))
			return work_fail(w, errno, "the connection broke");
	return 0;
}

/* Each from other memory, so that the nearest caches have none of it. */
static int send_cold_copies(struct work *w, struct stream *s, uint64_t calls, uint64_t bytes)
{
	uint64_t pool = POOL_BYTES / bytes;

	for (uint64_t i = 0; i < calls; i++)
		if (send(s->fd, s->buffer + i % pool * bytes, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
			return work_fail(w, errno, "the connection broke");
	return 0;
}

/* As a file server without sendfile(): each piece is read into the same memory. */
static int send_read(struct work *w, struct stream *s, uint64_t calls, uint64_t bytes)
{
	uint64_t pool = POOL_BYTES / bytes;

	for (uint64_t i = 0; i < calls; i++) {
		if (pread(s->file, s->buffer, bytes, i % pool * bytes) != (ssize_t)bytes)
			return work_fail(w, errno, "cannot read a file in memory");
		if (send(s->fd, s->buffer, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
			return work_fail(w, errno, "the connection broke");
	}
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
		       errno == ENOBUFS && s->sent > s->notified && !s->queued)
			wait_for_notifications(s, s->sent - s->notified - 1);
		if (sent != (ssize_t)(bytes * pieces))
			return work_fail(w, errno, "a zero-copy send was refused or cut short");
		s->sent++;
		if (!answered(s))
			return work_fail(w, errno, "the connection broke");
	}
	return 0;
}

static int ring_open(struct work *w, struct stream *s)
{
	struct io_uring_params wanted = { .flags = IORING_SETUP_CQSIZE, .cq_entries = RING_COMPLETIONS };
	struct ring_offer offer = ring_offer_ask();
	const char *lacks = ring_offer_lacks(&offer, true);
	int err = lacks ? -ENOSYS : io_uring_queue_init_params(RING_ENTRIES, &s->ring, &wanted);

	return err ? work_fail(w, -err, "%s", lacks ? lacks : "the kernel refuses a ring of io_uring") : 0;
}

/* Takes one completion: a notification, or a result. Not 0: what was asked for failed. */
static int ring_take(struct stream *s, int *result, bool *ended)
{
	struct io_uring_cqe *cqe;
	int err = io_uring_wait_cqe(&s->ring, &cqe);

	if (err)
		return err == -EINTR ? 0 : err;
	if (cqe->flags & IORING_CQE_F_NOTIF) {
		s->notified++;
		s->copied += !!((uint32_t)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED);
	} else {
		s->sent += !!(cqe->flags & IORING_CQE_F_MORE);
		*result = cqe->res;
		*ended = true;
	}
	io_uring_cqe_seen(&s->ring, cqe);
	return 0;
}

/* One send, to its result; no more than so many before it wait for their notification. */
static int ring_send_one(struct stream *s, const char *from, uint64_t bytes, bool reference, uint64_t most_outstanding)
{
	struct io_uring_sqe *sqe;
	bool ended = false;
	int result = 0, err = 0;

	while (s->sent - s->notified > most_outstanding && !err)
		err = ring_take(s, &result, &ended);
	sqe = err ? NULL : io_uring_get_sqe(&s->ring);
	if (!sqe)
		return -EIO;
	if (reference)
		io_uring_prep_send_zc(sqe, s->fd, from, bytes, MSG_NOSIGNAL | MSG_WAITALL, IORING_SEND_ZC_REPORT_USAGE);
	else
		io_uring_prep_send(sqe, s->fd, from, bytes, MSG_NOSIGNAL | MSG_WAITALL);
	err = io_uring_submit_and_wait(&s->ring, 1) < 0 ? -EIO : 0;
	for (ended = false; !ended && !err;)
		err = ring_take(s, &result, &ended);
	return err ? err : result == (int)bytes ? 0 : result < 0 ? result : -EIO;
}

static int send_by_ring(struct work *w, struct stream *s, uint64_t calls, uint64_t bytes, bool reference)
{
	uint64_t room = reference ? (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES : 0;
	uint64_t pool = reference ? POOL_BYTES / room : 1;
	int err = 0;

	pool = pool > POOL_MAX ? POOL_MAX : pool;
	for (uint64_t i = 0; i < calls && !err; i++) {
		err = ring_send_one(s, s->buffer + i % pool * room, bytes, reference, pool - 1);
		if (!err && !answered(s))
			err = -errno;
	}
	return err ? work_fail(w, -err, "a send by io_uring failed or was cut short") : 0;
}

/* Waits until all that was sent by reference is notified. */
static int settle(struct work *w, struct stream *s, const struct row *row)
{
	int err = 0, result;
	bool ended;

	if (!by_ring(row))
		wait_for_notifications(s, 0);
	while (s->sent > s->notified && !err)
		err = ring_take(s, &result, &ended);
	return err ? work_fail(w, -err, "a notification by io_uring did not come") : 0;
}

static int send_file(struct work *w, struct stream *s, uint64_t calls, uint64_t bytes)
{
	for (uint64_t i = 0; i < calls; i++) {
		off_t at = 0;

		/* The pipe within the kernel has 16 pages: a larger call is cut on some kernels. */
		while (at < (off_t)bytes)
			if (sendfile(s->fd, s->file, &at, bytes - at) <= 0)
				return work_fail(w, errno, "the connection broke");
		if (!answered(s))
			return work_fail(w, errno, "the connection broke");
	}
	return 0;
}

static int send_all(struct work *w, struct stream *s, const struct row *row, uint64_t calls, uint64_t x)
{
	if (of_file(row))
		return send_file(w, s, calls, x);
	if (row->which == CPU_READ)
		return send_read(w, s, calls, x);
	if (by_ring(row))
		return send_by_ring(w, s, calls, x, by_reference(row));
	if (row->which == AWAY_COLD)
		return send_cold_copies(w, s, calls, x);
	if (!by_reference(row))
		return send_copies(w, s, calls, x);
	if (row->which == ZEROCOPY_PIECES)
		return send_references(w, s, calls, x, PIECE_BYTES);
	return send_references(w, s, calls, 1, x);
}

static int time_stream_of(struct work *w, const struct row *row, uint64_t calls, uint64_t x)
{
	struct stream *s = w->own;
	bool zerocopy = by_reference(row);
	int err = stream_open(w, s, zerocopy, in_turns(row) ? x : 0);

	if (!err && by_ring(row))
		err = ring_open(w, s);
	if (err) {
		stream_free(s);
		return err;
	}
	net_region_begin(w);
	err = send_all(w, s, row, calls, x);
	if (!err)
		err = settle(w, s, row);
	stream_close(w, s);
	net_region_end(w);
	if (by_ring(row))
		io_uring_queue_exit(&s->ring);
	stream_free(s);
	return err;
}

/* A connection to nobody: under repair the kernel makes it without asking the other end. */
static int away_open(struct work *w, struct stream *s, bool zerocopy)
{
	int on = 1, off = 0, room = AWAY_QUEUE_BYTES;

	*s = (struct stream){ .net = s->net, .buffer = s->buffer, .file = s->file, .queued = true };
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || setsockopt(s->fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) ||
	    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off)) ||
	    setsockopt(s->fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) ||
	    (zerocopy && setsockopt(s->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on))))
		return work_fail(w, errno, "cannot put a connection under repair");
	return 0;
}

/* Fills its queue, and drops the connection with all that is in it. */
static int away_batch(struct work *w, struct stream *s, const struct row *row, uint64_t calls, uint64_t x)
{
	struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(DISCARD_PORT), .sin_addr = s->net.far };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int queue = TCP_SEND_QUEUE, err, failed, queued_bytes;
	socklen_t size = sizeof(failed);

	if (connect(s->fd, (struct sockaddr *)&nobody, sizeof(nobody)) ||
	    setsockopt(s->fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof(queue)))
		return work_fail(w, errno, "cannot connect under repair");
	err = send_all(w, s, row, calls, x);
	if (!err && ioctl(s->fd, SIOCOUTQ, &queued_bytes))
		err = work_fail(w, errno, "cannot ask what is queued");
	if (!err)
		w->witness[WITNESS_QUEUED_BYTES] += queued_bytes;
	/* What it is dropped with is an error of the socket, which is read to connect it again. */
	if (!err && (connect(s->fd, &none, sizeof(none)) ||
		     getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &failed, &size)))
		err = work_fail(w, errno, "cannot drop a connection under repair");
	return err ? err : settle(w, s, row);
}

static int time_away(struct work *w, const struct row *row, uint64_t calls, uint64_t x)
{
	struct stream *s = w->own;
	uint64_t batch = row->which >= ALONE_COPY ? 1 : AWAY_BATCH;
	uint64_t most = AWAY_BATCH_BYTES / x < batch ? AWAY_BATCH_BYTES / x : batch;
	int err = away_open(w, s, by_reference(row));

	if (!err && by_ring(row))
		err = ring_open(w, s);
	if (err) {
		close(s->fd);
		return err;
	}
	w->witness[WITNESS_QUEUED_BYTES] = 0;
	net_region_begin(w);
	for (uint64_t done = 0; done < calls && !err; done += most)
		err = away_batch(w, s, row, calls - done < most ? calls - done : most, x);
	net_region_end(w);
	w->witness[WITNESS_COMPLETIONS] = s->notified - s->copied;
	if (by_ring(row))
		io_uring_queue_exit(&s->ring);
	close(s->fd);
	return err;
}

/* The same, by the processor's time of this task and of its child. */
static int time_cpu(struct work *w, const struct row *row, uint64_t calls, uint64_t x)
{
	uint64_t before, ns;
	int fd = task_clock_open(), err;

	if (fd < 0)
		return work_fail(w, -fd, "the kernel refuses a task clock (perf_event_open)");
	before = task_clock_ns(fd);
	err = is_away(row) ? time_away(w, row, calls, x) : time_stream_of(w, row, calls, x);
	ns = task_clock_ns(fd) - before;
	close(fd);
	w->spent_ticks = ns * clock_ticks_per_ns();
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
	else if (row->which >= CPU_COPY)
		err = time_cpu(w, row, calls, x);
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

static uint64_t sizes_of_ways(const struct work *w, int i)
{
	static const uint64_t bytes[] = { 64, 512, 4096, 16384, 65536, 262144, LARGEST };

	return (size_t)i < sizeof(bytes) / sizeof(*bytes) ? bytes[i] : 0;
}

static uint64_t sizes_of_packets(const struct work *w, int i)
{
	uint64_t bytes = sizes_of_ways(w, i);

	return bytes <= AWAY_BATCH_BYTES ? bytes : 0;
}

static uint64_t one_size(const struct work *w, int i)
{
	return i ? 0 : DEFAULT_BYTES;
}

static uint64_t sizes_of_turns(const struct work *w, int i)
{
	static const uint64_t bytes[] = { 64, 4096, 65536, LARGEST };

	return (size_t)i < sizeof(bytes) / sizeof(*bytes) ? bytes[i] : 0;
}

#define ON_LOOPBACK                                                                         \
	{ EXACTLY, WITNESS(WITNESS_STRAYS), 0, 0, 0, "no packet takes another device" },    \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" }

#define BY_REFERENCE(bytes)                                                                 \
	{ EXACTLY, EVENT_sendmsgs, 1, 0, 0, "one sendmsg a call" },                         \
	{ EXACTLY, WITNESS(WITNESS_COMPLETIONS), 1, 0, 0, "each is notified once" },        \
	{ EXACTLY, WITNESS(WITNESS_BYTES), bytes, 0, 0, "every byte arrived" }, ON_LOOPBACK

#define NO_CALL_BUT(sends, said)                                                            \
	{ EXACTLY, EVENT_sends, sends, 0, 0, said },                                        \
	{ EXACTLY, EVENT_sendmsgs, 0, 0, 0, "no sendmsg" }

#define BY_RING(sends, said)                                                                \
	NO_CALL_BUT(sends, said),                                                           \
	{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" }, ON_LOOPBACK

#define NOTIFIED_BY_RING { EXACTLY, WITNESS(WITNESS_COMPLETIONS), 1, 0, 0, "each is notified once" }

#define NOT_COPIED                                                                          \
	{ EXACTLY, WITNESS(WITNESS_COMPLETIONS), 1, 0, 0, "each is notified once, not copied" }

#define WITHOUT_A_DEVICE                                                                    \
	{ EXACTLY, WITNESS(WITNESS_QUEUED_BYTES), DEFAULT_BYTES, 0, 0, "every byte is queued" }, \
	{ EXACTLY, WITNESS(WITNESS_PACKETS), 0, 0, 0, "no packet leaves" }, ON_LOOPBACK

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
	{ .name = "cpu-copy", .title = "processor time of a send of 4096 bytes, copied, loopback",
	  .unit = "ns", .which = CPU_COPY, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_ways, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one send a call" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" },
		ON_LOOPBACK } },
	{ .name = "cpu-reference", .title = "the same by MSG_ZEROCOPY, copied on arrival",
	  .unit = "ns", .which = CPU_REFERENCE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_ways, .x_unit = "bytes",
	  .invariants = { BY_REFERENCE(DEFAULT_BYTES) } },
	{ .name = "cpu-file", .title = "the same by sendfile() from the page cache", .unit = "ns",
	  .which = CPU_FILE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_ways, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 0, 0, 0, "no send" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" },
		ON_LOOPBACK } },
	{ .name = "cpu-read", .title = "the same by pread() from the page cache and send()", .unit = "ns",
	  .which = CPU_READ, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_ways, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_preads, 1, 0, 0, "one read call a call" },
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one send a call" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" },
		ON_LOOPBACK } },
	{ .name = "cpu-ring", .title = "the same by io_uring, one request at a time", .unit = "ns",
	  .which = CPU_RING, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_ways, .x_unit = "bytes", .invariants = {
		BY_RING(0, "no send call") } },
	{ .name = "cpu-ring-reference", .title = "the same by io_uring's SEND_ZC, copied on arrival", .unit = "ns",
	  .which = CPU_RING_REFERENCE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_ways, .x_unit = "bytes", .invariants = {
		NOTIFIED_BY_RING, BY_RING(0, "no send call") } },
	{ .name = "turn-copy", .title = "as cpu-copy, but each send waits for an answer",
	  .unit = "ns", .which = TURN_COPY, .extra = true, .calls = 4000, .quick_calls = 1000,
	  .counted_calls = 503, .point = sizes_of_turns, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 2, 0, 0, "one send and one answer a call" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" },
		ON_LOOPBACK } },
	{ .name = "turn-reference", .title = "the same by MSG_ZEROCOPY, copied on arrival",
	  .unit = "ns", .which = TURN_REFERENCE, .extra = true, .calls = 4000, .quick_calls = 1000,
	  .counted_calls = 503, .point = sizes_of_turns, .x_unit = "bytes",
	  .invariants = { BY_REFERENCE(DEFAULT_BYTES) } },
	{ .name = "turn-file", .title = "the same by sendfile() from the page cache", .unit = "ns",
	  .which = TURN_FILE, .extra = true, .calls = 4000, .quick_calls = 1000,
	  .counted_calls = 503, .point = sizes_of_turns, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one answer a call, and no other send" },
		{ EXACTLY, WITNESS(WITNESS_BYTES), DEFAULT_BYTES, 0, 0, "every byte arrived" },
		ON_LOOPBACK } },
	{ .name = "turn-ring", .title = "the same by io_uring, one request at a time", .unit = "ns",
	  .which = TURN_RING, .extra = true, .calls = 4000, .quick_calls = 1000,
	  .counted_calls = 503, .point = sizes_of_turns, .x_unit = "bytes", .invariants = {
		BY_RING(1, "one answer a call, and no other send call") } },
	{ .name = "turn-ring-reference", .title = "the same by io_uring's SEND_ZC, copied on arrival", .unit = "ns",
	  .which = TURN_RING_REFERENCE, .extra = true, .calls = 4000, .quick_calls = 1000,
	  .counted_calls = 503, .point = sizes_of_turns, .x_unit = "bytes", .invariants = {
		NOTIFIED_BY_RING, BY_RING(1, "one answer a call, and no other send call") } },
	{ .name = "away-copy", .title = "processor time of a send of 4096 bytes into the queue of a socket and out, copied",
	  .unit = "ns", .which = AWAY_COPY, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_packets, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one send a call" }, WITHOUT_A_DEVICE } },
	{ .name = "away-cold", .title = "the same, each from memory that is in no near cache",
	  .unit = "ns", .which = AWAY_COLD, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_packets, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one send a call" }, WITHOUT_A_DEVICE } },
	{ .name = "away-reference", .title = "the same by MSG_ZEROCOPY, not copied",
	  .unit = "ns", .which = AWAY_REFERENCE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_packets, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sendmsgs, 1, 0, 0, "one sendmsg a call" }, NOT_COPIED, WITHOUT_A_DEVICE } },
	{ .name = "away-file", .title = "the same by sendfile() from the page cache, not copied",
	  .unit = "ns", .which = AWAY_FILE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_packets, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 0, 0, 0, "no send" }, WITHOUT_A_DEVICE } },
	{ .name = "away-ring", .title = "the same by io_uring, one request at a time, copied",
	  .unit = "ns", .which = AWAY_RING, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_packets, .x_unit = "bytes", .invariants = {
		NO_CALL_BUT(0, "no send call"), WITHOUT_A_DEVICE } },
	{ .name = "away-ring-reference", .title = "the same by io_uring's SEND_ZC, not copied",
	  .unit = "ns", .which = AWAY_RING_REFERENCE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = sizes_of_packets, .x_unit = "bytes", .invariants = {
		NO_CALL_BUT(0, "no send call"), NOT_COPIED, WITHOUT_A_DEVICE } },
	{ .name = "alone-copy", .title = "as away-copy, but each send is alone in the queue",
	  .unit = "ns", .which = ALONE_COPY, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = one_size, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sends, 1, 0, 0, "one send a call" }, WITHOUT_A_DEVICE } },
	{ .name = "alone-reference", .title = "the same by MSG_ZEROCOPY, so that each notification is read alone",
	  .unit = "ns", .which = ALONE_REFERENCE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = one_size, .x_unit = "bytes", .invariants = {
		{ EXACTLY, EVENT_sendmsgs, 1, 0, 0, "one sendmsg a call" }, NOT_COPIED, WITHOUT_A_DEVICE } },
	{ .name = "alone-ring-reference", .title = "the same by io_uring's SEND_ZC",
	  .unit = "ns", .which = ALONE_RING_REFERENCE, .extra = true, .calls = 8000, .quick_calls = 2000,
	  .counted_calls = 1009, .point = one_size, .x_unit = "bytes", .invariants = {
		NO_CALL_BUT(0, "no send call"), NOT_COPIED, WITHOUT_A_DEVICE } },
};

const struct family family_send = {
	.name = "send", .root = true, .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_send, .time = time_send, .undo = undo_send,
};
