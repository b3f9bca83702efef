# SPDX-License-Identifier: GPL-2.0
"""In which lines of the cache the lock, the queue and the counts of a socket lie, by the BTF of the
running kernel.
"""
from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from .fact import Fact, unknown

VMLINUX = Path("/sys/kernel/btf/vmlinux")
MAGIC = 0xeb9f
INT, ARRAY, STRUCT, UNION, ENUM, TYPEDEF = 1, 3, 4, 5, 6, 8
VOLATILE, CONST, RESTRICT, FUNC_PROTO, VAR, DATASEC = 9, 10, 11, 13, 14, 15
DECL_TAG, TYPE_TAG, ENUM64 = 17, 18, 19
# Bytes behind a type, and behind each of its parts (include/uapi/linux/btf.h).
FIXED = {INT: 4, ARRAY: 12, VAR: 4, DECL_TAG: 4}
PARTS = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}
LAST_KIND = ENUM64
BITS = 8


class BadBtf(ValueError):
    """The bytes are no BTF that this reader knows."""


@dataclass(frozen=True)
class Type:
    """One type, and where its parts begin."""

    name: str
    kind: int
    parts: int
    bitfields: bool
    size: int
    at: int


class Btf:
    """All types by number and structures by name."""

    def __init__(self, data: bytes) -> None:
        magic, _, _, head, types, type_bytes, strings, string_bytes = \
            struct.unpack_from("<HBBIIIII", data) if len(data) >= 24 else (0,) * 8
        if magic != MAGIC or head + max(types + type_bytes, strings + string_bytes) > len(data):
            raise BadBtf("no BTF of this byte order")
        self.data = data
        self.strings = head + strings
        self.types = [Type("void", 0, 0, False, 0, 0)]
        self.named: dict[str, int] = {}
        at, end = head + types, head + types + type_bytes
        while at < end:
            at = self.take(at)

    def text(self, offset: int) -> str:
        """A name."""
        start = self.strings + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def take(self, at: int) -> int:
        """Read the type at an offset; return where the next one begins."""
        name, info, size = struct.unpack_from("<III", self.data, at)
        kind, parts = info >> 24 & 0x1f, info & 0xffff
        if kind > LAST_KIND:
            raise BadBtf(f"a type of the unknown kind {kind}")
        found = Type(self.text(name), kind, parts, bool(info >> 31), size, at + 12)
        if kind == STRUCT:
            self.named.setdefault(found.name, len(self.types))
        self.types.append(found)
        return at + 12 + FIXED.get(kind, 0) + PARTS.get(kind, 0) * parts

    def bare(self, number: int) -> Type:
        """A type without its names and qualifiers."""
        found = self.types[number]
        while found.kind in (TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG):
            found = self.types[found.size]
        return found

    def member(self, within: Type, name: str) -> tuple[int, Type] | None:
        """Offset in bits and type of a member, also of one in a part without a name."""
        for place in range(within.parts if within.kind in (STRUCT, UNION) else 0):
            named, number, offset = struct.unpack_from("<III", self.data, within.at + 12 * place)
            offset = offset & 0xffffff if within.bitfields else offset
            kind = self.bare(number)
            if named and self.text(named) == name:
                return offset, kind
            inner = None if named else self.member(kind, name)
            if inner:
                return offset + inner[0], inner[1]
        return None

    def structure(self, name: str) -> Type:
        """A structure by its name."""
        if name not in self.named:
            raise BadBtf(f"struct {name} is not in it")
        return self.types[self.named[name]]

    def offset(self, structure: str, path: str) -> int:
        """Where a member lies in a structure, in bytes; `path` goes down by dots."""
        within, bits = self.structure(structure), 0
        for name in path.split("."):
            found = self.member(within, name)
            if not found:
                raise BadBtf(f"struct {structure} has no {path}")
            bits, within = bits + found[0], found[1]
        return bits // BITS

    def size(self, structure: str) -> int:
        """Bytes of a structure."""
        return self.structure(structure).size


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
