# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/fleet; an answer as JSON, by docs/fleet.schema.json."""
from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import re
import signal
import sys
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, whole
from copyscope.files.record_file import RecordFile

from . import page
from .answer import Answer, Host, Service, ask
from .text import lines

NAME = "fleet"
SCHEMA = "copyscope.fleet/1"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
LEAST_WINDOW_S, MOST_WINDOW_S = 60, 366 * 86400
TOP, MOST_TOP = 20, 100_000
EPILOG = """\
Prometheus scrapes what copyscope watch --metrics writes on each host; docs/FLEET.md says how. Its
answer tells what each service copied; which services of which hosts and kernels asked to send
without a copy, how much of it was copied after all and why, since when that is more than half of
it; what CPU time copying takes (watch --cpu); and what is not known. Numbers are sums over the
window, to the byte as the readings have it.
Thanos and Mimir answer like Prometheus.
exit: 0 answered; 2 bad usage, or what answers is no Prometheus; 3 nobody is there, or
no such metrics
examples: ./tools/fleet http://127.0.0.1:9090
          ./tools/fleet http://127.0.0.1:9090 --window 7d --html fleet.html"""


def window(text: str) -> int:
    """Read a time as Prometheus writes it."""
    parts = re.fullmatch(r"([0-9]{1,8})([smhdw])", text)
    seconds = int(parts[1]) * UNITS[parts[2]] if parts else 0
    if not LEAST_WINDOW_S <= seconds <= MOST_WINDOW_S:
        raise argparse.ArgumentTypeError(f"{text!r} is no time from 1m to 366d, such as 90s, 30m, "
                                         "6h, 7d or 2w")
    return seconds


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/fleet", EPILOG)
    add = parser.add_argument
    add("url", metavar="PROMETHEUS_URL", help="where Prometheus answers, such as "
                                              "http://127.0.0.1:9090")
    add("--window", type=window, default=3600, metavar="TIME",
        help="how far to look back, such as 30m, 6h or 7d; 1h unless told")
    add("--top", type=whole(1, MOST_TOP), default=TOP, metavar="N",
        help=f"rows of each table that are printed; {TOP} unless told")
    add("--html", metavar="FILE", help="write the answer as one page besides")
    add("--json", metavar="FILE", help="write all of it there; - for stdout alone")
    return parser


def utc(when: float | None) -> str | None:
    """A moment as records have it."""
    return None if when is None else \
        datetime.datetime.fromtimestamp(when, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def whole_number(number: float | None) -> int | None:
    """A sum of a counter of bytes or calls."""
    return None if number is None else round(number)


def host(each: Host, cpu_s: float | None) -> dict[str, Any]:
    """A host."""
    return {"instance": each.name, "job": each.job, "kernel": each.kernel,
            "version": each.version, "read": utc(each.read), "laws_broken": each.broken,
            "services_broken": [other.labels for other in each.services_broken],
            "not_known": each.not_known,
            "copying_cpu_s": cpu_s}


def service(each: Service) -> dict[str, Any]:
    """A service."""
    sums = each.sums
    return {"labels": each.labels, "kernel": each.kernel,
            "asked_bytes": whole_number(sums.get("asked")),
            "copied_after_all_bytes": whole_number(sums.get("needless")),
            "completed_sends": whole_number(sums.get("completed")),
            "copied_sends": whole_number(sums.get("told_copied")),
            "enobufs": whole_number(sums.get("enobufs")), "copying_cpu_s": sums.get("cpu"),
            "causes": {cause: round(count) for cause, count in sorted(each.causes.items())},
            "since": utc(each.since), "since_before_window": each.from_begin, "still": each.still}


def moved(each: Service) -> dict[str, Any]:
    """What a service moved."""
    whole, least = each.copied
    return {"labels": each.labels, "kernel": each.kernel,
            **{f"{name}_bytes": whole_number(each.sums.get(name)) for name in ("sent", "received")},
            "copied_bytes": whole_number(whole), "copied_least_bytes": round(least),
            "copying_cpu_s": each.sums.get("cpu")}


def cpu_of(told: Answer) -> dict[tuple[str, str], float]:
    """CPU time of copying on each host."""
    found: dict[tuple[str, str], float] = {}
    for each in told.services:
        if "cpu" in each.sums:
            key = each.labels.get("job", ""), each.host
            found[key] = found.get(key, 0) + each.sums["cpu"]
    return found


def document(told: Answer) -> dict[str, Any]:
    """The whole answer."""
    cpu = cpu_of(told)
    return {"schema": SCHEMA, "url": told.url, "begin": utc(told.begin), "end": utc(told.end),
            "hosts": [host(each, cpu.get((each.job, each.name))) for each in told.hosts],
            "services": [service(each) for each in told.asking],
            "moved": [moved(each) for each in told.moving]}


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    with contextlib.ExitStack() as files:
        # Before anything is asked that could not be written then.
        html = files.enter_context(RecordFile(options.html, "--html")) if options.html else None
        record = files.enter_context(RecordFile(options.json)) \
            if options.json and options.json != "-" else None
        told = ask(options.url, options.window)
        text = json.dumps(document(told), indent=1) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        else:
            print(*lines(told, options.top), sep="\n")
        if record:
            record.write(text)
        if html:
            html.write(page.page(told))
    return 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, NAME)
