# SPDX-License-Identifier: GPL-2.0
"""The page of claims is whole: every claim is on it, every link lands, nothing is fetched, all is escaped."""
from __future__ import annotations

import base64
import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from copyscope.claims import command, files, questions
from copyscope.claims.page import (
    as_html,
    as_markdown,
    blocks,
    copies,
    crossings,
    front,
    gallery,
    maps,
    verdicts,
)
from copyscope.claims.world import World
from copyscope.common.errors import Unusable
from copyscope.records import documents
from helpers import schemas
from helpers.pictures import made

ROOT = Path(__file__).resolve().parents[2]
HEAD = ("kernel,path,variant,ran,accepted_bytes,user_gather_bytes,tx_copy_bytes,rx_copy_bytes,referenced_bytes,"
        "late_bytes,reshaped_bytes,clean_bytes\n")
MATRIX = HEAD + """6.12.0,lo,A1,yes,1000,1000,1000,1000,0,0,0,0
6.12.0,lo,A3,yes,1000,0,0,1000,1000,1003,,0
5.10.0,lo,A1,yes,1000,1000,1000,1000,0,0,0,0
5.10.0,lo,A3,no,,,,,,,,
"""
DOT = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
ALONE = {"meta", "img", "br", "hr", "link", "input"}
HOSTILE = "<script>alert('x')</script> & \"q\" | `t` [l](http://x) *s* _u_"


