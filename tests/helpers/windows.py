# SPDX-License-Identifier: GPL-2.0
"""Starts build/watch, waits until its window is open, and reads what it prints."""
from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WATCH = ROOT / "build/watch"
TRAFFIC = Path(__file__).with_name("traffic.py")


def hits_unseen(record: dict) -> int:
    """Hits of hooks, by any process, for which the kernel ran no program (docs/METHOD.md)."""
    return record["losses"]["unseen_events"] + sum(
        (probe["unseen_firings"] or 0) + (probe["missed_runs"] or 0)
        for probe in record["backend"]["probes"])


class Watching:
    """A window that is open until it is told to close."""

    # Hits unseen in all windows: tests/host/conftest.py repeats a test that failed with some.
    unseen = 0

    def __init__(self, *words, start=(), told=True) -> None:
        self.process = subprocess.Popen([*start, WATCH, *map(str, words), "--json", "-"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # With readings at intervals nothing is told, and stdout must be read all the time.
        if told:
            first = self.process.stderr.readline()
            assert "open" in first, first + self.process.stderr.read()

    def close(self, statuses=(0,)) -> dict:
        """Ends the window; returns the last record."""
        self.process.send_signal(signal.SIGINT)
        return self.records(statuses)[-1]

    def records(self, statuses=(0,)) -> list[dict]:
        """Every record, when it has ended by itself."""
        out, err = self.process.communicate(timeout=60)
        decoder, records, at = json.JSONDecoder(), [], 0
        while at < len(out):
            record, at = decoder.raw_decode(out, at)
            at += len(out[at:]) - len(out[at:].lstrip())
            records.append(record)
        Watching.unseen += sum(map(hits_unseen, records))
        assert self.process.returncode in statuses, err or [
            law for record in records for law in record["laws"] if law["status"] == "broken"]
        return records


class Traffic:
    """The program of traffic.py."""

    def __init__(self, *kinds: str) -> None:
        self.process = subprocess.Popen([sys.executable, TRAFFIC, *kinds], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        json.loads(self.process.stdout.readline())
        self.pid = self.process.pid

    def tell(self, word: str) -> dict:
        """Gives it one word; returns its counts."""
        print(word, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def quit(self) -> dict:
        """Closes all connections and ends it; returns its counts."""
        told = self.tell("quit")
        self.process.wait(timeout=60)
        return told

    def __enter__(self) -> Traffic:
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()


def laws_of(record: dict) -> dict[str, str]:
    """Name of each law -> status."""
    return {law["law"]: law["status"] for law in record["laws"]}


def bytes_of(record: dict) -> dict[str, int | None]:
    """Name of each site -> bytes of all sockets."""
    return {site: value["bytes"] for site, value in record["total"]["sites"].items()}


def causes_of(*parts: dict) -> Counter:
    """Bytes and calls by cause, summed over parts of a record that have causes."""
    found: Counter = Counter()
    for each in (each for part in parts for each in part["causes"]):
        found[each["cause"], "bytes"] += each["bytes"] or 0
        found[each["cause"], "calls"] += each["calls"]
    return found


def check_causes(record: dict) -> None:
    """The causes of sockets add up to those of their process, and these to those of the record."""
    assert not record["losses"]["folded_sockets"]
    assert causes_of(*record["processes"]) == causes_of(record)
    for process in record["processes"]:
        own = [each for each in record["sockets"] if each["pid"] == process["pid"]]
        assert causes_of(*own) == causes_of(process)
    for each in record["sockets"]:
        late = each["sites"]["late_copy"]["bytes"]
        assert late is None or late == sum(cause["bytes"] for cause in each["causes"]
                                           if cause["site"] == "late_copy")


def unbalanced(record: dict) -> list:
    """Every law of every socket that does not balance."""
    return [(each["local"], each["remote"], name, law)
            for each in record["sockets"] for name, law in each["laws"].items()
            if law["status"] == "broken"]
