# SPDX-License-Identifier: GPL-2.0
"""Stacks of a watch as other tools read them: folded lines, a flame graph, pprof, the report."""
from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope.dispatch import page
from copyscope.pictures import flame
from copyscope.records import stacks
from copyscope.records.watch_record import whole_of
from copyscope.records_cmd import pprof
from copyscope.records_cmd.command import main
from copyscope.report import stacks as report
from helpers import schemas, watches
from helpers.records import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def stack(site: str, moved: int, frames: list[int], end: str = "whole", pid: int = 812) -> dict:
    """What calls by one stack moved."""
    return {"pid": pid, "site": site, "bytes": moved, "calls": 23, "end": end, "frames": frames}


def record_with_stacks() -> dict:
    """A record of two processes, one of which has odd names."""
    made = watches.watch_record(watches.process(812, "nginx", watches.moved(94_139, 7)),
                                watches.process(813, "odd;name", watches.moved(11, 0)))
    frames = [{"module": 0, "offset": "4096", "function": "send"},
              {"module": 1, "offset": "8192", "function": "work; <b>"},
              {"module": 1, "offset": "12288", "function": None},
              {"module": None, "offset": "140737488351232", "function": None}]
    made["stacks"] = {
        "lost_bytes": 0, "lost_calls": 0, "unstacked_bytes": 31, "why": None,
        "modules": [{"path": "/usr/lib/libc.so.6", "build_id": "0a" * 20, "replaced": False, "read": True},
                    {"path": "/usr/sbin/nginx", "build_id": None, "replaced": True, "read": True}],
        "frames": frames,
        "stacks": [stack("tx_copy", 94_000, [0, 1, 2]), stack("tx_copy", 100, [0, 1, 2]),
                   stack("rx_copy", 7, [0, 3], "no frame pointer"), stack("tx_copy", 39, [0], "kernel"),
                   stack("tx_copy", 11, [0, 1], "deeper", 813)]}
    return made


def loaded():
    """The same, as the tools have it."""
    return whole_of(record_with_stacks(), Path("record.json"))


def test_the_page_of_a_watch_has_its_stacks(tmp_path):
    (tmp_path / "record.json").write_text(json.dumps(record_with_stacks()))
    assert main(["show", str(tmp_path / "record.json"), "--html", str(tmp_path / "page.html")]) == 0
    shown = (tmp_path / "page.html").read_text()
    assert "Where in the programs" in shown and "work; &lt;b&gt;" in shown and "<b>" not in shown
    assert "46 calls" in shown and "31 B are in no stack" in shown


def test_samples_are_called_so(capsys):
    made = record_with_stacks()
    made["stacks"]["sampled_every_bytes"] = 65_536
    assert not schemas.faults(ROOT / "docs/record.schema.json", made)
    record = whole_of(made, Path("record.json"))
    said = " ".join(" ".join(report.lines(made, 10)).split())
    assert "sampled: one byte of 65,536" in said and "46 samples of nginx, pid 812" in said
    assert "sampled, one byte of 65,536" in flame.flame(record) and "each byte counted" in flame.flame(loaded())


def test_the_record_keeps_to_its_schema(tmp_path):
    assert not schemas.faults(ROOT / "docs/record.schema.json", record_with_stacks())


def test_folded_lines_hold_each_byte_once_and_no_name_breaks_them():
    lines = stacks.folded_lines(loaded())
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 94_157
    assert "nginx 812;nginx+0x3000;work: <b>;send;[tx_copy] 94100" in lines
    assert "nginx 812;[no frame pointer];0x7ffffffff000;send;[rx_copy] 7" in lines
    assert "nginx 812;[no call of a program];send;[tx_copy] 39" in lines
    assert "odd:name 813;[deeper than 127 calls];work: <b>;send;[tx_copy] 11" in lines


def test_a_flame_graph_has_a_box_with_a_title_for_each_call():
    drawing = ET.fromstring(flame.flame(loaded()))
    titles = [each.findtext(f"{SVG}title") for each in drawing.iter(f"{SVG}g")]
    assert "all: 94,157 bytes, 100.00 %" in titles and "work; <b>: 94,100 bytes, 99.94 %" in titles
    boxes = [each.find(f"{SVG}rect").attrib for each in drawing.iter(f"{SVG}g")]
    whole = max(float(each["width"]) for each in boxes)
    rows = Counter()
    for each in boxes:
        rows[each["y"]] += float(each["width"])
    assert all(width <= whole + 0.2 for width in rows.values())


def fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """What a message of protocol buffers holds."""
    def number(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                return value, at
    found, at = [], 0
    while at < len(data):
        key, at = number(at)
        value, at = number(at)
        if key & 7:
            found.append((key >> 3, data[at:at + value]))
            at += value
        else:
            found.append((key >> 3, value))
    return found


def test_a_profile_of_pprof_has_the_same_bytes():
    parts = fields(gzip.decompress(pprof.profile(loaded())))
    texts = [value.decode() for key, value in parts if key == 6]
    assert texts[0] == "" and {"calls", "moved", "bytes", "send", "nginx+0x3000", "tx_copy"} <= set(texts)
    samples = [dict(fields(value)) for key, value in parts if key == 2]
    assert len(samples) == 5
    assert [list(each[1]) for each in samples] == [[1, 2, 3], [1, 2, 3], [1, 4], [1], [1, 2]]
    # 94,000 in seven bits a byte, behind 23 calls.
    assert samples[0][2] == bytes([23, 0xb0, 0xde, 0x05])
    mappings = [dict(fields(value)) for key, value in parts if key == 3]
    assert texts[mappings[0][6]] == "0a" * 20


def test_the_report_tells_the_stacks_that_moved_most_first():
    text = "\n".join(report.lines(record_with_stacks(), 10))
    assert re.search(r"94\.1 kB\s+99\.\d %\s+tx_copy\s+send < work; <b> < nginx\+0x3000; 46 calls", text)
    assert text.index("94.1 kB") < text.index("39 B")
    assert "nginx was replaced" in text and "31 B are in no stack" in text


def test_show_writes_files_and_refuses_a_watch_without_stacks(tmp_path, capsys):
    source = tmp_path / "record.json"
    source.write_text(json.dumps(record_with_stacks()))
    assert main(["show", str(source), "--folded", str(tmp_path / "folded")]) == 0
    assert len((tmp_path / "folded").read_text().splitlines()) == 4
    assert main(["show", str(source), "--pprof", str(tmp_path / "profile")]) == 0
    assert (tmp_path / "profile").read_bytes()[:2] == b"\x1f\x8b"
    without = record_with_stacks()
    del without["stacks"]
    source.write_text(json.dumps(without))
    capsys.readouterr()
    assert main(["show", str(source), "--folded", str(tmp_path / "none")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "--stacks" in said and not (tmp_path / "none").exists()


@pytest.mark.parametrize("words, said", [
    (["--folded", "FILE", "--all"], "give --stacks"), (["--stacks", "--all", "--folded"], "needs a value"),
    (["--stacks", "--all", "--folded=FILE", "--json", "-"], "made of a record")])
def test_what_cannot_be_written_is_refused_before_anything_is_watched(words, said, tmp_path):
    words = [each.replace("FILE", str(tmp_path / "stacks.folded")) for each in words]
    assert page.is_asked(words)
    with pytest.raises(Unusable, match=said):
        page.watch(words)