class Reader(html.parser.HTMLParser):
    """Reads a page: elements that are not closed, anchors, links, pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.links, self.pictures, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        assert len(found) == len(attrs) and not any(key.startswith("on") for key in found)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if "href" in found else []
        if tag in ("img", "svg"):
            self.pictures.append(found)
        self.words.append(tag)
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.words.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """A folder of results, with the page that is made of it."""
    results = tmp_path_factory.mktemp("tree") / "results"
    for name, text in (("matrix/matrix.csv", MATRIX), ("matrix/matrix.md", "# M\n"), ("mine/note.txt", "x"),
                       ("standard/run.json", json.dumps(made())), ("runs/own.json", "no JSON")):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    figures = results / "standard" / "figures"
    figures.mkdir()
    for name, size in (("copymap-A3.png", 0), ("standard_throughput_by_size.png", gallery.MOST_INSIDE)):
        (figures / name).write_bytes(DOT + bytes(size))
    (figures / "copymap-A3.svg").write_text("<svg/>")
    (figures / "index.md").write_text("# Figures\n\nOf x:\n\n- [copymap-A3](copymap-A3.svg): Copy map of A3, MSG_ZEROCOPY\n"
                                      "- not drawn: misses, cycles: not measured: no <counter>\n")
    assert command.act(["report", str(results), "--out", str(results / "claims")]) == 0
    return results


@pytest.fixture(name="page", scope="module")
def fixture_page(folder):
    """The HTML page, read."""
    return Reader((folder / "claims/index.html").read_text())


def lands(place: Path, link: str, anchors) -> bool:
    """Tell whether a link leads to an anchor, or to a file that is there."""
    return link[1:] in anchors if link.startswith("#") else (place / link).is_file()


def test_every_link_of_the_page_lands_and_no_two_anchors_are_alike(folder, page):
    assert len(page.ids) == len(set(page.ids))
    lost = [each for each in page.links if not lands(folder / "claims", each, page.ids)]
    assert not lost and len(page.links) > 500


def test_every_link_of_the_markdown_lands(folder):
    text = (folder / "claims/README.md").read_text()
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    plain = re.sub(r"(`+).+?\1", "", text)
    links = [each.strip("<>") for each in re.findall(r"(?<!\\)\]\((<[^>]+>|[^)]+)\)", plain)]
    assert len(anchors) == len(set(anchors)) and len(links) > 500
    assert not [each for each in links if not lands(folder / "claims", each, anchors)]


def test_every_claim_is_on_both_pages_with_its_verdict(folder, page):
    found = json.loads((folder / "claims/verdicts.json").read_text())
    assert not schemas.faults(ROOT / "docs/verdicts.schema.json", found) and len(found["verdicts"]) >= 171
    assert documents.load(folder / "claims/verdicts.json", "verdicts", "mend it") == found
    text = (folder / "claims/README.md").read_text()
    for each in found["verdicts"]:
        assert each["id"] in page.ids and f'<a id="{each["id"]}"></a>' in text
        assert f"**{each['verdict']}**" in text.split(f'<a id="{each["id"]}"></a>')[1].split("<a id=")[0]


def test_pictures_say_what_they_show_and_nothing_is_fetched(folder, page):
    text = (folder / "claims/index.html").read_text()
    assert page.pictures and all(each.get("alt") or each.get("aria-label") for each in page.pictures)
    assert not {"script", "link", "iframe", "object", "video", "audio", "embed", "base", "form"} & set(page.words)
    assert not re.search(r"@import|url\(|https?:", text)
    sources = [each["src"] for each in page.pictures if "src" in each]
    # A small one lies in the page.
    assert [each[:15] for each in sources] == ["data:image/png;", "../standard/fig"]
    assert "<b>Copy map of A3, MSG_ZEROCOPY:</b>" in text and "<li>misses, cycles: not measured: no &lt;counter&gt;</li>" in text
    assert "prefers-color-scheme: dark" in text and "@media print" in text and 'name="viewport"' in text


def test_the_same_input_makes_the_same_bytes(folder, tmp_path):
    names = ("index.html", "README.md", "verdicts.json")
    before = {name: (folder / "claims" / name).read_bytes() for name in names}
    assert command.act(["report", str(folder), "--out", str(folder / "claims")]) == 0
    assert before == {name: (folder / "claims" / name).read_bytes() for name in names}
    assert command.act(["report", str(folder), "--out", str(tmp_path / "page")]) == 0
    assert (tmp_path / "page/verdicts.json").read_bytes() == before["verdicts.json"]


def test_what_is_absent_is_named_with_its_command(folder):
    text = (folder / "claims/README.md").read_text()
    absent = text.split("*Absent*")[1].split("<a id=")[0]
    for name in set(front.FOLDERS) - {"claims", "matrix", "standard"}:
        assert f"| {name} | " in absent
    assert "| matrix | " not in absent and "no tool of the tree names" in text
    assert "`sudo ./tools/crossover --profile mt25023 --out results/crossovers` makes it" in text


def test_no_text_becomes_a_mark():
    parts = [blocks.Heading(1, HOSTILE, "top"), blocks.said(HOSTILE, blocks.Code(HOSTILE), blocks.Word(HOSTILE)),
             blocks.Table(HOSTILE, (HOSTILE,), ((blocks.line(HOSTILE, blocks.Code(HOSTILE)),),)),
             blocks.Facts(((HOSTILE, (blocks.line(HOSTILE), blocks.line(HOSTILE))),)), blocks.Bullets((blocks.line(HOSTILE),)),
             blocks.Picture("a b.png", "a b.png", HOSTILE, HOSTILE),
             blocks.Drawing(maps.svg(maps.Map(HOSTILE, ((maps.Way(HOSTILE, 1.0),),))))]
    page = Reader(as_html.page(HOSTILE, parts))
    assert "script" not in page.words and page.links == ["#top", "a b.png"]
    text = as_markdown.page(parts)
    bare = re.sub(r"(`+) .+? \1", "", text)
    assert not re.findall(r"(?<!\\)<(?!!--|a id=\"top\"|/a>|a b\.png>)", bare)
    assert re.findall(r"(?<!\\)\]\(([^)]+)\)", bare) == ["<a b.png>"]
    row = next(each for each in text.splitlines() if each.startswith("| ") and "``" in each)
    assert len(re.findall(r"(?<!\\)\|", row)) == 2


def test_copies_are_told_by_path_and_way(folder):
    rows = copies.read(folder / "matrix/matrix.csv")
    found = {(each[0][0], each[1][0]): [cell[0] for cell in each[2:]] for each in copies.table(rows).rows}
    assert found["lo", "A1"][-1] == "2 of 2" and found["lo", "A1"][6] == "3.000"
    assert found["lo", "A3"][3] == "1.003" and found["lo", "A3"][4] == "not measured" == found["lo", "A3"][6]
    assert maps.amount(None) == "not measured" and maps.amount(0) == "0" and maps.amount(1e-6) == "< 0.001"
    assert "copied late 1.003" in maps.sentence(copies.map_of(rows[1]))
    for row in rows:
        # About as wide as the letters of the page are, with what takes the most room.
        drawn = maps.svg(copies.map_of(copies.Row(row.kernel, "veth", "A3-aligned-unreaped", True, {
            **row.shares, "late": None, "by send": None, "by recv": None})))
        for x, said in re.findall(r'<text x="(\d+)"[^>]*>([^<]*)<', drawn):
            assert int(x) + 7 * len(said) < maps.WIDTH, said


def test_the_ways_of_sweeps_are_told_by_a_reply_or_a_message():
    known = {"user_gather": 1.0, "tx_copy": 1.0, "tx_reference": 0.0, "late_copy": 0.0, "rx_copy": 1.0}
    way = {"profile": "mt25023", "mode": "corrected", "label": "A1", "variant": "A1", "path": "veth", "pattern": "rr",
           "n": 96, "sites": {site: {"share": share, "hows": ["measured"]} for site, share in known.items()}}
    text = as_markdown.page(copies.experiments([way]))
    assert "| mt25023, corrected: reply over veth | A1 | 1.000 | 1.000 | 0 | 0 | not measured | 1.000 | at least 3.000 | 96 |" in text
    assert as_html.page("x", [blocks.Heading(1, "x", "x"), *copies.experiments([way])]).count("<svg") == 1
    assert "not measured" in as_markdown.page(copies.experiments([]))


@pytest.mark.parametrize("text, reason", [
    ("kernel,path\n", "the column is missing"), (HEAD + "6.12.0,lo,A1,yes,x,1,1,1,1,1,1,1\n", "no number"),
    (HEAD + "6.12.0,lo\n", "another number of cells"), ("", "the column is missing"), ("\udcff", "no UTF-8")])
def test_a_damaged_matrix_is_refused_in_one_line(tmp_path, text, reason):
    (tmp_path / "matrix.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(Unusable, match=reason) as caught:
        copies.read(tmp_path / "matrix.csv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("answer, told", [
    ({"kind": "crossover", "faster_below": "A1-plain", "faster_above": "A3", "contrary_bytes": [4096]},
     "A1 up to 8 KiB, A3 from 12 KiB on; otherwise at 4 KiB"),
    ({"kind": "none", "faster_below": "A3", "faster_above": "A3", "contrary_bytes": []},
     "A3 is faster from 8 KiB to 12 KiB"),
    ({"kind": "undecided", "faster_below": None, "faster_above": None, "contrary_bytes": []},
     "undecided between 8 KiB and 12 KiB")])
def test_a_crossover_is_told_with_its_interval(monkeypatch, tmp_path, answer, told):
    data = {"first": "A1-plain", "second": "A3", "labels": ["A1", "A3"], "profile": "mt25029", "pattern": "stream",
            "threads": 1, "path": {"kind": "lo"}, "machine": {"emulated": False}, "pairs": 9, "sizes": [0] * 7,
            "interval": "95 %", "answer": {**answer, "low_bytes": 8192, "high_bytes": 12288}}
    (tmp_path / "crossovers").mkdir()
    (tmp_path / "crossovers/a.json").write_text("{}")
    monkeypatch.setattr(crossings.documents, "load", lambda *_: data)
    spoken = [{"profile": "mt25029", "first": "A1", "second": second, "says": "never", "claims": ["C1"]}
              for second in ("A3", "A2")]
    text = as_markdown.page(crossings.section(front.Place(tmp_path, tmp_path / "claims"), spoken))
    assert f"[{told}](../crossovers/a.json)" in text and text.count("not measured") == 1
    assert "no report spoke of it" in as_markdown.page(
        crossings.section(front.Place(tmp_path, tmp_path / "claims"), []))


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
    ("[[crossovers]]\nprofile = 'p'\n", "has no first")])
def test_bad_questions_are_refused_in_one_line(tmp_path, text, reason):
    source = tmp_path / "questions.toml"
    source.write_text(text)
    with pytest.raises(Unusable, match=reason) as caught:
        questions.read(source, World(), set())
    assert str(caught.value).startswith(f"{source}:") and "\n" not in str(caught.value)


@pytest.mark.parametrize("site, conclusion", [("late_copy", "as it is"), ("tx_copy", "otherwise"), ("rx_map", None)])
def test_an_answer_follows_from_records_alone(tmp_path, site, conclusion):
    source = tmp_path / "questions.toml"
    source.write_text(QUESTION + f"predicate = 'run().{site} == run().payload'\nyes = 'as it is'\nno = 'otherwise'\n"
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
    numbers = sorted((ROOT / "claims/numbers").glob("*.toml"))
    for each in files.read_all([*numbers, *sorted((ROOT / "claims").glob("*.toml"))], World()):
        lack = verdicts.lack_of({"why": [f"missing: {each.unmeasured or 'no record passes these filters'}"]})
        assert lack and (each.unmeasured or lack == "runs that were not made yet")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Reads the page in a frame as wide as a phone, or a screen.
FRAME = """<!DOCTYPE html><iframe id="frame" style="width:{width}px;height:900px;border:0" src="{page}"></iframe>
<script>onload = () => {{
  const page = document.getElementById("frame").contentDocument, root = page.documentElement;
  const broken = [...page.images].filter(each => each.complete && !each.naturalWidth).map(each => each.src);
  const told = {{ wide: root.scrollWidth - root.clientWidth, broken: broken,
                 ground: getComputedStyle(page.body).backgroundColor }};
  document.body.innerHTML = "<pre>" + JSON.stringify(told) + "</pre>";
}}</script>"""


def in_browser(tmp_path: Path, *words: str) -> str:
    """What a browser without a window, and without a network, prints."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed, in which the page would be looked at")
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                           "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000",
                           f"--user-data-dir={tmp_path / 'browser'}", *words],
                          capture_output=True, check=True, text=True, timeout=60).stdout


@pytest.mark.parametrize("dark, ground", [("0", "rgb(18, 22, 28)"), ("1", "rgb(255, 255, 255)")])
@pytest.mark.parametrize("width", [375, 1280])
def test_a_browser_shows_it_by_day_and_by_night_and_nothing_overflows(folder, tmp_path, width, dark, ground):
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=width, page=(folder / "claims/index.html").as_uri()))
    said = in_browser(tmp_path, f"--blink-settings=preferredColorScheme={dark}", "--dump-dom", frame.as_uri())
    told = json.loads(re.search("<pre>(.*)</pre>", said)[1])
    assert told["wide"] <= 0 and told["ground"] == ground
    # What is in this folder is no picture but its first bytes, but for the one that lies in the page.
    assert not [each for each in told["broken"] if each.startswith("data:")]


def test_a_browser_prints_it(folder, tmp_path):
    in_browser(tmp_path, f"--print-to-pdf={tmp_path / 'page.pdf'}", (folder / "claims/index.html").as_uri())
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
