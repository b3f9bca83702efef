# SPDX-License-Identifier: GPL-2.0
"""Wrong changes of what trampolines count, which guests find."""
from __future__ import annotations

from .change import Change
from .of_sites import (
    CAUSE,
    COMPLETIONS,
    DATAGRAMS,
    IN_GUEST,
    PACKETS,
    RECEIVES,
    REFUSE,
    SENDS,
    SOCKETS,
    TLS,
)

MATRIX, WATCH, OF_TLS, CAUSES = (f"tests/guest/test_{name}.py" for name in ("matrix", "watch", "tls", "causes"))
EACH_DATAGRAM = f"{WATCH} test_each_datagram_is_at_its_site [6.12]"
IN_RECORDS = f"{OF_TLS} test_23_messages_of_4093_bytes_are_94139_of_plaintext"
WATCHED = "tests/guest/test_watched_paths.py test_what_a_watch_measures_is_what_the_run_beside_it_measures"
ODD_PROGRAM = "tests/guest/test_odd.py test_an_odd_program_is_counted_exactly"
WHAT_LIES_BETWEEN = f"{MATRIX} test_what_lies_between_the_sockets_is_the_cause"

BY_TRAMPOLINES = (
    Change("sends: pages of a packet", SENDS, "\t\tpages = before ? pages - *before : 0;\n", "",
           "pages that a packet had before are pinned again",
           ("tests/guest/test_books.py test_aligned_fields_pin_17_pages [6.1-A3]",)),
    Change("sockets: read after a reset", SOCKETS, "\tif (is_tcp(sk))\n\t\tclosed_socket_read(sk, true);\n", "",
           "what was spliced out of a closed socket is forgotten with its numbers", (f"{ODD_PROGRAM} spliced_after_reset-whole",)),
    Change("receives: spliced bytes", RECEIVES, "\t__sync_fetch_and_add(&slot->rx_spliced, ret);", "\t__sync_fetch_and_add(&slot->rx_spliced, most);",
           "what was asked for counts as spliced", ("tests/guest/test_books.py test_bytes_that_are_spliced_out A3.splice",)),
    Change("receives: mapped bytes", RECEIVES, "\t__sync_fetch_and_add(&slot->rx_mapped, zc->length);",
           "\t__sync_fetch_and_add(&slot->rx_mapped, zc->recv_skip_hint);",
           "what is left to recv counts as mapped", ("tests/guest/test_books.py test_packets_that_fill_pages_are_mapped A3.map",)),
    Change("receives: datagrams that are cut", RECEIVES, "\tif (room && *room < bytes)\n\t\tcopied = *room;\n", "",
           "what found no room in the buffer was copied", (EACH_DATAGRAM,)),
    Change("packets: late copies", PACKETS, "\tsite_change(b, SITE_late_copy, (u64)times * skb->data_len, times);",
           "\tsite_change(b, SITE_late_copy, (u64)times * skb->len, times);",
           "headers count as payload", (f"{IN_GUEST} [7.2-A3.veth.4]",)),
    Change("packets: clones of captures", PACKETS, "\t\t__sync_fetch_and_add(&slot->tapped, skb->data_len);", "\t\tslot->tapped = skb->data_len;",
           "of what captures were shown the last packet counts", (f"{MATRIX} test_a_capture_at_the_sender veth, tap on sender",)),
    Change("packets: what is moved behind the socket", PACKETS, "\t\t__sync_fetch_and_add(&slot->reshaped, bytes);\n", "\t\t;\n",
           "a watch does not count what the kernel moves out of pages", (f"{WATCHED} [6.12 trampoline-veth, no SG]",)),
    Change("packets: what a device takes", PACKETS, "\th->detail_bytes = skb->data_len;", "\th->detail_bytes = skb->len;",
           "headers count as payload that a device reads", ("tests/guest/test_paths.py test_every_law_balances A3.nic",)),
    Change("packets: what a driver copies", PACKETS, "\t\tcount(books_of_pages(skb), COUNT_reshaped_referenced_bytes, bytes);\n\tclean_take_back(skb, bytes);\n",
           "\t\tcount(books_of_pages(skb), COUNT_reshaped_referenced_bytes, bytes);\n",
           "pages that a driver copied count as read by its device", (f"{CAUSES} test_a_driver_that_wants_short_packets_whole",)),
    Change("packets: what an ICMP error quotes", PACKETS, "return quoted(skb, offset) ? 0 : moved_behind", "return moved_behind",
           "quoted payload counts as moved", ("tests/guest/test_congestion.py test_every_law_balances_when_a_device_changes mtu.router",)),
    Change("causes: whose namespace", PACKETS, "(netns_is_ours(dev->nd_net.net->ns.inum) ? 0 : COPIED_ELSEWHERE);",
           "(netns_is_ours(dev->nd_net.net->ns.inum) ? COPIED_ELSEWHERE : 0);",
           "the copy of a router is called delivery", (f"{WHAT_LIES_BETWEEN} [6.12-forward]",)),
    Change("causes: circumstances of a known caller", CAUSE, "struct copy_call call = { .site = site, .circumstances = circumstances };",
           "struct copy_call call = { .site = site };",
           "copies for a capture and for a reader are one cause", (f"{WHAT_LIES_BETWEEN} veth, tap on sender",)),
    Change("completions: released pages", COMPLETIONS, "\tcount(b, COUNT_released_pages, ended.pages);", "\tcount(b, COUNT_released_pages, sends);",
           "a send counts as a page", (f"{IN_GUEST} [6.1-A3.veth.4]",)),
    Change("completions: which limit refused", REFUSE, "over ? COUNT_refused_optmem : COUNT_refused_memlock", "over ? COUNT_refused_memlock : COUNT_refused_optmem",
           "the two limits are swapped", (f"{CAUSES} test_a_refused_send_is_charged memlock",)),
    Change("datagrams: what IP is given", DATAGRAMS, "__sync_fetch_and_add(&slot->handed_over, skb->len - headers);",
           "__sync_fetch_and_add(&slot->handed_over, skb->len);",
           "headers count as payload", (EACH_DATAGRAM,)),
    Change("sockets: the census of ends", SOCKETS, "\tcensus_end(book);\n\tif (sizes_wanted)", "\tif (sizes_wanted)",
           "books that end are not counted", (f"{WATCH} test_a_program_from_beginning_to_end [7.2]",)),
    Change("TLS: what is encrypted", TLS, "BPF_CORE_READ(request, cryptlen) - cipher->tail);", "BPF_CORE_READ(request, cryptlen));",
           "the type of a record counts as plaintext", (f"{IN_RECORDS} [6.1-ktls.veth]",)),
    Change("TLS: what is copied", TLS, "struct tls_book *tls = ret < 0 ? NULL : tls_book_find(cookie_of(sk));\n\n\tif (!tls)\n\t\treturn 0;\n\t__sync_fetch_and_add(&tls->copied, bytes);",
           "struct tls_book *tls = ret ? NULL : tls_book_find(cookie_of(sk));\n\n\tif (!tls)\n\t\treturn 0;\n\t__sync_fetch_and_add(&tls->copied, bytes);",
           "what it returned is taken for an error", (f"{OF_TLS} test_what_more_may_follow [6.1-more]",)),
    Change("TLS: records decrypted in place", TLS, "ret < 0 || !BPF_CORE_READ(arg, zc) ? NULL", "ret < 0 ? NULL",
           "records that were copied count as decrypted in place", (f"{IN_RECORDS} [6.1-ktls.veth]",)),
)
