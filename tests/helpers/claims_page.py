# SPDX-License-Identifier: GPL-2.0
"""A small folder of results with the page that is made of it, and a reader of its HTML."""
from __future__ import annotations

import base64
import html.parser
import json
from pathlib import Path

from copyscope_studies.claims import command
from helpers.pictures import made

HEAD = ("kernel,path,variant,ran,accepted_bytes,user_gather_bytes,tx_copy_bytes,rx_copy_bytes,referenced_bytes,spliced_bytes,"
        "late_bytes,reshaped_bytes,clean_bytes\n")
MATRIX = HEAD + """6.12.0,lo,A1,yes,1000,1000,1000,1000,0,0,0,0,0
6.12.0,lo,A3,yes,1000,0,0,1000,1000,0,1103,,0
5.10.0,lo,A1,yes,1000,1000,1000,1000,0,0,0,0,0
5.10.0,lo,A3,no,,,,,,,,,
6.12.0,nic,A3,yes,1000,0,0,1000,1000,0,0,0,1201
5.10.0,nic,A3,yes,1000,0,0,1000,1000,0,1001,0,0
"""
DOT = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
# As tools/sweep writes them on a machine without a PMU.
Q2 = 'Message Size,A1 LLC Misses,"A1 LLC Misses, published"\n64,,20.1M\n'
Q3 = 'Threads,A2 Throughput (Gbps),"A2 Throughput (Gbps), published"\n1,12.799,75.6\n'
PART_C = ("Implementation,MessageSize,Threads,TotalBytes,Throughput_Gbps,Cycles,CacheMisses,ContextSwitches\n"
          + "".join(f"A1,{size},{threads},9,{size / 1000},,,{threads}\n"
                    for size in (64, 512, 4096, 65536) for threads in (1, 2, 4, 8)))
ALONE = {"meta", "img", "br", "hr", "link", "input"}


def folder_with_page(results: Path) -> Path:
    """Make a folder of results, and the page in it."""
    for name, text in (("matrix/matrix.csv", MATRIX), ("matrix/matrix.md", "# M\n"), ("mine/note.txt", "x"),
                       ("standard/run.json", json.dumps(made())), ("runs/own.json", "no JSON")):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    figures = results / "standard" / "figures"
    figures.mkdir()
    for name in ("copymap-A3", "standard_throughput_by_size"):
        (figures / f"{name}.png").write_bytes(DOT)
    (figures / "copymap-A3.svg").write_text(SVG)
    (figures / "index.md").write_text("# Figures\n\nOf x:\n\n- [copymap-A3](copymap-A3.svg): Copy map of A3, MSG_ZEROCOPY\n"
                                      "- not drawn: misses, cycles: not measured: no <counter>\n")
    for name, text in (("mt25064-as-published/MT25064_Q3_Threads.csv", Q3), ("mt25064-as-published/MT25064_Q2_LLC_Misses.csv", Q2),
                       ("modelled/mt25064-as-published/MT25064_Q2_LLC_Misses.csv", Q2.replace(",,", ",7.5,")),
                       ("mt25064-as-published/MT25064_Part_C_results.csv", PART_C),
                       ("mt25064-as-published/figures/MT25064_Plot2_throughput_by_threads.svg", SVG)):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text(text)
    assert command.act(["report", str(results), "--out", str(results / "claims")]) == 0
    return results


class Reader(html.parser.HTMLParser):
    """Reads a page: elements that are not closed, anchors, links, pictures, headings, landmarks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.links, self.pictures, self.words, self.labels = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        assert len(found) == len(attrs) and not any(key.startswith("on") for key in found)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        self.labels += [found.get("aria-label")] if tag in ("nav", "section") else []
        if tag in ("img", "svg"):
            self.pictures.append(found)
        self.words.append(tag)
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.words.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    @property
    def levels(self) -> list[int]:
        """The levels of its headings, in their order."""
        return [int(each[1]) for each in self.words if each in ("h1", "h2", "h3", "h4")]


def pages_of(claims: Path) -> dict[str, Reader]:
    """The HTML pages of a folder, read."""
    return {file.name: Reader(file.read_text()) for file in sorted(claims.glob("*.html"))}


def lost_links(claims: Path, pages: dict[str, Reader]) -> list[str]:
    """Links and fragments that do not land."""
    found = []
    for name, page in pages.items():
        for link in page.links:
            file, _, fragment = link.partition("#")
            there = pages.get(file or name)
            if not (claims / (file or name)).is_file() or fragment and there and \
                    fragment not in there.ids:
                found.append(f"{name}: {link}")
    return found
