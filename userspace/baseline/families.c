// SPDX-License-Identifier: GPL-2.0
/* The list of families, and which of their rows are asked for. */
#include "userspace/baseline/families.h"

#include <string.h>

const struct family *const families[] = {
	&family_overhead, &family_call, &family_syscall, &family_create, &family_switch,
	&family_latency, &family_bandwidth, &family_kernels, &family_fault, &family_rtt, &family_icmp,
	&family_stream, &family_send, &family_connect, &family_cache, &family_read, &family_remote,
	&family_contention, NULL,
};

bool row_wanted(const struct settings *s, const struct family *f, const struct row *row)
{
	for (int i = 0; i < s->only_count; i++)
		if (!strcmp(s->only[i], f->name) || !strcmp(s->only[i], row->name))
			return true;
	return !s->only_count;
}
