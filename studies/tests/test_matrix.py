# SPDX-License-Identifier: GPL-2.0
"""The table of kernels and paths shows what the records say, and what did not run, and why."""
from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import time

import pytest

from copyscope.common.errors import Unusable
from copyscope.runs import guests
from copyscope_studies.matrix import cells, command, rows, runs, table
from helpers import records

MATRIX = records.ROOT / "tools" / "matrix"
CELL = cells.Cell("veth", "A3")


def left_by_a_guest(folder, change=lambda data: None, status=0, said=""):
    """A guest's folder with one run in it."""
    data = json.loads((records.ROOT / "tests/data/run-A3-guest.json").read_text())
    change(data)
    (folder / f"{CELL.name}.json").write_text(json.dumps(data))
    (folder / f"{CELL.name}.status").write_text(f"{status}\n")
    (folder / f"{CELL.name}.err").write_text(said)
    return runs.Outcome("6.12", folder)


def test_names_of_cells_are_names_of_files_and_all_different():
    names = [each.name for each in cells.cells(list(cells.PATHS), cells.VARIANTS)]
    assert len(set(names)) == len(names) == len(cells.PATHS) * len(cells.VARIANTS)
    assert all(part.isalnum() for name in names for part in name.split("-"))


def test_what_is_named_twice_is_made_once():
    assert command.words(cells.KERNELS)("6.12; 7.2;6.12") == ["6.12", "7.2"]


def test_a_word_with_a_space_reaches_trace_run_as_one():
    words = cells.Cell("nic, 3 % loss", "A3").words(65536, 200)
    assert words[-2:] == ["--netem", "loss 3%"]
    assert "'loss 3%'" in guests.script(runs.kind_of("6.12", {"x": words}))


def test_a_row_shows_the_numbers_of_its_record(tmp_path):
    row = rows.row(left_by_a_guest(tmp_path), CELL)
    data = row.record.data
    assert table.number(row, "referenced_bytes") == data["sites"]["tx_reference"]["bytes"]
    assert table.number(row, "late_bytes") == data["sites"]["late_copy"]["bytes"]
    line = dict(zip(table.HEAD, table.line(row)))
    assert line["referenced"] == f"{data['sites']['tx_reference']['bytes']:,}"
    assert row.fine and row.residual == 0


def test_a_plain_send_shows_where_its_bytes_were_copied(tmp_path):
    def plain(data):
        for site, share in (("user_gather", 1), ("tx_copy", 2), ("rx_copy", 3)):
            data["sites"][site]["bytes"] = 1009 * share
    row = rows.row(left_by_a_guest(tmp_path, plain), CELL)
    line = dict(zip(table.HEAD, table.line(row)))
    assert [line[site] for site in ("user_gather", "tx_copy", "rx_copy")] == \
        ["1,009", "2,018", "3,027"]
    found, = csv.DictReader(io.StringIO(table.sheet([row])))
    assert (found["user_gather_bytes"], found["tx_copy_bytes"], found["rx_copy_bytes"]) == \
        ("1009", "2018", "3027")


def test_a_cause_that_some_kernels_have_names_the_commit_that_changed_it(tmp_path):
    def cell_of(kernel, cause, copied):
        def change(data):
            data["machine"]["kernel"] = kernel
            data["causes"] = [{"cause": cause, "site": "late_copy", "bytes": copied, "calls": 1, "remedy": "none", "stack": None,
                               "why": None}][:copied]
        (tmp_path / kernel).mkdir(exist_ok=True)
        return rows.row(left_by_a_guest(tmp_path / kernel, change), CELL)
    both = [cell_of("6.12.1", "forwarding hop", 4096), cell_of("7.2.1", "forwarding hop", 0)]
    page = table.page(both, "matrix", 1, 1, None)
    assert "d2527ad3a9e1" in page and "| veth | A3 | 4,096 | 0 |" in page
    alike = [cell_of("6.12.1", "forwarding hop", 4096), cell_of("7.2.1", "forwarding hop", 4000)]
    assert "commit d2527" not in table.page(alike, "matrix", 1, 1, None)


