# SPDX-License-Identifier: GPL-2.0
"""Reads hits of tracepoints by perf_event_open: their fields, their stack, how many there were."""
from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.errors import Refused

TRACEFS = Path("/sys/kernel/tracing")
CLONE_NEWNS, MS_REC, MS_SLAVE = 0x20000, 0x4000, 1 << 19
NUMBERS = {"x86_64": 298, "aarch64": 241}
# include/uapi/linux/perf_event.h
TYPE_TRACEPOINT, ATTR_BYTES = 2, 112
SAMPLE_TID, SAMPLE_CALLCHAIN, SAMPLE_RAW = 1 << 1, 1 << 5, 1 << 10
DISABLED, NO_USER_CALLCHAIN = 1, 1 << 22
ENABLE, DISABLE, SET_FILTER = 0x2400, 0x2401, 0x40082406
RECORD_LOST, RECORD_SAMPLE = 2, 9
HEAD_AT, TAIL_AT = 1024, 1032
RING_PAGES = 4096
# A period that no count reaches: hits are counted, and none is written into the ring.
COUNT_ALONE = 1 << 62
# Marks between the parts of a stack, such as PERF_CONTEXT_KERNEL, are the last 4095 addresses.
FIRST_MARK = (1 << 64) - 4095
FIELD = re.compile(r"field:[^;]*?(\w+)(?:\[\w*\])?;\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d);")
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Hit:
    """One hit of a tracepoint: the task, the kernel's stack, innermost first, and its fields."""

    pid: int
    tid: int
    stack: tuple[int, ...]
    fields: dict[str, int]


def reach_tracefs() -> None:
    """Have tracefs where it belongs; where it is not mounted, for this process alone."""
    if (TRACEFS / "events").is_dir():
        return
    if LIBC.unshare(CLONE_NEWNS) or \
            LIBC.mount(b"", b"/", None, ctypes.c_ulong(MS_REC | MS_SLAVE), None) or \
            LIBC.mount(b"nodev", str(TRACEFS).encode(), b"tracefs", ctypes.c_ulong(0), None):
        raise Refused(f"cannot mount tracefs: {os.strerror(ctypes.get_errno())}")


def fields_of(text: str) -> dict[str, tuple[int, int, bool]]:
    """Offset, bytes and sign of each whole number in a tracepoint's format."""
    return {name: (int(offset), int(size), sign == "1")
            for name, offset, size, sign in FIELD.findall(text) if size in "1248"}


class Ring:
    """The hits on one processor."""

    def __init__(self, descriptor: int, fields: dict[str, tuple[int, int, bool]]) -> None:
        self.descriptor, self.fields, self.lost = descriptor, fields, 0
        self.map = mmap.mmap(descriptor, (1 + RING_PAGES) * mmap.PAGESIZE)

    def close(self) -> None:
        """Give both back."""
        self.map.close()
        os.close(self.descriptor)

    def taken(self, start: int, size: int) -> bytes:
        """Bytes of the ring, around its end."""
        whole = RING_PAGES * mmap.PAGESIZE
        begin = start % whole
        first = self.map[mmap.PAGESIZE + begin:mmap.PAGESIZE + min(begin + size, whole)]
        return first + self.map[mmap.PAGESIZE:mmap.PAGESIZE + size - len(first)]

    def read(self) -> list[Hit]:
        """All hits that were not read yet."""
        head, tail = struct.unpack_from("<QQ", self.map, HEAD_AT)
        found = []
        while tail < head:
            kind, _, size = struct.unpack("<IHH", self.taken(tail, 8))
            body = self.taken(tail + 8, size - 8)
            if kind == RECORD_LOST:
                self.lost += struct.unpack_from("<Q", body, 8)[0]
            elif kind == RECORD_SAMPLE:
                found.append(hit_of(body, self.fields))
            tail += size
        struct.pack_into("<Q", self.map, TAIL_AT, tail)
        return found


def hit_of(body: bytes, fields: dict[str, tuple[int, int, bool]]) -> Hit:
    """What one sample says."""
    pid, tid, depth = struct.unpack_from("<IIQ", body)
    stack = struct.unpack_from(f"<{depth}Q", body, 16)
    raw = 16 + 8 * depth + 4
    return Hit(pid, tid, tuple(each for each in stack if each < FIRST_MARK),
               {name: int.from_bytes(body[raw + offset:raw + offset + size], "little", signed=sign)
                for name, (offset, size, sign) in fields.items()})


class Tracepoint:
    """A tracepoint on all processors, from its opening to its closing."""

    def __init__(self, name: str, filter_text: str, period: int = 1, stack: bool = False) -> None:
        place = TRACEFS / "events" / name
        try:
            number = int((place / "id").read_text("ascii"))
            fields = fields_of((place / "format").read_text("ascii"))
        except OSError as error:
            raise Refused(f"this kernel has no tracepoint {name}: {error.strerror}") from None
        self.name, self.rings = name, []
        sample = SAMPLE_TID | SAMPLE_RAW | SAMPLE_CALLCHAIN
        # Of a stack that is not asked for, one address.
        attr = struct.pack("<IIQQQQQIIQQQQIiQIHH", TYPE_TRACEPOINT, ATTR_BYTES, number, period,
                           sample, 0, DISABLED | NO_USER_CALLCHAIN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                           64 if stack else 1, 0)
        try:
            for cpu in sorted(os.sched_getaffinity(0) | set(range(os.cpu_count() or 1))):
                self.rings.append(Ring(self.opened(attr, cpu, filter_text), fields))
        except BaseException:
            self.close()
            raise

    def opened(self, attr: bytes, cpu: int, filter_text: str) -> int:
        """A descriptor of the event on one processor, with its filter."""
        number = NUMBERS.get(os.uname().machine)
        if number is None:
            raise Refused(f"perf_event_open is not known for {os.uname().machine}")
        found = LIBC.syscall(number, attr, -1, cpu, -1, 0)
        if found < 0:
            error = ctypes.get_errno()
            more = ": type sudo ./tools/facts ..." if error in (errno.EACCES, errno.EPERM) else ""
            raise Refused(f"{self.name} cannot be counted: {os.strerror(error)}{more}")
        os.set_inheritable(found, False)
        if LIBC.ioctl(found, ctypes.c_ulong(SET_FILTER), filter_text.encode()):
            os.close(found)
            raise Refused(f"{self.name}: the kernel refuses the filter {filter_text}")
        return found

    def __enter__(self) -> Tracepoint:
        """Start counting."""
        for each in self.rings:
            fcntl.ioctl(each.descriptor, ENABLE)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what was counted can still be read."""
        for each in self.rings:
            fcntl.ioctl(each.descriptor, DISABLE)

    def read(self) -> list[Hit]:
        """All hits that were not read yet."""
        return [hit for each in self.rings for hit in each.read()]

    @property
    def count(self) -> int:
        """Hits since it began, those that a period or a full ring left out, too."""
        return sum(int.from_bytes(os.read(each.descriptor, 8), sys.byteorder)
                   for each in self.rings)

    @property
    def lost(self) -> int:
        """Hits that found no room."""
        return sum(each.lost for each in self.rings)

    def close(self) -> None:
        """Close the event on all processors."""
        for each in self.rings:
            each.close()
        self.rings.clear()
