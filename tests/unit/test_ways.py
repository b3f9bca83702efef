# SPDX-License-Identifier: GPL-2.0
"""Every way to send and to receive has its row, and what the rows say is what the records say."""
from __future__ import annotations

import csv
import functools
import io
import json
import tarfile
from argparse import Namespace
from pathlib import Path

import pytest

from copyscope.common.tables import PATHS_OF_ONE_HOST, RECEIVERS, names
from copyscope.model.costs import Costs
from copyscope.model.terms import total
from copyscope.records.load import load_records
from copyscope_studies.facts import of_calls
from copyscope_studies.matrix import answer, command, rows, ways
from copyscope_studies.matrix.cells import ARM64, Cell
from copyscope_studies.matrix.runs import Outcome
from copyscope_studies.model import evaluate, of_ways
from copyscope_studies.ways import CALLS_OF, PLAIN, RECV, WAYS, Way

ROOT = Path(__file__).resolve().parents[2]
FOLDER, MODEL = ROOT / "results/ways", ROOT / "results/model"
FOUND = answer.load(FOLDER)
CHIEF = answer.chief(FOUND)
BLIND = names("receivers", blind=True)
# Copies of each byte that no retransmission changes, as the ways' own words have them.
ON_LO = {"A1": "3.00", PLAIN: "2.00", "A2": "2.00", "sendfile": "1.00", "splice": "1.00", "vmsplice": "1.00"}


def way(end: str, name: str) -> Way:
    """One way by name."""
    return next(each for each in WAYS if (each.end, each.name) == (end, name))


def short(kernel: str) -> str:
    """What was asked for: 6.12-arm64 for 6.12.95+deb12-cloud-arm64."""
    asked = ".".join(answer.release(kernel).split(".")[:2])
    return asked + ARM64 * kernel.endswith(ARM64)


def unpacked(archive: Path, to: Path) -> Path:
    """Unpacks the records of a folder."""
    with tarfile.open(archive) as file:
        file.extractall(to)
    return to


@pytest.fixture(scope="module", name="records")
def fixture_records(tmp_path_factory):
    """The folder that the runs left."""
    return unpacked(FOLDER / "runs.tar.xz", tmp_path_factory.mktemp("ways"))


@functools.cache
def read(folder: Path) -> list[rows.Row]:
    """The runs that the sheet names, from their records."""
    return [row for kernel in FOUND.kernels
            for row in rows.rows([Outcome(short(kernel), folder / short(kernel))],
                                 [Cell(each["path"], each["variant"], each["receiver"]) for each in FOUND.cells
                                  if each["kernel"] == kernel])]


def test_the_sheet_says_what_the_records_say(records):
    # A site that is younger than the sheet has no column there.
    made = csv.DictReader(io.StringIO(ways.sheet(read(records))))
    assert [{key: each[key] for key in FOUND.cells[0]} for each in made] == list(FOUND.cells)


def test_each_run_that_was_made_balances(records):
    made = [row for row in read(records) if row.record]
    assert made and all(row.fine and row.residual == 0 for row in made)
    # Where the bytes reach memory of the receiver they are the right ones.
    assert {(row.cell.receiver in BLIND, row.record.workload("content_errors")) for row in made} <= {
        (True, None), (False, 0)}


def test_a_run_that_left_no_record_is_of_the_kernel_of_the_others(records, tmp_path):
    found = rows.rows([Outcome("6.12", records / "6.12")], [Cell("lo", PLAIN), Cell("nowhere", PLAIN)])
    assert [row.kernel for row in found] == [CHIEF, CHIEF] and not found[1].record
    alone = rows.rows([Outcome("6.12", tmp_path)], [Cell("lo", PLAIN)])
    assert alone[0].kernel == "6.12"


