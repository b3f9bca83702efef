/* SPDX-License-Identifier: GPL-2.0 */
/* What io_uring of this kernel offers to this process. */
#ifndef COPYSCOPE_RING_OFFER_H
#define COPYSCOPE_RING_OFFER_H

#include <liburing.h>
#include <stdbool.h>

/* liburing 2.3 of Debian 12 has no names for these (include/uapi/linux/io_uring.h, 6.2). */
#ifndef IORING_SEND_ZC_REPORT_USAGE
#define IORING_SEND_ZC_REPORT_USAGE (1u << 3)
#endif
#ifndef IORING_NOTIF_USAGE_ZC_COPIED
#define IORING_NOTIF_USAGE_ZC_COPIED (1u << 31)
#endif

struct ring_offer {
	int err;	/* the kernel refuses a ring: -errno */
	bool moves;	/* IORING_OP_SEND and RECV (5.6) */
	bool newer;	/* SEND_ZC whose notification tells if bytes were copied (6.2, 6.1 of Debian's); with it
			 * IORING_RECV_MULTISHOT, which is older (6.0) and which no probe tells of */
};

/* Asks by a ring of its own, which is gone when this returns. */
struct ring_offer ring_offer_ask(void);

/* What is not offered, as the end of "... needs "; NULL: all is there. */
const char *ring_offer_lacks(const struct ring_offer *offer, bool newer);

#endif
