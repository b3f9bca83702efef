// SPDX-License-Identifier: GPL-2.0
/* A3-unreaped: completions are never read; a buffer is reused once TCP has it acknowledged. */
#include "userspace/workload/send/zerocopy.h"

const struct variant variant_a3_unreaped = {
	.row = &variant_rows[VARIANT_a3_unreaped],
	.pool = true,
	.alloc = message_alloc_fields,
	.send = zerocopy_send,
	.reap = zerocopy_reap_acknowledged,
};
