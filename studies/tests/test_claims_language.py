# SPDX-License-Identifier: GPL-2.0
"""The language of claims: what each predicate comes to, and what is refused where."""
from __future__ import annotations

from fractions import Fraction

import pytest

from copyscope_studies.claims.language import check, expand, parse, units, values
from copyscope_studies.claims.language.check import Meaning
from copyscope_studies.claims.language.evaluate import Findings, evaluate
from copyscope_studies.claims.language.fault import Fault
from copyscope_studies.claims.language.values import Missing

# Of three runs, by what their filter `size` says: bytes, calls; a time in six repeats.
COUNTS = {"64": {"copied": (64, 128, 192), "sent": (64, 128, 192), "calls": (8, 16, 24)},
          "512": {"copied": (512,), "sent": (1024,), "calls": (8,)}}
TIMES = {"64": (1, 2, 3, 4, 5, 6), "512": (11, 12, 13, 14, 15, 16), "4096": (5, 9, 10, 11, 12, 13)}
UNITS = {"copied": (units.BYTE, True), "sent": (units.BYTE, True), "calls": (units.CALL, True),
         "time": (units.SECOND, False), "few": (units.SECOND, False), "gone": (units.BYTE, True)}


class Fake:
    """Some runs by size."""

    def keys(self, _kind, _filters):
        return frozenset(("size", "label"))

    def unit_of(self, key):
        return {"size": units.SIZE, "label": units.NONE}.get(key)

    def meaning(self, _kind, _filters, name):
        return Meaning(*UNITS[name]) if name in UNITS else f"run has no quantity {name!r}"

    def read(self, _kind, filters, name):
        size, (unit, exact) = dict(filters).get("size", ("64",))[0], UNITS[name]
        if name == "gone":
            raise Missing("a thing that counts")
        if name == "few":
            return values.sample(unit, exact, ("a", "b"), (Fraction(1), Fraction(2)))
        found = TIMES[size] if name == "time" else COUNTS[size][name]
        return values.sample(unit, exact, tuple(f"{size} {each}" for each in range(len(found))),
                             tuple(map(Fraction, found)))


def judged(text: str, **names: str) -> Findings:
    """What a predicate comes to."""
    found = expand.expand(parse.parse(text), {name: parse.parse(each) for name, each in names.items()})
    assert check.Checker(Fake()).whole(found).kind == check.TRUTH
    return evaluate(found, Fake())


@pytest.mark.parametrize("text", [
    "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "-2 + 5 == 3", "10 - 2 - 3 == 5", "8 / 2 / 2 == 2",
    "1 KiB == 1024 B", "1 us == 1000 ns", "8 Gbps == 1 GBps", "50 percent == 0.5",
    "64 B / 8 B == 8", "16 B / 2 s == 8 B per s", "1e3 == 1_000",
    "not 1 == 2", "1 == 2 or 2 == 2", "not 1 == 2 and 2 == 2", "2 in [1, 3] and 3 in [1, 3]",
    "min(3, 1, 2) == 1", "max(3 B, 1 B) == 3 B", "abs(2 - 5) == 3",
    # In each run, though the runs differ.
    "run().copied == run().sent", "run().copied / run().calls == 8 B / 1 call",
    "min(run().copied) == 64 B and max(run().copied) == 192 B and median(run().copied) == 128 B",
    "run(size=512).copied / run(size=512).sent == 0.5", "run().copied <= 192 B",
    # By intervals.
    "run(size=64).time < run(size=512).time", "run(size=64).time in [1 s, 6 s]",
    "not run(size=64).time > 7 s", "run(size=512).time - run(size=64).time >= 5 s",
    "median(run(size=64).time) < 7 s", "run(size=512).time / run(size=64).time > 1",
    # Over keys.
    "all(size=64|512: run().copied >= size * 1 message)", "any(size=64|512: run().copied == 512 B)",
    "count(size=64|512: run().copied == 512 B) == 1", "sum(size=64|512: max(run().copied)) == 704 B",
    "max(size=64|512: run().time) >= 11 s", "all(size=512: run(size=64).copied <= 192 B)",
    "linear_r2(size=64|512|4096: size) > 0.999", "slope(size=64|512|4096: 2 * size) in [1.99, 2.01]",
    "law_r2(size=64|512|4096: size / (3 + size / (1 B / 1 message))) > 0.999",
    "log_r2(size=64|512|4096: size) < 0.9"])
def test_it_is_true(text):
    found = judged(text)
    assert found.truth is True and not found.missing and found.steps


@pytest.mark.parametrize("text", [
    "1 == 2", "1 != 1", "2 < 1", "not 1 == 1", "1 == 1 and 1 == 2", "4 in [1, 3]", "0 in [1, 3]",
    # One run contradicts.
    "run().copied == 64 B", "run().copied < 192 B", "run().copied > 64 B",
    "run(size=64).time > run(size=512).time", "run(size=64).time in [7 s, 9 s]",
    "all(size=64|512: run().copied == run().sent)"])
def test_it_is_false(text):
    assert judged(text).truth is False


@pytest.mark.parametrize("text", [
    "run(size=512).time > run(size=4096).time", "run(size=64).time in [2 s, 9 s]",
    "1 == 1 and run(size=64).time > 2 s", "1 == 2 or run(size=64).time > 2 s",
    "not run(size=64).time > 2 s"])
def test_intervals_that_overlap_decide_nothing(text):
    found = judged(text)
    assert found.truth is None and not found.missing and found.overlapping


