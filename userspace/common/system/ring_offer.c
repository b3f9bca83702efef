// SPDX-License-Identifier: GPL-2.0
/* What io_uring of this kernel offers to this process. */
#include <errno.h>
#include <stddef.h>

#include "userspace/common/system/ring_offer.h"

/* A kernel that knows no such flag refuses the request before it looks at the descriptor, which is none. */
static bool reports_usage(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;

	io_uring_prep_send_zc(sqe, -1, NULL, 0, 0, IORING_SEND_ZC_REPORT_USAGE);
	if (io_uring_submit(ring) != 1 || io_uring_wait_cqe(ring, &cqe))
		return false;
	return cqe->res == -EBADF;
}

struct ring_offer ring_offer_ask(void)
{
	struct ring_offer offer = {};
	struct io_uring_probe *probe;
	struct io_uring ring;

	offer.err = io_uring_queue_init(2, &ring, 0);
	if (offer.err)
		return offer;
	probe = io_uring_get_probe_ring(&ring);
	if (probe) {
		offer.moves = io_uring_opcode_supported(probe, IORING_OP_SEND) &&
			      io_uring_opcode_supported(probe, IORING_OP_RECV);
		offer.newer = io_uring_opcode_supported(probe, IORING_OP_SEND_ZC) && reports_usage(&ring);
	}
	io_uring_free_probe(probe);
	io_uring_queue_exit(&ring);
	return offer;
}

const char *ring_offer_lacks(const struct ring_offer *offer, bool newer)
{
	if (offer->err == -ENOSYS)
		return "io_uring, which this kernel lacks";
	if (offer->err)
		return "io_uring, which this kernel refuses: see kernel.io_uring_disabled, and the seccomp filter "
		       "of a container";
	if (!offer->moves)
		return "io_uring's SEND and RECV, which this kernel lacks (Linux 5.6)";
	return newer && !offer->newer ? "io_uring of Linux 6.2, which this kernel lacks" : NULL;
}
