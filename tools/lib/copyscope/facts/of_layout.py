# SPDX-License-Identifier: GPL-2.0
"""In which lines of the cache the lock, the queue and the counts of a socket lie."""
from __future__ import annotations

from .btf import VMLINUX, BadBtf, Btf
from .fact import Fact, unknown

LINE_BYTES = 64
# A socket's memory begins on a line: the cache of struct tcp_sock is SLAB_HWCACHE_ALIGN
# (net/core/sock.c, proto_register()), and struct sock is its beginning.
MEMBERS = ("sk_lock", "sk_write_queue", "sk_wmem_alloc", "sk_wmem_queued")
HOW = "the kernel's BTF: its offset in struct sock, by 64 bytes"


def facts(_progress: object = None) -> list[Fact]:
    """A line of each member, counted from the socket's first."""
    wanted = [("line", name, f"line of 64 bytes that {name} of struct sock begins in")
              for name in MEMBERS]
    try:
        layout = Btf(VMLINUX.read_bytes())
        return [Fact(name, of, layout.offset("sock", of) // LINE_BYTES, means, HOW)
                for name, of, means in wanted]
    except OSError as error:
        return unknown(wanted, HOW, f"{VMLINUX}: {error.strerror}")
    except BadBtf as error:
        return unknown(wanted, HOW, f"{VMLINUX}: {error}")
