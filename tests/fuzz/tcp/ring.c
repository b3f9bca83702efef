// SPDX-License-Identifier: GPL-2.0
/* Sends and receives by io_uring, one at a time: by reference, from fixed buffers, by splices. */
#include <fcntl.h>
#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/tcp/tcp.h"

enum { ENTRIES = 8, DATA_BUFFER = 0, ROOM_BUFFER = 1 };
/* IORING_SEND_ZC_REPORT_USAGE of 6.2: an older kernel refuses the send. */
enum { REPORTS_USAGE = 1 << 3 };

static struct {
	struct io_uring uring;
	bool is_there, has_buffers;
} ring;

/* One of a parent is the parent's. */
void forget_ring(void)
{
	ring.is_there = false;
}

static bool make_ring(void)
{
	struct iovec buffers[] = { { data, BUFFER_BYTES }, { room, BUFFER_BYTES } };

	if (!all->may.rings || is_thread())
		return false;
	if (!ring.is_there && io_uring_queue_init(ENTRIES, &ring.uring, 0) == 0) {
		ring.is_there = true;
		ring.has_buffers = io_uring_register_buffers(&ring.uring, buffers, 2) == 0;
	}
	return ring.is_there;
}

/* Submits one and waits for its result; notifications, which come later, are dropped when they are met. */
static int result_of(const struct io_uring_sqe *asked)
{
	static uint64_t id;
	struct io_uring_sqe *entry = io_uring_get_sqe(&ring.uring);
	struct io_uring_cqe *done;

	if (!entry)
		return -1;
	*entry = *asked;
	entry->user_data = ++id;
	if (io_uring_submit(&ring.uring) < 0)
		return -1;
	while (io_uring_wait_cqe(&ring.uring, &done) == 0) {
		bool is_it = done->user_data == id && !(done->flags & IORING_CQE_F_NOTIF);
		int result = done->res;

		io_uring_cqe_seen(&ring.uring, done);
		if (is_it)
			return result;
	}
	return -1;
}

/* As the result of one whose file must not block: io_uring would wait for it. */
static int result_without_waiting(int fd, const struct io_uring_sqe *asked)
{
	int flags = fcntl(fd, F_GETFL), result;

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	result = result_of(asked);
	fcntl(fd, F_SETFL, flags);
	return result;
}

static struct io_uring_sqe splicing(int from, int to, unsigned n)
{
	return (struct io_uring_sqe){ .opcode = IORING_OP_SPLICE, .fd = to, .len = n, .splice_fd_in = from,
				      .splice_flags = SPLICE_F_NONBLOCK, .off = -1, .splice_off_in = -1 };
}

static void ring_splice_in(int i, unsigned n)
{
	struct io_uring_sqe asked;
	int ends[2];
	ssize_t there;

	if (!(all->socket[i].ways & WAY_SPLICE) || pipe2(ends, O_NONBLOCK))
		return;
	there = write(ends[1], data, n % 65536);
	if (there > 0) {
		asked = splicing(ends[0], all->socket[i].fd, there);
		sent(i, TX_SPLICE, result_without_waiting(all->socket[i].fd, &asked));
	}
	close(ends[0]);
	close(ends[1]);
}

static void ring_splice_out(int i, unsigned n)
{
	struct io_uring_sqe asked;
	int ends[2];

	if (pipe2(ends, O_NONBLOCK))
		return;
	asked = splicing(all->socket[i].fd, ends[1], n);
	received(i, RX_SPLICE, result_without_waiting(all->socket[i].fd, &asked));
	close(ends[0]);
	close(ends[1]);
}

static void ring_write(int i, struct io_uring_sqe asked)
{
	if (!(all->socket[i].ways & WAY_COPY))
		return;
	asked.opcode = ring.has_buffers && one_in(2) ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE;
	asked.buf_index = DATA_BUFFER;
	asked.rw_flags = RWF_NOWAIT;
	sent(i, TX_COPY, result_without_waiting(all->socket[i].fd, &asked));
}

static void ring_send_by_reference(int i, struct io_uring_sqe asked, struct msghdr *message)
{
	if (!(all->socket[i].ways & WAY_REFERENCE))
		return;
	if (message) {
		asked.opcode = IORING_OP_SENDMSG_ZC;
		asked.addr = (uintptr_t)message;
		asked.len = 1;
	} else {
		asked.opcode = IORING_OP_SEND_ZC;
		asked.ioprio = (one_in(2) ? REPORTS_USAGE : 0) |
			       (ring.has_buffers && one_in(2) ? IORING_RECVSEND_FIXED_BUF : 0);
		asked.buf_index = DATA_BUFFER;
	}
	sent_by_reference(i, result_of(&asked));
}

static void ring_send(int i, struct io_uring_sqe asked, struct msghdr *message)
{
	if (!(all->socket[i].ways & WAY_COPY))
		return;
	asked.opcode = IORING_OP_SEND;
	if (message) {
		asked.opcode = IORING_OP_SENDMSG;
		asked.addr = (uintptr_t)message;
		asked.len = 1;
	} else if (one_in(4)) {
		asked.msg_flags |= MSG_MORE;
	}
	sent(i, TX_COPY, result_of(&asked));
}

void call_ring_send(int i)
{
	unsigned n = 1 + some_bytes(), which = below(6);
	struct iovec parts[PARTS_MAX];
	struct msghdr cut_up = { .msg_iov = parts, .msg_iovlen = cut(parts, data, n) };
	struct io_uring_sqe asked = { .fd = all->socket[i].fd, .len = n,
				      .addr = (uintptr_t)data + (one_in(2) ? 0 : below(4096)) };
	struct io_uring_sqe sending = asked;

	if (!make_ring())
		return;
	sending.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	say("ring_send %d: way %u, %u", i, which, n);
	switch (which) {
	case 0:
	case 1:
		ring_send(i, sending, which ? &cut_up : NULL);
		break;
	case 2:
	case 3:
		ring_send_by_reference(i, sending, which == 3 ? &cut_up : NULL);
		break;
	case 4:
		ring_splice_in(i, n);
		break;
	case 5:
		ring_write(i, asked);
		break;
	}
}

void call_ring_receive(int i)
{
	unsigned n = 1 + some_bytes(), which = below(5);
	struct iovec part = { room, n };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct io_uring_sqe asked = { .opcode = IORING_OP_RECV, .fd = all->socket[i].fd, .len = n,
				      .addr = (uintptr_t)room + (one_in(2) ? 0 : below(4096)) };
	int got = 0;

	if (!make_ring())
		return;
	switch (which) {
	case 0:
		asked.msg_flags = MSG_DONTWAIT;
		got = received(i, RX_COPY, result_of(&asked));
		break;
	case 1:
		asked.msg_flags = MSG_DONTWAIT | MSG_TRUNC;
		got = received(i, RX_DISCARD, result_of(&asked));
		break;
	case 2:
		asked = (struct io_uring_sqe){ .opcode = IORING_OP_RECVMSG, .fd = asked.fd, .len = 1,
					       .addr = (uintptr_t)&message, .msg_flags = MSG_DONTWAIT };
		got = received(i, RX_COPY, result_of(&asked));
		break;
	case 3:
		asked.opcode = ring.has_buffers && one_in(2) ? IORING_OP_READ_FIXED : IORING_OP_READ;
		asked.buf_index = ROOM_BUFFER;
		asked.rw_flags = RWF_NOWAIT;
		got = received(i, RX_COPY, result_without_waiting(asked.fd, &asked));
		break;
	case 4:
		ring_splice_out(i, n);
		return;
	}
	say("ring_receive %d: way %u, %u %d", i, which, n, got);
}
