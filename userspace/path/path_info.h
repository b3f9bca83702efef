/* SPDX-License-Identifier: GPL-2.0 */
/* What a record says of a path: its ends, its devices, and what the packets meet. */
#ifndef COPYSCOPE_PATH_INFO_H
#define COPYSCOPE_PATH_INFO_H

#include <stdbool.h>

enum { ADDRESS_BYTES = 64, QDISC_BYTES = 128 };

/* The two ends of a path: the process whose sends are studied, and its peer. */
enum end { END_SENDER, END_RECEIVER, END_COUNT };

/* Where a packet capture runs: in the namespace of an end, or in one that has no part in the run. */
enum tap { TAP_TX, TAP_RX, TAP_OTHER, TAP_COUNT };

const char *tap_name(enum tap tap);

struct path_info {
	char kind[16];
	char tx_dev[32];
	char rx_dev[32];
	int mtu;
	bool scatter_gather;
	bool tso;
	bool hardware_dma;
	bool tap[TAP_COUNT];
	bool ipv6;
	char netem[QDISC_BYTES];	/* as tc(8) was told, or empty */
	char qdisc[QDISC_BYTES];	/* another kind of queue, as tc(8) was told, or empty */
};

#endif
