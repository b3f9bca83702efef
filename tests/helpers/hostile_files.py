# SPDX-License-Identifier: GPL-2.0
"""Small files that cost a careless reader minutes or gigabytes."""
from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from helpers.names import ROOT

ARCHIVED, GIB = "sweep", 1 << 30


def twice(dice: Random) -> bytes:
    """JSON of 60,000 keys, one of which is there twice."""
    keys = [*range(60_000), dice.randrange(60_000)]
    return ("{" + ",".join(f'"k{key}": 1' for key in keys) + "}").encode()


def many_parts(dice: Random) -> bytes:
    """JSON of 45 MB that is lists of nothing, tables of nothing or short numbers: gigabytes, once read."""
    part = dice.choice([b"[],", b"{},", b"[[]],", b"1.5,"])
    return b"[" + part * (45_000_000 // len(part)) + b"0]"


def long_key(dice: Random) -> bytes:
    """TOML with a key of 50,000 parts, in one of its forms."""
    part = dice.choice(["a", '"a"', "'a.b'", r'"\""'])
    key = dice.choice([".", " . "]).join([part] * 50_000)
    return f"title = 'x'\n{dice.choice([f'{key} = 1', f'[{key}]', f'x = {{ {key} = 1 }}'])}\n".encode()


def header(kind: bytes, size_bytes: int) -> bytes:
    """The header of a tar's member."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, size_bytes
    return member.tobuf(tarfile.USTAR_FORMAT)


def packed_zeros() -> bytes:
    """A GiB of zeros, which is some 150 kB when packed, in streams that follow one another as if they were one."""
    block = 16 << 20
    return lzma.compress(bytes(block), preset=0) * (GIB // block)


def large_header(dice: Random) -> bytes:
    """An archive with a header of 1 GiB."""
    kind = dice.choice([tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
    return lzma.compress(header(kind, GIB)) + packed_zeros()


def headers_of_headers(_dice: Random) -> bytes:
    """An archive whose headers are about headers."""
    return lzma.compress(header(tarfile.XHDTYPE, 0) * 20_000)


def sparse(_dice: Random) -> bytes:
    """An archive that promises 10^9 pieces of a file."""
    member = tarfile.TarInfo("x.json")
    member.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "x.json"}
    member.size = 64 << 20
    made = io.BytesIO(member.tobuf(tarfile.PAX_FORMAT) + b"1000000000\n" + b"0\n" * (32 << 20))
    return lzma.compress(made.getvalue(), preset=0)


# Name, what makes it, and the tools that read it.
KINDS: dict[str, tuple[str, Callable[[Random], bytes]]] = {
    "keys that repeat": ("record.json", twice), "many parts": ("record.json", many_parts), "a long key": ("mine.toml", long_key),
    "a large header": (f"{ARCHIVED}/runs.tar.xz", large_header),
    "headers of headers": (f"{ARCHIVED}/runs.tar.xz", headers_of_headers),
    "a sparse file": (f"{ARCHIVED}/runs.tar.xz", sparse)}
RECORDS = str(ROOT / "tests/data/run-A3-host.json")


def place(kind: str, folder: Path, dice: Random) -> Path:
    """Write such a file into a folder, where it lies in a sweep if it is an archive."""
    name, make = KINDS[kind]
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(make(dice))
    if file.parent != folder:
        (file.parent / "plan.json").write_bytes((ROOT / "results/standard/plan.json").read_bytes())
    return file


def readers(file: Path) -> Iterator[list[str]]:
    """Command lines of tools that read it: all refuse it."""
    if file.suffix == ".toml":
        yield ["claims", "check", RECORDS, "--claims", str(file)]
        yield ["sweep", "--profile", str(file), "--dry-run"]
    elif file.suffix == ".json":
        yield ["claims", "check", str(file)]
        yield ["plot", str(file), "--out", "o"]
    else:
        yield ["claims", "check", str(file.parent)]
