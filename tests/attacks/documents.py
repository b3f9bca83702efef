# SPDX-License-Identifier: GPL-2.0
"""Damaged run records, baseline records, profiles and plans, given to every tool that reads them."""
from __future__ import annotations

import functools
import hashlib
import json
import resource
import shutil
import tomllib
from pathlib import Path
from random import Random

from attacks import judge, scripts, started
from attacks.attack import Attack, Broken, Case
from attacks.damage import damage_text, damage_tree
from helpers import damage, hostile_files
from helpers.records import ROOT

DATA = ROOT / "tests/data"
RECORDS = ["run-A1-host", "run-A2-host", "run-A3-guest", "run-A3-host"]
PROFILES = ["standard", "mt25018", "mt25023", "mt25029", "mt25064", "model"]
# Of memory and of the processor, for a file that is to be refused.
MOST_MORE_BYTES, MOST_S = 512 << 20, 20
PLANS = ["mt25018-corrected", "mt25029-as-published", "standard"]


@functools.cache
def document(file: Path) -> object:
    """A good document, to be damaged."""
    return json.loads(file.read_text(encoding="utf-8"))


def damaged(good: object, dice: Random) -> bytes:
    """A damaged copy of a document."""
    return next(damage.damages(good, dice.randrange(1 << 32), 1)).data


def state_of(folder: Path) -> str:
    """What a folder holds, in one word."""
    told = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        told.update(str(file.relative_to(folder)).encode())
        told.update(file.read_bytes() if file.is_file() else b"/")
    return told.hexdigest()


def take_little() -> None:
    """Not the memory of the tools that are loaded already, and not much more."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    for limit, most in ((resource.RLIMIT_AS, pages * resource.getpagesize() + MOST_MORE_BYTES),
                        (resource.RLIMIT_CPU, MOST_S)):
        resource.setrlimit(limit, (most, most))


def give(case: Case, tool: str, words: list[str], mine: tuple[str, ...] = (), *,
         little: bool = False) -> started.Done:
    """Run a tool on what the case wrote; what it was given to read stays as it is."""
    given = case.place / "given"
    before = state_of(given)
    steps = [take_little] if little else []
    if case.dice.random() < 0.5:
        # As root a tool writes nowhere where others may change the way, so nobody has it all.
        for each in (case.place, *case.place.rglob("*")):
            shutil.chown(each, started.NOBODY, started.NOBODY)
        steps.append(started.become_nobody)
    done = scripts.run(tool, words, case.place, *steps)
    judge.ended_soundly(done)
    judge.refusal_is_one_line(done)
    if state_of(given) != before:
        raise Broken(f"what was given to be read was changed: {done}")
    made = {each.name for each in case.place.iterdir()} - {"given", "out", "err", "runs", "tmp",
                                                          "o", *mine}
    if made or any((case.place / "tmp").iterdir()):
        raise Broken(f"left behind: {sorted(made)} and in TMPDIR "
                     f"{[each.name for each in (case.place / 'tmp').iterdir()]}: {done}")
    return done


def given(case: Case, name: str, data: bytes) -> str:
    """Write a file that the case is to be given."""
    file = case.place / "given" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    return f"given/{name}"


def try_record(case: Case) -> None:
    """A damaged run record to those who read run records."""
    good = document(DATA / f"{case.dice.choice(RECORDS)}.json")
    name = given(case, "record.json", damaged(good, case.dice))
    act = case.dice.randrange(8)
    if act == 0:
        give(case, "plot", [name, "--out", "o"])
    elif act == 1:
        base = given(case, "baseline.json", (DATA / "baseline-host.json").read_bytes())
        give(case, "predict", [base, name, "--out", "o"])
    else:
        # The same loader and the judges behind it, without the seconds that drawing takes.
        give(case, "plot", [name, "given/record.json", "--out", "given/record.json/o"])


def try_baseline(case: Case) -> None:
    """A damaged baseline record to those who read baseline records."""
    good = (DATA / "baseline-host.json")
    name = given(case, "damaged.json", damaged(document(good), case.dice))
    other = given(case, "good.json", good.read_bytes())
    act = case.dice.choice(["mistakes", "keep", "agree", "mistakes", "keep", "agree", "crossover",
                            "predict"])
    if act == "keep":
        give(case, "baseline", ["keep", name, "--out", "o"])
    elif act == "agree":
        pair = [name, other] if case.dice.random() < 0.5 else [other, name]
        give(case, "baseline", ["agree", *pair])
    elif act == "mistakes":
        give(case, "baseline", ["mistakes", name])
    elif act == "crossover":
        give(case, "crossover", ["A2", "A3", "--baseline", name, "--quiet"])
    else:
        record = given(case, "record.json", (DATA / "run-A1-host.json").read_bytes())
        give(case, "predict", [name, record, "--out", "o"])


def toml_value(value: object) -> str:
    """A value as TOML writes it; what TOML has no word for as text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(each) for each in value) + "]"
    return json.dumps(value) if value is not None else '"null"'


