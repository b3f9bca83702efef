# SPDX-License-Identifier: GPL-2.0
"""Windows that open and close while programs make as many connections as the machine can."""
from __future__ import annotations

import json
import subprocess
import time

from attacks.attack import Attack, Broken, Case
from helpers.records import ROOT
from helpers.windows import Watching, laws_of

PROGRAM = ROOT / "build/tests/guest/short_connections"
WINDOWS, SERVERS = 5, 2
BYTES = {"returned": "returned_bytes", "accepted": "accepted_bytes"}
WHOLE, WHOM = ("--comm", "short-server"), (("--comm", "short-server"), ("--all",))


class Load:
    """The program of short_connections.c."""

    def __init__(self, clients: int) -> None:
        self.process = subprocess.Popen([PROGRAM, str(SERVERS), str(clients)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def tell(self, word: str = "") -> dict[str, int]:
        """Gives it one word; returns what its servers moved so far."""
        print(word, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.communicate()


def of_servers(record: dict) -> dict[str, int]:
    """What the servers moved in a window."""
    sums = [each["sum"]["counts"] for each in record["processes"] if each["comm"] == "short-server"]
    return {name: sum(each[count] for each in sums) for name, count in BYTES.items()}


def check_laws(record: dict, what: str) -> bool:
    """Whether the window claims that its sums are whole; no law may be broken but the one that says what was lost, for which
    a watch came too late that had no processor."""
    laws = laws_of(record)
    if broken := [law for law in record["laws"] if law["status"] == "broken" and law["law"] != "probes"]:
        raise Broken(f"{what}: {broken}")
    short = record["losses"]["sums_short"]
    if bool(short) != (laws["probes"] != "balanced"):
        raise Broken(f"{what}: probes {laws['probes']}, and of its sums it says {short!r}")
    return not short


def try_one(case: Case, load: Load, what: str) -> bool:
    """One window: no more than its servers moved around it, no less than within it."""
    before = load.tell()
    watching = Watching(*case.dice.choice(WHOM))
    opened = load.tell()
    time.sleep(case.dice.uniform(0.1, 0.5))
    closing = load.tell()
    record = watching.close((0, 1))
    after = load.tell()
    claims = check_laws(record, what)
    for name, found in of_servers(record).items() if claims else ():
        least, most = closing[name] - opened[name], after[name] - before[name]
        if not least <= found <= most:
            raise Broken(f"{what}: {found} {name}, and the servers say {least} to {most}")
    return claims


def try_load(case: Case) -> int:
    """Windows at random moments, within two whole ones; how many."""
    with Load(case.dice.randint(2, 8)) as load:
        wholes = [Watching(*WHOLE), Watching(*WHOLE)]
        load.tell("go")
        whole_windows = 0
        for number in range(WINDOWS):
            time.sleep(case.dice.uniform(0, 0.2))
            whole_windows += try_one(case, load, f"window {number}")
        told = load.tell("stop")
        time.sleep(0.1)
        for watching in wholes:
            record = watching.close((0, 1))
            if check_laws(record, "the whole") and of_servers(record) != {
                    name: told[name] for name in BYTES}:
                raise Broken(f"the servers moved {told}, the watch says {of_servers(record)}")
    return WINDOWS


ATTACKS = [
    Attack("watch-loads", "A window that opens and closes at any moment of as many short connections as "
           "the machine makes has all that its programs moved in it, or says that its sums may be "
           "short; two windows over all of them have the programs' own totals.", "windows", 100, 1,
           try_load, batch=1, jobs=1),
]
