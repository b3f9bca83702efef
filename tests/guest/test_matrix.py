# SPDX-License-Identifier: GPL-2.0
"""The cells of the matrix, spread over the kernels: no byte is lost, and what each path does to pages."""
from __future__ import annotations

import csv
import io
import subprocess

import pytest

from copyscope_studies.matrix import rows, runs, table as sheets
from copyscope_studies.matrix.cells import PATHS, VARIANTS, Cell
from guest.boots import AT_A_TIME, RELEASES, Asked, Maker, dealt, run_lines, where_made
from helpers import records
from helpers.names import KERNELS

MATRIX = records.ROOT / "tools" / "matrix"
BYTES, MESSAGES = 65536, 23
PAYLOAD = BYTES * MESSAGES
# A router unshared zero-copy packets until 6.17 (d2527ad3a9e1), and a capture was shown the
# packets of every namespace.
COPIES_WHEN_FORWARDED = SHOWS_ALL_NAMESPACES = ("6.1", "6.12")
PLAIN_NIC = ("nic", "nic, IPv6", "nic, no TSO", "nic, MTU 9000")
TAPPED_SENDER = ("veth, tap on sender", "nic, tap on sender", "lo, tap")
NO_SG = ("veth, no SG", "nic, no SG")
LOSSY = ("veth, 3 % loss", "nic, 3 % loss")
# What lies between the sockets: the causes of what was copied there, up to 6.12.
CAUSES = {
    "veth, tap on sender": {"packet tap on rx", "packet tap on tx"},
    "forward": {"forwarding hop"},
    "nic, no SG": {"no scatter-gather"},
    "nic, no TSO": set(),  # cut in software, but not copied
    "nic": set(),
}


def names(variant: str) -> list[str]:
    """The runs of a variant, one on each path."""
    return [Cell(path, variant).name for path in PATHS]


CELLS = {cell.name: cell for path in PATHS for cell in (Cell(path, variant) for variant in VARIANTS)}
# Each path is on each kernel once: under A1 and A2 on one each, and under A3, which alone has pages to which
# something may happen, on the others.
A3_HANDS = len(KERNELS) - 2
A1_FIRST, A2_FIRST = (place for place, kernel in enumerate(KERNELS)
                      if kernel not in dealt(["any"], hands=A3_HANDS)["any"])
MADE = (dealt(names("A3"), hands=A3_HANDS) | dealt(names("A1"), first=A1_FIRST) |
        dealt(names("A2"), first=A2_FIRST) | dealt(names("sendfile")))
# What becomes of a page of the page cache in each way that there is; on other paths it comes to one of these.
SPLICED_ON = ("lo", "veth", "nic", "forward")
# No device treats what was copied otherwise, and only its call sets A2 apart from A1.
COPIED_ON = ("lo", "veth", "nic", "forward")
# A page of the sender's meets each device on one of its two kernels. What changed there, or is chance, on both;
# causes where test_what_lies_between_the_sockets_is_the_cause asks them; test_paths.py has other lengths, losses.
ON_BOTH = ("forward", "veth, tap elsewhere", *NO_SG)
ON_OLDER = ("veth", *CAUSES)
ELSEWHERE = ("nic, IPv6", "nic, MTU 9000", "veth, no TSO", "nic, 3 % loss")
SOON = {Cell(path, "A3").name: () if path in ELSEWHERE else tuple(
    kernel for kernel in MADE[Cell(path, "A3").name]
    if path in ON_BOTH or (kernel in RELEASES) == (path in ON_OLDER)) for path in PATHS}
SOON |= {Cell(path, variant).name: () for variant, paths in (("sendfile", SPLICED_ON), ("A1", COPIED_ON), ("A2", COPIED_ON))
         for path in PATHS if path not in paths}
makes = Maker(MADE, soon=SOON)


def words_of(cell: Cell) -> str:
    """A line of matrix.sh; + stands for a space."""
    return " ".join(word.replace(" ", "+") for word in cell.words(BYTES, MESSAGES))


def by_cell(sheet: str) -> dict[tuple[str, str], dict]:
    """Rows of a CSV of the matrix by path and variant."""
    return {(row["path"], row["variant"]): {key: int(text) if text.lstrip("-").isdigit() else text
                                            for key, text in row.items()}
            for row in csv.DictReader(io.StringIO(sheet))}


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    return run_lines(tmp_path_factory.mktemp("matrix"), {name: words_of(cell) for name, cell in CELLS.items()},
                     ["--nics", runs.NICS], KERNELS, makes, asked=Asked(request))