def try_profile(case: Case) -> None:
    """A damaged profile to the sweep that would run it and to the plot that draws by it."""
    text = (ROOT / f"studies/profiles/{case.dice.choice(PROFILES)}.toml").read_bytes()
    if case.dice.random() < 0.6:
        tree = damage_tree(tomllib.loads(text.decode()), case.dice)
        if isinstance(tree, dict):
            text = "".join(f"{json.dumps(str(key))} = {toml_value(value)}\n"
                           for key, value in tree.items()).encode("utf-8", "surrogatepass")
    else:
        text = damage_text(text, case.dice)
    name = given(case, "mine.toml", text)
    mode = case.dice.choice([[], ["--mode", "as-published"], ["--mode", "corrected"]])
    if case.dice.random() < 0.9:
        give(case, "sweep", ["--profile", name, *mode, "--dry-run"])
    else:
        record = given(case, "record.json", (DATA / "run-A3-host.json").read_bytes())
        give(case, "plot", [record, "--profile", name, "--out", "o"])


def try_plan(case: Case) -> None:
    """A sweep's folder whose plan or a record is damaged, given to the sweep that goes on there."""
    source = ROOT / "results" / case.dice.choice(PLANS)
    folder = case.place / "o"
    (folder / "runs").mkdir(parents=True)
    plan = document(source / "plan.json")
    record = document(DATA / "run-A3-host.json")
    damage = case.dice.random()
    (folder / "plan.json").write_bytes(damaged(plan, case.dice) if damage < 0.8 else
                                       json.dumps(plan).encode())
    (folder / "runs" / f"{plan['points'][0]['name']}.r1.json").write_bytes(
        damaged(record, case.dice) if damage > 0.6 else json.dumps(record).encode())
    (case.place / "given").mkdir()
    words = ["--profile", plan["profile"], "--mode", plan["mode"], "--out", "o", "--quiet"]
    if case.dice.random() < 0.3:
        give(case, "plot", ["o", "--out", "p"], mine=("p",))
    else:
        give(case, "sweep", words)


def try_hostile(case: Case) -> None:
    """A small file that would cost a careless reader minutes or gigabytes; it gets neither."""
    folder = case.place / "given"
    folder.mkdir()
    file = hostile_files.place(case.dice.choice([*hostile_files.KINDS]), folder, case.dice)
    for tool, *words in hostile_files.readers(file):
        if give(case, tool, words, little=True).status != judge.USAGE:
            raise Broken(f"{tool} accepts {file.name}")


CLAIM = "No damaged {} makes a tool that reads it end in a traceback or say more than one line, " \
        "nor is it changed."
ATTACKS = [
    Attack("run-records", CLAIM.format("run record"), "documents", 750, 30, try_record, batch=100,
           prepare=scripts.load),
    Attack("baseline-records", CLAIM.format("baseline record"), "documents", 750, 30, try_baseline,
           batch=100, prepare=scripts.load),
    Attack("profiles", CLAIM.format("profile"), "documents", 750, 30, try_profile, batch=100,
           prepare=scripts.load),
    Attack("plans", CLAIM.format("plan or record of a sweep's folder"), "documents", 750, 30,
           try_plan, batch=100, prepare=scripts.load),
    Attack("hostile-files", "No small file makes a tool take minutes or gigabytes before it refuses it.",
           "documents", 200, 12, try_hostile, batch=20, prepare=scripts.load),
]
