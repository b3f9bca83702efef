// SPDX-License-Identifier: GPL-2.0
/* Looks up events, and fills in what their filters leave open. */
#include "studies/baseline/proof/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const struct event table[] = {
#define X(id, name, tracepoint, filter) { name, tracepoint, filter },
	EVENTS(X)
#undef X
};

const struct event *event_of(enum event_id id)
{
	return &table[id];
}

static int syscall_number(const char *name, size_t len)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "prctl", SYS_prctl }, { "getuid", SYS_getuid }, { "sendto", SYS_sendto },
		{ "recvfrom", SYS_recvfrom }, { "read", SYS_read }, { "pread64", SYS_pread64 },
		{ "write", SYS_write }, { "futex", SYS_futex }, { "connect", SYS_connect },
		{ "sendmsg", SYS_sendmsg },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == len && !strncmp(known[i].name, name, len))
			return known[i].number;
	abort();
}

void event_filter(enum event_id id, const char *device, int cpu, char *filter, size_t size)
{
	size_t used = 0;

	*filter = '\0';
	for (const char *from = table[id].filter; *from && used < size; from++) {
		if (*from == '@') {
			used += snprintf(filter + used, size - used, "%s", device);
		} else if (*from == '#') {
			used += snprintf(filter + used, size - used, "%d", cpu);
		} else if (*from == '%') {
			size_t len = strspn(from + 1, "abcdefghijklmnopqrstuvwxyz0123456789");

			used += snprintf(filter + used, size - used, "%d",
					 syscall_number(from + 1, len));
			from += len;
		} else {
			used += snprintf(filter + used, size - used, "%c", *from);
		}
	}
}
