/* SPDX-License-Identifier: GPL-2.0 */
/* The table of causes: why bytes that were to be referenced were copied, and what to do about it. */
#ifndef COPYSCOPE_TABLE_OF_CAUSES_H
#define COPYSCOPE_TABLE_OF_CAUSES_H

/* Where a late copy for this reason is made. */
enum cause_place {
	CAUSE_ELSEWHERE,	/* before a device has the packet, or not known */
	CAUSE_ON_ARRIVAL,	/* where the packet is handed to the receiver */
};

/* X(symbol, name, place, remedy): the callers that stand for each are in
 * userspace/tables/callers.h. */
#define CAUSES(X)                                                                             \
	X(LOCAL_DELIVERY, "local delivery", CAUSE_ON_ARRIVAL,                                 \
	  "the receiver is on this machine, where the kernel copies such pages: zero copy "   \
	  "saves no copy here")                                                               \
	X(DELIVERY_OR_TAP, "local delivery or packet tap", CAUSE_ON_ARRIVAL,                  \
	  "this kernel hides its list of captures: if none runs, the receiver on this "       \
	  "machine is why")                                                                   \
	X(ARRIVED, "arrival on this machine", CAUSE_ON_ARRIVAL,                               \
	  "copied where their packets arrived: zero copy saves no copy if the receiver is "   \
	  "here; a router here needs 6.17 or later, and captures copy, too")                  \
	X(WAY_OUT, "below TCP, on the way out", CAUSE_ELSEWHERE,                              \
	  "look for time stamps without OPT_TSONLY, tc, netfilter, tunnels and XDP")          \
	X(FORWARDING, "forwarding hop", CAUSE_ON_ARRIVAL,                                     \
	  "this host routes what it receives: use 6.17 or later there, or bridge instead "    \
	  "of route")                                                                         \
	X(TAP_TX, "packet tap on tx", CAUSE_ELSEWHERE,                                        \
	  "stop the packet capture, or bind it to another interface; with 6.18 or later "     \
	  "run it in another network namespace")                                              \
	X(TAP_RX, "packet tap on rx", CAUSE_ON_ARRIVAL,                                       \
	  "stop the packet capture; a receiver on this machine has these bytes copied "       \
	  "even so")                                                                          \
	X(TUN, "tun", CAUSE_ON_ARRIVAL,                                                       \
	  "a tun or tap device, or vhost behind it, copies every byte: route or bridge "      \
	  "around it")                                                                        \
	X(SEGMENTATION, "segmentation", CAUSE_ELSEWHERE,                                      \
	  "packets are cut in software: switch tso on (ethtool -K), or use a device that "    \
	  "has it")                                                                           \
	X(TIMESTAMPING, "tx timestamping", CAUSE_ELSEWHERE,                                   \
	  "set SOF_TIMESTAMPING_OPT_TSONLY: else each timestamp brings a copy of its "        \
	  "packet")                                                                           \
	X(CLONE, "clone or expand", CAUSE_ELSEWHERE,                                          \
	  "something below TCP rewrites or clones packets: look for tc, netfilter or "        \
	  "tunnel rules")                                                                     \
	X(NO_SG, "no scatter-gather", CAUSE_ELSEWHERE,                                        \
	  "the device takes no packets in pieces: switch sg on (ethtool -K); without it "     \
	  "zero copy saves no copy")                                                          \
	X(CHECKSUM, "checksum in software", CAUSE_ELSEWHERE,                                  \
	  "the device computes none, and user pages may change on the way: switch tx on "     \
	  "(ethtool -K)")                                                                     \
	X(DRIVER, "driver limit", CAUSE_ELSEWHERE,                                            \
	  "the driver wants fewer pieces, or short packets in one: send more at a time, "     \
	  "page-aligned")                                                                     \
	X(XDP, "XDP", CAUSE_ELSEWHERE,                                                        \
	  "an XDP program wants packets in one piece: detach it, or load it where no "        \
	  "payload passes")                                                                   \
	X(IPSEC, "IPsec", CAUSE_ELSEWHERE,                                                    \
	  "encryption writes into packets, so it copies them: offload it; without that "      \
	  "zero copy saves no copy")                                                          \
	X(COLLAPSE, "receive buffer full", CAUSE_ELSEWHERE,                                   \
	  "the receiver reads too slowly, and TCP packs its queue: read faster, or raise "    \
	  "tcp_rmem")                                                                         \
	X(COALESCE, "small packets merged", CAUSE_ELSEWHERE,                                  \
	  "packets far smaller than their buffers are merged: send more at a time")           \
	X(MTU_PROBE, "MTU probe", CAUSE_ELSEWHERE,                                            \
	  "TCP builds a probe from queued data: rare; net.ipv4.tcp_mtu_probing=0 stops "      \
	  "it")                                                                               \
	X(RETRANSMIT, "retransmission", CAUSE_ELSEWHERE,                                      \
	  "packets that were lost are merged to be sent again: find out where they are "      \
	  "lost")                                                                             \
	X(HEADER, "header parsing", CAUSE_ELSEWHERE,                                          \
	  "protocol code wants headers in one piece and takes payload along: nothing to "     \
	  "do")                                                                               \
	X(TLS_PIECES, "TLS record in pieces", CAUSE_ELSEWHERE,                                \
	  "the receive queue is full before a record is whole, so kernel TLS collects it: "   \
	  "read faster, or raise tcp_rmem")                                                   \
	X(ICMP, "ICMP error", CAUSE_ELSEWHERE,                                                \
	  "a host on the way refuses packets and quotes them: check the route and its "       \
	  "smallest MTU")                                                                     \
	X(UNSET, "SO_ZEROCOPY not set", CAUSE_ELSEWHERE,                                      \
	  "setsockopt(SOL_SOCKET, SO_ZEROCOPY) first: the kernel ignores the flag "           \
	  "without it")                                                                       \
	X(NO_SG_ROUTE, "no scatter-gather route", CAUSE_ELSEWHERE,                            \
	  "the socket's route has neither sg nor GSO (TCP-MD5, IPsec): zero copy is off "     \
	  "there")                                                                            \
	X(DECLINED, "UDP without checksum offload", CAUSE_ELSEWHERE,                          \
	  "UDP copies sends that are larger than the MTU, or whose device has no sg or tx: "  \
	  "send at most the MTU at once, or set UDP_SEGMENT")                                 \
	X(FAST_OPEN, "TCP fast open", CAUSE_ELSEWHERE,                                        \
	  "what travels in the SYN is always copied: send it plain")                          \
	X(OPTMEM, "ENOBUFS, optmem", CAUSE_ELSEWHERE,                                         \
	  "too many notifications are outstanding: read completions sooner, or raise "        \
	  "net.core.optmem_max")                                                              \
	X(MEMLOCK, "ENOBUFS, memlock", CAUSE_ELSEWHERE,                                       \
	  "too many pages are in flight: wait for completions, or raise RLIMIT_MEMLOCK")      \
	X(AT_REST, "ENOBUFS, nothing in flight", CAUSE_ELSEWHERE,                             \
	  "each of these sends is larger than RLIMIT_MEMLOCK allows (or optmem_max is below " \
	  "4 KiB): send less at once or raise it, as waiting does not help")                  \
	X(NO_BUFFERS, "ENOBUFS", CAUSE_ELSEWHERE,                                             \
	  "read completions sooner, or raise net.core.optmem_max or RLIMIT_MEMLOCK: "         \
	  "which of the two refused is not measured here")                                    \
	X(UNKNOWN, "unknown", CAUSE_ELSEWHERE,                                                \
	  "not a caller that copyscope knows: please report this stack")

