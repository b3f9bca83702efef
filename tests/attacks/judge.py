# SPDX-License-Identifier: GPL-2.0
"""What must hold however a command ends, and what must hold if it refuses."""
from __future__ import annotations

import re
import signal

from attacks.attack import Broken
from attacks.started import Done

SANITIZER = re.compile(rb"AddressSanitizer|UndefinedBehaviorSanitizer|LeakSanitizer|"
                       rb"runtime error: |\*\*\* (stack smashing|buffer overflow)|"
                       rb"(free|malloc|realloc|munmap_chunk)\(\): |corrupted ")
TRACEBACK = re.compile(rb"Traceback \(most recent call last\)|^\w+Error: |Exception ignored in",
                       re.MULTILINE)
# All but newline and tab: they move the cursor, colour, ring or hide. C1 as UTF-8 writes them.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
FINE, FAILED, USAGE, REFUSED, BLIND = range(5)
# Of a run that went well, and of one whose probes the kernel kept packets from.
WELL = (FINE, BLIND)
# Of a run that a signal ended before its time.
ASKED_TO_END = tuple(128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
# Died of a system call that it was kept from: it had taken the words and begun to work.
TOOK_THE_WORDS = -signal.SIGSYS
LINE_CHARACTERS_MAX = 1000


def said_soundly(done: Done) -> None:
    """No traceback, no sanitizer's report, no raw control characters."""
    for stream, name in ((done.err, "stderr"), (done.out, "stdout")):
        if SANITIZER.search(stream):
            raise Broken(f"a sanitizer reports: {stream[:1500].decode(errors='replace')}\n{done}")
        if TRACEBACK.search(stream):
            raise Broken(f"a traceback: {done}")
        found = CONTROL.search(stream)
        if found:
            raise Broken(f"raw control character {found[0]!r} on {name}: {done}")


def ended_soundly(done: Done, also: tuple[int, ...] = ()) -> None:
    """An exit status from the table, and all of the above."""
    said_soundly(done)
    if done.status in (FINE, FAILED, USAGE, REFUSED, BLIND) or done.status in also:
        return
    raise Broken(f"exit status {done.status} is not in the table: {done}")


def refusal_is_one_line(done: Done) -> None:
    """Bad input and a machine that refuses: one line of moderate length, nothing on stdout."""
    if done.status not in (USAGE, REFUSED):
        return
    lines = done.err.decode(errors="replace").splitlines()
    if len(lines) != 1:
        raise Broken(f"{len(lines)} lines on stderr for a refusal: {done}")
    if len(lines[0]) > LINE_CHARACTERS_MAX:
        raise Broken(f"a line of {len(lines[0])} characters on stderr: {done}")
    if done.out:
        raise Broken(f"a refusal says something on stdout: {done}")
