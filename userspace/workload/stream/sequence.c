// SPDX-License-Identifier: GPL-2.0
/*
 * Reads from TCP's own sequence numbers how many bytes it accepted and returned on a connection.
 *
 * accepted = tcpi_bytes_acked + SIOCOUTQ - SYN, returned = tcpi_bytes_received - SIOCINQ - FIN, where
 * SIOCOUTQ is write_seq - snd_una and SIOCINQ is rcv_nxt - copied_seq without the FIN (tcp_ioctl and
 * tcp_inq, net/ipv4/tcp.c and include/net/tcp.h). Both hold at any moment before we send a FIN ourselves,
 * whatever is acknowledged, lost or refused by a queue, and beyond 4 GiB: the counters have 64 bits, and
 * what has 32 is no longer than a window. tcpi_bytes_sent less tcpi_bytes_retrans is not exact: a packet
 * that a full queue refuses is sent again as if it were new.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "userspace/workload/stream/connection.h"

/* include/net/tcp_states.h */
enum { STATE_CLOSE = 7, STATE_CLOSE_WAIT = 8 };
/* A reading takes about a microsecond, so one of these falls between two packets. */
enum { READINGS_MOST = 10000 };

static bool counts_fin;

void connection_break_sequence(void)
{
	counts_fin = true;
}

/* The kernel takes the socket's lock for it, so its numbers belong together. */
static bool read_info(int fd, struct tcp_info *info)
{
	socklen_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) &&
	       size >= offsetof(struct tcp_info, tcpi_bytes_retrans) +
			       sizeof(info->tcpi_bytes_retrans);
}

/* SIOCOUTQ and SIOCINQ are of one moment with @info if neither direction moved around them. */
static const char *read_together(int fd, struct tcp_info *info, int *unacknowledged, int *unread)
{
	struct tcp_info before;

	for (int i = 0; i < READINGS_MOST; i++) {
		if (!read_info(fd, &before) || ioctl(fd, SIOCOUTQ, unacknowledged) ||
		    ioctl(fd, SIOCINQ, unread) || !read_info(fd, info))
			return "the kernel does not return the numbers of TCP";
		if (before.tcpi_bytes_acked == info->tcpi_bytes_acked &&
		    before.tcpi_bytes_received == info->tcpi_bytes_received &&
		    before.tcpi_state == info->tcpi_state)
			return NULL;
	}
	return "TCP's numbers changed during each attempt to read them";
}

void connection_note_sequence(struct connection *connection)
{
	struct sequence *s = &connection->sequence;
	struct tcp_info info;
	int unacknowledged, unread;
	bool fin;

	if (connection->lifeline >= 0) {
		s->read = true;
		s->why = "datagrams have no sequence numbers";
		return;
	}
	if (s->read) {
		if (read_info(connection->fd, &info))
			s->retransmitted_bytes = info.tcpi_bytes_retrans;
		return;
	}
	s->read = true;
	s->why = read_together(connection->fd, &info, &unacknowledged, &unread);
	if (s->why)
		return;
	/* A socket that is closed does not tell whether a FIN had come. */
	if (info.tcpi_state == STATE_CLOSE && info.tcpi_bytes_received)
		s->why = "the connection had been reset: TCP no longer tells whether it got a FIN";
	fin = info.tcpi_state == STATE_CLOSE_WAIT && !counts_fin;
	s->accepted_bytes = info.tcpi_bytes_acked + unacknowledged - connection->opened;
	s->returned_bytes = info.tcpi_bytes_received - unread - fin;
	s->retransmitted_bytes = info.tcpi_bytes_retrans;
}
