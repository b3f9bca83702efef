# SPDX-License-Identifier: GPL-2.0
"""Wrong changes of the programs that count, of every kind of site. What tracepoints count a run on this kernel finds."""
from __future__ import annotations

from .change import Change

SENDS, RECEIVES, PACKETS, COMPLETIONS, TLS, SOCKETS, DATAGRAMS, GATHER, REFUSE, BALANCES = (f"bpf/{name}.bpf.c" for name in (
    "sends", "receives", "packets", "completions", "tls", "sockets", "datagrams", "gather", "refuse", "balances"))
FLAGS, RETRANSMIT, CAUSE, SKB, QUEUES, TAPS = (f"bpf/include/{name}.bpf.h" for name in (
    "send_flags", "retransmit", "cause", "skb", "queues", "packet_taps"))
BOOKS, CONGESTION, CORNERS, ODD = (f"tests/host/test_{name}.py" for name in (
    "books", "congestion", "watch_corners", "watch_odd"))
AT_EACH_SITE = f"{BOOKS} test_23_messages_of_4093_bytes_are_94139_at_each_site"
EXACTLY = f"{ODD} test_an_odd_program_among_all_is_counted_exactly"
IN_GUEST = "tests/guest/test_books.py test_23_messages"

BY_TRACEPOINTS = (
    Change("gather: bytes and calls", GATHER, "SITE_user_gather, bytes, calls);", "SITE_user_gather, calls, bytes);",
           "calls count as bytes, and bytes as calls", (f"{AT_EACH_SITE} [A1-lo-1]",)),
    Change("sends: the stretch before", SENDS, "\tunusual_seen = 1;\n\tslot_charge(slot, accepted_of(tp));\n", "\tunusual_seen = 1;\n",
           "what was sent before the kind changed is of the new kind", (f"{EXACTLY} [every_way_in_turns-whole]",)),
    Change("sends: an option that is not set", SENDS, "return brings_notification(msg) || zerocopy_enabled(sk) ? WATCH_KIND_REFERENCE",
           "return true ? WATCH_KIND_REFERENCE",
           "a send that asks in vain counts as one by reference", (f"{EXACTLY} [zero_copy_unset-whole]",)),
    Change("sends: notifications of io_uring", FLAGS, "if (!ring && !zerocopy_enabled(sk)) {", "if (!zerocopy_enabled(sk)) {",
           "io_uring's sends need SO_ZEROCOPY", (f"{AT_EACH_SITE} [uring-zc-lo-4]",)),
    Change("sends: a send that must copy", FLAGS, "msg_flags & MSG_ZEROCOPY_FLAG && !(sk->sk_route_caps & NETIF_F_SG_FLAG);",
           "msg_flags & MSG_ZEROCOPY_FLAG && sk->sk_route_caps & NETIF_F_SG_FLAG;",
           "it is asked the wrong way round", (f"{AT_EACH_SITE} [A3-lo-4]",)),
    Change("sends: ENOBUFS", FLAGS, "\tif (ret == ENOBUFS_RET)\n\t\tcount(b, COUNT_enobufs, 1);\n", "",
           "refused sends are not counted", (f"{BOOKS} test_refused_sends_are_made_again memlock",)),
    Change("receives: a peek that throws away", RECEIVES, "if (flags & MSG_TRUNC_FLAG && !(flags & MSG_PEEK_FLAG)) {", "if (flags & MSG_TRUNC_FLAG) {",
           "a peek with MSG_TRUNC counts as a discard", (f"{EXACTLY} [peek-whole]",)),
    Change("receives: peeks", RECEIVES, "\t\t__sync_fetch_and_add(&slot->rx_peeked, ret);\n\t}\n\treturn 0;", "\t}\n\treturn 0;",
           "what was peeked is not noted", (f"{BOOKS} test_bytes_that_are_peeked_first [A1-plain-1-lo",)),
    Change("receives: discards", RECEIVES, "\t\t__sync_fetch_and_add(&slot->rx_discarded, ret);", "\t\t__sync_fetch_and_add(&slot->rx_discarded, 1);",
           "a call counts as a byte", (f"{BOOKS} test_bytes_that_are_received_with_msg_trunc [A1-stream]",)),
    Change("receives: copies that failed", RECEIVES, "\tif (told == EFAULT_RET) {", "\tif (told == EFAULT_RET && !seen) {",
           "bytes of a copy that failed were received", ("tests/host/test_watch_books.py test_receives_that_fail",)),
    Change("receives: urgent bytes", RECEIVES, "__sync_fetch_and_add(&slot->rx_off, -(u64)told);", "__sync_fetch_and_add(&slot->rx_off, (u64)told);",
           "the sign of an urgent byte", (f"{EXACTLY} [urgent-whole]",)),
    Change("receives: what the error queue quotes", RECEIVES, "\tif (len <= 0 || (cookie && !POINTER_IN(sk_buff, skb, next)))", "\tif (len <= 0)",
           "quoted payload counts as received", (f"{EXACTLY} [time_stamps-whole]",)),
    Change("packets: what left again", PACKETS, "count(b, COUNT_retrans_copied_bytes, bytes - first);", "count(b, COUNT_retrans_copied_bytes, first);",
           "new bytes count as sent again", (f"{CONGESTION} test_what_a_full_queue_refused [A1-4-veth]",)),
    Change("packets: header and payload", PACKETS, "\tsite_add(b, SITE_late_copy, skb->data_len);", "\tsite_add(b, SITE_late_copy, skb->len);",
           "headers of packets that arrive count as payload", (f"{AT_EACH_SITE} [A3-veth-1]",)),
    Change("packets: drops", PACKETS, "\tcount(b, COUNT_dropped_referenced_bytes, skb->data_len);\n", "",
           "pages of dropped packets are forgotten", (f"{CONGESTION} test_what_a_full_queue_refused [A3-4-veth]",)),
    Change("packets: a packet that was cut and refused", PACKETS, "|| refused_in_pieces(skb, location) ||", "||",
           "a packet is dropped once for itself and once for its pieces", (f"{CONGESTION} test_a_packet_is_dropped_once [few]",)),
    Change("completions: copied or not", COMPLETIONS, "\tif (n.copied)\n\t\tslot->copied_sends += sends;", "\tif (!n.copied)\n\t\tslot->copied_sends += sends;",
           "the flag COPIED is read the wrong way round", (f"{EXACTLY} [zero_copy-whole]",)),
    Change("completions: io_uring's promise", COMPLETIONS, "\t\t flags & IORING_CQE_F_MORE_FLAG &&", "\t\t !(flags & IORING_CQE_F_MORE_FLAG) &&",
           "sends that bring a notification are those that do not", (f"{EXACTLY} [uring_zero_copy-whole]",)),
    Change("sends: refused before the first turn", SENDS, "if (!(send & SEND_UNDER_WAY) && ret != ENOBUFS_RET)", "if (!(send & SEND_UNDER_WAY))",
           "refused sends are none", (f"{BOOKS} test_refused_sends_are_made_again optmem",)),
    Change("packets: bytes in part new", RETRANSMIT, "\t\tbytes += to - (seq_after(from, mark) ? from : mark);", "\t\tbytes += to - from;",
           "what left before counts as new where more left with it", (f"{CONGESTION} test_what_a_full_queue_refused [A1-8send-2-veth]",
                                                                     f"{CONGESTION} test_messages_of_prime_length")),
    Change("packets: pages that left", PACKETS, "\tcount(b, COUNT_wire_referenced_bytes, bytes);", "\tcount(b, COUNT_wire_referenced_bytes, first);",
           "pages that leave again do not count as left", (f"{CONGESTION} test_what_a_full_queue_refused [A3-4-veth]",)),
    Change("completions: one that grew", COMPLETIONS, "\t\t\treturn n->last + 1 - from;", "\t\t\treturn n->last - from;",
           "a notification stands for one send less", (f"{CORNERS} test_completions_that_all_came_balance",)),
    Change("completions: a failed send of io_uring's", COMPLETIONS, " && BPF_CORE_READ(req, cqe.res) > 0)", ")",
           "a send that failed counts", (f"{EXACTLY} [uring_zero_copy_fails-whole]",)),
    Change("completions: a gap", COMPLETIONS, "known && known >> 32 == n->first ? (u32)known : n->first", "n->first",
           "a notification that was added to one there counts anew", (f"{EXACTLY} [zero_copy_piles_up-whole]",)),
    Change("completions: io_uring's copies", COMPLETIONS, "\telse if (copied)\n", "\telse if (!copied)\n",
           "the report of a ring is read the wrong way round", (f"{EXACTLY} [uring_zero_copy_reports-whole]",)),
    Change("balances: the stretch that begins", BALANCES, "\t\tslot->since = book->now.accepted - book->now.fin_queued;\n", "",
           "what was sent before the window is of it", (f"{EXACTLY} [plain-life]",)),
    Change("balances: what waits in the queue", QUEUES, "\tw->unsent = 1;\n", "",
           "user pages that have not left count as sent", (f"{EXACTLY} [zero_copy_waits-life]",)),
    Change("sockets: the SYN", SOCKETS, "\tbook->opened.accepted = 1;\n", "", "a SYN counts as a byte",
           (f"{EXACTLY} [plain-whole]",)),
    Change("sockets: earlier lives", SOCKETS, "\t\tbook->past_returned += returned_of(last) - returned_of(first);\n", "",
           "what a socket received before it connected again is forgotten", (f"{EXACTLY} [disconnect_unread-whole]",)),
    Change("datagrams: what a queue refused", PACKETS, "\tcount(b, COUNT_dropped_bytes, skb->len - headers);", "\tcount(b, COUNT_dropped_bytes, skb->len);",
           "headers of dropped datagrams count as payload", ("tests/host/test_datagrams.py test_what_a_queue_refuses_is_lost_and_counted",)),
    Change("datagrams: a packet's header", SKB, "#define UDP_HEADER_BYTES 8", "#define UDP_HEADER_BYTES 20",
           "the header is taken for TCP's", (f"{AT_EACH_SITE} [udp-lo-1]",)),
)
