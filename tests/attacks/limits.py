# SPDX-License-Identifier: GPL-2.0
"""Too little memory, too few descriptors, processes, bytes a file may have; many connections."""
from __future__ import annotations

import os
import resource
import shutil
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from attacks import judge, runs, started
from attacks.attack import Attack, Broken, Case, Skipped
from helpers import records

CGROUPS = Path("/sys/fs/cgroup")
PROGRAM = records.ROOT / "build" / "trace_run"
CONNECTIONS_MOST = 1024
MIB = 1 << 20


def limit(name: int, value: int):
    """For a child: a resource limit that it cannot raise."""
    return lambda: resource.setrlimit(name, (value, value))


@contextmanager
def cgroup(controller: str, file: str, value: int):
    """A control group of a case's own; yields what puts a child into it."""
    above = CGROUPS / controller if (CGROUPS / controller).is_dir() else CGROUPS
    group = above / f"copyscope-campaign-{os.getpid()}"
    try:
        group.mkdir()
        (group / file).write_text(str(value))
    except OSError as error:
        shutil.rmtree(group, ignore_errors=True)
        raise Skipped(f"no control group of {controller}: {error}") from None

    def enter():
        (group / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield enter
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        for _ in range(200):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.02)


def words_of(case: Case, threads: int) -> list:
    """A run of a few messages on each connection."""
    dice = case.dice
    return [dice.choice(["A1", "A2", "A3", "A1-8send", "A3-unreaped"]),
            dice.choice([64, 4093, 65536]), threads, "--path", dice.choice(["lo", "veth"]),
            "--messages", dice.choice([1, 4]) * threads, "--pattern",
            dice.choice(["stream", "rr"])]


def run(case: Case, words: list, *steps) -> None:
    """The run is complete with balanced books, or tells in few lines why it cannot be."""
    file = case.place / "record.json"
    # The program itself: the shell of its launcher needs processes of its own.
    done = started.run([PROGRAM, *words, "--json", file, "--quiet"], case.place, *steps,
                       timeout_s=runs.bound_s(60))
    killed = (-signal.SIGKILL, 128 + signal.SIGKILL)
    judge.ended_soundly(done, killed)
    record = runs.read(file, done)
    if done.status not in killed:
        runs.agree(done, record)
    if done.status in judge.WELL:
        return
    lines = done.err.decode(errors="replace").splitlines()
    if done.status not in killed and not lines:
        raise Broken(f"it fails and says nothing: {done}")
    if len(lines) > 4:
        raise Broken(f"{len(lines)} lines for one failure: {done}")


def try_memory(case: Case) -> None:
    """A control group of little memory."""
    size = case.dice.choice([8, 16, 24, 32, 48, 64, 128, 128, 256]) * MIB
    big = case.dice.random() < 0.4
    words = [case.dice.choice(["A1", "A3", "A2"]), MIB, 128, "--messages", 256] if big else \
        words_of(case, case.dice.choice([1, 8, 64, 256]))
    v1 = (CGROUPS / "memory").is_dir()
    with cgroup("memory", "memory.limit_in_bytes" if v1 else "memory.max", size) as enter:
        run(case, words, enter)


def try_descriptors(case: Case) -> None:
    """Few descriptors, and no right to have more."""
    # With 3 the program's own libraries cannot be opened: none of its lines has run by then.
    most = case.dice.choice([4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 100, 200, 256, 512, 1024, 1100])
    threads = case.dice.choice([1, 2, 32, 200, 256, 500, 1024])
    run(case, words_of(case, threads), limit(resource.RLIMIT_NOFILE, most))


def try_tasks(case: Case) -> None:
    """Few processes and threads."""
    most = case.dice.choice([1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 100, 300, 1000])
    threads = case.dice.choice([1, 2, 16, 64, 200, 600])
    with cgroup("pids", "pids.max", most) as enter:
        run(case, words_of(case, threads), enter)


def try_file_size(case: Case) -> None:
    """A record may not be longer than so many bytes."""
    most = case.dice.choice([0, 1, 100, 4096, 10_000, 65536, MIB - 1, MIB])
    ignored = case.dice.random() < 0.5
    steps = [limit(resource.RLIMIT_FSIZE, most)]
    if ignored:
        steps.append(lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
    # The limit holds for what we collect of it, too, but that is short.
    file = case.place / "record.json"
    done = started.run([runs.TRACE_RUN, "A1", 64, 1, "--messages", 10, "--json", file, "--quiet"],
                       case.place, *steps)
    judge.ended_soundly(done, (-signal.SIGXFSZ, 128 + signal.SIGXFSZ))
    runs.read(file, done)
    if done.status == judge.FINE and not file.exists():
        raise Broken(f"exit 0 without a record: {done}")


def try_connections(case: Case) -> None:
    """As many connections as there may be, and one more."""
    threads = case.dice.choice([CONNECTIONS_MOST, CONNECTIONS_MOST, CONNECTIONS_MOST + 1, 1000, 512])
    done, record = runs.run(case, *words_of(case, threads), timeout_s=90)
    if threads > CONNECTIONS_MOST:
        if done.status != judge.USAGE or record is not None:
            raise Broken(f"{threads} connections were not refused as bad input: {done}")
        return
    if done.status not in judge.WELL or len(record["sockets"]) != 2 * threads or \
            records.laws_with(record, "broken"):
        raise Broken(f"{threads} connections: {record and record['experiment']['outcome']}: {done}")


TOO_LITTLE = "With {} too few for it a run is complete with balanced books, or ends within a bound " \
             "with status 1 to 3 and says why in a line or a few; its record says the same."
ATTACKS = [
    Attack("memory", "In a control group of 8 to 256 MiB a run is complete with balanced books, or "
           "failed and its record says so.", "runs", 150, 2, try_memory, batch=10),
    Attack("descriptors", TOO_LITTLE.format("descriptors"), "runs", 200, 4, try_descriptors,
           batch=20),
    Attack("tasks", TOO_LITTLE.format("processes and threads"), "runs", 200, 4, try_tasks, batch=20),
    Attack("file-size", "Whatever RLIMIT_FSIZE is, a record is whole or absent.", "runs", 100, 3,
           try_file_size, batch=20),
    Attack("connections", "1,024 connections balance to the byte; 1,025 are refused before anything is "
           "touched.", "runs", 60, 0, try_connections, batch=4, jobs=1),
]