def test_a_byte_that_a_record_has_more_shows(records, tmp_path):
    first = next(row for row in read(records) if row.record and row.cell == Cell("lo", PLAIN))
    data = json.loads(first.record.source.read_text())
    data["sites"]["tx_copy"]["bytes"] += data["counts"]["accepted_bytes"]
    (tmp_path / "6.12").mkdir()
    (tmp_path / "6.12" / f"{first.cell.name}.json").write_text(json.dumps(data))
    (tmp_path / "6.12" / f"{first.cell.name}.status").write_text("0")
    row = rows.row(Outcome("6.12", tmp_path / "6.12"), first.cell)
    changed = answer.load(None, ways.sheet([row]))
    assert answer.copied(changed.cell(first.record.kernel, way("send", PLAIN), "lo")) == "3.00"


def test_the_page_has_the_answer_of_the_sheet():
    page = (FOLDER / "ways.md").read_text()
    assert answer.table(FOUND, CHIEF) in page
    for kernel in FOUND.kernels:
        assert all(f"{line}\n" in page for line in (*answer.differences(FOUND, kernel), *answer.absent(FOUND, kernel)))


def test_a_kernel_differs_from_the_chief_one_by_what_its_sheet_has_otherwise():
    text = (FOLDER / "ways.csv").read_text()
    of_chief = [line for line in text.splitlines() if line.startswith(CHIEF)]
    other = "\n".join(line.replace(CHIEF, "9.9") for line in of_chief)
    twin = answer.load(None, f"{text}{other}\n")
    assert answer.differences(twin, "9.9") == []
    cell = twin.cell("9.9", way("send", PLAIN), "veth")
    cell["late_copy_bytes"] = cell["accepted_bytes"]
    assert answer.differences(twin, "9.9") == [f"- {end} {name}: veth 3.00 (2.00)"
                                               for end, name in (("send", PLAIN), ("receive", RECV))]


def test_every_way_has_a_row_and_none_that_nobody_counted_shows_a_number():
    lines = {(each.end, each.name): answer.line(FOUND, CHIEF, each) for each in WAYS}
    assert len(lines) == len(WAYS) and {end for end, _ in lines} == {"send", "receive"}
    assert {name for end, name in lines if end == "receive"} == set(RECEIVERS)
    for each in WAYS:
        for path, text in zip(PATHS_OF_ONE_HOST, lines[each.end, each.name][1:]):
            cell = FOUND.cell(CHIEF, each, path)
            assert (text == "not measured") == (cell is None)
            assert (text == "absent") == (cell is not None and cell["ran"] != "yes")


def test_the_copies_are_those_that_the_ways_are_made_of():
    assert {name: answer.copied(FOUND.cell(CHIEF, way("send", name), "lo")) for name in ON_LO} == ON_LO
    assert answer.copied(FOUND.cell(CHIEF, way("receive", "trunc"), "lo")) == "1.00"
    # By reference: copied late on lo, and taken by the NIC as pages.
    late, taken = (answer.copies(FOUND.cell(CHIEF, way("send", "A3"), path)) for path in ("lo", "nic"))
    assert late["late_copy"] >= 1 and taken["late_copy"] == 0 and taken["tx_copy"] == late["tx_copy"] == 0


def test_the_figure_names_every_way_of_its_sheet():
    text = (FOLDER / "ways.svg").read_text()
    for each in WAYS:
        if FOUND.cell(CHIEF, each, "lo"):
            assert f">{each.name}<" in text
    assert CHIEF in text


