# SPDX-License-Identifier: GPL-2.0
"""Runs rows of the baseline and programs of lmbench, and ends whatever those leave behind."""
from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from copyscope.common import programs
from copyscope.common.errors import CommandError, Refused, Unusable
from copyscope.common.tree import BUILD, ROOT
from copyscope.records import documents

from . import parse
from .pairs import PAIRS, Program, Side

PROGRAM = BUILD / "baseline"
PATIENCE_S = 300
FILE_BYTES = 64 << 20
KIB = 1 << 10
# Microseconds that each timing takes at least. Without it every program first searches for
# the least that this machine's clock allows, which takes a minute on a busy machine.
ENOUGH_US = "10000"
HUGE = "glibc.malloc.hugetlb=1"
SERVED = ('ip link set lo up && $PIN "$0" -s && { $PIN "$0" -N 3 127.0.0.1; status=$?; '
          '"$0" -S 127.0.0.1; exit $status; }')


def check(folder: Path) -> None:
    """Refuse before anything runs."""
    for program in sorted({side.program.words[0] for pair in PAIRS
                           for side in (pair.plain, pair.alike) if side}):
        if not os.access(folder / program, os.X_OK):
            raise Unusable(f"--bin {folder}: no program {program} there; name the folder that "
                           "holds lmbench's programs")
    if not PROGRAM.exists():
        raise Refused("build/baseline is not there: run make first")
    if os.geteuid() != 0:
        raise Refused("the baseline's network rows need root: type sudo ./tools/beside_lmbench ...")
    for tool in ("unshare", "taskset", "ip"):
        if not programs.find(tool):
            raise Refused(f"{tool} is missing: install util-linux and iproute2")


def call(words: list[str], more: dict[str, str], errors: int) -> tuple[str, str]:
    """Run one program and end all that it started. Return its stdout and, unless `errors` sends it
    there too, its stderr."""
    done = programs.run_in_time(words, " ".join(words[-4:]), PATIENCE_S, more=more, cwd=ROOT,
                                errors=errors)
    return done.stdout, done.stderr or ""


def make_file(folder: Path) -> int:
    """A file without a name, so that nothing is left of it whatever happens."""
    block = os.urandom(1 << 20)
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        for _ in range(FILE_BYTES >> 20):
            os.write(file, block)
        os.fsync(file)
    except OSError as error:
        raise Unusable(f"--dir {folder}: {error.strerror}; choose another with "
                       f"{FILE_BYTES >> 20} MiB free") from None
    return file


def libraries() -> str:
    """The libraries that our program is linked with, as LD_PRELOAD wants them."""
    return ":".join(re.findall(r"=> (/\S+)", programs.run(["ldd", PROGRAM]).stdout))


class Suite:
    """Both suites; remembers what a round has measured, so that pairs can share it."""

    def __init__(self, lmbench: Path, folder: Path) -> None:
        self.lmbench, self.folder = lmbench.resolve(), folder
        self.file: int | None = None
        self.machine: dict[str, Any] = {}
        self.tool: dict[str, Any] = {}
        self.sets: dict[str, int] = {}          # bytes of a row's working set
        self.whys: dict[str, str | None] = {}   # why a row was not measured
        self.said: dict[Program, str] = {}
        self.values: dict[str, float] = {}

    def begin_round(self) -> None:
        """Forget what the last round measured."""
        self.said.clear()
        self.values.clear()

    def renew_file(self) -> None:
        """A new file, as our rows make one: in the page cache, old ones fall to small pieces."""
        if self.file is not None:
            os.close(self.file)
            self.file = None
        self.file = make_file(self.folder)

    def look(self) -> None:
        """Learn our working sets, so that lmbench measures the same ones."""
        self.baseline("latency")
        for row in ("latency-l1", "latency-memory"):
            self.set_of(row)

    def set_of(self, row: str) -> int:
        """Bytes of a row's working set."""
        if row not in self.sets:
            raise CommandError(f"row {row}: the baseline reported no working set: "
                               f"{self.whys.get(row) or 'it printed no reason'}")
        return self.sets[row]

    def baseline(self, name: str) -> None:
        """Measure a row or a family."""
        said, complained = call([str(PROGRAM), "--quick", "--only", name, "--quiet", "--json", "-"],
                                {}, subprocess.PIPE)
        if not said.startswith("{"):
            lines = complained.strip().splitlines()
            why = lines[-1] if lines else "the baseline printed no message"
            raise CommandError(f"row {name}: {why}")
        source = f"row {name}: what the baseline printed"
        data = documents.parse_json(said, source)
        documents.check(data, "baseline", source, "run make again")
        self.machine, self.tool = data["machine"], data["tool"]
        for row in documents.by_name(data["rows"], "row", source, "rows").values():
            if row["status"] in ("valid", "unchecked") and row["measured"]:
                self.values[row["row"]] = row["measured"]["value"]
            self.whys[row["row"]] = row["why"]
            found = re.search(r"working set of (\d+) KiB", row["how"] or "")
            if found and row["row"].startswith("latency-"):
                self.sets[row["row"]] = int(found[1]) * KIB

    def ours(self, side: Side) -> float:
        """Our rows, measured once in a round; measured again if another program disturbed one."""
        for row in side.rows:
            for _ in range(3):
                if row not in self.values:
                    self.baseline(row)
            if row not in self.values:
                raise CommandError(f"row {row} is not proved by its counters; see "
                                 f"./tools/baseline --only {row}")
        return sum(self.values[row] for row in side.rows)

    def words(self, program: Program) -> list[str]:
        """The command line."""
        most = max(self.sets.values())
        fill = {"mib": str(most >> 20), "bytes": str(FILE_BYTES),
                "file": f"/proc/{os.getpid()}/fd/{self.file}"}
        words = [str(self.lmbench / program.words[0]),
                 *(word.format(**fill) for word in program.words[1:])]
        pin = f"taskset -c {min(os.sched_getaffinity(0))}"
        if program.server:
            # The server dies with its namespace, however this ends.
            return ["unshare", "--net", "--pid", "--fork", "--kill-child", "env",
                    f"PIN={pin if program.pinned else ''}", "sh", "-c", SERVED, words[0]]
        return [*pin.split(), *words] if program.pinned else words

    def theirs(self, side: Side) -> float:
        """What a program of theirs printed, in our row's unit."""
        program = side.program
        if program not in self.said:
            more = {"ENOUGH": os.environ.get("ENOUGH", ENOUGH_US)}
            if program.huge:
                more["GLIBC_TUNABLES"] = HUGE
            if program.preloaded:
                more["LD_PRELOAD"] = libraries()
            if "{file}" in program.words:
                self.renew_file()
            self.said[program], _ = call(self.words(program), more, subprocess.STDOUT)
        said = self.said[program]
        try:
            if program.words[0] == "lat_mem_rd":
                return parse.latency_at(said, self.set_of(side.rows[0])) * side.factor
            return side.read(said) * side.factor
        except parse.NoResult as error:
            raise CommandError(f"{' '.join(program.words)}: {error}") from None
