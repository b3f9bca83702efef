// SPDX-License-Identifier: GPL-2.0
/* A3-unreaped: completions are never read; a buffer is reused once TCP has it acknowledged. */
#include "userspace/workload/send/zerocopy.h"

const struct variant variant_a3_unreaped = {
	.name = "A3-unreaped",
	.help = "as A3, completions never read; waits for acknowledgements",
	.flags = VARIANT_SO_ZEROCOPY | VARIANT_POOL | VARIANT_UNREAPED,
	.alloc = message_alloc_fields,
	.send = zerocopy_send,
	.reap = zerocopy_reap_acknowledged,
};
