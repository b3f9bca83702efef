# SPDX-License-Identifier: GPL-2.0
"""A watch whose intervals become metrics: starts it, reads its lines, writes state and file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from copyscope import cli
from copyscope.cli import own_words, value_of, without
from copyscope.common.errors import CommandError, Unusable
from copyscope.common.programs import start_watch
from copyscope.common.tables import RELEASE

from . import power, serve
from .families import Published, families_of
from .kept import Complaints, KeptFile, StateFile, say
from .ledger import Ledger
from .lines import Lines, Rotation

# What each is given, for a line that says that it is missing.
EXAMPLES = {
    "--metrics": "copyscope.prom",
    "--serve": "9435",
    "--state": "copyscope.state",
    "--services": "200",
    "--rotate": "100M,5",
}
LINES, INTERVAL, FOLD = "--json-lines", "--interval", "--fold-lines"
BY_DEFAULT = {INTERVAL: "15", "--services": "200"}
SERVICES_MOST = 10_000
STATE_NAME = "metrics-state.json"


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    values: dict[str, str]
    rest: list[str]  # for the watch

    @classmethod
    def of(cls, words: list[str]) -> Asked:
        """From the words behind watch."""
        own, values = own_words(words), {}
        command = words[len(own) :]
        for option, example in (EXAMPLES | {LINES: "lines.jsonl"}).items():
            value = value_of(own, option, example)
            if value is not None:
                if not value:
                    raise Unusable(f"{option} is given nothing: watch ... {option} {example}")
                values[option] = value
                own = without(own, option)
        for option in ("--html", "--folded"):
            if option in {each.partition("=")[0] for each in own}:
                raise Unusable(
                    f"{option} is made of a record: make it by copyscope show RECORD {option}"
                )
        if value_of(own, INTERVAL, BY_DEFAULT[INTERVAL]) is None:
            own = [INTERVAL, BY_DEFAULT[INTERVAL], *own]
        return cls(values, [*own, *command]).checked()

    def checked(self) -> Asked:
        """Refuse what makes no sense."""
        if "--rotate" in self.values and LINES not in self.values:
            raise Unusable(f"--rotate is for {LINES} FILE")
        for option in ("--state", "--services"):
            if option in self.values and not {"--metrics", "--serve"} & set(self.values):
                raise Unusable(f"{option} is for --metrics or --serve")
        if not 1 <= self.services <= SERVICES_MOST:
            raise Unusable(
                f"--services {self.values['--services']!r} is not a whole number 1 to "
                f"{SERVICES_MOST}"
            )
        return self

    @property
    def services(self) -> int:
        """How many services are told apart at most."""
        text = self.values.get("--services", BY_DEFAULT["--services"])
        return int(text) if text.isdecimal() and len(text) < 9 else 0

    @property
    def state(self) -> Path | None:
        """Where counters go on from; None: they begin at 0."""
        folder, metrics = os.environ.get("STATE_DIRECTORY"), self.values.get("--metrics")
        named = self.values.get("--state")
        if named:
            return Path(named)
        # systemd names several, if the unit has several.
        if folder:
            return Path(folder.partition(":")[0]) / STATE_NAME
        return Path(f"{metrics}.state") if metrics else None


def moment(text: str) -> float:
    """A time of a line in seconds since 1970."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()


class Exporter:
    """What becomes of lines."""

    def __init__(self, asked: Asked) -> None:
        self.complaints = Complaints()
        self.ledger, self.published = Ledger(asked.services), Published()
        self.spent_s = 0.0
        values = asked.values
        self.lines = (
            Lines(
                values[LINES],
                Rotation.of(values["--rotate"]) if "--rotate" in values else None,
                self.complaints,
            )
            if LINES in values
            else None
        )
        self.metrics = (
            KeptFile(Path(values["--metrics"]), "--metrics", self.complaints)
            if "--metrics" in values
            else None
        )
        self.state = StateFile(asked.state, "--state", self.complaints) if asked.state else None
        self.server = (
            serve.listen(values["--serve"], self.published.registry, self.complaints)
            if "--serve" in values
            else None
        )
        self.commit = cli.version().rpartition("(")[2].rstrip(")")

    def restore(self) -> None:
        """Go on where another watch ended, and publish that."""
        if not self.state:
            return
        try:
            state = self.state.read()
            if state is not None:
                self.ledger.restore(state)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self.state.set_aside(str(error) or type(error).__name__)
            self.ledger = Ledger(self.ledger.most)
            return
        if state is not None:
            self.publish()

    def publish(self) -> None:
        """Show the ledger."""
        self.published.families = families_of(self.ledger, RELEASE, self.commit)
        if self.metrics:
            self.metrics.write(self.published.text())

    def take(self, raw: bytes) -> None:
        """One interval. What was published is in the state: it is written first."""
        if self.lines:
            self.lines.write(raw)
        if not self.metrics and not self.server:
            return
        line = json.loads(raw)
        self.ledger.count(line, moment(line["end"]))
        now = time.process_time()
        self.ledger.spend(now - self.spent_s)
        self.spent_s = now
        kept = not self.state or self.state.write(
            json.dumps(self.ledger.state(), separators=(",", ":")).encode()
        )
        # What is not kept may not be published: after a restart it would go back.
        if kept:
            self.publish()


def start(rest: list[str], fold: bool) -> tuple[subprocess.Popen, int]:
    """Start the watch, which writes its lines into a pipe; if `fold`, with a row for each service
    in place of each process."""
    reader, writer = os.pipe()
    words = [LINES, f"/dev/fd/{writer}", *[FOLD] * fold, *rest]
    try:
        return start_watch(words, [writer]), reader
    finally:
        os.close(writer)


def watch(words: list[str]) -> int:
    """Watch, and export each interval. The exit status is that of the watch."""
    asked = Asked.of(words)
    exporter = Exporter(asked)
    exporter.restore()
    process, reader = start(asked.rest, fold=not exporter.lines)
    power.give_up()
    if exporter.server:
        serve.answer(exporter.server)
    with open(reader, "rb") as lines:
        for raw in lines:
            # One that was cut off by a kill is none.
            if raw.endswith(b"\n"):
                exporter.take(raw)
    status = process.wait()
    if status < 0:
        say(f"the watch was ended by {signal.Signals(-status).name}: what it counted last is lost")
        return CommandError.status
    return status