def test_system_calls_are_those_of_the_way():
    # Fewer calls than messages start and end the process.
    calls = {name: FOUND.calls[f"send {name}"] // CALLS_OF for name in (PLAIN, "A1-8send", "A2-more", "splice")}
    assert calls == {PLAIN: 1, "A1-8send": 8, "A2-more": 8, "splice": 2}
    assert answer.calls(FOUND, way("send", "A1-8send")) == "8.0"


def test_a_process_of_somebody_else_is_no_end_of_ours():
    assert of_calls.role_of(1) == b"" and of_calls.role_of(1 << 30) == b""


def options(**more) -> Namespace:
    """What the command line of a few ways says."""
    return Namespace(**{"ways": True, "path": None, "paths": None, "variants": None, "kernels": ["6.12"], "bytes": 65536,
                        "messages": 100, "resume": True, **more})


def test_a_resumed_matrix_makes_what_is_missing_alone(records):
    known = [Cell(each["path"], each["variant"], each["receiver"]) for each in FOUND.cells
             if each["kernel"] == CHIEF and each["ran"] == "yes"]
    assert command.missing_runs(options(), records, known) == {"6.12": {}}
    more = [*known, Cell("veth, tap elsewhere", PLAIN)]
    assert list(command.missing_runs(options(), records, more)["6.12"]) == [more[-1].name]
    for other in (options(resume=False), options(messages=101), options(bytes=4093), options(kernels=["6.11"])):
        assert len(next(iter(command.missing_runs(other, records, known).values()))) == len(known)


@pytest.mark.parametrize("kind, above, last, says", [
    ("none", PLAIN, "first", "never"), ("none", "A3", "second", "always"), ("undecided", None, "undecided", "undecided"),
    ("crossover", "A3", "second", "from 8 KiB"), ("crossover", "A3", "undecided", "from 8 KiB to 16 KiB"),
    ("crossover", "A3", "first", "from 8 KiB to 16 KiB"), ("crossover", PLAIN, "first", "up to 4 KiB")])
def test_a_crossover_is_told_in_a_word_or_two_and_no_further_than_measured(kind, above, last, says):
    sizes = [{"bytes": size, "winner": winner} for size, winner in (
        (4096, "first"), (8192, "second"), (16384, "second"), (1 << 20, last))]
    found = {"kind": kind, "faster_above": above, "low_bytes": 4096, "high_bytes": 8192}
    assert answer.when({"answer": found, "sizes": sizes}, "A3") == says


def test_a_way_pays_by_committed_records_alone():
    record = json.loads((ROOT / "results/crossovers/mt25029_A1-A3_1T.json").read_text())
    assert answer.pays(FOUND, way("send", "A3")).startswith(f"lo: {answer.when(record, 'A3')}")
    bare = answer.Found(FOUND.cells, {}, [])
    assert answer.pays(bare, way("send", "A3")) == answer.calls(bare, way("send", "A3")) == "not measured"


def test_what_took_turns_says_where_it_pays_and_the_readme_has_eight_such_rows():
    assert {(data["path"]["kind"], data["threads"]) for data in FOUND.turned} == {
        (path, threads) for path in ("lo", "veth") for threads in (1, 4)}
    assert answer.pays(FOUND, way("send", "A3-whole")) == "lo: never; veth: never"
    assert answer.pays(FOUND, way("send", "sendfile")).startswith("lo: pays 4 KiB to 1 MiB, costs at 64 B; veth: ")
    rows = answer.chosen(FOUND)
    assert len(rows) == 8 and not any("not measured" in row for row in rows)
    assert "".join(rows) in (ROOT / "README.md").read_text()


def test_every_way_is_predicted_or_says_what_has_no_price(tmp_path):
    costs = Costs.load(MODEL / "baseline.json")
    folder = unpacked(MODEL / "runs.tar.xz", tmp_path) / "runs"
    fitted = evaluate.fit(costs, load_records([folder], lambda line: None))
    sheet = list(csv.DictReader(io.StringIO(of_ways.sheet(fitted, [65536], "lo"))))
    assert [(each["end"], each["way"]) for each in sheet] == [(each.end, each.name) for each in WAYS]
    assert all(bool(each["predicted_ns"]) != bool(each["why_not"]) for each in sheet)
    plain = of_ways.terms_of(fitted, way("receive", RECV), 65536)
    trunc = of_ways.terms_of(fitted, way("receive", "trunc"), 65536)
    assert total(plain) - total(trunc) == pytest.approx(costs.copy_ns(65536))
    assert total(of_ways.terms_of(fitted, way("send", "A3-aligned"), 65536)) < \
        total(of_ways.terms_of(fitted, way("send", "A3"), 65536))
