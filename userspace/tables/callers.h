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
	X("tls_rx_msg_size", HEADER, RESHAPE) \
	X("tls_decrypt_sg", HEADER, RESHAPE) \
	X("tls_strp_copyin", TLS_PIECES, RESHAPE) \
	X("icmp_glue_bits", ICMP, RESHAPE) \
	X("icmpv6_getfrag", ICMP, RESHAPE)

/*
 * X(cause, site, what tells it): for documents, in words, where no caller above stands for it alone. The
 * programs of a run have stacks; a watch has them with --detail.
 */
#define TOLD_OTHERWISE(X) \
	X(LOCAL_DELIVERY, late_copy, "up to 6.12 `__netif_receive_skb_core`, if no capture and no hop is why") \
	X(DELIVERY_OR_TAP, late_copy, "the same, where the kernel hides its lists of captures") \
	X(ARRIVED, late_copy, "the same in a watch, which does not know where the other end lives") \
	X(WAY_OUT, late_copy, "a watch without stacks: copied before a device had the packet") \
	X(FORWARDING, late_copy, \
	  "`__netif_receive_skb_core` on a device in a namespace where no end of the run lives") \
	X(TAP_RX, late_copy, "of `late_copy` while a list of captures that gets the packet is not empty") \
	X(TAP_TX, reshape, "behind `tpacket_rcv`: a capture with a ring") \
	X(TUN, late_copy, "vhost reads from the same queue") \
	X(CLONE, late_copy, \
	  "`skb_zerocopy_clone`, `pskb_expand_head`, `skb_copy` and their like, if their caller is no other cause") \
	X(CLONE, reshape, "") \
	X(NO_SG, reshape, "`__pskb_pull_tail` under the last two") \
	X(CHECKSUM, reshape, "`__pskb_pull_tail` in either: pages of the user may change while they are summed") \
	X(DRIVER, reshape, "`__pskb_pull_tail` in a function, or two, that `dev_hard_start_xmit` called") \
	X(UNSET, tx_copy, "the flag of the send, the option of the socket") \
	X(NO_SG_ROUTE, tx_copy, "`sk_route_caps` lacks NETIF_F_SG when the send returns") \
	X(FAST_OPEN, tx_copy, "`tcp_sendmsg_fastopen`, which returns what it copied") \
	X(OPTMEM, tx_reference, "`msg_zerocopy_realloc` returned NULL, and so did `sock_omalloc` inside it") \
	X(MEMLOCK, tx_reference, "`msg_zerocopy_realloc` returned NULL, and `sock_omalloc` inside it did not") \
	X(DECLINED, tx_copy, "of a watch: what sends of datagrams that asked for zero copy did not reference") \
	X(AT_REST, tx_reference, "of a watch: as these two, of a socket none of whose sends by reference was in flight") \
	X(NO_BUFFERS, tx_reference, "the error of the send, where no hook tells which limit refused") \
	X(UNKNOWN, late_copy, "a caller that is not in the table; shown with its stack") \
	X(UNKNOWN, reshape, "")

#endif
