# SPDX-License-Identifier: GPL-2.0
"""Every two variants of a profile are compared once, as the profile has them, and put in a table."""
from __future__ import annotations

import copy
import csv
import json
from types import SimpleNamespace

import pytest

from copyscope.common.errors import Unusable
from copyscope.records import documents
from copyscope.runs import launch, quiet
from copyscope_studies.crossover import command, of_profile
from helpers import alternated
from helpers.pictures import REAL, two_passes

QUICK = ["--low", "64", "--high", "512", "--repeats", "6", "--quiet"]


def took(variant, size):
    """What a message takes."""
    return {"A3": 5000 if size >= 256 else 9000, "A2": 7000}.get(variant.partition(":")[0], 20000)


@pytest.fixture(name="asked")
def asked_runs(monkeypatch):
    """All runs that were asked for; A3 is as fast as A2 from 256 bytes on, A1 is always slower."""
    asked = []

    def make(run, *_):
        asked.append(run.arguments)
        if run.arguments[0] == "--alternate":
            return SimpleNamespace(status=0, stderr="", said=json.dumps(alternated.record(run.arguments, took)))
        variant, size = run.arguments[0], int(run.arguments[1])
        ns = took(variant, size)
        data = copy.deepcopy(REAL["A3-host"])
        data["backend"]["name"] = "none" if "--no-probes" in run.arguments else "tracepoint"
        data["experiment"]["timing"]["elapsed_ns"] = ns
        data["experiment"]["path"]["kind"] = run.arguments[run.arguments.index("--path") + 1]
        return SimpleNamespace(status=0, stderr="", said=json.dumps(data))

    monkeypatch.setattr(launch, "make", make)
    monkeypatch.setattr(launch, "check_built", lambda _: None)
    return asked


def search_all(out, profile="mt25018"):
    """Search the crossovers of a profile."""
    return command.act(["--profile", profile, "--out", str(out), *QUICK])


def test_each_pair_of_a_profile_is_searched_with_its_words(asked, tmp_path):
    assert search_all(tmp_path / "out") == 0
    names = {file.name for file in (tmp_path / "out").glob("*.json")}
    assert names == {f"mt25018_{pair}_1T.json" for pair in
                     ("TwoCopy-OneCopy", "TwoCopy-ZeroCopy", "OneCopy-ZeroCopy")}
    for name in names:
        documents.load(tmp_path / "out" / name, "crossover", "mend it")
    receivers = {(run[0], run[run.index("--receiver") + 1]) for run in asked if run[0] != "--alternate"}
    assert receivers == {("A1-8send", "perfield"), ("A2", "recvmsg"), ("A3", "recvmsg")}
    assert {run[1] for run in asked if run[0] == "--alternate"} == {
        "A2,A3", "A1-8send:perfield,A2:recvmsg", "A1-8send:perfield,A3:recvmsg"}
    told = {name: json.loads((tmp_path / "out" / name).read_text()) for name in names}
    assert {(each["method"], each["quantity"], each["why_pairs"]) for each in told.values()} == {
        ("turns in one connection", "wall time", None)}
    assert all(run[run.index("--path") + 1] == "veth" and "--addresses" in run for run in asked)


