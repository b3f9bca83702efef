# SPDX-License-Identifier: GPL-2.0
"""Records that were kept are listed, and shown again as their reports were."""
from __future__ import annotations

import csv
import io
import json
import os
import re

import pytest

from copyscope.common.text import bytes_text, duration_text, rate_text, share_text
from copyscope.records_cmd import command
from copyscope.runs import tables
from helpers import plans, watches
from helpers.names import ROOT, names
from helpers.pictures import made, two_passes

ID = "20261120T000000.000-0"


@pytest.fixture(name="runs")
def fixture_runs(tmp_path, monkeypatch):
    """A folder of records, which is where they are kept."""
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    return tmp_path


def keep(runs, data: dict, name: str = "", age_s: int = 0) -> None:
    """Put a record there, so many seconds old."""
    file = runs / f"{name or data['id']}.json"
    file.write_text(json.dumps(data))
    os.utime(file, (1.7e9 - age_s, 1.7e9 - age_s))


def keep_sweep(runs) -> None:
    """Put the folder of a sweep there."""
    (runs / "one-sweep/runs").mkdir(parents=True)
    points = [plans.point(label, label) for label in ("A1", "A3")]
    for number, label in enumerate(("A1", "A3"), 1):
        data = two_passes(made(workload__variant=label, workload__bytes=4096))
        data["experiment"]["passes"]["timed"]["throughput_gbps"] = float(number)
        (runs / f"one-sweep/runs/{label}.r1.json").write_text(json.dumps(data))
    (runs / "one-sweep/plan.json").write_text(json.dumps(plans.plan(points, 2)))


def told(capsys, *words: str, status: int = 0) -> str:
    """What is printed; of a refusal its one line."""
    assert command.main(list(words)) == status
    said = capsys.readouterr()
    assert (said.err.count("\n"), bool(said.out)) == ((1, False) if status else (0, True)), said.err
    return said.out or said.err


def test_the_list_has_records_sweeps_and_what_is_damaged(runs, capsys):
    keep(runs, two_passes(made()), age_s=9)
    keep(runs, watches.watch_record(watches.process(7, "nginx", watches.moved(10**9, 50))), "mine", 8)
    (runs / "half.json").write_text("{")
    (runs / "notes.txt").write_text("no record")
    keep_sweep(runs)
    lines = told(capsys, "list").splitlines()
    rows = {line.split()[0]: line for line in lines}
    assert "A3, 64 KiB x 1, veth" in rows[ID] and "7.64 Gbit/s" in rows[ID]
    assert "watch: nginx " in rows["mine"] and "sent 1.00 GB, received 50 B" in rows["mine"]
    assert "2 of 4 runs" in rows["one-sweep"] and "cannot be read" in rows["half"]
    assert "notes.txt" not in rows and list(rows)[1:3] == [ID, "mine"]


def test_an_empty_folder_is_said_to_be_empty(runs, capsys):
    assert "No record is kept in" in told(capsys, "list", "--in", str(runs / "gone"))
    assert "no record is kept there" in told(capsys, "show", "last", status=2)
    assert "no such file, and no such record" in told(capsys, "show", "2026", status=2)


@pytest.mark.parametrize("verdict", ["It copied.", {"sentence": "It copied.", "passed": True}])
def test_a_report_is_in_the_order_of_reports(runs, capsys, monkeypatch, verdict):
    # A record whose schema is newer.
    monkeypatch.setattr("copyscope.records.check.check_form", lambda *_: None)
    data = two_passes(made())
    keep(runs, {**data, "experiment": {**data["experiment"], "verdict": verdict}})
    text = told(capsys, "show", ID)
    assert text.startswith("It copied.\n\n20 messages of 65,536 bytes, 1 connection, stream, path veth")
    places = [text.index(word) for word in (
        "throughput     7.64 Gbit/s", "latency        mean 24.0 us", "\nsite ", "\nlate_copy ", "nothing at ",
        "why it was copied", "\npins ", "\ncompletions    20 read for 20", "\nlaws ", "\ncounters ",
        "\nnot seen ", f"\nrecord {ID}")]
    assert places == sorted(places) and "0 B" not in text
    assert "balance to the byte, none is broken, " in " ".join(text.split())
    # What lacks for one reason stands on one line, whatever it is.
    assert " ".join(text.split()).count("tracepoints do not show that") == 1 and "tx_splice, reshape" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_record_without_perf_beside_the_programs_says_so(runs, capsys):
    data = two_passes(made())
    wire = {"site": "tx_copy", "hook": "tp_btf/net_dev_queue", "status": "attached"}
    data["backend"]["probes"] = [wire]
    for firings, said in ((0, False), (None, True)):
        wire["unseen_firings"] = firings
        keep(runs, data)
        text = " ".join(told(capsys, "show", "last").split())
        assert ("whether a program ran for every packet: perf counts" in text) == said


def test_laws_are_listed_if_asked_and_a_broken_one_always(runs, capsys):
    data = two_passes(made())
    keep(runs, data)
    assert "\nreceive                 balanced         1,310,720" in told(capsys, "show", "last", "--laws")
    data["laws"][0].update(status="broken", right=1310719, residual=1, why="a byte is lost")
    keep(runs, data)
    text = " ".join(told(capsys, "show", "last").split())
    assert "2 are not testable" in text or "1 is broken" in text and "1,310,719 1" in text and "a byte is lost" in text
    assert "receive balanced" not in text


