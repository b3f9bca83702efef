# SPDX-License-Identifier: GPL-2.0
"""Which modules of a kernel import which of its functions, read from their tables of symbols."""
from __future__ import annotations

import lzma
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

SYMTAB = 2
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")


def undefined(data: bytes, wanted: set[bytes]) -> Iterator[bytes]:
    """Names that a module of 64 bits leaves to others to define, if its symbols have any of those wanted."""
    at, = struct.unpack_from("<Q", data, 0x28)
    count, = struct.unpack_from("<H", data, 0x3c)
    sections = [SECTION.unpack_from(data, at + i * SECTION.size) for i in range(count)]
    for _, kind, _, _, begin, size, link, *_ in sections:
        if kind != SYMTAB:
            continue
        _, _, _, _, strings, length, *_ = sections[link]
        names = data[strings:strings + length]
        if not any(name in names for name in wanted):
            continue
        for name, _, _, section, _, _ in SYMBOL.iter_unpack(data[begin:begin + size]):
            if not section and name:
                yield names[name:names.index(b"\0", name)]


def importers(folder: Path, functions: Iterable[str]) -> dict[str, set[str]]:
    """Functions that each module below `folder` imports, by the module's name; of those given."""
    wanted = {name.encode() for name in functions}
    found = defaultdict(set)
    for path in folder.glob("kernel/**/*.ko*"):
        data = path.read_bytes()
        if path.suffix == ".xz":
            data = lzma.decompress(data)
        for name in wanted.intersection(undefined(data, wanted)):
            found[path.name.split(".ko")[0]].add(name.decode())
    return dict(found)
