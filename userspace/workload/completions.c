// SPDX-License-Identifier: GPL-2.0
/* Zero-copy notifications: read them from the error queue and account for every id. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <linux/errqueue.h>
#include <netinet/in.h>

#include "userspace/common/clock.h"
#include "userspace/workload/completions.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

#define NOTIFICATION_BYTES \
	CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6))

/* Move the frontier over every early range that it has reached. */
static void frontier_advance(struct completions *completions)
{
	for (unsigned int i = 0; i < completions->n_early;) {
		if (completions->early[i].first != completions->frontier) {
			i++;
			continue;
		}
		completions->frontier = completions->early[i].end;
		completions->early[i] = completions->early[--completions->n_early];
		i = 0;
	}
}

uint64_t completions_mark(struct completions *completions, uint64_t sends, uint32_t low, uint32_t high)
{
	/* Ids are compared by their distance from the frontier, which survives the wrap. */
	int32_t distance = (int32_t)(low - (uint32_t)completions->frontier);
	struct id_range range;

	range.first = completions->frontier + distance;
	range.end = range.first + (uint32_t)(high - low) + 1;
	if (distance < 0 || range.end > sends)
		return 0;
	for (unsigned int i = 0; i < completions->n_early; i++)
		if (range.first < completions->early[i].end &&
		    completions->early[i].first < range.end)
			return 0;
	if (distance > 0) {
		if (completions->n_early == COMPLETIONS_EARLY_MAX)
			return 0;
		completions->early[completions->n_early++] = range;
	} else {
		completions->frontier = range.end;
		frontier_advance(completions);
	}
	return range.end - range.first;
}

static const struct sock_extended_err *notification_find(struct msghdr *header)
{
	struct cmsghdr *part;

	for (part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		const struct sock_extended_err *error = (const void *)CMSG_DATA(part);
		bool ipv4 = part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR;
		bool ipv6 = part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR;

		if ((ipv4 || ipv6) && error->ee_origin == SO_EE_ORIGIN_ZEROCOPY &&
		    error->ee_errno == 0)
			return error;
	}
	return NULL;
}

static void notification_count(struct completions *completions, struct totals *totals,
			       const struct sock_extended_err *error)
{
	uint64_t covered = completions_mark(completions, totals->zerocopy_sends,
					    error->ee_info, error->ee_data);

	if (!covered)
		totals->completion_errors++;
	totals->completions += covered;
	if (error->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		totals->completions_copied += covered;
}

enum outcome completions_read(struct completions *completions, struct connection *connection,
			      bool *got_any)
{
	union {
		char bytes[NOTIFICATION_BYTES];
		struct cmsghdr align;
	} control;

	*got_any = false;
	for (;;) {
		struct msghdr header = {
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		const struct sock_extended_err *error;

		if (recvmsg(connection->fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			if (errno == EAGAIN)
				return OUTCOME_OK;
			if (errno == EINTR)
				continue;
			complain("cannot read completions: %s", strerror(errno));
			return OUTCOME_FAILED;
		}
		*got_any = true;
		error = notification_find(&header);
		if (error)
			notification_count(completions, &connection->totals, error);
		else
			connection->totals.completion_errors++;
	}
}

enum outcome completions_wait(struct completions *completions, struct connection *connection)
{
	struct pollfd wait = { .fd = connection->fd };
	enum outcome outcome;
	bool got_any;

	/* poll() requests no event: it always reports POLLERR, which an error queue raises. */
	poll(&wait, 1, STOP_TICK_MS);
	outcome = completions_read(completions, connection, &got_any);
	if (outcome == OUTCOME_OK && !got_any && wait.revents)
		/* A dead socket raises POLLERR for ever, while its completions are still to
		 * come. */
		sleep_ns(NS_PER_MS);
	return outcome;
}

uint64_t completions_outstanding(const struct connection *connection)
{
	return connection->totals.zerocopy_sends - connection->totals.completions;
}
