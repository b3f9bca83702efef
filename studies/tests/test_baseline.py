# SPDX-License-Identifier: GPL-2.0
"""Readers of baseline records: each known mistake, agreement of reruns, figures."""
from __future__ import annotations

import copy
import csv
import fnmatch
import json
import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from copyscope.records.documents import BadRecord
from copyscope_studies.baseline import agree, command, figures, keep, mistakes
from copyscope_studies.baseline.records import Baseline, load
from helpers import baseline

MADE = json.loads(baseline.MADE.read_text())


# Medians of a quiet machine, in the rows' units: times of the record itself depend on its hour.
QUIET = {"timing": 24.5, "call-0": 1.14, "call-7": 1.40, "call-0-timed-singly": 27.4,
         "syscall": 140, "process": 62.6, "thread": 9.5, "switch-process": 2.9,
         "switch-thread": 2.6, "fault-hole": 4.0, "fault-major": 92.6, "memory-read": 28.7,
         "tcp-rtt": 13.5, "tcp-rtt-remote": 6.2, "tcp-stream": 15000, "connect-remote": 6.14,
         "close-remote": 6.8, "read-sequential": 99, "read-ahead": 4.7}


def record(change: Callable[[dict[str, Any]], None] = lambda rows: None) -> Baseline:
    """The record of a real run at a quiet hour, with its rows changed."""
    data = copy.deepcopy(MADE)
    rows = {row["row"]: row for row in data["rows"]}
    for name, value in QUIET.items():
        rows[name]["measured"].update(value=value, mean=value, low=0.95 * value,
                                      high=1.05 * value, sd=0.05 * value)
    change(rows)
    data["rows"] = list(rows.values())
    return Baseline(baseline.MADE, data, rows)


def scale(name: str, factor: float) -> Callable[[dict[str, Any]], None]:
    """A change: every number of a row by a factor."""
    def change(rows):
        measured = rows[name]["measured"]
        for key in "value", "low", "high", "mean", "sd":
            measured[key] *= factor
    return change


def count(name: str, counter: str, each: float) -> Callable[[dict[str, Any]], None]:
    """A change: what was counted for each call."""
    def change(rows):
        proof = rows[name]["proof"]
        found, = [inv for inv in proof["invariants"] if inv["counter"] == counter]
        found["counted"] = each * proof["calls"]
    return change


def deviate(rows: dict[str, Any]) -> None:
    """A change: thread creation deviates by more than its mean."""
    rows["thread"]["measured"]["sd"] = 2 * rows["thread"]["measured"]["mean"]


# A machine of which the report would have been right, for each mistake.
CONTRADICTIONS = {
    "units": scale("process", 1e-4),
    "swapped-columns": deviate,
    "hole": count("fault-hole", "block reads queued", 1),
    "timer": scale("call-0", 30),
    "arguments": scale("call-7", 10),
    "switch-ratio": scale("switch-process", 4),
    "switch-in-trip": scale("switch-process", 10),
    "loopback-limit": count("tcp-stream", "packets of other devices", 1),
    "connect": scale("connect-remote", 1.5),
    "close": scale("close-remote", 1000),
    "readahead": scale("read-ahead", 50),
    "cache-unit": scale("memory-read", 100),
}


def verdicts(of: Baseline) -> dict[str, str]:
    """Verdict by mistake."""
    return {each.name: each.verdict for each in mistakes.check(of)}


def test_the_data_is_a_record():
    assert not baseline.faults(MADE)


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_mistake_is_shown_by_measurement(name):
    assert verdicts(record())[name] == mistakes.SHOWN


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_machine_that_contradicts_it_does_not_show_it(name):
    assert verdicts(record(CONTRADICTIONS[name]))[name] == mistakes.NOT_SHOWN


def test_every_mistake_has_its_contradiction():
    assert set(CONTRADICTIONS) == set(verdicts(record()))


def test_without_its_rows_a_mistake_is_not_testable():
    assert set(verdicts(record(lambda rows: rows.clear())).values()) == {mistakes.NOT_TESTABLE}


def test_an_invalid_row_shows_no_mistake():
    def lose(rows):
        rows["fault-hole"].update(measured=None, status="invalid", why="broken")
    assert verdicts(record(lose))["hole"] == mistakes.NOT_TESTABLE


def test_a_record_agrees_with_itself():
    found = agree.compare(record(), record())
    assert len(found) == len([row for row in MADE["rows"] if row["measured"]])
    assert all(each.agrees for each in found)


def test_intervals_apart_disagree():
    wrong = [each.row for each in agree.compare(record(), record(scale("tcp-rtt", 3)))
             if not each.agrees]
    assert wrong == ["tcp-rtt"]


def test_records_without_a_common_row_are_refused(tmp_path, capsys):
    empty = {**MADE, "rows": [{**MADE["rows"][0], "row": "another"}]}
    (tmp_path / "empty.json").write_text(json.dumps(empty))
    assert command.main(["agree", str(baseline.MADE), str(tmp_path / "empty.json")]) == 2
    assert "no row is measured in both" in capsys.readouterr().err


@pytest.mark.parametrize("text, said", [
    ("", "JSON: "), ("[]", "schema: it is null"), ('{"schema": "copyscope.run/1"}', "schema: "),
    ('{"schema": "copyscope.baseline/1"}', "id: it is missing")])
def test_what_is_no_record_is_refused(tmp_path, text, said):
    (tmp_path / "file").write_text(text)
    with pytest.raises(BadRecord, match=said):
        load(tmp_path / "file")


