// SPDX-License-Identifier: GPL-2.0
/* Sends of datagrams: copied, cut into segments, by reference, of pages of a file, in parts that wait for more. */
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "tests/fuzz/udp/udp.h"

enum { PART_BYTES_MAX = 3000, PACKET_BYTES_MAX = 65536, HEADERS_BYTES_V6 = 48, FILE_BYTES_MAX = 30000 };

/* A datagram that waits for more bytes is added to by call_send() alone. */
static bool is_corked(int i)
{
	return all->socket[i].is_corked;
}

void call_send(int i)
{
	struct sock *s = &all->socket[i];
	bool waits = !s->is_corked && one_in(8);
	unsigned n = waits || s->is_corked ? some_datagram() % PART_BYTES_MAX : some_datagram();
	struct iovec parts[PARTS_MAX];
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = cut(parts, data, n) };
	int flags = MSG_DONTWAIT | (waits ? MSG_MORE : 0);
	ssize_t got = one_in(3) ? sendmsg(s->fd, &message, flags) : send(s->fd, data + below(4096), n, flags);

	say("send %d: %u %zd, waits for more %d", i, n, got, waits);
	if (got >= 0)
		s->is_corked = waits;
	sent(i, TX_COPY, got);
}

void call_send_messages(int i)
{
	struct mmsghdr messages[MESSAGES_MAX];
	struct iovec parts[MESSAGES_MAX];
	int count = 1 + below(MESSAGES_MAX), done;

	if (is_corked(i))
		return;
	for (int k = 0; k < count; k++) {
		parts[k] = (struct iovec){ data + below(4096), some_datagram() };
		messages[k] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &parts[k], .msg_iovlen = 1 } };
	}
	done = sendmmsg(all->socket[i].fd, messages, count, MSG_DONTWAIT);
	say("send_messages %d: %d of %d", i, done, count);
	for (int k = 0; k < done; k++)
		sent(i, TX_COPY, messages[k].msg_len);
}

/* UDP_SEGMENT: one call for several datagrams. */
void call_segments(int i)
{
	union {
		char bytes[CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr header;
	} control = { .header = { CMSG_LEN(sizeof(uint16_t)), SOL_UDP, UDP_SEGMENT } };
	struct iovec part = { data + below(4096), 1 + some_datagram() % 60000 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	uint16_t each = 1000 + below(8000);
	ssize_t got;

	if (is_corked(i))
		return;
	memcpy(CMSG_DATA(&control.header), &each, sizeof(each));
	got = sendmsg(all->socket[i].fd, &message, MSG_DONTWAIT);
	say("segments %d: %zu by %u, %zd", i, part.iov_len, each, got);
	sent(i, TX_COPY, got);
}

/* One that is larger than the device takes is cut by IP, and copied for that. */
void call_zerocopy(int i)
{
	struct sock *s = &all->socket[i];
	unsigned n = some_datagram();
	bool is_cut = s->family == AF_INET6 && n + HEADERS_BYTES_V6 > PACKET_BYTES_MAX;
	ssize_t got;

	if (!n || is_corked(i) || (!has_zerocopy(s->fd) && set_option(s->fd, SOL_SOCKET, SO_ZEROCOPY, 1)))
		return;
	got = send(s->fd, data + below(4096), n, MSG_ZEROCOPY | MSG_DONTWAIT);
	say("zerocopy %d: %u %zd %s", i, n, got, got < 0 ? strerror(errno) : "");
	if (got > 0)
		add(i, ZEROCOPY_SENDS, 1);
	sent(i, is_cut ? TX_COPY : TX_REFERENCE, got);
}

void call_sendfile(int i)
{
	off_t offset = below(all->file_bytes - FILE_BYTES_MAX);
	ssize_t got;

	if (is_corked(i))
		return;
	got = sendfile(all->socket[i].fd, all->file, &offset, 1 + some_datagram() % FILE_BYTES_MAX);
	say("sendfile %d: %zd", i, got);
	sent(i, TX_SPLICE, got);
}
