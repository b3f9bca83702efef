# SPDX-License-Identifier: GPL-2.0
"""Runs whose probes are left off, lose updates or have their maps changed under them."""
from __future__ import annotations

import json
import os
import subprocess

from attacks import judge, runs, started
from attacks.attack import Attack, Broken, Case, Skipped
from attacks.networks import KERNELS, begin
from helpers import leftovers, processes, records

VARIANTS = ["A1", "A1-plain", "A1-8send", "A2", "A3", "A3-aligned", "A3-unset", "A3-unreaped"]
QUESTIONS = ["accepted", "returned", "rx_copy", "tx_copy", "retransmissions", "late_copy",
             "user_gather"]


def try_break(case: Case) -> None:
    """A run with an injected fault: a named hole, or a broken law, or right all the same."""
    dice = case.dice
    fault = dice.choice([*(f"detach:{each}" for each in QUESTIONS), "lose-update", "lose-update"])
    words = [dice.choice(VARIANTS), dice.choice([64, 4093, 65536]), dice.choice([1, 2]),
             "--path", dice.choice(["lo", "veth"]), "--pattern", dice.choice(["stream", "rr"]),
             "--messages", 23, "--backend", "tracepoint", "--break", fault]
    file = case.place / "record.json"
    done = started.run([runs.TRACE_RUN, *words, "--json", file, "--quiet"], case.place)
    judge.ended_soundly(done)
    record = runs.read(file, done)
    if record is None and done.status == judge.REFUSED and fault.partition(":")[2]:
        # This backend asks nothing of the kind.
        judge.refusal_is_one_line(done)
        return
    if record is None:
        raise Broken(f"{fault}: no record: {done}")
    broken = records.laws_with(record, "broken")
    if fault == "lose-update" and (done.status != 1 or not broken):
        raise Broken(f"{fault} passes: {done}")
    if fault != "lose-update":
        question = fault.partition(":")[2]
        if broken or done.status:
            raise Broken(f"{fault} is no hole but a broken law {broken}: {done}")
        if {each["status"] for each in records.probes(record, question)} != {"absent"}:
            raise Broken(f"{fault} left no trace: {records.probes(record, question)}: {done}")


def try_lost(case: Case) -> None:
    """A completion that is dropped in a guest breaks its law."""
    dice = case.dice
    words = [dice.choice(["A3", "A3-aligned"]), dice.choice([16384, 65536]), dice.choice([1, 2]),
             "--path", dice.choice(["lo", "veth", "nic"]), "--messages", 23,
             "--kernel", dice.choice(KERNELS), "--break", "drop-completion"]
    file = case.place / "record.json"
    done = started.run([runs.TRACE_RUN, *words, "--json", file, "--quiet"], case.place,
                       timeout_s=runs.bound_s(240))
    judge.ended_soundly(done)
    record = runs.read(file, done)
    broken = record and records.laws_with(record, "broken")
    if done.status != judge.FAILED or not broken or "completion" not in broken:
        raise Broken(f"a dropped completion breaks {broken}: {done}")


def bpftool(*words: str) -> object:
    """What bpftool says, as JSON; None if it refuses."""
    done = subprocess.run([str(leftovers.BPFTOOLS[0]), "-j", *words], capture_output=True, text=True,
                          check=False, timeout=20)
    try:
        return json.loads(done.stdout) if done.returncode == 0 else None
    except ValueError:
        return None