def test_what_is_false_whatever_the_rest_is_stays_false():
    assert judged("1 == 2 and run(size=64).time > 2 s").truth is False
    assert judged("1 == 1 or run(size=64).time > 2 s").truth is True


@pytest.mark.parametrize("text", [
    "run().gone == 1 B", "1 == 1 or run().gone == 1 B", "1 == 2 and run().gone == 1 B",
    "not run().gone == 1 B", "count(size=64|512: run().gone == 1 B) < 9",
    "max(size=64|512: run().gone) < 1 B", "run().few < 9 s", "linear_r2(size=64|512|4096: run().few) < 1",
    "1 / (run().copied - run().sent) > 0 / 1 B", "run().copied / (run(size=512).time - run(size=64).time - 9 s) > 0 B / 1 s"])
def test_what_is_missing_leaves_all_undecided(text):
    found = judged(text)
    assert found.truth is None and found.missing


@pytest.mark.parametrize("text, shown", [
    ("run(size=64).time < 9 s", "3.5 s [1 s, 6 s]"), ("median(run(size=64).time) < 9 s", "3.5 s [1 s, 6 s]"),
    ("run(size=512).time / run(size=64).time < 99", "3.85714 [1.83333, 16]"),
    ("run(size=4096).time - run(size=64).time < 99 s", "7 s [-1 s, 12 s]"),
    ("max(run(size=64).time, run(size=4096).time) < 99 s", "10.5 s [5 s, 13 s]"),
    ("count(size=64|512: run().time < 3 s) < 9", "[0, 1]")])
def test_the_middle_that_is_shown_is_of_medians(text, shown):
    assert judged(text).steps[-1].left == shown


def test_times_of_the_same_records_are_compared_record_by_record():
    # Their intervals overlap; in each record one is later.
    found = judged("run(size=64).time < 1 s + run(size=64).time")
    assert found.truth is True and found.steps[0].right == "4.5 s [2 s, 7 s]"
    assert judged("run(size=64).time > run(size=64).time * 1").truth is False
    assert judged("run(size=64).time < run(size=512).time - 5 s").truth is None


def test_a_small_cost_of_a_byte_is_shown_in_nanoseconds():
    assert units.shown(Fraction(5, 10 ** 10), units.made(second=1, byte=-1)) == "0.5 ns per B"


def test_names_stand_for_selections_and_for_parts():
    assert judged("a(size=512).copied == half", a="run(label=x)", half="run(size=512).sent / 2").truth


@pytest.mark.parametrize("text, at, reason", [
    ("1 +", 3, "the end"), ("1 == 1 1", 7, "cannot follow"), ("(1 == 1", 7, "')'"),
    ("run().copied == 1 s", 13, "units differ"), ("1 B + 1 s == 1 B", 4, "units differ"),
    ("run().nothing == 1", 5, "no quantity"), ("run(colour=red).copied == 1 B", 0, "no filter"),
    ("run(size=1, size=2).copied == 1 B", 12, "stands twice"), ("nobody == 1", 0, "not known"),
    ("1 / 0 == 1", 2, "divides by zero"), ("run().time == 1 s", 11, "judged by intervals"),
    ("min(run().time) < 1 s", 0, "no interval"), ("run() == 1", 0, "a number must stand"),
    ("1 and 2", 0, "a comparison must stand"), ("GBps == 1", 0, "must follow a number"),
    ("all(colour=red: 1 == 1)", 0, "no kind of records"), ("slope(size=64|512: 1) > 1", 0, "at least 3"),
    ("all(size=64: all(size=64: 1 == 1))", 13, "already"), ("1 == 1 $", 7, "no number, word or sign"),
    ("sum(label=a|b: label) == 1", 15, "runs through words"),
    ("__import__('os') == 1", 11, "no number, word or sign"), ("(" * 50 + "1", 40, "nested"),
    ("1" + " + 1" * 100 + " == 1", 0, "signs"), ("1" * 40, 0, "no number"), ("1 == 1" * 1000, 0, "longer"),
    ("all(size=64|64: 1 == 1)", 4, "all different"), ("1 B * 1 B * 1 B * 1 B * 1 B * 1 B * 1 B == 1", 0, "means nothing")])
def test_what_is_wrong_is_refused_with_its_place(text, at, reason):
    with pytest.raises(Fault, match=reason.replace("(", r"\(").replace(")", r"\)")) as caught:
        judged(text)
    assert not at or caught.value.at == at


def test_names_in_a_cycle_and_names_that_explode_are_refused():
    with pytest.raises(Fault, match="a cycle: a -> b -> a"):
        judged("a == 1", a="b + 1", b="a + 1")
    grown = {f"n{each}": f"n{each + 1} + n{each + 1}" for each in range(20)}
    with pytest.raises(Fault, match="parts"):
        judged("n0 == 1", **grown, n20="1")
    deep = {f"n{each}": f"n{each + 1} + 1" for each in range(150)}
    with pytest.raises(Fault, match="deep"):
        judged("n0 == 1", **deep, n150="1")


@pytest.mark.parametrize("text", [
    "run(size=64|512, label='a b').copied / 8 B >= 1 and not 1 == 2",
    "all(size=64: min(run().time, 1 s) in [0 s, 2 s])"])
def test_a_tree_is_written_as_text_that_is_read_into_it_again(text):
    once = expand.text(parse.parse(text))
    assert expand.text(parse.parse(once)) == once
