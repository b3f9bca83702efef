# SPDX-License-Identifier: GPL-2.0
"""Wrong changes of what is not the same on all kernels: a guest of the kernel that has the difference finds them."""
from __future__ import annotations

from .change import Change
from .in_guests import IN_RECORDS, MATRIX, WATCH
from .of_sites import COMPLETIONS, IN_GUEST, PACKETS, TAPS

HOOKS = "userspace/engine/hooks.c"
TABLE = "build/tests/unit/hooks_test"
COMPAT = "bpf/include/compat.bpf.h"
DELIVERY = f"{MATRIX} test_delivery_on_this_machine_copies_every_reference_late"
OF_SENDFILE = f"{MATRIX} test_sendfile_copies_nothing_in_send"


def without(name: str, row: str, wrong: str, *tests: str) -> Change:
    """A row of the table of hooks is missing."""
    return Change(f"hooks: {name}", HOOKS, f"\t{row}\n", "", wrong, tests)


OF_KERNELS = (
    without("references since 6.17", 'FEXIT(6, "reference_exit_6", "tx_reference", "skb_zerocopy_iter_stream", ALWAYS | DETAIL, PLAIN),',
            "the form with six arguments is missing", TABLE, f"{DELIVERY} [6.18-lo]"),
    without("references up to 6.16", 'FEXIT(5, "reference_exit_5", "tx_reference", "skb_zerocopy_iter_stream", ALWAYS | DETAIL, PLAIN),',
            "the form with five arguments is missing", TABLE, f"{DELIVERY} [6.12-veth]"),
    without("sendfile up to 6.4", 'FEXIT(5, "sendpages_exit", "tx_splice", "do_tcp_sendpages", ALWAYS, PLAIN),',
            "the end of a splice is not seen", TABLE, f"{IN_GUEST} [6.1-vmsplice.veth.4]"),
    without("splices from 6.5 on", 'FEXIT(4, "pages_spliced_4", "tx_splice", "skb_splice_from_iter", ALWAYS, PLAIN),',
            "the form with four arguments is missing", TABLE, f"{OF_SENDFILE} [6.12-soon]"),
    without("splices of 6.18", 'FEXIT(3, "pages_spliced_3", "tx_splice", "skb_splice_from_iter", ALWAYS, PLAIN),',
            "the form with three arguments is missing", TABLE, f"{OF_SENDFILE} [6.18-soon]"),
    without("refusals since 6.17", 'FEXIT(4, "realloc_exit_4", "refusals", "msg_zerocopy_realloc", DETAIL, PLAIN),',
            "the form with four arguments is missing", TABLE, f"{IN_GUEST} [7.2-A3.veth.4]"),
    without("receives up to 6.2", 'FEXIT(6, "receive_exit", "returned", "tcp_recvmsg_locked", CALLS, ELSE),',
            "there is no other hook where the tracepoint is missing", f"{IN_GUEST} [6.1-A1.veth.4]"),
    without("notifications up to 6.18", 'FENTRY(1, "notification_end", "completions", "__msg_zerocopy_callback", DETAIL, PLAIN),',
            "the function of its own is missing", TABLE, f"{IN_GUEST} [6.1-A3.veth.4]"),
    without("notifications since 6.19", 'FEXIT(3, "notification_put_exit", "completions", "msg_zerocopy_complete", DETAIL, ELSE),',
            "one of the two programs is missing", TABLE,
            "tests/guest/test_paths.py test_every_law_balances [7.2-skip-put-entry.veth]"),
    without("datagrams since 6.18", 'FEXIT(4, "datagram_receive_exit_4", "returned", "udp_recvmsg", DATAGRAMS, PLAIN),',
            "the form with four arguments is missing", TABLE,
            "tests/guest/test_datagrams.py test_every_byte_is_found_at_its_site [7.2-udp.veth]"),
    without("receives of TLS since 6.19", 'FEXIT(4, "tls_receive_exit_4", "TLS returned", "tls_sw_recvmsg", TLS, PLAIN),',
            "the form with four arguments is missing", TABLE, f"{IN_RECORDS} [7.2-ktls.veth]"),
    without("sendfile over TLS up to 6.4", 'FEXIT(5, "tls_sendpage_exit", "TLS accepted", "tls_sw_sendpage", TLS, PLAIN),',
            "the entry of its own is missing", f"{IN_RECORDS} [6.1-ktls-sendfile.lo]"),
    Change("kernels: without bpf_rdonly_cast", PACKETS, "\t\twords = BPF_CORE_READ_BITFIELD_PROBED(tcp, doff);", "\t\twords = 5;",
           "on 6.1 options of TCP count as payload", (f"{IN_GUEST} [6.1-A1.veth.4]",)),
    Change("kernels: with bpf_rdonly_cast", PACKETS, "\t\twords = BPF_CORE_READ_BITFIELD(tcp, doff);", "\t\twords = 5;",
           "since 6.2 options of TCP count as payload", ("tests/host/test_books.py test_23_messages [A1-lo-1]",)),
    Change("kernels: where captures are listed", TAPS, "\treturn (const void *)taps_at.ptype_all;", "\treturn NULL;",
           "6.1 does not tell captures from delivery", (f"{IN_GUEST} [6.1-A3.veth.4]",)),
    Change("kernels: limits of option memory", COMPLETIONS, "bpf_core_field_exists(core->sysctl_optmem_max) ? BPF_CORE_READ(core, sysctl_optmem_max) :",
           "false ? BPF_CORE_READ(core, sysctl_optmem_max) :",
           "a namespace with a limit of its own has that of the machine",
           (f"{WATCH} test_a_send_that_needs_no_notification [7.2]",)),
    Change("kernels: where frags are counted", COMPAT, "\thead.count = bytes >> 8 * bpf_core_field_offset(shinfo->nr_frags);",
           "\thead.count = bytes >> 8;",
           "the byte before the number of frags is read", ("tests/guest/test_books.py test_aligned_fields_pin_17_pages [6.1-A3]",)),
)