def held_by(pid: int, wanted: str) -> list[int]:
    """Ids of the maps or links that a process holds."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                found |= {int(number) for kind, number in leftovers.HELD_ID.findall(file.read())
                          if kind == wanted}
        except OSError:
            continue
    return sorted(found)


def begin_any(case: Case) -> subprocess.Popen:
    """Begin a run long enough to change something in it."""
    dice = case.dice
    process, _ = begin(case, dice.choice(VARIANTS), dice.choice([4093, 65536]), 2, "--path",
                       dice.choice(["lo", "veth"]), "--seconds", 0.8, "--pass", "counted")
    return process


def held_in_run(process: subprocess.Popen, wanted: str) -> list[int]:
    """The ids of the BPF objects of one kind that any process of a run holds."""
    holders = [pid for pid in (process.pid, *processes.descendants(process.pid))
               if os.path.exists(f"/proc/{pid}")]
    return sorted({number for pid in holders for number in held_by(pid, wanted)})


def try_map(case: Case) -> None:
    """Delete an entry of one of the run's maps in mid-run: its numbers stay right, or it fails."""
    dice = case.dice
    process = begin_any(case)
    try:
        maps = held_in_run(process, "map")
        deleted = delete_one(maps, dice)
        done, record = end_of(case, process)
    finally:
        process.kill()
        process.wait()
    if not deleted:
        raise Skipped("no map of the run had an entry that can be deleted")
    if done.status == 0:
        work = record["experiment"]["workload"]
        copied = records.site(record, "rx_copy")
        if copied not in (None, work["received_bytes"]):
            raise Broken(f"an entry of map {deleted} deleted, and it passes with rx_copy {copied} of "
                         f"{work['received_bytes']}: {done}")
        runs.skip_if_retried(record)


def try_link(case: Case) -> None:
    """Detach each link of a run in mid-run: the kernel refuses, or the run's numbers stay right."""
    process = begin_any(case)
    try:
        links = held_in_run(process, "link")
        detached = [number for number in links
                    if bpftool("link", "detach", "id", str(number)) is not None]
        done, record = end_of(case, process)
    finally:
        process.kill()
        process.wait()
    if not links:
        raise Broken(f"no link of the run was found: {done}")
    if not detached:
        runs.agree(done, record)
    if done.status == 0:
        work, copied = record["experiment"]["workload"], records.site(record, "rx_copy")
        if copied not in (None, work["received_bytes"]):
            raise Broken(f"links {detached} of {links} detached, and it passes with rx_copy {copied} "
                         f"of {work['received_bytes']}: {done}")
        if detached:
            runs.skip_if_retried(record)


def end_of(case: Case, process) -> tuple:
    """As end(), but a law that is broken by this is what should happen."""
    done = started.finish(process, case.place, runs.bound_s(40))
    judge.ended_soundly(done)
    record = runs.read(case.place / "record.json", done)
    if done.status == 0 and record is None:
        raise Broken(f"exit 0 without a record: {done}")
    return done, record


def delete_one(maps: list[int], dice) -> str:
    """Delete one entry of one map; what it was, or nothing."""
    dice.shuffle(maps)
    for number in maps:
        entries = bpftool("map", "dump", "id", str(number)) or []
        info = bpftool("map", "show", "id", str(number)) or {}
        if not entries or not isinstance(entries, list) or "hash" not in str(info.get("type")):
            continue
        key = entries[dice.randrange(len(entries))].get("key")
        if not isinstance(key, list):
            continue
        words = [leftovers.BPFTOOLS[0], "map", "delete", "id", str(number), "key", "hex",
                 *(str(each).removeprefix("0x") for each in key)]
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return f"{number} {info.get('name')}"
    return ""


ATTACKS = [
    Attack("breaks", "A probe that is left off is a named hole, and a lost update breaks a law: no run "
           "passes with a wrong number.", "runs", 300, 4, try_break, batch=20),
    Attack("maps", "Whoever deletes an entry of a run's maps in mid-run makes it fail, or its "
           "numbers stay right.", "runs", 100, 2, try_map, batch=10),
    Attack("links", "Whoever would detach a run's links in mid-run is refused by the kernel, or the run "
           "fails, or its numbers stay right.", "runs", 100, 1, try_link, batch=10),
    Attack("lost-completions", "A completion that is dropped in a guest of any kernel breaks its law.",
           "runs", 20, 0, try_lost, batch=2),
]
