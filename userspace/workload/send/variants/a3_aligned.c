// SPDX-License-Identifier: GPL-2.0
/* A3-aligned: as A3, with every field on a page boundary (fewer pages per message). */
#include "userspace/workload/send/zerocopy.h"

const struct variant variant_a3_aligned = {
	.row = &variant_rows[VARIANT_a3_aligned],
	.pool = true,
	.alloc = message_alloc_aligned,
	.send = zerocopy_send,
	.reap = zerocopy_reap,
};
