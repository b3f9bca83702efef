# SPDX-License-Identifier: GPL-2.0
"""Ends of a watch on a terminal: hang-ups, Ctrl-S, terminals that nobody reads, signals, stops."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time

from attacks.attack import Attack, Broken, Case
from helpers import processes, schemas
from helpers.screens import Screen
from helpers.watch_tool import SCHEMA, TIMEOUT_S, talk

ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CTRL_S, CTRL_C, CTRL_Z, QUIT = b"\x13", b"\x03", b"\x1a", b"q"
IGNORED = ((), ("env", "--ignore-signal=HUP"), ("env", "--ignore-signal=INT"))


def disturb(screen: Screen, case: Case) -> None:
    """Does to the terminal what costs nothing by itself."""
    dice = case.dice
    if dice.random() < 0.5:
        os.write(screen.master, CTRL_S)
    if dice.random() < 0.3:
        # Nobody reads: pages fill what lies between the two ends.
        for _ in range(300):
            os.write(screen.master, b"s")
            time.sleep(0.002)
    if dice.random() < 0.3:
        if dice.random() < 0.5:
            os.write(screen.master, CTRL_Z)
        else:
            screen.process.send_signal(signal.SIGTSTP)
        processes.wait_until(lambda: processes.state_of(screen.process.pid) == "T", TIMEOUT_S)
        screen.process.send_signal(signal.SIGCONT)


def ask_to_end(screen: Screen, case: Case) -> None:
    """Ends the watch in one of the ways there are."""
    way = case.dice.randrange(4)
    if way == 0:
        os.close(screen.slave)
        os.close(screen.master)
    elif way == 1:
        screen.process.send_signal(case.dice.choice(ENDS[:2]))
    elif way == 2:
        os.write(screen.master, QUIT)
    else:
        # Not every start lets it; then a key does.
        os.write(screen.master, CTRL_C)
        time.sleep(0.2)
        with contextlib.suppress(OSError):
            os.write(screen.master, QUIT)


def try_end(case: Case) -> None:
    """One end of a live view; its record must be there, by its schema."""
    file, lines = case.place / "r.json", case.place / "lines"
    with subprocess.Popen(talk(2000, 0.01)) as busy:
        screen = Screen("-p", busy.pid, "--by", "process", "--interval", "0.1", "--json", file, "--json-lines", lines,
                        start=case.dice.choice(IGNORED))
        try:
            screen.wait_for(f"pid {busy.pid}")
            time.sleep(case.dice.uniform(0, 0.3))
            disturb(screen, case)
            ask_to_end(screen, case)
            status = screen.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Broken("it had not ended in time") from None
        finally:
            screen.process.kill()
            busy.kill()
            for fd in (screen.master, screen.slave):
                with contextlib.suppress(OSError):
                    os.close(fd)
    if status or not file.exists():
        raise Broken(f"exit status {status}, record {file.exists()}")
    record = json.loads(file.read_text())
    if faults := schemas.faults(SCHEMA, record):
        raise Broken(f"the record: {faults[:3]}")
    sent = [json.loads(line)["total"]["counts"]["accepted_bytes"] for line in lines.read_text().splitlines()]
    if sum(sent) != record["total"]["counts"]["accepted_bytes"]:
        raise Broken(f"lines of intervals add up to {sum(sent)}, not to the record's "
                     f"{record['total']['counts']['accepted_bytes']}")


ATTACKS = [Attack(
    "watch-ends", "Whatever happens to the terminal of a live view, a hang-up, Ctrl-S, nobody who reads it, a "
    "stop, at whatever moment, a signal, a key or the hang-up ends it, its record is written, and its lines "
    "of intervals add up to it.", "ends", 200, 2, try_end, batch=10)]
