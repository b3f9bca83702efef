# SPDX-License-Identifier: GPL-2.0
"""The page of claims is whole: answers come first, every claim is on it, every link lands, all is escaped."""
from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope.common.text import spoken
from copyscope.records import documents
from copyscope_studies.claims import command, files, judge, questions
from copyscope_studies.claims.page import (
    answers,
    as_html,
    as_markdown,
    beside,
    blocks,
    chart,
    copies,
    front,
    gallery,
    maps,
    verdicts,
    whole,
)
from copyscope_studies.claims.world import World
from helpers import schemas
from helpers.claims_page import HEAD, folder_with_page, lost_links, pages_of
from helpers.pictures import made

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<script>alert('x')</script> & \"q\" | `t` [l](http://x) *s* _u_ {{ 7 * 7 }}"
# What a page of more is no page to read on GitHub.
MOST_MARKDOWN = 60_000


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """A folder of results, with the page that is made of it."""
    return folder_with_page(tmp_path_factory.mktemp("tree") / "results")


@pytest.fixture(name="pages", scope="module")
def fixture_pages(folder):
    """The HTML pages, read."""
    return pages_of(folder / "claims")


@pytest.fixture(name="found", scope="module")
def fixture_found(folder):
    """The record beside the page."""
    return json.loads((folder / "claims/verdicts.json").read_text())


def text_of(*parts: blocks.Block) -> str:
    """Blocks as a page of HTML."""
    return as_html.page(blocks.Page("x", parts))


def test_every_link_lands_and_no_two_anchors_of_a_page_are_alike(folder, pages):
    assert not lost_links(folder / "claims", pages)
    assert all(len(page.ids) == len(set(page.ids)) for page in pages.values())
    assert sum(len(page.links) for page in pages.values()) > 400


def test_every_link_of_the_markdown_lands_and_it_is_short(folder, pages):
    text = (folder / "claims/README.md").read_text()
    assert len(text) < MOST_MARKDOWN and "<details><summary>Every claim and its verdict (" in text
    plain = re.sub(r"(`+).+?\1", "", text)
    for link in re.findall(r"(?<!\\)\]\((<[^>]+>|[^)]+)\)", plain):
        file, _, fragment = link.strip("<>").partition("#")
        assert (folder / "claims" / file).is_file() and (not fragment or fragment in pages[file].ids), link


def test_the_kept_page_is_whole_and_short_as_markdown():
    kept = ROOT / "results" / "claims"
    if not (kept / "index.html").is_file():
        pytest.skip("results/claims is not here: a release has no results")
    assert not lost_links(kept, pages_of(kept))
    assert (kept / "README.md").stat().st_size < MOST_MARKDOWN


@pytest.mark.long
def test_the_kept_page_and_verdicts_are_what_the_kept_records_make(tmp_path):
    """Links are as from there."""
    kept = ROOT / "results" / "claims"
    if not (kept / "index.html").is_file():
        pytest.skip("results/claims is not here: a release has no results")
    results = tmp_path / "results"
    shutil.copytree(ROOT / "results", results, ignore=shutil.ignore_patterns("runs"))
    assert command.act(["report", str(results), "--out", str(results / "claims")]) == 0
    away = os.path.relpath(ROOT, results / "claims")
    for file in kept.iterdir():
        text = (results / "claims" / file.name).read_text(encoding="utf-8")
        assert text.replace(away, "../..") == file.read_text(encoding="utf-8"), \
            f"{file.name}: run tools/claims report --out results/claims"


def test_answers_come_first_and_each_leads_to_what_shows_it(folder, pages):
    text = (folder / "claims/index.html").read_text()
    order = ["<ol>", 'id="copies"', 'id="only-two"', 'id="paths"', 'id="crossovers"', 'id="questions"',
             'id="contradictions"', 'id="claims"', 'id="results"']
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    top = re.findall(r"<li><a href=\"#([^\"]+)\">([^<]+)</a>", text[places[0]:places[1]])
    assert len([each for each in top if each[1].endswith("?")]) == 5
    assert {fragment for fragment, _ in top} <= set(pages["index.html"].ids)