def test_the_table_says_who_wins_and_from_where(asked, tmp_path):
    search_all(tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out/crossovers.csv").open()))
    one = next(row for row in rows if (row["first"], row["second"]) == ("OneCopy", "ZeroCopy"))
    assert (one["answer"], one["faster_below"], one["faster_above"]) == \
        ("crossover", "OneCopy", "ZeroCopy")
    assert int(one["low_bytes"]) < 256 <= int(one["high_bytes"])
    assert sum(row["answer"] == "none" for row in rows) == 2
    page = (tmp_path / "out/crossovers.md").read_text()
    assert "| TwoCopy (A1-8send) / OneCopy (A2) | 1 |" in page and "ZeroCopy in place of OneCopy" in page
    assert page.count("## mt25018: veth, stream") == 1 and page.count("| 0 % at 64 |") == 3


def test_the_page_says_how_wide_the_widest_interval_of_a_search_is():
    sizes = [{"bytes": size, "ratio": ratio, "ratio_low": low, "ratio_high": high}
             for size, ratio, low, high in ((64, 2.0, 1.9, 2.1), (512, 0.5, 0.4, 0.55), (4096, 1.0, 0.9, 1.0))]
    assert of_profile.widest({"sizes": sizes}) == "30 % at 512"


def test_what_is_there_is_not_measured_again(asked, tmp_path, capsys):
    search_all(tmp_path / "out")
    before = len(asked)
    (tmp_path / "out/mt25018_OneCopy-ZeroCopy_1T.json").unlink()
    search_all(tmp_path / "out")
    assert capsys.readouterr().err.count("measured already") == 2
    again = {run[0] for run in asked[before:]}
    assert again == {"A2", "A3", "--alternate"}


def test_profiles_share_a_folder(asked, tmp_path):
    search_all(tmp_path / "out")
    search_all(tmp_path / "out", "mt25023")
    rows = list(csv.DictReader((tmp_path / "out/crossovers.csv").open()))
    assert {(row["profile"], row["pattern"]) for row in rows} == \
        {("mt25018", "stream"), ("mt25023", "rr")}
    page = (tmp_path / "out/crossovers.md").read_text()
    assert "request and reply" in page and page.index("## mt25018: veth, stream") < page.index("## mt25023: veth, rr")


@pytest.mark.parametrize("words, said", [
    (["A1", "A2", "--profile", "mt25018", "--out", "o"], "leave out VARIANT"),
    (["--profile", "mt25018"], "--out DIR is missing"),
    (["--profile", "mt25018", "--out", "o", "--path", "lo"], "--path lo: the profile says that"),
    (["--profile", "mt25018", "--out", "o", "--json", "f"], "--json does not go"),
    (["--profile", "gone", "--out", "o"], "gone"),
    (["A1", "A2", "--out", "o"], "--out is of --profile or --ways"),
    (["A1"], "name two variants"), ([], "name two variants")])
def test_what_makes_no_sense_together_is_refused(words, said):
    with pytest.raises(Unusable, match=said):
        command.act(words)


@pytest.fixture(name="shares")
def shared_runs(monkeypatch, asked):
    """Of the CPUs' time what others use beside each run to come, beside the rest of them 0.9; a clock that runs
    with each look at them."""
    shares, clock = [], [0.0]

    def make(run, *_):
        asked.append(run.arguments)
        counted = "--no-probes" not in run.arguments
        kind = "counted" if counted else "timed"
        data = two_passes(copy.deepcopy(REAL["A3-host"]), kinds=(kind,))
        data["backend"]["name"] = "tracepoint" if counted else "none"
        if not counted:
            data["experiment"]["passes"]["timed"]["cpu_shares"] = {
                "others": shares.pop(0) if shares else 0.9, "stolen": 0.0, "why": None}
        return SimpleNamespace(status=0, stderr="", said=json.dumps(data))

    def look(over_s):
        clock[0] += over_s
        return 0.0 if shares else 0.9

    monkeypatch.setattr(launch, "make", make)
    monkeypatch.setattr(quiet, "busy_share", look)
    monkeypatch.setattr(quiet.time, "monotonic", lambda: clock[0])
    return shares


def search_two(file, *more):
    """Search between two sizes, and return the record."""
    # Each message waits for its answer, so that no turns are taken.
    assert command.act(["A2", "A3", "--pattern", "rr", "--low", "64", "--high", "128", "--repeats", "6", "--others-at-most", "0.1",
                        "--json", str(file), *more]) == 0
    return documents.load(file, "crossover", "mend it")


def test_a_disturbed_pair_is_made_again(shares, tmp_path, capsys):
    shares[:] = [0.5, 0.4] + [0.0] * 1000
    record = search_two(tmp_path / "r.json")
    assert record["others_median"] == 0 and not record["answer"]["time_up"]
    assert capsys.readouterr().out.count("it is made again") == 2


def test_a_machine_that_stays_busy_gets_an_answer_that_says_so(shares, tmp_path, capsys):
    del shares[:]
    record = search_two(tmp_path / "r.json")
    said = record["answer"]["sentence"]
    assert record["others_median"] == 0.9 and len(record["sizes"]) > 1
    assert said.endswith("; other programs used 90% of the CPUs' time beside a run in the middle")
    out = capsys.readouterr().out
    assert out.startswith("at most 2 min") and out.count("does not get quiet") == 1
