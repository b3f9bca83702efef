# SPDX-License-Identifier: GPL-2.0
"""Tables that compare points show medians of the records, and what the report published beside."""
from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from copyscope.common.errors import Unusable
from copyscope.records.run_record import Point, Record
from copyscope.runs import plan as plans, profile as profiles, summaries, values
from helpers import plans as made_plans, schemas
from helpers.pictures import ROOT, made

# Gbit/s of two labels at one size, in two repeats.
GBPS = {("A1", 1): (4.0, 6.0), ("A2", 1): (7.0, 8.0), ("A1", 4): (9.0, 11.0), ("A2", 4): (10.0, 12.0)}
SWITCHES = {1: (10, 15), 4: (40, 60)}


def found() -> summaries.Found:
    """Records of these points."""
    groups, points = {}, []
    for (label, threads), repeats in GBPS.items():
        name = f"{label}_{threads}T"
        points.append(made_plans.point(name, label, 4096, threads))
        groups[name] = []
        for number, gbps in enumerate(repeats):
            data = made(number=number)
            payload = data["experiment"]["workload"]["received_bytes"]
            data["experiment"]["timing"]["elapsed_ns"] = round(payload * 8 / gbps)
            data["experiment"]["counters"]["sender"]["context-switches"]["value"] = SWITCHES[threads][number]
            groups[name].append(Record(data, Path(f"{name}.json"), Point(
                name, label, 4096, threads, number + 1, "mine", "corrected")))
    return summaries.Found(made_plans.plan(points), groups)


@pytest.mark.parametrize("what, row, shown", [
    ("throughput_gbps", {"label": "A1", "threads": 1}, 5), ("size", {}, 4096),
    ("throughput_gbps of A2 with 4", {}, 11), ("throughput_gbps of A2 over A1", {"threads": 1}, 1.5),
    ("throughput_gbps of A2 above A1", {"threads": 1}, 50),
    ("throughput_gbps of A1 below A2", {"threads": 1}, 100 / 3),
    ("throughput_gbps of A1 or A2", {"threads": 1}, "A2"),
    # Intervals overlap.
    ("throughput_gbps of A1 or A2", {"threads": 4}, "undecided"),
    # Of two counts in the middle the lower.
    ("context_switches of A1 with 4 over 1", {}, 4), ("context_switches of A1 with 1", {}, 10),
    ("throughput_gbps of A9", {"threads": 1}, None), ("cycles of A1", {"threads": 1}, None),
    ("throughput_gbps of A1 over A9", {"threads": 1}, None)])
def test_a_cell_shows_what_its_column_says(what, row, shown):
    said = summaries.cell(found(), {"size": 4096, **row}, what)
    assert said == (shown if isinstance(shown, str) or shown is None else pytest.approx(shown))


def test_what_was_published_stands_beside_ours():
    table = {"columns": [["Size", "size"], ["A1", "throughput_gbps of A1"],
                         ["A2", "throughput_gbps of A2"]],
             "rows": [{"size": 4096, "threads": 1, "published": [1, "2"]},
                      {"size": 64, "threads": 1}]}
    assert summaries.header(table) == ["Size", "A1", "A1, published", "A2", "A2, published"]
    assert summaries.rows(table, found()) == [
        [4096, pytest.approx(5), 1, pytest.approx(7.5), "2"], [64, None, None, None, None]]


def test_a_column_of_what_probes_count_is_a_share_of_the_payload_or_of_a_message():
    record = Record(made("A3-host"), Path("a.json"))
    record.data["counts"]["clean_bytes"] = record.payload_bytes // 2
    shown = {what: values.column(record, made_plans.SETTINGS, what) for what in values.COUNTED}
    assert shown["tx_copy_bytes_per_payload_byte"] == 0 and shown["late_copy_bytes_per_payload_byte"] == 1
    assert shown["reshape_bytes_per_payload_byte"] is None
    assert shown["clean_bytes_per_payload_byte"] == 0.5
    assert shown["pinned_pages_per_message"] == 487 / 20 and shown["completions_per_message"] == 1
    record.data["backend"]["name"] = "none"
    assert values.column(record, made_plans.SETTINGS, "clean_bytes_per_payload_byte") is None