def test_a_sentence_says_what_is_not_known_where_records_are_missing(found):
    parts = [each for each in found["answers"] if each["kind"] == "sentence"]
    assert parts and all(each["truth"] is None and each["unknown"] for each in parts)
    told = answers.sentences(found)
    assert len(told) == 5
    for _, _, line in told:
        assert re.search("not known|not decided|No advice|missing", "".join(
            each if isinstance(each, str) else each.text for each in line))


def test_a_sentence_names_no_number_of_its_own():
    """Numbers come from records: digits stand in names, units of sizes that are settings, and nowhere else."""
    text = (ROOT / "studies/claims/page/sentences.toml").read_text()
    for sentence in re.findall(r'^(?:yes|no|unknown) = "(.*)"$', text, re.MULTILINE):
        bare = re.sub(r"MT\d+|A[123]\b|64 KiB|MSG_\w+", "", sentence)
        assert not re.search(r"\d", bare), sentence


def test_every_claim_is_on_the_page_of_its_report_with_its_verdict(folder, pages, found):
    assert not schemas.faults(ROOT / "docs/verdicts.schema.json", found) and len(found["verdicts"]) >= 171
    assert documents.load(folder / "claims/verdicts.json", "verdicts", "mend it") == found
    table = (folder / "claims/README.md").read_text()
    for each in found["verdicts"]:
        name = front.report_page(each["report"])
        assert each["id"] in pages[name].ids
        text = (folder / "claims" / name).read_text().partition(f'id="{each["id"]}"')[2].partition("</article>")[0]
        assert f'>{each["verdict"]}</b>' in text
        assert re.search(rf"\[{each['id']}\]\([^)]+\) \|.*\| {each['verdict']} \|", table)


def test_a_screen_reader_finds_its_way(pages):
    for name, page in pages.items():
        assert page.words.count("main") == page.words.count("h1") == page.words.count("header") == 1, name
        assert all(page.labels) and len(page.labels) == len(set(page.labels)), name
        assert all(below - above <= 1 for above, below in zip(page.levels, page.levels[1:])), name
        assert page.links[0] == "#main" and "main" in page.ids
        assert all(each.get("alt") or each.get("aria-label") for each in page.pictures), name


def test_nothing_is_fetched_and_a_picture_is_there_once(folder, pages):
    for name, page in pages.items():
        text = (folder / "claims" / name).read_text()
        assert not {"script", "iframe", "object", "video", "audio", "embed", "base", "form"} & set(page.words)
        assert not re.search(r"@import|url\(|https?:", text)
        assert "prefers-color-scheme: dark" in text and "@media print" in text and 'name="viewport"' in text
    text = (folder / "claims/figures.html").read_text()
    assert [each["src"] for each in pages["figures.html"].pictures] == [
        "../mt25064-as-published/figures/MT25064_Plot2_throughput_by_threads.svg", "../standard/figures/copymap-A3.svg", "../standard/figures/standard_throughput_by_size.png"]
    assert "<b>Copy map of A3, MSG_ZEROCOPY:</b>" in text and "<li>misses, cycles: not measured: no &lt;counter&gt;</li>" in text


def test_a_figure_has_the_title_of_the_index_beside_it(tmp_path):
    modes = ("as published", "corrected")
    for mode in modes:
        (tmp_path / mode).mkdir()
        (tmp_path / mode / "index.md").write_text(f"# Figures\n\n- [f](f.svg): T: {mode}\n- not drawn: g: none\n")
    titles, left = gallery.indexed(tmp_path)
    assert [gallery.told(tmp_path / mode / "f.svg", {}, titles)[0] for mode in modes] == [f"T: {mode}" for mode in modes]
    assert left == ["g: none"]


def test_the_same_input_makes_the_same_bytes(folder, tmp_path):
    before = {file.name: file.read_bytes() for file in (folder / "claims").iterdir()}
    assert command.act(["report", str(folder), "--out", str(folder / "claims")]) == 0
    assert before == {file.name: file.read_bytes() for file in (folder / "claims").iterdir()} and len(before) > 6
    assert command.act(["report", str(folder), "--out", str(tmp_path / "page")]) == 0
    assert (tmp_path / "page/verdicts.json").read_bytes() == before["verdicts.json"]


