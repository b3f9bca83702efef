// SPDX-License-Identifier: GPL-2.0
/* The table of causes: which caller of a copy stands for which reason, and what to do about it. */
#include "userspace/judge/causes/causes_known.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *name, *remedy;
} texts[] = {
	[CAUSE_LOCAL_DELIVERY] = { "local delivery",
		"the receiver is on this machine: zero copy cannot pay here, use plain send" },
	[CAUSE_DELIVERY_OR_TAP] = { "local delivery or packet tap",
		"this kernel hides its list of captures: if none runs, the receiver on this machine is why" },
	[CAUSE_FORWARDING] = { "forwarding hop",
		"this host routes what it receives: use 6.17 or later there, or bridge instead of route" },
	[CAUSE_TAP_TX] = { "packet tap on tx",
		"stop the packet capture, or bind it to another interface; with 6.18 or later run it in "
		"another network namespace" },
	[CAUSE_TAP_RX] = { "packet tap on rx",
		"stop the packet capture; a receiver on this machine has these bytes copied even so" },
	[CAUSE_TUN] = { "tun",
		"a tun or tap device, or vhost behind it, copies every byte: route or bridge around it" },
	[CAUSE_SEGMENTATION] = { "segmentation",
		"packets are cut in software: switch tso on (ethtool -K), or use a device that has it" },
	[CAUSE_TIMESTAMPING] = { "tx timestamping",
		"set SOF_TIMESTAMPING_OPT_TSONLY: else each timestamp brings a copy of its packet" },
	[CAUSE_CLONE] = { "clone or expand",
		"something below TCP rewrites or clones packets: look for tc, netfilter or tunnel rules" },
	[CAUSE_NO_SG] = { "no scatter-gather",
		"the device takes no packets in pieces: switch sg on (ethtool -K), or use plain send" },
	[CAUSE_CHECKSUM] = { "checksum in software",
		"the device computes none, and user pages may change meanwhile: switch tx on (ethtool -K)" },
	[CAUSE_DRIVER] = { "driver limit",
		"the driver wants fewer pieces, or short packets in one: send more at a time, page-aligned" },
	[CAUSE_XDP] = { "XDP",
		"an XDP program wants packets in one piece: detach it, or load it where no payload passes" },
	[CAUSE_IPSEC] = { "IPsec",
		"encryption writes into packets, so it copies them: offload it, or use plain send" },
	[CAUSE_COLLAPSE] = { "receive buffer full",
		"the receiver reads too slowly, and TCP packs its queue: read faster, or raise tcp_rmem" },
	[CAUSE_COALESCE] = { "small packets merged",
		"packets far smaller than their buffers are merged: send more at a time" },
	[CAUSE_MTU_PROBE] = { "MTU probe",
		"TCP builds a probe from queued data: rare; net.ipv4.tcp_mtu_probing=0 stops it" },
	[CAUSE_RETRANSMIT] = { "retransmission",
		"packets that were lost are merged to be sent again: find out where they are lost" },
	[CAUSE_HEADER] = { "header parsing",
		"protocol code wants headers in one piece and takes payload along: nothing to do" },
	[CAUSE_ICMP] = { "ICMP error",
		"a host on the way refuses packets and quotes them: check the route and its smallest MTU" },
	[CAUSE_UNSET] = { "SO_ZEROCOPY not set",
		"setsockopt(SOL_SOCKET, SO_ZEROCOPY) first: the kernel ignores the flag without it" },
	[CAUSE_NO_SG_ROUTE] = { "no scatter-gather route",
		"the socket's route has neither sg nor GSO (TCP-MD5, IPsec): zero copy is off there" },
	[CAUSE_FAST_OPEN] = { "TCP fast open",
		"what travels in the SYN is always copied: send it plain" },
	[CAUSE_OPTMEM] = { "ENOBUFS, optmem",
		"too many notifications are outstanding: read completions sooner, or raise "
		"net.core.optmem_max" },
	[CAUSE_MEMLOCK] = { "ENOBUFS, memlock",
		"too many pages are in flight: wait for completions, or raise RLIMIT_MEMLOCK" },
	[CAUSE_NO_BUFFERS] = { "ENOBUFS",
		"read completions sooner, or raise net.core.optmem_max or RLIMIT_MEMLOCK: which of the two "
		"refused is not measured here" },
	[CAUSE_UNKNOWN] = { "unknown",
		"not a caller that copyscope knows: please report this stack" },
};

/* Where one function copies for a reason at one site only. */
enum at {
	AT_LATE = 1 << SITE_late_copy,
	AT_RESHAPE = 1 << SITE_reshape,
	AT_BOTH = AT_LATE | AT_RESHAPE,
	AT_PULL = 1 << SITE_COUNT,	/* a reshape that made one piece of a packet; goes first */
};

