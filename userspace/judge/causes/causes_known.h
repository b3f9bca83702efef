/* SPDX-License-Identifier: GPL-2.0 */
/* The causes that copyscope knows, by the callers of a copy, each with its remedy. Pure. */
#ifndef COPYSCOPE_CAUSES_KNOWN_H
#define COPYSCOPE_CAUSES_KNOWN_H

#include "bpf/include/sites.h"

enum known {
	CAUSE_LOCAL_DELIVERY,
	CAUSE_DELIVERY_OR_TAP,
	CAUSE_FORWARDING,
	CAUSE_TAP_TX,
	CAUSE_TAP_RX,
	CAUSE_TUN,
	CAUSE_SEGMENTATION,
	CAUSE_TIMESTAMPING,
	CAUSE_CLONE,
	CAUSE_NO_SG,
	CAUSE_CHECKSUM,
	CAUSE_DRIVER,
	CAUSE_XDP,
	CAUSE_IPSEC,
	CAUSE_COLLAPSE,
	CAUSE_COALESCE,
	CAUSE_MTU_PROBE,
	CAUSE_RETRANSMIT,
	CAUSE_HEADER,
	CAUSE_ICMP,
	CAUSE_UNSET,
	CAUSE_NO_SG_ROUTE,
	CAUSE_FAST_OPEN,
	CAUSE_OPTMEM,
	CAUSE_MEMLOCK,
	CAUSE_NO_BUFFERS,
	CAUSE_UNKNOWN,
};

const char *cause_name(enum known cause);

/* What to do about it, in one line. */
const char *cause_remedy(enum known cause);

/* The cause of a copy at @site that @frames asked for, as symbols_join writes them. */
enum known cause_of_stack(enum site site, unsigned int circumstances, const char *frames);

#endif
