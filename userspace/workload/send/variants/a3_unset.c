// SPDX-License-Identifier: GPL-2.0
/* A3-unset: MSG_ZEROCOPY without SO_ZEROCOPY; the kernel ignores the flag and copies. */
#include "userspace/workload/send/zerocopy.h"

/*
 * Since commit 5cf4a8532c99 ("tcp: really ignore MSG_ZEROCOPY if no SO_ZEROCOPY") such a send
 * is an ordinary one, so one buffer that is reused at once is right here.
 */
const struct variant variant_a3_unset = {
	.row = &variant_rows[VARIANT_a3_unset],
	.alloc = message_alloc_fields,
	.send = zerocopy_send,
};
