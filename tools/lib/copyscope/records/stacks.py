# SPDX-License-Identifier: GPL-2.0
"""Which calls of programs moved bytes, as the record of a watch has it: stacks by name, folded."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from .run_record import Record

# Frames that stand where a stack is not told to its end.
ENDS = {"whole": "", "deeper": "[deeper than 127 calls]", "no frame pointer": "[no frame pointer]",
        "unread": "[the program was not read]", "kernel": "[no call of a program]",
        "io_uring": "[a thread of io_uring]"}


@dataclass(frozen=True)
class Stack:
    """Calls by one stack at one site; its frames from the first call of the process on."""

    process: str
    pid: int
    site: str
    bytes: int
    calls: int
    frames: tuple[str, ...]
    places: tuple[int, ...]  # of the record's frames; without marks


def has(record: Record) -> bool:
    """Whether stacks were asked for."""
    return bool(record.data.get("stacks"))


def frame_name(found: dict[str, Any], frame: dict[str, Any]) -> str:
    """A function, or file+offset, or an address."""
    if frame["function"]:
        return frame["function"]
    offset = f"{int(frame['offset']):#x}"
    if frame["module"] is None:
        return offset
    return f"{PurePosixPath(found['modules'][frame['module']]['path']).name}+{offset}"


def stacks_of(record: Record) -> list[Stack]:
    """Every stack, in the order of the record."""
    found = record.data["stacks"]
    comms = {each["pid"]: each["comm"] for each in record.data["processes"]}
    names = [frame_name(found, each) for each in found["frames"]]
    made = []
    for each in found["stacks"]:
        places = tuple(reversed(each["frames"]))
        mark = ENDS[each["end"]]
        frames = ((mark,) if mark else ()) + tuple(names[place] for place in places)
        made.append(Stack(f"{comms.get(each['pid']) or 'process'} {each['pid']}", each["pid"],
                          each["site"], each["bytes"], each["calls"], frames, places))
    return made


def plain(name: str) -> str:
    """A frame of a folded line, where a semicolon ends one and a line ends all."""
    return " ".join(name.replace(";", ":").split()) or "?"


def folded(record: Record) -> dict[tuple[str, ...], int]:
    """Bytes by process, frames from the outermost on, and site."""
    sums: dict[tuple[str, ...], int] = {}
    for each in stacks_of(record):
        key = (each.process, *each.frames, f"[{each.site}]")
        sums[key] = sums.get(key, 0) + each.bytes
    return dict(sorted(sums.items()))


def folded_lines(record: Record) -> list[str]:
    """As flamegraph.pl, inferno and speedscope read it: frames joined by semicolons, then bytes."""
    return [f"{';'.join(map(plain, key))} {moved}"
            for key, moved in folded(record).items() if moved]
