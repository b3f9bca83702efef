# SPDX-License-Identifier: GPL-2.0
"""A path's answer holds each way against what it is used in place of, says from where to where, and what flipped."""
from __future__ import annotations

import itertools
import json
from types import SimpleNamespace

import pytest

from copyscope.advise import command
from copyscope.common.outcomes import ALIKE, COSTS, PAYS, UNDECIDED
from copyscope.records import ways as answers
from copyscope.runs import launch, placement, ways
from helpers import alternated, schemas
from helpers.pictures import REAL
from helpers.records import ROOT

SCHEMA = ROOT / "docs/ways.schema.json"
# What a turn takes beside a send of as many bytes; MSG_ZEROCOPY pays from 64 KiB on.
TAKES = {"A1": 1200, "A2": 1000, "A1-file": 1500, "sendfile": 1200, "splice": 1100, "vmsplice": 1010, "uring-zc": 2000}


def took(name, size):
    """What a turn takes."""
    if name == "A3-whole":
        return 700 if size >= 65536 else 3000
    return TAKES.get(name, 1000)


@pytest.fixture(name="asked")
def fixture_asked(monkeypatch):
    """All runs that were asked for; registered memory is refused at 1 MiB."""
    asked = []

    def make(run, *_):
        asked.append(run.arguments)
        if "uring-zc-fixed" in run.arguments[1] and run.arguments[4] == str(1 << 20):
            launch.refuse(run, None, launch.EXIT_REFUSED, "raise RLIMIT_MEMLOCK")
        data = alternated.record(run.arguments, took) if run.arguments[0] == "--alternate" else REAL["A3-host"]
        return SimpleNamespace(status=0, stderr="", said=json.dumps(data))
    monkeypatch.setattr(launch, "make", make)
    monkeypatch.setattr(ways.time, "sleep", lambda _: None)
    monkeypatch.setattr(launch, "check_built", lambda _: None)
    return asked