def test_what_was_not_measured_is_a_dash_and_an_empty_field(tmp_path):
    def hide(data):
        data["sites"]["reshape"].update(bytes=None, calls=None, how="not_measured",
                                        why="nothing looked")
    row = rows.row(left_by_a_guest(tmp_path, hide), CELL)
    assert table.line(row)[table.HEAD.index("reshaped")] == "-"
    found, = csv.DictReader(io.StringIO(table.sheet([row])))
    assert found["reshaped_bytes"] == "" and found["late_bytes"] != ""


def test_a_broken_law_is_named_and_its_residual_shown(tmp_path):
    def damage(data):
        data["laws"][1].update(status="broken", left=5, right=12, residual=-7)
    row = rows.row(left_by_a_guest(tmp_path, damage, status=1), CELL)
    assert not row.fine and row.residual == -7
    assert row.laws == f"broken: {row.record.data['laws'][1]['law']}"


@pytest.mark.parametrize("status, said, why", [
    (3, "trace_run: this kernel has no netem\n", "this kernel has no netem"),
    (2, "", "trace_run printed no message"),
])
def test_a_run_that_was_refused_says_why(tmp_path, status, said, why):
    row = rows.row(left_by_a_guest(tmp_path, status=status, said=said), CELL)
    assert row.record is None and row.laws == f"did not run: {why}"
    assert table.line(row)[2:-1] == ["-"] * (len(table.HEAD) - 3)


def test_a_guest_that_died_says_so_in_each_cell(tmp_path):
    row = rows.row(runs.Outcome("7.2", tmp_path, "no package"), CELL)
    assert row.laws == "did not run: no package"


def stand_in(tmp_path, monkeypatch, line):
    """Puts a script that does `line` in the place of tools/guest."""
    script = tmp_path / "guest"
    script.write_text(f'#!/bin/sh\n{line}\n')
    script.chmod(0o755)
    monkeypatch.setattr(guests, "GUEST", script)


def test_a_kernel_may_name_its_architecture():
    assert runs.guest_of("6.12-arm64") == ["--kernel", "6.12", "--arch", "arm64"]
    assert runs.guest_of("6.12") == ["--kernel", "6.12"]


def boot_all(folder, kernels, jobs):
    """Everything that guests do for one cell."""
    missing = dict.fromkeys(kernels, {CELL.name: CELL.words(65536, 1)})
    return runs.in_guests(missing, folder, jobs, lambda name: None)


def test_what_an_earlier_guest_left_is_never_taken_for_this_ones(tmp_path, monkeypatch):
    (tmp_path / "6.12").mkdir()
    left_by_a_guest(tmp_path / "6.12")
    stand_in(tmp_path, monkeypatch, "echo it died >&2; exit 1")
    outcome, = boot_all(tmp_path, ["6.12"], 1)
    row = rows.row(outcome, CELL)
    assert row.record is None and row.laws == "did not run: it died"


def test_a_folder_that_cannot_be_is_told_before_anything_boots(tmp_path, monkeypatch):
    (tmp_path / "6.12").write_text("in the way")
    stand_in(tmp_path, monkeypatch, f"touch {tmp_path}/booted")
    with pytest.raises(Unusable):
        boot_all(tmp_path, ["6.12"], 1)
    assert not (tmp_path / "booted").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_signal_ends_the_guests_that_run_and_starts_no_other(tmp_path, monkeypatch, jobs):
    stand_in(tmp_path, monkeypatch, f"echo $$ >>{tmp_path}/pids; exec sleep 600")

    def stop(number, frame):
        raise SystemExit(128 + number)
    before = signal.signal(signal.SIGALRM, stop)
    began = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 1)
        with pytest.raises(SystemExit):
            boot_all(tmp_path, ["6.1", "6.12", "7.2"], jobs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 60
    pids = (tmp_path / "pids").read_text().split()
    # The second waits until the first is up, which this one never says.
    assert len(pids) == 1


@pytest.mark.parametrize("words", ["--kernels 9.9", "--paths tunnel", "--variants A4",
                                   "--messages 0", "--bytes 7", "--jobs none", "--frob"])
def test_bad_words_are_one_line_and_exit_2(words):
    done = subprocess.run([MATRIX, *words.split()], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