def rows_of(outcome, cells: list[Cell]) -> dict[tuple[str, str], dict]:
    """Rows of cells of one kernel by path and variant."""
    left_by = runs.Outcome(outcome.release, outcome.folder)
    return by_cell(sheets.sheet([rows.row(left_by, cell) for cell in cells]))


@pytest.fixture(name="table")
def table_of_a_kernel(outcome, request):
    """Rows of cells by path and variant."""
    return rows_of(outcome, [CELLS[name] for name in request.param])


def cells_of(kernel: str, tier: str) -> list[str]:
    """The cells that a kernel makes in one tier."""
    return [name for name in MADE if makes(kernel, name) and (kernel in makes.soon[name]) == (tier == "soon")]


# Tests of tables of cells, one for each kernel and tier.
of_tables = pytest.mark.parametrize("outcome, table", [
    pytest.param(kernel, cells_of(kernel, tier), id=f"{kernel}-{tier}", marks=[
        pytest.mark.made_by(*cells_of(kernel, tier)), *marks])
    for kernel in KERNELS for tier, marks in (("soon", ()), ("later", (pytest.mark.long,)))], indirect=True)


@pytest.fixture(name="row")
def one_row(outcome, path):
    """The row of A3 on a path."""
    return rows_of(outcome, [Cell(path, "A3")])[path, "A3"]


def on_paths(*paths, kernels=KERNELS):
    """Parametrize a test by kernel and path, where that kernel runs A3 on the path."""
    return where_made("path", kernels, paths, makes, run=lambda path: Cell(path, "A3").name)


def left(row) -> int:
    """Referenced bytes that left the socket, those sent again and those shown to taps included."""
    again = row["retransmitted_bytes"] if row["referenced_bytes"] else 0
    return row["referenced_bytes"] + again + row["tapped_bytes"]


def test_each_kernel_has_every_path_and_variant_and_each_cell_a_kernel():
    assert set(MADE) == set(CELLS) and all(MADE.values())
    for kernel in KERNELS:
        ours = [CELLS[name] for name in CELLS if makes(kernel, name)]
        assert [cell.path for cell in ours if cell.variant != "sendfile"] == list(PATHS)
        assert {CELLS[name].variant for name in cells_of(kernel, "soon")} == set(VARIANTS)


@of_tables
def test_every_cell_that_was_dealt_ran_and_balances_to_0_bytes(table, request):
    cells = request.node.callspec.params["table"]
    assert set(table) == {(CELLS[name].path, CELLS[name].variant) for name in cells}
    for key, row in table.items():
        assert row["ran"] == "yes" and row["largest_residual"] == 0, key
        assert row["laws"].startswith("all ") and row["laws"].endswith(" balanced"), key
        assert row["accepted_bytes"] == PAYLOAD, key


@of_tables
def test_copied_variants_reference_nothing_anywhere(table):
    for key, row in table.items():
        if key[1] in ("A1", "A2"):
            assert row["referenced_bytes"] == row["late_bytes"] == row["clean_bytes"] == 0, key
            assert row["zerocopy_sends"] == 0, key
            assert row["tx_copy_bytes"] == row["rx_copy_bytes"] == PAYLOAD, key
            assert row["user_gather_bytes"] == (PAYLOAD if key[1] == "A1" else 0), key


@of_tables
def test_sendfile_copies_nothing_in_send_and_nothing_late_on_any_path(table):
    for key, row in table.items():
        if key[1] == "sendfile":
            assert row["spliced_bytes"] == row["rx_copy_bytes"] == PAYLOAD, key
            assert row["tx_copy_bytes"] == row["late_bytes"] == row["tapped_bytes"] == 0, key
            assert key[0] not in NO_SG or row["reshaped_bytes"] >= PAYLOAD, key


@on_paths(*PLAIN_NIC)
def test_a_nic_takes_the_senders_pages_without_a_late_copy(row):
    assert row["referenced_bytes"] == PAYLOAD and row["late_bytes"] == 0
    assert row["clean_bytes"] > 0.99 * left(row)


