# SPDX-License-Identifier: GPL-2.0
"""Whatever stands in a record, show and its files tell what it has, or refuse it in one line."""
from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from copyscope.records_cmd import command
from helpers import damage
from helpers.pictures import REAL

from .test_report_page import sampled
from .test_stacks import record_with_stacks

SEED, COUNT = 3, 25


def watch() -> dict[str, Any]:
    """A watch with stacks and samples."""
    made = {**record_with_stacks(), "cpu": sampled("x")["cpu"]}
    process, other = made["processes"]
    use = copy.deepcopy(sampled("x")["processes"][0]["cpu"])
    none = dict.fromkeys(use["classes"]["user"], 0)
    use |= {"user_space": {"copies": use["copies"], "others": none, "unnamed": none},
            "by_thread": [{"tid": tid, "comm": "x" if tid else None, "threads": 1, "samples": 100, "copies": 30, "classes": {"user": 70}}
                          for tid in (812, None)]}
    process["cpu"], other["cpu"] = use, None
    # What lies in lists of hundreds is not what is tried here.
    return made | {"sockets": made["sockets"][:1]}


DOCUMENTS = {"run": REAL["A3-guest"], "watch": watch()}


def said_of(data: bytes, folder: Path, capsys, *words: str) -> str:
    """What was told on stderr, if it was refused; "" if it was shown."""
    file = folder / "record.json"
    file.write_bytes(data)
    status = command.main(["show", str(file), *words])
    said = capsys.readouterr()
    assert status == 0 or status == 2 and said.err.count("\n") == 1 and len(said.err) < 1000, said.err
    (said.out + said.err).encode()
    return said.err


def ways(kind: str, folder: Path) -> list[list[str]]:
    """How such a record is shown."""
    more = [["--csv"]] if kind == "run" else [["--folded", str(folder / "f")], ["--pprof", str(folder / "p")]]
    return [["--laws"], ["--html", str(folder / "h.html")], *more]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_mutated_record_is_shown_or_is_one_line(kind, tmp_path, capsys):
    for words in ways(kind, tmp_path):
        assert not said_of(json.dumps(DOCUMENTS[kind]).encode(), tmp_path, capsys, *words)
    for each in damage.damages(DOCUMENTS[kind], SEED, COUNT):
        # A page has the words of the report, and takes longest.
        for words in [way for way in ways(kind, tmp_path) if way[0] != "--html"]:
            try:
                said_of(each.data, tmp_path, capsys, *words)
            except Exception as error:
                raise AssertionError((words, each.what)) from error


@pytest.mark.parametrize("kind, place, value", [
    ("run", ("backend", "probes", 0, "site"), None), ("run", ("backend", "probes", 0, "status"), None),
    ("watch", ("stacks", "frames"), []), ("watch", ("stacks", "modules"), []), ("watch", ("stacks", "stacks", 0, "frames"), [4]),
    ("watch", ("stacks", "frames", 0, "module"), 2), ("watch", ("stacks", "frames", 0, "offset"), "9" * 5000),
    ("watch", ("stacks", "frames", 0), {"module": 0, "offset": "9" * 5000, "function": None}),
    ("watch", ("processes", 0, "cpu"), None), ("watch", ("processes", 0, "cpu", "samples"), 0),
    ("watch", ("processes", 0, "cpu", "by_thread", 0, "samples"), 0), ("watch", ("cpu", "hz"), 0),
    ("watch", ("processes", 0, "cpu", "classes"), {"x": {"samples": 1, "softirq_samples": 0, "share": 1.0, "share_low": 1.0, "share_high": 1.0}}),
    ("watch", ("verdicts",), []), ("watch", ("started",), "2026-13-45T99:99:99Z"), ("watch", ("started",), "1900-01-01T00:00:00Z"),
    ("watch", ("window", "seconds"), 1e18), ("watch", ("processes",), [])])
@pytest.mark.parametrize("gone", [False, True], ids=["otherwise", "gone"])
def test_what_readers_follow_may_lead_nowhere(kind, place, value, gone, tmp_path, capsys):
    made = copy.deepcopy(DOCUMENTS[kind])
    inside = damage.holder(made, place)
    if gone:
        del inside[place[-1]]
    elif value is not None or place[-1] == "cpu":
        inside[place[-1]] = value
    for words in ways(kind, tmp_path):
        said_of(json.dumps(made).encode(), tmp_path, capsys, *words)
