# SPDX-License-Identifier: GPL-2.0
"""Runs odd programs, each in a process of its own, for one watch over all of them:
`python3 -m odd.crowd OUT WAY [PROGRAM...]`; all if none is named.

A guest's processor is slow, and a watch takes seconds to begin there. With WAY whole they run one after
the other. With WAY life all of them live up to where a window opens, and take a name, which is printed;
after a line from stdin they go on, one after the other, "done" is printed, and at another line they end.
"""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from odd.frame import COMM, LIFE, main as run_here
from odd.programs import PROGRAMS


class Member:
    """A process that runs one program, and the pipes to it."""

    def __init__(self, name: str, out: Path, way: str) -> None:
        its_stdin, stdin = os.pipe()
        stdout, its_stdout = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.dup2(its_stdin, 0)
            os.dup2(its_stdout, 1)
            # Nobody else is to hold the ends of these.
            os.closerange(3, max(stdin, its_stdout) + 1)
            try:
                run_here(name, str(out / f"{name}.{way}.truth"), way)
            finally:
                os._exit(1)
        os.close(its_stdin)
        os.close(its_stdout)
        self.stdin: IO = open(stdin, "w", buffering=1)
        self.stdout: IO = open(stdout)

    def tell(self) -> None:
        """Lets it go on, if it is still there."""
        try:
            print(file=self.stdin, flush=True)
        except BrokenPipeError:
            return

    def hear(self) -> str:
        """What it says, or nothing if it has ended."""
        return self.stdout.readline()

    def end(self) -> None:
        """Lets it end."""
        self.tell()
        os.waitpid(self.pid, 0)


def main(out: Path, way: str, wanted: list[str]) -> None:
    """Runs the programs that are wanted."""
    names = [name for name, each in PROGRAMS.items() if way in each.ways and (not wanted or name in wanted)]
    if way != LIFE:
        for name in names:
            member = Member(name, out, way)
            member.hear()
            member.end()
        return
    os.environ[COMM] = f"odd{os.getpid()}"
    members = []
    for name in names:
        members.append(Member(name, out, way))
        members[-1].hear()
    print(os.environ[COMM], flush=True)
    sys.stdin.readline()
    for each in members:
        each.tell()
        each.hear()
    print("done", flush=True)
    sys.stdin.readline()
    for each in members:
        each.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