def answer(capsys, *words):
    """The document of a path and its report."""
    assert command.main(["--json", "-", "--sizes", "4k,64k,1M", *words]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert not schemas.faults(SCHEMA, data)
    return data, shown.err


def test_each_way_is_held_against_what_it_is_used_in_place_of(asked, capsys):
    data, said = answer(capsys)
    found = {way["variant"]: (way["in_place_of"], way["answer"]) for way in data["ways"]}
    assert found == {
        "A2": ("A1", "always"), "A3-whole": ("A1-plain", "pays 64 KiB to 1 MiB, costs at 4 KiB"),
        "sendfile": ("A1-file", "always"), "splice": ("A1-file", "always"), "vmsplice": ("A1-plain", "never: alike 4 KiB to 1 MiB"),
        "uring": ("A1-plain", "never: alike 4 KiB to 1 MiB"), "uring-zc": ("A1-plain", "never"),
        "uring-zc-fixed": ("A1-plain", "never: alike 4 KiB to 64 KiB")}
    assert data["ways"][1]["sizes"][1]["processor_time"]["ratio"] == {"median": 0.7, "low": 0.7, "high": 0.7, "n": 6}
    lines, told = said.splitlines(), [" ".join(line.split()) for line in said.splitlines()]
    assert "memory send() 4 KiB; MSG_ZEROCOPY 64 KiB to 1 MiB" in told
    assert "file splice() 4 KiB to 1 MiB" in told
    assert "MSG_ZEROCOPY 2.00 +200 -30 -30" in told and max(map(len, lines)) <= 80
    # As sharp as can be: no more starts than give an interval, and one run with probes of each.
    assert len([run for run in asked if run[0] != "--alternate"]) == 11


def test_starts_of_all_sizes_take_turns_with_ends_on_one_core_and_on_two(asked, capsys, monkeypatch):
    monkeypatch.setattr(placement, "cores", lambda: [4, 6, 7])
    answer(capsys)
    turns = [run for run in asked if run[0] == "--alternate"]
    # A start of each size and group, of which one is refused with its last way, before the second of any.
    assert len({(run[1], run[4]) for run in turns[:7]}) == 7 and turns[7][1:5] == turns[0][1:5]
    first = [run[run.index("--cpus") + 1] for run in turns if (run[1], run[4]) == (turns[0][1], turns[0][4])]
    assert first == ["4,6,7", "4,6,7/6,7,4", "6,7,4", "6,7,4/7,4,6", "7,4,6", "7,4,6/4,6,7"]
    # They are as far apart in time as those of an alternation.
    slept = []
    monkeypatch.setattr(ways.time, "sleep", slept.append)
    answer(capsys, "--sizes", "4k")
    assert sum(each > 3 for each in slept) == 10
    monkeypatch.setattr(placement, "cores", lambda: [4])
    asked.clear()
    answer(capsys)
    assert not any("--cpus" in run for run in asked)


def test_what_cannot_be_registered_is_left_out_alone(asked, capsys):
    data, said = answer(capsys)
    assert data["absent"] == [{"variant": "uring-zc-fixed", "bytes": [1 << 20], "why": "raise RLIMIT_MEMLOCK"}]
    assert [len(way["sizes"]) for way in data["ways"]] == [3] * 7 + [2]
    assert "Not measured, SEND_ZC, registered at 1 MiB: raise RLIMIT_MEMLOCK." in " ".join(said.split())


def test_a_start_that_is_refused_later_ends_its_own_answer_alone(asked, capsys, monkeypatch):
    make = launch.make

    def refusing(run, *more):
        words = run.arguments
        if "uring-zc-fixed" in words[1] and words[4] == "65536" and sum(each[:5] == words[:5] for each in asked) == 1:
            launch.refuse(run, None, launch.EXIT_REFUSED, "raise RLIMIT_MEMLOCK")
        return make(run, *more)
    monkeypatch.setattr(launch, "make", refusing)
    data, _ = answer(capsys, "--sizes", "4k,64k")
    assert {each["variant"]: each["bytes"] for each in data["absent"]} == {
        name: [65536] for name in ("uring", "uring-zc", "uring-zc-fixed")}
    assert {len(way["sizes"]) for way in data["ways"] if not way["variant"].startswith("uring")} == {2}


def test_many_paths_are_kept_and_those_that_are_there_are_not_measured_again(asked, capsys, tmp_path):
    words = ["--path", "lo,veth", "--threads", "1,4", "--sizes", "4k", "--quiet", "--out", str(tmp_path / "new")]
    assert command.main(words) == 0
    made = len(asked)
    assert command.main([*words, "--against", str(tmp_path / "new")]) == 0 and len(asked) == made
    assert "0 answers are the opposite" in capsys.readouterr().out
    assert {file.name for file in (tmp_path / "new").glob("*.json")} == {
        "lo-1.json", "lo-4.json", "veth-1.json", "veth-4.json"}
    page = (tmp_path / "new/turns.md").read_text()
    assert page.count("\n## ") == 4 and "32 of 32 cells are decided or alike" in page
    # One that flips is told, with status 1.
    file = tmp_path / "new/veth-4.json"
    data = json.loads(file.read_text())
    (tmp_path / "old").mkdir()
    data["ways"][1]["sizes"][0]["processor_time"]["outcome"] = PAYS
    (tmp_path / "old/veth-4.json").write_text(json.dumps(data))
    assert command.main([*words, "--against", str(tmp_path / "old")]) == 1
    assert "MSG_ZEROCOPY on veth, 4 connections, 4 KiB: pays, then costs" in capsys.readouterr().out


def test_turns_end_when_the_budget_is_spent(asked, capsys, monkeypatch):
    sizes = iter(range(10**6))
    monkeypatch.setitem(globals(), "took", lambda *_: 1000 + next(sizes) * 7919 % 3000)
    data, _ = answer(capsys, "--budget", "0.001")
    assert {len(each["processor_time"]["starts"]) for way in data["ways"] for each in way["sizes"]} == {6}


@pytest.fixture(name="unsure")
def fixture_unsure(asked, monkeypatch):
    """A ring that takes half or half as much again beside others, and 0.9 beside a send alone."""
    wild = itertools.cycle((500, 1500))
    monkeypatch.setitem(globals(), "took", lambda name, size: 1000 if name != "uring" else
                        900 if asked[-1][1] == "A1-plain,uring" else next(wild))
    return asked


def ring(data):
    """What was decided of it."""
    return [each["processor_time"]["outcome"] for way in data["ways"] if way["variant"] == "uring" for each in way["sizes"]]


def test_what_is_undecided_takes_turns_alone(unsure, capsys):
    data, _ = answer(capsys, "--budget", "60")
    assert ring(data) == [PAYS] * 3
    assert {run[1] for run in unsure if run[0] == "--alternate" and run[1].count(",") == 1} == {"A1-plain,uring"}


def test_a_folder_that_is_there_is_sharpened(unsure, monkeypatch, tmp_path):
    words = ["--sizes", "4k", "--quiet", "--out", str(tmp_path), "--budget", "0.001"]
    assert command.main(words) == 0
    file = tmp_path / "lo-1.json"
    assert ring(json.loads(file.read_text())) == [UNDECIDED]
    monkeypatch.setattr(ways.os, "uname", lambda: SimpleNamespace(release="9.9"))
    assert command.main([*words, "--sharpen"]) == 2
    monkeypatch.setattr(ways.os, "uname", lambda: SimpleNamespace(release=REAL["A3-host"]["machine"]["kernel"]))
    assert command.main([*words, "--sharpen", "--budget", "60"]) == 0
    data = json.loads(file.read_text())
    assert ring(data) == [PAYS] and not schemas.faults(SCHEMA, data)
    assert data["sharpened"][-1] == "60" and "io_uring SEND" in (tmp_path / "turns.md").read_text()


@pytest.mark.parametrize("judged, says", [
    ({64: PAYS, 4096: PAYS}, "always"), ({64: COSTS, 4096: COSTS}, "never"),
    ({64: COSTS, 4096: PAYS, 65536: UNDECIDED}, "pays at 4 KiB, costs at 64 B, undecided at 64 KiB"),
    ({64: COSTS, 4096: UNDECIDED}, "costs at 64 B, undecided at 4 KiB"),
    ({64: COSTS, 4096: ALIKE}, "never: alike at 4 KiB, costs at 64 B")])
def test_never_is_said_where_nothing_is_open(judged, says):
    assert answers.told(judged) == says


@pytest.mark.parametrize("judged, says", [
    ({64: PAYS, 4096: PAYS}, "always"), ({64: COSTS, 4096: ALIKE}, "never"), ({64: COSTS, 4096: UNDECIDED}, "never; open: 4 KiB"),
    ({64: COSTS, 4096: PAYS, 65536: PAYS, 1 << 20: UNDECIDED}, "4 KiB to 64 KiB; open: 1 MiB")])
def test_a_cell_has_where_it_pays_and_where_nobody_knows(judged, says):
    assert answers.brief(judged) == says