def test_what_is_absent_is_named_with_its_command(folder):
    text = (folder / "claims/index.html").read_text()
    absent = text.partition("<caption>Absent</caption>")[2].partition("</table>")[0]
    for name in set(front.FOLDERS) - {"claims", "matrix", "standard", "mt25064-as-published", "modelled"}:
        assert f'<th scope="row">{name}</th>' in absent
    assert '"row">matrix<' not in absent and "no tool of the tree names" in text
    assert "sudo ./tools/crossover --profile mt25023 --out results/crossovers" in text


def test_no_text_becomes_a_mark():
    line = blocks.line(HOSTILE, blocks.Code(HOSTILE), blocks.Word("CONFIRMED"))
    parts = (blocks.said(*line), blocks.Table(HOSTILE, (HOSTILE,), ((line,),)), blocks.Bullets((line,)))
    more = (blocks.Facts(((HOSTILE, (line, line)),)), blocks.Commands((HOSTILE,)), blocks.Fold(HOSTILE, parts),
            blocks.Picture("a b.png", HOSTILE, HOSTILE), blocks.Group("pair", parts, HOSTILE),
            blocks.Heading(2, HOSTILE, "top"), blocks.Drawing(maps.svg(maps.Map(HOSTILE, ((maps.Way(HOSTILE, 1.0),),)))),
            blocks.Drawing(chart.svg([chart.Search(HOSTILE, 1, HOSTILE, ((64, "first"), (128, "second")))])))
    text = as_html.page(blocks.Page(HOSTILE, (*parts, *more), line))
    assert "<script" not in text and "49" not in text and "{{ 7 * 7 }}" in text
    text = as_markdown.page(blocks.Page(HOSTILE, parts, line))
    bare = re.sub(r"(`+) .+? \1", "", text)
    assert not re.findall(r"(?<!\\)<(?!!--)", bare) and not re.findall(r"(?<!\\)\]\(", bare)
    row = next(each for each in text.splitlines() if each.startswith("| ") and "``" in each)
    assert len(re.findall(r"(?<!\\)\|", row)) == 2


def test_long_tables_and_evidence_fold_away():
    row = (blocks.line("a"),)
    assert "<details>" not in text_of(blocks.Table("t", ("h",), (row,) * blocks.MOST_ROWS))
    assert "<details><summary>t (13 rows)</summary>" in text_of(blocks.Table("t", ("h",), (row,) * (blocks.MOST_ROWS + 1)))


def test_long_tables_fold_away_in_markdown_and_their_captions_mark_nothing():
    row = (blocks.line("a"),)
    text = as_markdown.page(blocks.Page("x", (blocks.Table("t", ("h",), (row,) * blocks.MOST_ROWS),)))
    assert "*t*\n\n| h |" in text and "<details>" not in text
    text = as_markdown.page(blocks.Page("x", (blocks.Table(HOSTILE, ("h",), (row,) * (blocks.MOST_ROWS + 1)),)))
    assert re.findall(r"<(/?\w+)", text) == ["details", "summary", "/summary", "/details"]
    # Nothing but an empty line makes GitHub read what follows as Markdown.
    assert re.search(r" \(13 rows\)</summary>\n\n\| h \|\n\| --- \|\n(\| a \|\n){13}\n</details>\n", text)


@pytest.mark.parametrize("shown, told", [
    ("19.2125 ns [19.0467 ns, 19.3784 ns]", "19.2 ns (19.0 to 19.4)"), ("3.000", "3.0"), ("108744308 B", "108,744,308 B"),
    ("1.00101 switch per message [1.00053 switch per message, 1.00124 switch per message]", "1.0 switch per message"),
    ("25567 call", "25,567 calls"), ("12.3212 Gbps [11.9527 Gbps, 12.8286 Gbps]", "12.3 Gbit/s (12.0 to 12.8)"),
    ("500 ns [400 ns, 1.5 us]", "500 ns (400 ns to 1.5 µs)"), ("-0.793 ns", "-0.793 ns"), ("no number", "no number"),
    ("5 B per message [2 B per message, 9 B per message]", "2 to 9 bytes"), ("[1 ns, 2 ns]", "1 ns to 2 ns")])