def test_every_figure_is_drawn_and_drawn_again_the_same(tmp_path, monkeypatch):
    first = {file.name: file for file in figures.draw_all(record(), tmp_path / "a")}
    assert len(first) == 2 * (len(figures.PLANS) + 2)
    # One plan for all: a program draws them.
    monkeypatch.setattr(figures, "PLANS", figures.PLANS[:1])
    second = list(figures.draw_all(record(), tmp_path / "b"))
    assert len(second) == 2 * (1 + 2)
    assert all(file.read_bytes() == first[file.name].read_bytes() for file in second)


def test_a_row_without_a_number_draws_nothing(tmp_path, monkeypatch):
    def lose(rows):
        for name in "remote-sequential", "remote-random":
            rows[name].update(measured=None, curve=None, status="not_measured", why="no sshfs")
    # Others are drawn by the test above.
    monkeypatch.setattr(figures, "PLANS", [each for each in figures.PLANS if each.file in ("fig4-remote-read", "fig3-file-read")])
    names = {file.stem for file in figures.draw_all(record(lose), tmp_path)}
    assert "fig4-remote-read" not in names and "fig3-file-read" in names


def test_a_number_that_is_unproved_is_said_so():
    def doubt(rows):
        rows["contention"].update(status="unchecked", why="not root")
    plan, = [plan for plan in figures.PLANS if plan.file == "fig5-contention"]
    assert any("Not proved" in note for note in figures.notes_of(record(doubt), plan))


def test_published_curves_are_those_of_figures():
    for plan in figures.PLANS:
        assert bool(figures.published_series(plan)) == plan.published


def test_every_point_that_the_report_prints_is_drawn():
    plans = {plan.file: figures.published_series(plan) for plan in figures.PLANS}
    contention, = plans["fig5-contention"]
    assert [x for x, *_ in contention.points] == list(range(1, 21))
    cached, = plans["fig2-file-cache"]
    assert [(x >> 20, y) for x, y, *_ in cached.points][3:5] == [(1000, 18.568), (1200, 68.721)]
    regions, = plans["fig1-ram-latency"]
    assert [(y, round(high - y, 3)) for _, y, _, high in regions.points] == [
        tuple(figures.PUBLISHED["rows"][f"latency-{level}"][2:])
        for level in ("l1", "l2", "l3", "memory")]


def test_a_figure_shows_where_caches_end_and_what_is_told():
    def levels(**found):
        mine = record()
        mine.data["machine"]["caches"].update(l1d_bytes=32 << 10, l2_bytes=1 << 20,
                                              l3_bytes=32 << 20, found=found)
        return figures.levels_of(mine)
    level = {"from_bytes": 1 << 20, "to_bytes": 4 << 20, "ns": 14.0}
    assert levels(l1={**level, "to_bytes": 32 << 10}, l2=None, l3=level) == [
        (32 << 10, "L1 ends"), (4 << 20, "L3 ends"), (1 << 20, "L2, as told"),
        (32 << 20, "L3, as told")]
    assert len(levels()) == 3


def test_a_mean_is_trimmed_beside_the_reports(tmp_path):
    mine = record(lambda rows: rows["syscall"]["measured"].update(
        runs_trimmed_mean=139.0, runs_trimmed_sd=2.0, warm_ups=0))
    keep.keep([mine], tmp_path)
    rows = {row["row"]: row for row in csv.DictReader((tmp_path / "rows.csv").open())}
    assert (rows["syscall"]["runs_trimmed_mean"], rows["syscall"]["published"],
            rows["syscall"]["published_untrimmed"]) == ("139.0", "494.246", "538.008")
    assert not rows["timing"]["published_untrimmed"]


def test_every_row_is_described():
    done = baseline.run("--list")
    names = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    table = (baseline.ROOT / "docs" / "BASELINE.md").read_text().partition("## The rows")[2]
    told = [word.strip("`* \\") for line in table.splitlines() if line.startswith("| ")
            for word in re.split(r", | ", line.split(" | ")[0].strip("| "))]
    patterns = [word + "*" if word.endswith("-") else word for word in told if word]
    assert [name for name in sorted(names)
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)] == []


def test_what_is_kept_names_its_origin_and_shows_no_number_for_nothing(tmp_path):
    def lose(rows):
        rows["fault-hole"].update(measured=None, status="invalid", why="broken, so no number")
    without = record(lose)
    keep.keep([without, record()], tmp_path)
    rows = {row["row"]: row for row in csv.DictReader((tmp_path / "rows.csv").open())}
    assert set(rows) == set(without.rows)
    assert (rows["fault-hole"]["measured"], rows["fault-hole"]["why"]) == (
        "", "broken, so no number")
    assert float(rows["syscall"]["measured"]) == QUIET["syscall"]
    origin = (tmp_path / "PROVENANCE.md").read_text()
    for each in ("tools/baseline --quick", MADE["tool"]["commit"], MADE["machine"]["kernel"],
                 MADE["started"]):
        assert each in origin
    for name in os.listdir(tmp_path):
        assert name == "PROVENANCE.md" or name in origin
    assert "fault-hole" not in (tmp_path / "agreement.txt").read_text()


def test_a_loop_is_seen_as_a_share_of_the_best_of_its_kind():
    for prefix in "read", "write", "copy":
        shares = {name: share for name, _, share in figures.loops_of(record())
                  if name.split("-")[1] == prefix}
        assert max(shares.values()) == 1 and f"memory-{prefix}" in shares
    faster = {name: share for name, _, share in figures.loops_of(record(
        scale("ram-copy-nt", 100)))}
    assert faster["ram-copy-nt"] == 1 and faster["memory-copy"] < 0.1
