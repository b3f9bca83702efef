# SPDX-License-Identifier: GPL-2.0
"""Searches for crossovers are told in full, a pair a row, and the sentences say what all of them found."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from copyscope_studies.claims import of_others, questions
from copyscope_studies.claims.page import as_html, blocks, chart, crossings, front
from copyscope_studies.claims.world import World

SENTENCES = Path(__file__).resolve().parents[2] / "studies/claims/page/sentences.toml"
SIZES = [{"bytes": 64, "winner": "first"}, {"bytes": 9216, "winner": "first"}, {"bytes": 10001, "winner": "undecided"},
         {"bytes": 1 << 20, "winner": "second"}]
NEVER = [{"bytes": size, "winner": "first"} for size in (64, 1024, 1 << 20)]
SPOKEN = [{"profile": "mt25029", "first": "A1", "second": second, "says": "never", "claims": ["MT25029-C1"]}
          for second in ("A3", "A2")]
COUNTS = (1, 2, 4, 8)
# As many searches as there can be: of each pair of ways with each number of connections.
ALL = {"mt25018": "Two One Zero", "mt25023": "A1 A2 A3", "mt25029": "A1 A1-code A2 A3", "mt25064": "A1 A2 A3"}


def found(sizes=SIZES, first="A1", second="A3", profile="mt25029", threads=1, emulated=False, wide=(), **answer) -> dict:
    """A search; A1 is what the report calls A1-plain."""
    variants = [{"A1": "A1-plain"}.get(each, each) for each in (first, second)]
    return {"first": variants[0], "second": variants[1], "labels": [first, second], "profile": profile,
            "pattern": "stream", "threads": threads, "path": {"kind": "lo"}, "machine": {"emulated": emulated},
            "pairs": 9, "sizes": sizes, "low_bytes": 64, "high_bytes": 1 << 20, "answer": {
                "kind": "none", "faster_below": variants[0], "faster_above": variants[0], "contrary_bytes": [],
                "low_bytes": 64, "high_bytes": 1 << 20, "wide_bytes": list(wide), **answer}}


def crossed(low=8192, high=12288, **more) -> dict:
    """A search that found A3 to be faster from some size on."""
    return found(**{"kind": "crossover", "faster_below": "A1-plain", "faster_above": "A3", "low_bytes": low,
                    "high_bytes": high, **more})


def everything() -> list[crossings.Found]:
    """All searches that there can be."""
    return [(Path(f"{profile}_{first}-{second}_{threads}T.json"),
             found(NEVER, first, second, profile, threads)) for profile, ways in ALL.items()
            for at, first in enumerate(ways.split()) for second in ways.split()[at + 1:] for threads in COUNTS]


def text_of(*parts: blocks.Block) -> str:
    """Blocks as a page of HTML."""
    return as_html.page(blocks.Page("x", parts))


def words(line: blocks.Line) -> str:
    """A line without its marks."""
    return "".join(each if isinstance(each, str) else each.text for each in line)


@pytest.fixture(name="place")
def fixture_place(tmp_path):
    """A folder of results, and where its page goes."""
    return front.Place(tmp_path, tmp_path / "claims")


@pytest.mark.parametrize("data, told, brief", [
    (crossed(contrary_bytes=[64]), "A1 up to 8 KiB, A3 from 12 KiB on; A1 is faster at 64 B, 9 KiB; undecided at 10,001 B",
     "A1 up to 8 KiB, A3 from 12 KiB on, but not at 1 of 4 sizes"),
    (found(faster_above="A3"), "A3 is faster at 1 of 4 sizes, 64 B to 1 MiB; A1 is faster at 64 B, 9 KiB; undecided at 10,001 B",
     "A1 at 2, A3 at 1 of 4 sizes"),
    (found(NEVER), "A1 is faster at 3 of 3 sizes, 64 B to 1 MiB", "A1 at every size"),
    (found(NEVER, emulated=True), "A1 is faster at 3 of 3 sizes, 64 B to 1 MiB", "emulated, so no answer"),
    (found(kind="undecided", faster_below=None, faster_above=None),
     "A1 is faster at 64 B, 9 KiB; A3 is faster at 1 MiB; undecided at 10,001 B", "undecided; A1 at 2, A3 at 1 of 4 sizes"),
    (found([{"bytes": 64, "winner": "undecided"}], kind="undecided", faster_below=None, faster_above=None),
     "undecided at 64 B", "undecided")])
def test_a_crossover_is_told_with_what_does_not_fit_it(data, told, brief):
    assert (crossings.answer(data), crossings.brief(data)) == (told, brief)


def test_a_search_stands_beside_what_the_report_said_in_the_figure_and_in_full(monkeypatch, place):
    (place.results / "crossovers").mkdir()
    (place.results / "crossovers/a.json").write_text("{}")
    data = crossed(contrary_bytes=[64], wide=[64])
    monkeypatch.setattr(crossings.documents, "load", lambda *_: data)
    text = text_of(*crossings.section(place, {"answers": [], "spoken_crossovers": SPOKEN}))
    # In the table of zero copy, and beside what the report said; in the words of the figure, and in the table of all.
    assert text.count(crossings.brief(data)) == 2 and text.count(crossings.answer(data)) == 2
    assert text.count("not measured") == 1 and 'href="mt25029.html#MT25029-C1"' in text
    assert "9 pairs at each of 4 sizes; at 1 of them the interval is wider than asked for" in text
    assert "MT25029 lo: A1 or A3, connections 1: " in text and text.count("<circle") == 3 + 3
    assert "no report spoke of it" in text_of(*crossings.section(place, {"answers": [], "spoken_crossovers": []}))


def test_a_pair_is_a_row_and_a_number_of_connections_a_column(place):
    there = [each for each in everything() if each[0].name != "mt25029_A1-A3_4T.json"]
    table = crossings.spoken_of(place, there, SPOKEN)
    assert table.head[2:] == ("1 connection", "2 connections", "4 connections", "8 connections")
    assert len(table.rows) == 3 * 3 + 6 and {len(row) for row in table.rows} == {6}
    assert [words(each) for each in table.rows[0]] == [
        "A3 over A1, mt25029", "never (MT25029-C1)", "A1 at every size", "A1 at every size", "not searched", "A1 at every size"]
    assert all("not searched" not in map(words, row) for row in table.rows[1:])
    # What a report spoke of twice is told twice, and nothing else more than once.
    assert len(crossings.spoken_of(place, there, SPOKEN * 2).rows) == len(table.rows) + 2
    nothing = crossings.spoken_of(place, [], SPOKEN)
    assert nothing.head[2:] == ("1 connection",) and all("not measured" in words(row[2]) for row in nothing.rows)


def test_each_report_has_its_figure_and_all_but_the_first_one_fold_away(place):
    parts = crossings.every(place, everything())
    assert [type(each) for each in parts] == [blocks.Drawing, *[blocks.Fold] * 4]
    assert [each.summary for each in parts[1:]] == ["Each search of MT25018", "MT25023: 12 searches", "MT25029: 24 searches", "MT25064: 12 searches"]
    drawn = [parts[0], *(each.parts[0] for each in parts[2:])]
    for each, lines in zip(drawn, (12, 12, 24, 12)):
        heights = [int(y) for y in re.findall(r'<text x="(?:2|54)" y="(\d+)"', each.svg)]
        assert each.svg.count(" conn.</text>") == lines and len(heights) == lines * 5 // 4
        assert min(below - above for above, below in zip(heights, heights[1:])) >= chart.LINE > 11
    alone = crossings.every(place, [(Path("a.json"), {**found(NEVER), "profile": None}), *everything()[:1]])
    assert alone[-1].summary == "no report: 1 search"
    assert crossings.every(place, []) == [blocks.said("No search was made.")]


def test_of_zero_copy_only_what_was_measured_is_told(place):
    there = [(Path("a.json"), found(NEVER, emulated=True)), *everything()]
    table = crossings.of_zero_copy(place, there, ("lo",))
    assert len(table.rows) == 2 + 3 + 2 and all(len(row) == 5 for row in table.rows)
    assert "MT25029 lo: A1 or A3 (A1 is A1-plain)" in [words(row[0]) for row in table.rows]
    assert not crossings.of_zero_copy(place, there, ("nic",)).rows


def conclusions(searches: list[dict]) -> dict[str, str]:
    """What the sentences on crossovers say by these searches."""
    world = World(items=[of_others.crossover_item(each, f"{number}.json") for number, each in enumerate(searches)])
    asked, _ = questions.read(SENTENCES, world, set())
    found_ = [questions.answer(each, world) for each in asked if each.id.startswith("pays-")]
    return {each["id"]: each["conclusion"] or each["unknown"] for each in found_}


def of_loopback(**by_more) -> list[dict]:
    """Searches of MT25029 in which zero copy never wins; those with more connections changed."""
    return [found(NEVER, first, threads=threads, **(by_more if threads > 1 else {}))
            for first in ("A1", "A2") for threads in COUNTS]


@pytest.mark.parametrize("by_more, says", [
    ({}, "at no size that was tried, either"), ({"kind": "undecided"}, "was not found throughout"),
    ({"kind": "crossover", "faster_above": "A3", "low_bytes": 64, "high_bytes": 4096}, "In one or more of the searches"),
    # Zero copy is faster throughout: no crossover either.
    ({"faster_above": "A3"}, "In one or more of the searches")])
def test_the_sentence_says_what_more_connections_came_to(by_more, says):
    told = conclusions(of_loopback(**by_more))
    assert "with one connection, at no size that was tried" in told["pays-on-loopback"]
    assert says in told["pays-on-loopback-by-more"]


def test_without_searches_with_more_connections_the_sentence_says_so():
    told = conclusions([found(NEVER, first) for first in ("A1", "A2")])
    assert "at no size that was tried" in told["pays-on-loopback"] and "not found" in told["pays-on-loopback-by-more"]


def test_zero_copy_that_is_faster_at_every_size_is_told_as_faster():
    eight = [found([{"bytes": 64, "winner": "second"}], first="A1", profile="mt25064", faster_above="A3")]
    assert "it is faster" in conclusions(eight)["pays-aligned"]