def test_numbers_are_told_as_a_person_says_them(shown, told):
    assert spoken(shown) == told


def test_copies_are_told_by_path_and_way(folder):
    rows = copies.read(folder / "matrix/matrix.csv")
    found = {(each[0][0], each[1][0]): [cell[0] for cell in each[2:]] for each in copies.table(rows).rows}
    assert found["lo", "A1"][-1] == "2 of 2" and found["lo", "A1"][7] == "3.0"
    assert found["lo", "A3"][4] == "1.1" and found["lo", "A3"][5] == "not measured" == found["lo", "A3"][7]
    assert found["nic", "A3"][8] == "0 to 1.2"
    assert maps.amount(None) == "not measured" and maps.amount(0) == "0" and maps.amount(1e-6) == "< 0.1"
    assert "copied late 1.1" in maps.sentence(copies.map_of(rows[1]))
    spliced = replace(rows[1], variant="sendfile", shares={**rows[1].shares, "by reference": 0.0, "by splice": 1.0})
    assert "by splice 1.0" in maps.sentence(copies.map_of(spliced)) and "splice" not in maps.sentence(copies.map_of(rows[1]))
    for row in rows:
        # About as wide as the letters of the page are, with what takes the most room.
        drawn = maps.svg(copies.map_of(copies.Row(row.kernel, "veth", "A3-aligned-unreaped", True, {
            **row.shares, "late": None, "by send": None, "by recv": None})))
        for x, said in re.findall(r'<text x="(\d+)"[^>]*>([^<]*)<', drawn):
            assert int(x) + 7 * len(said) < maps.WIDTH, said


def test_what_is_copied_after_all_has_its_cause_and_remedy(folder):
    causes = [{"row": "nic", "variant": "A3", "cause": "no scatter-gather", "remedy": "switch it on", "kernels": ["5.10.0"]}]
    table, remedies = copies.after_all(copies.read(folder / "matrix/matrix.csv"), causes)[-2:]
    assert table.head == ("path", "kernel 5.10", "kernel 6.12", "cause")
    assert ["nic", "1", "0", "no scatter-gather on 5.10"] in [[each[0] for each in row] for row in table.rows]
    assert [[each[0] for each in row] for row in remedies.rows] == [["no scatter-gather", "switch it on"]]


def test_the_ways_of_sweeps_are_told_by_a_reply_or_a_message():
    known = {"user_gather": 1.0, "tx_copy": 1.0, "tx_reference": 0.0, "late_copy": 0.0, "rx_copy": 1.0}
    way = {"profile": "mt25023", "mode": "corrected", "label": "A1", "variant": "A1", "path": "veth", "pattern": "rr",
           "n": 96, "sites": {site: {"share": share, "hows": ["measured"]} for site, share in known.items()}}
    text = text_of(*copies.experiments([way]))
    assert "mt25023, corrected: reply over veth" in text and "at least 3.0" in text and text.count("<svg") == 1
    assert "not measured" in text_of(*copies.experiments([]))


@pytest.mark.parametrize("text, reason", [
    ("kernel,path\n", "the column is missing"), (HEAD + "6.12.0,lo,A1,yes,x,1,1,1,1,1,1,1,1\n", "no number"),
    (HEAD + "6.12.0,lo\n", "another number of cells"), ("", "the column is missing"), ("\udcff", "no UTF-8")])
