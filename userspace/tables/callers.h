/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's functions that have payload copied, and the cause that each stands for at a site. */
#ifndef COPYSCOPE_CALLERS_H
#define COPYSCOPE_CALLERS_H

/*
 * X(function, cause, where): where is LATE or RESHAPE, a copy for that site; BOTH; or PULL, a reshape
 * into one piece, which is checked first. ARRIVAL: the receive path copies for the first that needs
 * it, and the circumstances tell which.
 *
 * Up to 6.16 the kernel copies an arriving packet before anyone sees it, in __netif_receive_skb_core;
 * since d2527ad3a9e1 ("net: preserve MSG_ZEROCOPY with forwarding") it copies there for captures
 * only, and for sockets in ip_local_deliver_finish. The copy for a capture with a ring is a reshape,
 * made at once on the way in or out.
 *
 * Without scatter-gather skb_segment copies itself. A packet that it makes one piece of could be sent
 * in many, but for the checksum: see cef401de7be8 ("net: fix possible wrong checksum generation").
 */
#define CALLERS(X) \
	X("__netif_receive_skb_core", ARRIVAL, LATE) \
	X("__netif_receive_skb_one_core", ARRIVAL, LATE) \
	X("__netif_receive_skb_list_core", ARRIVAL, LATE) \
	X("ip_local_deliver_finish", LOCAL_DELIVERY, LATE) \
	X("ip_local_deliver", LOCAL_DELIVERY, LATE) \
	X("ip_protocol_deliver_rcu", LOCAL_DELIVERY, LATE) \
	X("ip6_input_finish", LOCAL_DELIVERY, LATE) \
	X("ip6_input", LOCAL_DELIVERY, LATE) \
	X("ip6_protocol_deliver_rcu", LOCAL_DELIVERY, LATE) \
	X("dev_queue_xmit_nit", TAP_TX, BOTH) \
	X("__netif_receive_skb_core", TAP_RX, RESHAPE) \
	X("tun_net_xmit", TUN, BOTH) \
	X("tap_handle_frame", TUN, BOTH) \
	X("__skb_tstamp_tx", TIMESTAMPING, BOTH) \
	X("skb_segment", SEGMENTATION, LATE) \
	X("skb_segment", CHECKSUM, PULL) \
	X("skb_checksum_help", CHECKSUM, PULL) \
	X("skb_segment", NO_SG, RESHAPE) \
	X("validate_xmit_skb", NO_SG, RESHAPE) \
	X("validate_xmit_skb_list", NO_SG, RESHAPE) \
	X("netif_receive_generic_xdp", XDP, BOTH) \
	X("do_xdp_generic", XDP, BOTH) \
	X("bpf_prog_run_generic_xdp", XDP, BOTH) \
	X("netif_skb_check_for_xdp", XDP, BOTH) \
	X("skb_cow_data_for_xdp", XDP, BOTH) \
	X("skb_pp_cow_data", XDP, BOTH) \
	X("veth_convert_skb_to_xdp_buff", XDP, BOTH) \
	X("veth_xdp_rcv_skb", XDP, BOTH) \
	X("skb_cow_data", IPSEC, BOTH) \
	X("tcp_collapse", COLLAPSE, RESHAPE) \
	X("tcp_prune_queue", COLLAPSE, RESHAPE) \
	X("skb_try_coalesce", COALESCE, BOTH) \
	X("skb_condense", COALESCE, RESHAPE) \
	X("tcp_mtu_probe", MTU_PROBE, RESHAPE) \
	X("tcp_write_xmit", MTU_PROBE, RESHAPE) \
	X("tcp_retrans_try_collapse", RETRANSMIT, RESHAPE) \
	X("__tcp_retransmit_skb", RETRANSMIT, RESHAPE) \
	X("tcp_v4_rcv", HEADER, RESHAPE) \
	X("tcp_v6_rcv", HEADER, RESHAPE) \
	X("tcp_gro_receive", HEADER, RESHAPE) \
	X("skb_gro_receive", HEADER, RESHAPE) \
	X("dev_gro_receive", HEADER, RESHAPE) \
	X("ip_rcv_core", HEADER, RESHAPE) \
	X("ip6_rcv_core", HEADER, RESHAPE) \
	X("icmp_glue_bits", ICMP, RESHAPE) \
	X("icmpv6_getfrag", ICMP, RESHAPE)

#endif
