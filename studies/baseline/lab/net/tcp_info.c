// SPDX-License-Identifier: GPL-2.0
/* Asks for the kernel's tcp_info, which has more than the C library's. */
#include "studies/baseline/lab/net/tcp_info.h"

#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define LIMITS "; limited of its busy time by: "

/* include/net/tcp_states.h */
enum { ESTABLISHED = 1 };

static bool ask(int fd, struct tcp_info *info)
{
	socklen_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size);
}

double tcp_retransmits(int fd)
{
	struct tcp_info info;

	return ask(fd, &info) ? info.tcpi_total_retrans : NAN;
}

bool tcp_established(int fd)
{
	struct tcp_info info;

	return ask(fd, &info) && info.tcpi_state == ESTABLISHED;
}

double tcp_delay_kept(const struct work *w, int fd)
{
	struct tcp_info info;

	/* ~0: the kernel has measured none yet (include/linux/win_minmax.h). */
	if (!ask(fd, &info) || info.tcpi_min_rtt == ~0u)
		return NAN;
	/* Without a delay that was asked for no trip is too short. */
	return w->protocol->rtt_ms ? info.tcpi_min_rtt / (1000 * w->protocol->rtt_ms) : 1;
}

void tcp_tell_limits(struct work *w, int fd)
{
	struct tcp_info info;
	char *last = strstr(w->how, LIMITS);
	size_t used = last ? (size_t)(last - w->how) : strlen(w->how);

	if (!ask(fd, &info) || !info.tcpi_busy_time)
		return;
	snprintf(w->how + used, sizeof(w->how) - used,
		 LIMITS "receiver's window %.0f %%, send buffer %.0f %%",
		 100.0 * info.tcpi_rwnd_limited / info.tcpi_busy_time,
		 100.0 * info.tcpi_sndbuf_limited / info.tcpi_busy_time);
}