def test_a_column_of_what_probes_count_leaves_requests_out():
    record = Record(made("A3-host", workload__pattern="rr"), Path("a.json"))
    payload = record.payload_bytes
    # Requests: as many bytes again, copied by send.
    record.data["experiment"]["workload"]["received_bytes"] = 2 * payload
    record.data["sites"]["tx_copy"]["bytes"] = payload
    assert record.site_per_byte("tx_reference") == 0.5
    assert values.column(record, made_plans.SETTINGS, "tx_reference_bytes_per_payload_byte") == 1
    assert values.column(record, made_plans.SETTINGS, "tx_copy_bytes_per_payload_byte") == 0


def test_counts_of_shorter_runs_than_the_reports_say_so():
    table = {"columns": [["Switches", "context_switches of A1"]],
             "rows": [{"size": 4096, "threads": 1, "published": [99]}]}
    told = found()
    told.durations = (1.25, 10.0)
    assert summaries.header(table, (), told.durations)[2:] == ["Seconds a run", "Seconds a run, published"]
    assert summaries.rows(table, told) == [[10, 99, 1.25, 10.0]]
    table["columns"] = [["Increase", "context_switches of A1 with 4 over 1"]]
    assert summaries.rows(table, told) == [[pytest.approx(4), 99]]


def test_runs_as_long_as_the_reports_need_no_word():
    record = SimpleNamespace(asked_s=2.5)
    assert summaries.durations({}, [record]) is None
    assert summaries.durations({"report_seconds": 2.5}, [record]) is None
    assert summaries.durations({"report_seconds": 10}, [record]) == (2.5, 10)
    assert summaries.durations({"report_seconds": 10}, [SimpleNamespace(asked_s=None)]) is None


FINE = {"file": "a.csv", "note": "n", "columns": [["A", "cycles of A1"]],
        "rows": [{"size": 64, "threads": 1}]}


@pytest.mark.parametrize("change, key", [
    ({"file": "../a.csv"}, ".file"), ({"note": "a\nb"}, ".note"), ({"more": 1}, "keys"),
    ({"columns": []}, ".columns"), ({"columns": [["A", "ticks of A1"]]}, r".columns\[1\]"),
    ({"columns": [["A", "cycles of A1 beyond A2"]]}, r".columns\[1\]"),
    ({"columns": [["A"]]}, r".columns\[1\]"), ({"rows": "x"}, ".rows"),
    ({"rows": [{"size": "64"}]}, r".rows\[1\]"), ({"rows": [{"colour": 1}]}, r".rows\[1\]"),
    ({"rows": [{"size": 64, "threads": 1, "published": [[]]}]}, r".rows\[1\]"),
    ({"rows": [{"size": 64}]}, "which threads"), ({"columns": [["A", "cycles"]]}, "which label")])
def test_a_slip_is_one_line_with_its_key(change, key):
    summaries.check(Path("mine.toml"), [FINE], profiles.COLUMNS)
    with pytest.raises(Unusable, match=rf"mine\.toml: summaries\[1\].*{key}") as caught:
        summaries.check(Path("mine.toml"), [{**FINE, **change}], profiles.COLUMNS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", profiles.MODES)
@pytest.mark.parametrize("name, files", [("mt25018", 1), ("mt25023", 3), ("mt25064", 6)])
def test_the_reports_tables_are_of_points_that_are_run(name, files, mode):
    profile = profiles.load(name, mode)
    plan = plans.make(profile, None, None, None, None, 1, "host")
    assert not schemas.faults(ROOT / "docs/plan.schema.json", json.loads(json.dumps(plan)))
    assert len(profile.summaries) == files
    for summary in profile.summaries:
        wanted = [what for _, what in summary["columns"] if what not in summaries.WORDS]
        for row in summary["rows"]:
            assert row.get("size", 512) in profile.sizes
            assert row.get("threads", 1) in profile.threads
            assert len(row["published"]) == len(wanted)
    assert set(values.COUNTS) >= {"cycles", "llc_misses", "context_switches"}
