# SPDX-License-Identifier: GPL-2.0
"""Windows of a watch at random moments of a program that sends in every way; watches that are killed."""
from __future__ import annotations

import json
import os
import subprocess
import time

from attacks.attack import Attack, Broken, Case
from helpers.windows import WATCH, Traffic, Watching, bytes_of, check_causes, laws_of, unbalanced

KINDS = ("copy", "zerocopy", "splice", "mixed") * 2
SITES = ("tx_copy", "tx_reference", "tx_splice")
# Laws that every window over such traffic can test.
ALWAYS_TESTED = ("send queue", "receive queue")
WINDOWS, ENDS_S = 4, 20


def counted(record: dict) -> dict[str, int]:
    """What adds up from one window to the next."""
    counts, sites = record["total"]["counts"], bytes_of(record)
    return {**{site: sites[site] for site in SITES}, "rx_copy": sites["rx_copy"],
            "returned": counts["returned_bytes"], "zero-copy sends": counts["zerocopy_sends"]}


def judged(watching: Watching, what: str) -> dict:
    """The record of a window, all laws of which balance."""
    # 1 if a law broke: which one, the record tells.
    record = watching.close((0, 1))
    laws = laws_of(record)
    # The kernel may run no program for the end of a socket of anybody (docs/METHOD.md).
    probes = "not testable" if record["losses"]["unseen_events"] else "balanced"
    if (broken := unbalanced(record)) or laws["probes"] != probes:
        raise Broken(f"{what}: {broken}, probes {laws['probes']}")
    check_causes(record)
    if untested := {law: laws[law] for law in ALWAYS_TESTED if laws[law] != "balanced"}:
        raise Broken(f"{what}: {untested}")
    return record


def told(answer: dict) -> dict[str, int]:
    """What the program counted itself."""
    pairs = answer["open"] + answer["gone"]
    keys = {**dict(zip(SITES, SITES)), "rx_copy": "received", "returned": "received",
            "zero-copy sends": "zerocopy_sends"}
    return {name: sum(pair[key] for pair in pairs) for name, key in keys.items()}


def try_windows(case: Case) -> int:
    """Some windows at random moments, then two neighbours beside one over both; how many."""
    dice = case.dice
    with Traffic(*KINDS) as traffic:
        for number in range(WINDOWS):
            time.sleep(dice.uniform(0, 0.05))
            watching = Watching("-p", traffic.pid)
            if dice.random() < 0.5:
                traffic.tell("renew")
            time.sleep(dice.uniform(0, 0.1))
            judged(watching, f"window {number}")
        before = told(traffic.tell("stop"))
        whole, first = Watching("-p", traffic.pid), Watching("-p", traffic.pid)
        parts = []
        for watching in (first, None):
            watching = watching or Watching("-p", traffic.pid)
            traffic.tell("go")
            time.sleep(dice.uniform(0, 0.1))
            if dice.random() < 0.5:
                traffic.tell("renew")
            after = told(traffic.tell("stop"))
            parts.append(counted(judged(watching, "a neighbour")))
        total = counted(judged(whole, "the whole"))
        if total != {key: parts[0][key] + parts[1][key] for key in total}:
            raise Broken(f"{parts[0]} and {parts[1]} are not {total}")
        if {name: total[name] for name in after} != {name: after[name] - before[name] for name in after}:
            raise Broken(f"the program counted {before} and {after}, the watch {total}")
    return WINDOWS + 3


def try_kill(case: Case) -> None:
    """A watch is killed at a random moment of its own; the program goes on and counts right."""
    dice = case.dice
    words = dice.choice([[], ["--interval", "0.1"], ["--books", "calls"]])
    with Traffic(*dice.sample(KINDS, 3)) as traffic:
        watch = subprocess.Popen([WATCH, "-p", str(traffic.pid), *words], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with watch:
            if dice.random() < 0.5:
                watch.stderr.readline()
            time.sleep(dice.uniform(0, 1.2))
            watch.kill()
            watch.wait(ENDS_S)
        traffic.tell("renew")
        answer = traffic.tell("stop")
        for pair in answer["open"] + answer["gone"]:
            if pair["received"] != sum(pair[site] for site in SITES):
                raise Broken(f"bytes of the program were lost: {json.dumps(pair)}")
        if traffic.process.poll() is not None or not os.path.exists(f"/proc/{traffic.pid}"):
            raise Broken("the program ended")


ATTACKS = [
    Attack("watch-windows", "Whenever a watch attaches to a program that sends plain, by reference and by "
           "sendfile over eight connections and detaches again, every law of every socket balances to "
           "the byte, and two windows add up to the one over both.", "windows", 1_000, 1, try_windows,
           batch=6),
    Attack("watch-kills", "A watch that is killed at any moment leaves nothing behind, and the program "
           "that it watched runs on.", "kills", 1_000, 6, try_kill, batch=10),
]