@on_paths("lo", "veth", "veth, no TSO")
def test_delivery_on_this_machine_copies_every_reference_late(row):
    assert row["late_bytes"] == left(row) and row["clean_bytes"] == 0
    assert row["copied_completions"] == row["completions"] > 0


@on_paths("forward")
def test_a_router_copies_late_up_to_6_12_and_not_from_6_18_on(row, outcome):
    if outcome.release in COPIES_WHEN_FORWARDED:
        assert row["late_bytes"] == left(row) and row["clean_bytes"] == 0
    else:
        assert row["late_bytes"] == 0 and row["clean_bytes"] > 0.99 * left(row)


@on_paths(*TAPPED_SENDER)
def test_a_capture_at_the_sender_copies_every_byte_once_more(row, path):
    assert row["tapped_bytes"] == left(row) / 2
    delivered = 0 if path.startswith("nic") else row["tapped_bytes"]
    assert row["late_bytes"] == row["tapped_bytes"] + delivered


@on_paths("veth, tap elsewhere")
def test_a_capture_in_an_unrelated_namespace_copies_up_to_6_12(row, outcome):
    if outcome.release in SHOWS_ALL_NAMESPACES:
        assert row["tapped_bytes"] >= PAYLOAD
        assert row["late_bytes"] == 2 * row["tapped_bytes"]
    else:
        assert row["tapped_bytes"] == 0 and row["late_bytes"] == left(row)


@on_paths(*NO_SG)
def test_without_scatter_gather_every_byte_is_moved_and_none_copied_late(row):
    assert row["reshaped_bytes"] >= left(row) >= PAYLOAD
    assert row["late_bytes"] == row["clean_bytes"] == 0


@pytest.mark.made_by(*(Cell(path, "A3").name for path in NO_SG))
def test_not_all_completions_say_that_a_device_without_scatter_gather_moved_every_byte(outcomes):
    # In one run of ten or so they do, by chance.
    found = [rows_of(outcomes[kernel], [Cell(path, "A3")])[path, "A3"]
             for path in NO_SG for kernel in MADE[Cell(path, "A3").name]]
    assert sum(row["copied_completions"] for row in found) < sum(row["completions"] for row in found)


@on_paths(*CAUSES, kernels=RELEASES)
def test_what_lies_between_the_sockets_is_the_cause(outcome, path):
    record = outcome.record(Cell(path, "A3").name)
    found = records.causes(record, "late_copy", "reshape")
    assert set(found) - {"small packets merged", "driver limit"} == CAUSES[path]
    assert all(found[cause] >= PAYLOAD for cause in CAUSES[path])
    assert "unknown" not in records.causes(record)
    for site in ("late_copy", "reshape"):
        law = records.law(record, f"causes of {site}")
        assert law["status"] == "balanced" and law["left"] == records.site(record, site)
        assert law["right"] == sum(records.causes(record, site).values())


@on_paths(*LOSSY)
def test_lost_packets_leave_no_byte_unexplained(row):
    assert row["accepted_bytes"] == PAYLOAD
    # The kernel itself moves the payload of some short packets (reshape).
    assert sum(row[f"{fate}_bytes"] for fate in ("late", "clean", "dropped", "reshaped")) >= PAYLOAD


@pytest.mark.parametrize("edges", [KERNELS[-1:], pytest.param((KERNELS[0], KERNELS[-1]), marks=pytest.mark.long)])
def test_one_command_boots_kernels_side_by_side_and_writes_the_table(tmp_path, edges):
    path = LOSSY[0]
    done = subprocess.run([str(word) for word in (
        MATRIX, "--bytes", BYTES, "--messages", MESSAGES, "--out", tmp_path, "--variants", "A3", "--paths", path,
        "--kernels", "; ".join(edges), "--quiet", "--jobs", AT_A_TIME)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = list(csv.DictReader((tmp_path / "matrix.csv").open(newline="", encoding="utf-8")))
    assert [".".join(row["kernel"].split(".")[:2]) for row in lines] == list(edges)
    for kernel, row in zip(edges, lines):
        assert (row["path"], row["variant"], row["ran"], row["largest_residual"]) == (path, "A3", "yes", "0")
        assert records.load(tmp_path / kernel / f"{Cell(path, 'A3').name}.json")["counts"]["accepted_bytes"] == PAYLOAD