/* X(symbol, circumstance, remedy): what to say where the copy's device was not told to leave that to the kernel. */
#define REMEDIES_WITHOUT_SWITCH(X)                                                            \
	X(SEGMENTATION, COPIED_TSO_OFF,                                                       \
	  "packets are cut in software for a device, or a tunnel, that has no tso for them: " \
	  "use one that has it")                                                              \
	X(NO_SG, COPIED_SG_OFF,                                                               \
	  "the device, or a tunnel or cipher before it, takes no packets in pieces, and no "  \
	  "switch changes that: zero copy saves no copy there")                               \
	X(CHECKSUM, COPIED_TX_OFF,                                                            \
	  "a tunnel or cipher, or a device that cannot, has the kernel compute it, and user " \
	  "pages may change on the way: zero copy saves no copy there")

/*
 * X(symbol, commit, title, release, effect): kernel commits that changed what a cause copies, as the commit itself says,
 * where kernels that the tests boot lie on both sides of it. Reports and comparisons name them.
 */
#define CAUSE_COMMITS(X)                                                                                      \
	X(FORWARDING, "d2527ad3a9e1", "net: preserve MSG_ZEROCOPY with forwarding", "6.17",                   \
	  "from it on a hop passes pages on; before, it copied them as they arrived")                         \
	X(LOCAL_DELIVERY, "d2527ad3a9e1", "net: preserve MSG_ZEROCOPY with forwarding", "6.17",               \
	  "from it on ip_local_deliver_finish copies; before, __netif_receive_skb_core did")                  \
	X(ARRIVED, "d2527ad3a9e1", "net: preserve MSG_ZEROCOPY with forwarding", "6.17",                      \
	  "from it on only local delivery and captures copy arriving packets; before, each arrival did")

#define CAUSE_ENUM(symbol, name, place, remedy) CAUSE_##symbol,
enum known { CAUSES(CAUSE_ENUM) CAUSE_COUNT };
#undef CAUSE_ENUM

#endif