def test_an_id_may_be_its_beginning_last_or_a_path(runs, capsys):
    keep(runs, made(number=1), age_s=9)
    keep(runs, made("A1-host", 2))
    assert "A1 on veth" in told(capsys, "show", "last")
    assert "A3 on veth" in told(capsys, "show", ID[:-1] + "1")
    assert "A3 on veth" in told(capsys, "show", str(runs / f"{ID[:-1]}1.json"))
    assert "2 records begin so, such as" in told(capsys, "show", "2026", status=2)
    assert "copyscope list shows them" in told(capsys, "show", "1999", status=2)


def test_one_run_is_a_row_of_the_sweeps_table(runs, capsys):
    keep(runs, two_passes(made()))
    row, = csv.DictReader(io.StringIO(told(capsys, "show", "last", "--csv")))
    assert list(row) == tables.tidy_header()
    assert (row["variant"], row["tx_reference_bytes"], row["reshape_bytes"], row["times_from_pass"]) == \
        ("A3", "1310720", "", "timed")
    keep_sweep(runs)
    assert len(list(csv.DictReader(io.StringIO(told(capsys, "show", "one-sweep", ID, "--csv"))))) == 3


def test_a_sweep_and_a_watch_are_shown_too(runs, capsys):
    keep_sweep(runs)
    text = told(capsys, "show", "one-sweep")
    assert text.startswith("made: 2 of 4 runs") and "A3 is 2.00 times as fast as A1" in text
    keep(runs, watches.watch_record(watches.process(
        7, "nginx", watches.moved(900, 100, tx_splice=900, rx_copy=100, reshape=None))))
    text = told(capsys, "show", "20261122T14")
    assert text.startswith("nginx, pid 7: copied.") and "tx_splice          900 B" in text
    assert "not seen       reshape: nobody looked" in text and \
        f"{len(names('laws', of_sockets=True))} balance to the byte, none is broken; --laws lists them" in text
    assert re.search(r"^tx_splice +900 B +100 % +measured ", text, re.M)
    assert re.search(r"^rx_copy +100 B +100 % +measured ", text, re.M)
    assert re.search(r"^send queue +balanced +1 +1 +0$", told(capsys, "show", "20261122T14", "--laws"), re.M)


@pytest.mark.parametrize("kind, file, said", [
    ("baseline", "tests/data/baseline-host.json", r"^timing +30.7 ns +23.5 to 43.3 +reading the clock$"),
    ("crossover", "results/crossovers/mt25029_A1-code-A3_4T.json", r"^ +64 +0.701 \(0.594 to 0.878\) +8$"),
    ("facts", "results/single/facts.json", r"^line +sk_lock +5 +line of 64 bytes"),
    ("verdicts", "results/claims/verdicts.json", r"^MT25064 +\d+ +confirmed$")])
def test_what_is_listed_is_shown(runs, capsys, kind, file, said):
    if not (ROOT / file).is_file():
        pytest.skip(f"{file} is not here: a release has no results")
    keep(runs, json.loads((ROOT / file).read_text()), "it")
    assert re.search(rf"^it +{kind}$", told(capsys, "list"), re.M)
    shown = told(capsys, "show", "it")
    assert re.search(said, shown, re.M), shown
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("words, said", [
    (["show"], "needs an ID"), (["list", "x"], "--in DIR"), (["list", "--csv"], "--in DIR"),
    (["show", "half"], "half.json: JSON"), (["show", "last", "--csv", "--laws"], "--csv"),
    (["show", "price"], "./tools/baseline"), (["show", "sides"], "./tools/compare --help"), (["drop"], "invalid choice")])
def test_what_cannot_be_shown_is_one_line(runs, capsys, words, said):
    (runs / "half.json").write_text("{")
    (runs / "price.json").write_text('{"schema": "copyscope.baseline/1"}')
    (runs / "sides.json").write_text('{"schema": "copyscope.compare/1"}')
    assert said in told(capsys, *words, status=2)


@pytest.mark.parametrize("said, shown", [
    (bytes_text(950), "950 B"), (bytes_text(12345678901), "12.3 GB"), (bytes_text(999_500), "1.00 MB"),
    (duration_text(312), "312 ns"), (duration_text(1.5e9), "1.50 s"), (rate_text(17.42), "17.4 Gbit/s"),
    (rate_text(0.526), "526 Mbit/s"), (share_text(1, 10**6), "< 0.1 %"), (share_text(2, 2), "100 %"),
    (share_text(10**6 - 1, 10**6), "> 99.9 %"), (share_text(0, 0), "-"), (share_text(0, 5), "0.0 %")])
def test_numbers_are_those_of_reports(said, shown):
    assert said == shown


@pytest.mark.parametrize("words, has", [([], False), (["--color", "never"], False), (["--color", "always"], True)])
def test_a_report_has_the_colours_of_its_watch_where_they_are_asked_for(words, has, tmp_path, capsys):
    """As watch and run take --color."""
    (tmp_path / "record.json").write_text(json.dumps(watches.watch_record(
        watches.process(812, "nginx", watches.moved(9000, 500, tx_copy=9000, rx_copy=500)))))
    assert command.main(["show", str(tmp_path / "record.json"), *words]) == 0
    said = capsys.readouterr().out
    assert ("\x1b[1mnginx, pid 812" in said) == has == ("\x1b" in said) and "nginx, pid 812" in said
