# SPDX-License-Identifier: GPL-2.0
"""Makes runs with tools/trace_run, and reads, checks and asks their records."""
from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from copyscope.records.run_record import Record
from copyscope.report import run_sentence
from helpers import schemas
from helpers.patience import Patience, Stopwatch

ROOT = Path(__file__).resolve().parents[2]
TRACE_RUN = ROOT / "tools" / "trace_run"
SCHEMA = ROOT / "docs" / "record.schema.json"
# Far above what any run here takes: it only ends runs that hang.
TIMEOUT_S = 60
# A run that went well, and one whose probes this kernel kept packets from, as it does now and then: then
# its laws that need every packet are not testable, and are not tested here.
BLIND = 4
WELL = (0, BLIND)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not root: probes need it, use sudo")


def faults(record: dict) -> list[str]:
    """What the schema has against a record: "where: what", nothing if all is well."""
    return schemas.faults(SCHEMA, record)


def accepted(record: dict) -> bool:
    """True if the schema accepts a record."""
    return schemas.accepts(SCHEMA, record)


def validate(record: dict) -> dict:
    """Returns the record if the schema accepts it."""
    assert not faults(record), "\n".join(faults(record))
    return record


def load(source) -> dict:
    """Reads a record from a path, or from the text that --json - printed; checked."""
    text = source if isinstance(source, str) and source.startswith("{") else Path(
        source).read_text()
    return validate(json.loads(text))


@dataclass
class Run:
    """What one trace_run left behind."""
    code: int
    out: str
    err: str

    @property
    def record(self) -> dict:
        """The record of a run that was told --json -."""
        assert self.out.startswith("{"), f"no record, exit {self.code}: {self.err}"
        return load(self.out)


class UnderWay(subprocess.Popen):
    """A run that goes on. What it left, and after how many seconds of a machine that had a processor for it, is
    there when the block of under_way() is over."""
    done: Run
    took_s: float


def start(*words, before=(), **options) -> UnderWay:
    """Starts tools/trace_run, through the command @before if there is one; whoever calls it ends it."""
    return UnderWay([str(word) for word in (*before, TRACE_RUN, *words)], text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def finish(process: subprocess.Popen, timeout_s: float = TIMEOUT_S) -> Run:
    """Waits for a run and returns what it left; a run that hangs is killed and is an error."""
    patience = Patience(timeout_s)
    while True:
        try:
            out, err = process.communicate(timeout=min(timeout_s, 1))
            return Run(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            if patience.is_over():
                process.kill()
                process.communicate()
                raise


@contextmanager
def under_way(*words, timeout_s: float = 20, **options) -> Iterator[UnderWay]:
    """A run that has ended within so many seconds after the block, or is killed."""
    process = start(*words, **options)
    try:
        yield process
        watch = Stopwatch()
        process.done = finish(process, timeout_s)
        process.took_s = watch.seconds()
    finally:
        process.kill()


def run(*words, timeout_s: float = TIMEOUT_S, **options) -> Run:
    """Runs tools/trace_run with these words, as they are."""
    return finish(start(*words, **options), timeout_s)


def run_record(*words, code: int = 0) -> dict:
    """Runs tools/trace_run, which must end with that code, and returns its checked record."""
    done = run(*words, "--json", "-")
    assert done.code == code or code == 0 and done.code in WELL, f"exit {done.code}, not {code}: {done.err}{broken_text(done.out)}"
    return done.record


def sentence_of(record: dict) -> str:
    """The verdict on a run, as its report has it with every digit."""
    return run_sentence.exact(Record(record, Path("record")))


def broken_text(out: str) -> str:
    """The broken laws of a printed record, for messages."""
    if not out.startswith("{"):
        return ""
    return json.dumps([law for law in json.loads(out)["laws"] if law["status"] == "broken"],
                      indent=1)


# Questions to a record

def site(record: dict, name: str) -> int | None:
    """Bytes of a site; None if it is not measured."""
    return record["sites"][name]["bytes"]


def calls(record: dict, name: str) -> int | None:
    """Calls of a site; None if it is not measured."""
    return record["sites"][name]["calls"]


def how(record: dict, name: str) -> str:
    """How a site's number is known: measured, derived or not_measured."""
    return record["sites"][name]["how"]


def law(record: dict, name: str) -> dict:
    """The one law of that name."""
    found, = [each for each in record["laws"] if each["law"] == name]
    return found


def laws_with(record: dict, status: str) -> set[str]:
    """Names of the laws that are balanced, broken or not testable; without the law that compares two
    passes, where one was asked for."""
    alone = record.get("experiment", {}).get("passes", {}).get("why") and status == "not testable"
    return {each["law"] for each in record["laws"] if each["status"] == status} - (
        {"passes"} if alone else set())


def causes(record: dict, *sites: str) -> dict[str, int | None]:
    """Bytes by name of cause, of all sites or of some."""
    return {each["cause"]: each["bytes"] for each in record["causes"]
            if not sites or each["site"] in sites}


def probes(record: dict, question: str) -> list[dict]:
    """The hooks that answer a question: a site's name, or accepted, returned and so on."""
    return [each for each in record["backend"]["probes"] if each["site"] == question]


def unseen(record: dict) -> int:
    """Packets that the kernel kept from the probes: what needs every packet is then not told."""
    return sum(each["unseen_firings"] or 0 for each in record["backend"]["probes"])
