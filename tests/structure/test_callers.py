# SPDX-License-Identifier: GPL-2.0
"""tests/data/module-callers.md names each module that moves payload by functions whose callers the books must know."""
from __future__ import annotations

import re

import pytest

from copyscope.guest import architectures, kernels
from helpers.importers import importers
from helpers.names import KERNELS
from helpers.records import ROOT

FUNCTIONS = (
    "tcp_sendmsg", "tcp_sendmsg_locked", "sock_sendmsg", "kernel_sendmsg", "kernel_sendpage", "do_tcp_sendpages",
    "skb_splice_from_iter", "skb_send_sock", "skb_send_sock_locked", "udp_tunnel_xmit_skb", "zerocopy_sg_from_iter",
    "__zerocopy_sg_from_iter", "skb_zerocopy", "sk_msg_memcopy_from_iter", "sk_msg_zerocopy_from_iter",
    "skb_copy_datagram_from_iter", "tcp_recvmsg", "tcp_read_sock", "tcp_read_skb", "sock_recvmsg", "kernel_recvmsg",
    "skb_splice_bits", "skb_copy_datagram_iter", "skb_copy_and_hash_datagram_iter",
    "skb_copy_and_crc32c_datagram_iter",
)
FORM = re.compile(r"`(\w+)`(?: \((?:up to ([\d.]+)|([\d.]+) and later)\))?")


def told(release: str) -> dict[str, set[str]]:
    """What the table says that modules of this kernel import."""
    page = (ROOT / "tests/data/module-callers.md").read_text()
    rows = page.split("| module | imports |")[1].splitlines()[2:]
    at, found = KERNELS.index(release), {}
    for row in rows:
        module, imports = (cell.strip() for cell in row.split("|")[1:3])
        here = {name for name, last, first in FORM.findall(imports)
                if (not last or at <= KERNELS.index(last)) and (not first or at >= KERNELS.index(first))}
        if here:
            found[module] = here
    return found


@pytest.mark.parametrize("release", KERNELS)
def test_each_module_that_moves_payload_is_in_the_table_of_callers(release):
    found = kernels.find(release, architectures.get("amd64"))
    if not found:
        pytest.skip(f"no kernel {release} is unpacked: tools/guest --kernel {release} fetches it")
    assert importers(found.modules, FUNCTIONS) == told(release)
