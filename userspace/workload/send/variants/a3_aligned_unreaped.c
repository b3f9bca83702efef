// SPDX-License-Identifier: GPL-2.0
/* A3-aligned-unreaped: fields on page boundaries, completions never read. */
#include "userspace/workload/send/zerocopy.h"

const struct variant variant_a3_aligned_unreaped = {
	.row = &variant_rows[VARIANT_a3_aligned_unreaped],
	.pool = true,
	.alloc = message_alloc_aligned,
	.send = zerocopy_send,
	.reap = zerocopy_reap_acknowledged,
};
