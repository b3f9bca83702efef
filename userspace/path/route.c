// SPDX-License-Identifier: GPL-2.0
/* Asks the kernel through which device it reaches an address, as ip-route(8) does for "route
 * get". */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "userspace/common/numeric_address.h"
#include "userspace/path/path.h"

struct metric {
	struct nlmsghdr header;
	struct rtmsg route;
	char attributes[64];
};

static void add_attribute(struct metric *q, int type, const void *value, size_t size)
{
	struct rtattr *a = (void *)q + NLMSG_ALIGN(q->header.nlmsg_len);

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(size);
	memcpy(RTA_DATA(a), value, size);
	q->header.nlmsg_len = NLMSG_ALIGN(q->header.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static void ask_for(struct metric *q, const struct sockaddr *to)
{
	const struct sockaddr_in *v4 = (const void *)to;
	const struct sockaddr_in6 *v6 = (const void *)to;

	*q = (struct metric){
		.header = { .nlmsg_len = NLMSG_LENGTH(sizeof(q->route)), .nlmsg_type = RTM_GETROUTE,
			    .nlmsg_flags = NLM_F_REQUEST },
		.route = { .rtm_family = to->sa_family },
	};
	if (to->sa_family == AF_INET) {
		q->route.rtm_dst_len = 32;
		add_attribute(q, RTA_DST, &v4->sin_addr, sizeof(v4->sin_addr));
		return;
	}
	q->route.rtm_dst_len = 128;
	add_attribute(q, RTA_DST, &v6->sin6_addr, sizeof(v6->sin6_addr));
	if (v6->sin6_scope_id)
		add_attribute(q, RTA_OIF, &v6->sin6_scope_id, sizeof(v6->sin6_scope_id));
}

/* Index of the device in the kernel's answer, or -errno. */
static int read_answer(const struct nlmsghdr *header, size_t length)
{
	const struct nlmsgerr *error = NLMSG_DATA(header);
	const struct rtattr *a = RTM_RTA(NLMSG_DATA(header));
	int left;

	if (!NLMSG_OK(header, length))
		return -EPROTO;
	if (header->nlmsg_type == NLMSG_ERROR)
		return error->error ? error->error : -EPROTO;
	left = RTM_PAYLOAD(header);
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == RTA_OIF)
			return *(int *)RTA_DATA(a);
	return -ENODEV;
}

static int ask_kernel(const struct metric *q)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	char answer[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	ssize_t got = -1;
	int err;

	if (fd < 0)
		return -errno;
	if (send(fd, q, q->header.nlmsg_len, 0) >= 0)
		got = recv(fd, answer, sizeof(answer), 0);
	err = got < 0 ? -errno : read_answer((void *)answer, got);
	close(fd);
	return err;
}

int path_route_device(const char *address, char device[IFNAMSIZ])
{
	struct sockaddr_storage found;
	struct metric q;
	int index;

	if (!numeric_address_parse(address, &found))
		return -EINVAL;
	ask_for(&q, (struct sockaddr *)&found);
	index = ask_kernel(&q);
	if (index < 0)
		return index;
	return if_indextoname(index, device) ? 0 : -errno;
}
