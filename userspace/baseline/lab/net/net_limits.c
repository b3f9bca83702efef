// SPDX-License-Identifier: GPL-2.0
/*
 * Asks TCP what kept a sender waiting and how long trips are; apart, as the kernel's tcp_info is not
 * the C library's.
 */
#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "userspace/baseline/lab/net/net.h"

#define LIMITS "; limited of its busy time by: "

double net_delay_kept(const struct work *w, int fd)
{
	struct tcp_info info = {};
	socklen_t size = sizeof(info);

	/* ~0: the kernel has measured none yet (include/linux/win_minmax.h). */
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) || info.tcpi_min_rtt == ~0u)
		return NAN;
	return info.tcpi_min_rtt / (1000 * w->protocol->rtt_ms);
}

void net_tell_limits(struct work *w, int fd)
{
	struct tcp_info info = {};
	socklen_t size = sizeof(info);
	char *last = strstr(w->how, LIMITS);
	size_t used = last ? (size_t)(last - w->how) : strlen(w->how);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) || !info.tcpi_busy_time)
		return;
	snprintf(w->how + used, sizeof(w->how) - used,
		 LIMITS "receiver's window %.0f %%, send buffer %.0f %%",
		 100.0 * info.tcpi_rwnd_limited / info.tcpi_busy_time,
		 100.0 * info.tcpi_sndbuf_limited / info.tcpi_busy_time);
}