/* The receive path copies for whoever is first in line: told by circumstances. */
enum { CAUSE_ARRIVAL = CAUSE_UNKNOWN + 1 };

static const struct caller {
	const char *function;
	int cause;
	int at;
} callers[] = {
	/* Up to 6.16 what arrives is copied before anyone is shown it; since d2527ad3a9e1 ("net:
	 * preserve MSG_ZEROCOPY with forwarding") only captures are served there, ... */
	{ "__netif_receive_skb_core", CAUSE_ARRIVAL, AT_LATE },
	{ "__netif_receive_skb_one_core", CAUSE_ARRIVAL, AT_LATE },
	{ "__netif_receive_skb_list_core", CAUSE_ARRIVAL, AT_LATE },
	/* ... and sockets here. */
	{ "ip_local_deliver_finish", CAUSE_LOCAL_DELIVERY, AT_LATE },
	{ "ip_local_deliver", CAUSE_LOCAL_DELIVERY, AT_LATE },
	{ "ip_protocol_deliver_rcu", CAUSE_LOCAL_DELIVERY, AT_LATE },
	{ "ip6_input_finish", CAUSE_LOCAL_DELIVERY, AT_LATE },
	{ "ip6_input", CAUSE_LOCAL_DELIVERY, AT_LATE },
	{ "ip6_protocol_deliver_rcu", CAUSE_LOCAL_DELIVERY, AT_LATE },
	{ "dev_queue_xmit_nit", CAUSE_TAP_TX, AT_BOTH },
	/* A capture with a ring has its copy made at once, whoever shows it the packet. */
	{ "__netif_receive_skb_core", CAUSE_TAP_RX, AT_RESHAPE },
	{ "tun_net_xmit", CAUSE_TUN, AT_BOTH },
	{ "tap_handle_frame", CAUSE_TUN, AT_BOTH },
	{ "__skb_tstamp_tx", CAUSE_TIMESTAMPING, AT_BOTH },
	{ "skb_segment", CAUSE_SEGMENTATION, AT_LATE },
	/* Without scatter-gather it copies itself. What it makes one piece of could be sent in many,
	 * but for the checksum: see cef401de7be8 ("net: fix possible wrong checksum generation"). */
	{ "skb_segment", CAUSE_CHECKSUM, AT_PULL },
	{ "skb_checksum_help", CAUSE_CHECKSUM, AT_PULL },
	{ "skb_segment", CAUSE_NO_SG, AT_RESHAPE },
	{ "validate_xmit_skb", CAUSE_NO_SG, AT_RESHAPE },
	{ "validate_xmit_skb_list", CAUSE_NO_SG, AT_RESHAPE },
	{ "netif_receive_generic_xdp", CAUSE_XDP, AT_BOTH },
	{ "do_xdp_generic", CAUSE_XDP, AT_BOTH },
	{ "bpf_prog_run_generic_xdp", CAUSE_XDP, AT_BOTH },
	{ "netif_skb_check_for_xdp", CAUSE_XDP, AT_BOTH },
	{ "skb_cow_data_for_xdp", CAUSE_XDP, AT_BOTH },
	{ "skb_pp_cow_data", CAUSE_XDP, AT_BOTH },
	{ "veth_convert_skb_to_xdp_buff", CAUSE_XDP, AT_BOTH },
	{ "veth_xdp_rcv_skb", CAUSE_XDP, AT_BOTH },
	{ "skb_cow_data", CAUSE_IPSEC, AT_BOTH },
	{ "tcp_collapse", CAUSE_COLLAPSE, AT_RESHAPE },
	{ "tcp_prune_queue", CAUSE_COLLAPSE, AT_RESHAPE },
	{ "skb_try_coalesce", CAUSE_COALESCE, AT_BOTH },
	{ "skb_condense", CAUSE_COALESCE, AT_RESHAPE },
	{ "tcp_mtu_probe", CAUSE_MTU_PROBE, AT_RESHAPE },
	{ "tcp_write_xmit", CAUSE_MTU_PROBE, AT_RESHAPE },
	{ "tcp_retrans_try_collapse", CAUSE_RETRANSMIT, AT_RESHAPE },
	{ "__tcp_retransmit_skb", CAUSE_RETRANSMIT, AT_RESHAPE },
	{ "tcp_v4_rcv", CAUSE_HEADER, AT_RESHAPE },
	{ "tcp_v6_rcv", CAUSE_HEADER, AT_RESHAPE },
	{ "tcp_gro_receive", CAUSE_HEADER, AT_RESHAPE },
	{ "skb_gro_receive", CAUSE_HEADER, AT_RESHAPE },
	{ "dev_gro_receive", CAUSE_HEADER, AT_RESHAPE },
	{ "ip_rcv_core", CAUSE_HEADER, AT_RESHAPE },
	{ "ip6_rcv_core", CAUSE_HEADER, AT_RESHAPE },
	{ "icmp_glue_bits", CAUSE_ICMP, AT_RESHAPE },
	{ "icmpv6_getfrag", CAUSE_ICMP, AT_RESHAPE },
};

