# SPDX-License-Identifier: GPL-2.0
"""Claims of CSE221: what was looked at again says something else, and each can turn by its evidence."""
from __future__ import annotations

import copy
import functools
import json
from dataclasses import replace

import pytest

from copyscope_studies.claims import judge, of_others, sources
from copyscope_studies.claims.readings import Item
from helpers import claims_before

BEFORE = claims_before.read("CSE221")
RESULTS = claims_before.ROOT / "results"
# One and the same, whenever the records were made.
MACHINE = {"cpu_model": "Example CPU", "cpus": 2, "kernel": "6.12.0"}


@functools.cache
def records() -> tuple[str, ...]:
    """The committed records of each row, as text."""
    found = []
    for _, text in sources.archived(RESULTS / "baseline" / sources.ARCHIVE):
        data = json.loads(text)
        data["machine"].update(MACHINE)
        found.append(json.dumps(data))
    return tuple(found)


def six(change) -> list[Item]:
    """Their rows, each changed."""
    found = []
    for text in records():
        data = json.loads(text)
        for row in data["rows"]:
            change(row)
        found += of_others.baseline_items(data)
    return found


@functools.cache
def timed(by: float = 1) -> list[Item]:
    """The rows as they were committed, every time changed alike."""
    def change(row):
        measured = row["measured"]
        if measured and row["unit"] in of_others.TIMES:
            measured["values"] = [each * by for each in measured["values"]]
    return six(change)


def judged(name: str, items: list[Item]) -> judge.Verdict:
    """The verdict on a claim of the report by such rows."""
    return claims_before.by(claims_before.new(f"CSE221-{name}"), items)


def loopback() -> list[Item]:
    """What was counted of loopback, and nothing of ports to elsewhere."""
    return [each for each in claims_before.committed("single/ports.json") if each.words["of"] == "lo"]


def test_each_form_before_is_refused_or_says_something_else(tmp_path):
    made = {"six": timed, "fast": lambda: timed(0.1), "loopback": loopback, "": lambda: None}
    for before in BEFORE:
        claims_before.check(before, tmp_path, made[before.made]())


def test_each_claim_that_was_wrong_or_doubtful_is_here():
    named = {f"CSE221-C{number}" for number in (3, 6, 8, 17, 19, 25, 27, 28, 30, 33)}
    assert named <= {each.id for each in BEFORE}


@pytest.mark.parametrize("name, word", [
    ("C10", judge.REFUTED), ("C15", judge.REFUTED), ("C15-described", judge.CONFIRMED),
    ("C18", judge.CONFIRMED), ("C23", judge.REFUTED), ("C24", judge.REFUTED), ("C38", judge.REFUTED),
    ("C41", judge.CONFIRMED), ("C53", judge.REFUTED)])
def test_a_relation_holds_on_any_machine_however_fast(name, word):
    """Times of all rows, halved or doubled alike, leave each relation as it is."""
    for by in (0.5, 1, 2):
        assert judged(name, timed(by)).word == word


@pytest.mark.parametrize("name, rows, counter, counted", [
    ("C15", ["fault-hole"], "block reads issued", 5), ("C24", ["connect-remote"], "connections up when connect() returned", 1),
    ("C53", ["tcp-stream"], "packets of other devices", 3)])
def test_a_count_that_makes_its_row_invalid_is_evidence(name, rows, counter, counted):
    """Each is an invariant of its row. If it had come out otherwise, the claim would hold."""
    def change(row):
        if row["row"] in rows:
            row.update(status="invalid", why="an invariant does not hold", measured=None)
            for each in row["proof"]["invariants"]:
                if each["counter"] == counter:
                    each.update(counted=counted, held=False)
    assert judged(name, timed()).word == judge.REFUTED
    assert judged(name, six(change)).word == judge.CONFIRMED


def with_curve(row: str, y) -> list[Item]:
    """The rows, the curve of one of them by a function of x."""
    def change(each):
        if each["row"] == row:
            for point in each["curve"]["points"]:
                point["value"] = y(point["x"])
    return six(change)


@pytest.mark.parametrize("y, linear, proportional", [
    (lambda x: 100 + 10 * x, judge.CONFIRMED, judge.REFUTED), (lambda x: 50 * x, judge.CONFIRMED, judge.CONFIRMED),
    (lambda x: 300 - 10 * x, judge.REFUTED, judge.REFUTED), (lambda x: 100 if x < 5 else 300, judge.REFUTED, judge.REFUTED)])
def test_a_line_and_a_line_through_nothing_are_two_claims(y, linear, proportional):
    items = with_curve("contention-one-cpu", y)
    assert (judged("C33", items).word, judged("C62", items).word) == (linear, proportional)


@pytest.mark.parametrize("number, word", [(0, judge.CONFIRMED), (1, judge.REFUTED), (97, judge.REFUTED)])
def test_a_close_that_is_acknowledged_refutes_that_none_is(number, word):
    fact = {"name": "closes-acknowledged", "of": "lo", "number": number, "means": "", "how": "counted", "why": None}
    made = of_others.fact_items({"id": "a", "machine": {"kernel": "6.12.0"}, "facts": [fact]})
    assert judged("C56", made).word == word


# 7,597 connections of 7.898 ms begin in a minute.
@pytest.mark.parametrize("ports, word", [(28232, judge.CONFIRMED), (7598, judge.CONFIRMED), (7596, judge.REFUTED)])
def test_connections_go_on_if_those_of_a_minute_find_ports(ports, word):
    fact = {"name": "local-ports", "of": "range", "number": ports, "means": "", "how": "counted", "why": None}
    made = of_others.fact_items({"id": "a", "machine": {"kernel": "6.12.0"}, "facts": [fact]})
    assert judged("C57", made).word == word


@pytest.mark.parametrize("up, word", [(53, judge.REFUTED), (52, judge.CONFIRMED)])
def test_a_card_s_connections_are_counted_in_a_guest_beside_real_machines(up, word):
    def of_a_guest(row):
        if row["row"] == "connect-remote":
            row["proof"]["calls"] = 53
            for each in row["proof"]["invariants"]:
                each.update(counted=up if each["counter"].startswith("connections up") else each["counted"])
    data = json.loads(records()[0])
    data["machine"].update(kernel="6.12.95", emulated=True)
    for row in data["rows"]:
        of_a_guest(row)
    real = [replace(each, words={**each.words, "kernel": "6.18.0"}) for each in timed()]
    assert judged("C66", [*real, *of_others.baseline_items(data)]).word == word
    assert judged("C66", real).word == judge.UNDECIDED


def test_a_value_shows_both_machines():
    found = judged("C17", timed())
    assert found.word == judge.DIFFERS and found.there == "14.611 us" and found.here and found.ratio
    assert judged("C17", [replace(each, data=slower(each.data)) for each in timed()]).word == judge.CONFIRMED


def slower(row: dict) -> dict:
    """A row of three times the time."""
    data = copy.deepcopy(row)
    if data["row"] == "tcp-rtt":
        data["measured"]["values"] = [3 * each for each in data["measured"]["values"]]
    return data