def test_a_damaged_matrix_is_refused_in_one_line(tmp_path, text, reason):
    (tmp_path / "matrix.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(Unusable, match=reason) as caught:
        copies.read(tmp_path / "matrix.csv")
    assert "\n" not in str(caught.value)


VERDICT = {"id": "R-C1", "report": "R", "statement": "it is so", "category": "CI", "where": "2", "words": "so", "kind": None,
           "as": None, "of": None, "program": None, "verdict": "CONFIRMED", "why": [], "given": None, "predicate": "1 == 1",
           "here": None, "there": None, "ratio": None, "fixed": None, "comparisons": 1, "undecidable": None, "commands": [],
           "steps": [{"said": "1 == 1", "left": "1", "right": "1", "truth": True}], "evidence": []}


def page_of(*found: dict) -> str:
    """The page of a report with these verdicts."""
    document = {"words": judge.WORDS, "reports": [{"name": "R", "title": "t"}],
                "verdicts": [{**VERDICT, **each} for each in found]}
    return as_html.page(verdicts.page(document, document["reports"][0]))


def test_a_claim_and_its_twin_stand_together():
    text = page_of({"as": "published", "program": "a.c:7 never sets SO_ZEROCOPY"}, {"id": "R-C2"},
                   {"id": "R-C1-described", "of": "R-C1", "as": "described", "verdict": "REFUTED"})
    pair = text.partition('<section class="pair"')[2].partition("</section>")[0]
    assert 'id="R-C1"' in pair and 'id="R-C1-described"' in pair and 'id="R-C2"' not in pair
    assert "as published" in pair and "as described" in pair and "a.c:7 never sets SO_ZEROCOPY" in pair


def test_a_value_is_told_here_and_there_and_when_its_predicate_was_fixed():
    text = page_of({"verdict": "DIFFERS HERE", "here": "19.2125 ns", "there": "40 ns", "ratio": "0.480312",
                    "fixed": {"commit": "abcdef1", "date": "2026-11-24", "after_numbers": True}})
    for each in ("19.2 ns", "40 ns", "0.48", "after results had been judged (abcdef1, 2026-11-24)", 'class="word differs-here"'):
        assert each in text
    # The reason beside the verdict has the same words.
    assert judge.LATER == "its predicate was fixed after results had been judged"
    text = page_of({"fixed": {"commit": "abcdef1", "date": "2026-11-24", "after_numbers": False}})
    assert "before results had been judged (abcdef1, 2026-11-24)" in text


def test_each_word_of_a_verdict_has_its_colour_and_is_explained():
    style = (as_html.TEMPLATES / "style.css").read_text()
    text = page_of({})
    for word, means in judge.WORDS.items():
        assert f".{word.lower().replace(' ', '-')}" in style and (means in text or means.replace("'", "&#39;") in text)


def test_tables_and_figures_of_a_report_stand_as_published_beside_as_measured(folder):
    text = (folder / "claims/beside.html").read_text()
    part = re.sub(r"\s*<[^>]+>\s*", "|", text[text.index('id="beside-mt25064"'):])
    assert 'id="beside-mt25018"' not in text and "MT25064_Plot2_throughput_by_threads.svg" in text
    assert "Threads||A2 Throughput (Gbps), published||A2 Throughput (Gbps), here|" in part and "|1||75.6||12.8|" in part
    # Without a counter the modelled table stands there; a dash is no 0.
    assert "2 threads (modelled as published)" in part and "|64||20.1M||7.5|" in part
    # Of the CSV each point has what numbers/mt25064.toml has.
    assert "MT25064_Part_C_results.csv (as published) (16 rows)" in part
    assert "|A1||65,536||8||9||170||65.5||193,933,464,338||\u2013||401,465,360||\u2013||23,661||8|" in part


def test_a_table_says_if_runs_took_another_time_than_the_report_s(tmp_path):
    folder = tmp_path / "mt25064-as-published"
    folder.mkdir()
    for seconds, said in ((2.5, "A run took 2.5 s here and 10 s in the report"), (10, None)):
        (folder / "plan.json").write_text(json.dumps({"seconds": seconds}))
        found = beside.lasted(front.Place(tmp_path, tmp_path), "mt25064", {"seconds": 10})
        assert said in text_of(*found) if said else not found


def test_all_files_of_the_page_are_written(folder):
    found = {file.name for file in (folder / "claims").iterdir()}
    assert {whole.FIRST, whole.BESIDE, whole.FIGURES, whole.MARKDOWN, verdicts.RECORD, "mt25064.html"} <= found


@pytest.mark.parametrize("words, reason", [
    (["report", "a", "b"], "one folder"), (["report", "nowhere", "--out", "o"], "no such folder"),
    (["report"], "--out DIR is missing"),
    (["report", "--claims", "x.toml"], "leave out --claims"), (["report", "--only", "MT25018-C1"], "leave out")])
def test_a_report_of_something_else_is_refused(words, reason):
    with pytest.raises(Unusable, match=reason):
        command.act(words)


def test_a_folder_of_somebody_else_is_left_alone(folder, tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(Unusable, match="not empty"):
        command.act(["report", str(folder), "--out", str(tmp_path)])
    assert [each.name for each in tmp_path.iterdir()] == ["letter.txt"]


QUESTION = "[[questions]]\nid = 'q'\nasks = 'why'\n"


@pytest.mark.parametrize("text, reason", [
    ("x = 1", "unknown key"), (QUESTION + "colour = 'red'\n", "no key"), ("[[questions]]\nid = 'q'\n", "has no asks"),
    (QUESTION + "claims = ['nobody']\n", "ids of claims"), (QUESTION + "predicate = '1 == 1'\n", "go together"),
    (QUESTION + "kind = 'joke'\n", "kind must be"), (QUESTION + "rows = [{ say = 'a', value = '1 ==' }]\n", "the end"),
    (QUESTION + "rows = [{ say = 'a', value = '1 == 1' }]\n", "a number must stand"),
    (QUESTION + "rows = [{ say = 'a', value = '1', over = 3 }]\n", "over must be"), (QUESTION + "rows = [{ say = 'a' }]\n", "a row has a value"),
    (QUESTION + "rows = [{ say = 'a', value = '1', unmeasured = 'b' }]\n", "a row has a value"), (QUESTION * 2, "there twice"),
    ("[[crossovers]]\nprofile = 'p'\n", "has no first"), (QUESTION + "kind = 'sentence'\n", "a sentence has"),
    (QUESTION + "numbers = 3\n", "numbers must be")])
def test_bad_questions_are_refused_in_one_line(tmp_path, text, reason):
    source = tmp_path / "questions.toml"
    source.write_text(text)
    with pytest.raises(Unusable, match=reason) as caught:
        questions.read(source, World(), set())
    assert str(caught.value).startswith(f"{source}:") and "\n" not in str(caught.value)


@pytest.mark.parametrize("site, conclusion", [("late_copy", "as it is: 2 ns"), ("tx_copy", "otherwise"), ("rx_map", None)])
def test_an_answer_follows_from_records_alone(tmp_path, site, conclusion):
    source = tmp_path / "questions.toml"
    source.write_text(QUESTION + f"predicate = 'run().{site} == run().payload'\nyes = 'as it is: {{late}}'\nnumbers = {{ late = '2 ns' }}\nno = 'otherwise'\n"
                      "rows = [{ say = 'bytes of {variant}', value = 'run().late_copy', over = { variant = ['A3', 'A2'] } },"
                      " { say = 'locks', unmeasured = 'no record has them' }]\n")
    world = World()
    for each in command.sources.of_document(Path("run.json"), made(), print):
        world.add(each)
    asked, _ = questions.read(source, world, set())
    found = questions.answer(asked[0], world)
    assert found["conclusion"] == conclusion and bool(found["missing"]) is (conclusion is None)
    one, other, last = found["rows"]
    assert last["shown"] is None and last["missing"] == ["no record has them"]
    assert one["say"] == "bytes of A3" and one["shown"] and one["hows"] and other["shown"] is None and other["missing"]


def test_every_reason_for_undecided_has_what_it_takes():
    for each in files.read_all(command.claim_files(None), World()):
        lack = verdicts.lack_of({"why": [f"missing: {each.unmeasured or 'no record passes these filters'}"]})
        assert lack and (each.unmeasured or lack == "runs that were not made yet")
