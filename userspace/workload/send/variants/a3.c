// SPDX-License-Identifier: GPL-2.0
/* A3: sendmsg(MSG_ZEROCOPY); completions are read before a buffer is used again. */
#include "userspace/workload/send/zerocopy.h"

const struct variant variant_a3 = {
	.row = &variant_rows[VARIANT_a3],
	.pool = true,
	.alloc = message_alloc_fields,
	.send = zerocopy_send,
	.reap = zerocopy_reap,
};