/* Copies on behalf of their caller, which decides. Then what to say if it is not known either. */
static const struct caller middlemen[] = {
	{ "skb_copy_ubufs", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_copy_bits", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_copy_and_csum_bits", CAUSE_UNKNOWN, AT_BOTH },
	{ "__pskb_pull_tail", CAUSE_UNKNOWN, AT_BOTH },
	{ "__skb_linearize", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_linearize", CAUSE_UNKNOWN, AT_BOTH },
	{ "deliver_skb", CAUSE_UNKNOWN, AT_BOTH },
	{ "tpacket_rcv", CAUSE_UNKNOWN, AT_BOTH },
	{ "packet_rcv", CAUSE_UNKNOWN, AT_BOTH },
	{ "skb_zerocopy_clone", CAUSE_CLONE, AT_BOTH },
	{ "skb_clone", CAUSE_CLONE, AT_BOTH },
	{ "skb_morph", CAUSE_CLONE, AT_BOTH },
	{ "skb_copy", CAUSE_CLONE, AT_BOTH },
	{ "skb_copy_expand", CAUSE_CLONE, AT_BOTH },
	{ "pskb_expand_head", CAUSE_CLONE, AT_BOTH },
	{ "__pskb_copy_fclone", CAUSE_CLONE, AT_BOTH },
	{ "skb_ensure_writable", CAUSE_CLONE, AT_BOTH },
};

#define ROWS(table) (sizeof(table) / sizeof(*(table)))

const char *cause_name(enum known cause)
{
	return texts[cause].name;
}

const char *cause_remedy(enum known cause)
{
	return texts[cause].remedy;
}

/* The compiler adds suffixes such as .constprop.0. */
static const struct caller *caller_find(const struct caller *table, size_t rows, int at,
					const char *frame, size_t len)
{
	for (const struct caller *c = table; c < table + rows; c++) {
		size_t n = strlen(c->function);

		if (c->at & at && len >= n && !strncmp(frame, c->function, n) &&
		    (len == n || frame[n] == '.'))
			return c;
	}
	return NULL;
}

/* Captures are served before IP, so if there is one, it is the one that had the bytes copied. */
static enum known cause_of_arrival(unsigned int circumstances)
{
	if (circumstances & COPIED_TAPPED)
		return CAUSE_TAP_RX;
	if (circumstances & COPIED_ELSEWHERE)
		return CAUSE_FORWARDING;
	return circumstances & COPIED_UNSURE ? CAUSE_DELIVERY_OR_TAP : CAUSE_LOCAL_DELIVERY;
}

/* A driver's functions have names of its own: one or two, called by what is known. */
static bool is_driver(enum site site, const char *frame)
{
	static const char call[] = " < dev_hard_start_xmit";
	const char *at = strstr(frame, call);
	int between = 0;

	for (const char *c = frame; at && c < at; c++)
		between += *c == '<';
	return site == SITE_reshape && at && between < 2;
}

/*
 * The caller of the copy decides, or whoever is behind a function that copies for others. Further
 * out nothing decides: a stack goes on into whatever was interrupted or happens to run on top.
 */
enum known cause_of_stack(enum site site, unsigned int circumstances, const char *frames)
{
	const char *frame = frames;
	enum known otherwise = CAUSE_UNKNOWN;
	int at = 1 << site;

	while (*frame) {
		size_t len = strcspn(frame, " ");
		const struct caller *c = caller_find(callers, ROWS(callers), at, frame, len);

		if (c)
			return c->cause == CAUSE_ARRIVAL ? cause_of_arrival(circumstances) :
							   (enum known)c->cause;
		c = caller_find(middlemen, ROWS(middlemen), 1 << site, frame, len);
		if (!c)
			break;
		if (c->cause != CAUSE_UNKNOWN)
			otherwise = c->cause;
		if (site == SITE_reshape && !strcmp(c->function, "__pskb_pull_tail"))
			at |= AT_PULL;
		frame += len;
		frame += strspn(frame, " <");
	}
	return otherwise == CAUSE_UNKNOWN && is_driver(site, frame) ? CAUSE_DRIVER : otherwise;
}
