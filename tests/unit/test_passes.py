# SPDX-License-Identifier: GPL-2.0
"""Every number of a time says which pass it is from, and no table or figure mixes two kinds."""
from __future__ import annotations

import copy
import csv
import json
from pathlib import Path

import pytest

from copyscope.common import spread
from copyscope.common.errors import Unusable
from copyscope.figures import draw_bars, draw_lines, specs
from copyscope.files.output_folder import OutputFolder
from copyscope.pictures import groups
from copyscope.records.check import check
from copyscope.records.documents import BadRecord
from copyscope.records.load import load_plan
from copyscope.records.passes import PROBED
from copyscope.records.run_record import Point, Record
from copyscope.runs import launch, plan as plans, profile as profiles, tables, values
from helpers import pictures, plans as made_plans
from helpers.pictures import REAL, as_records, made, sweep, two_passes, words

SETTINGS = {**made_plans.SETTINGS}
EVENT, COUNT = "context-switches", 23


def both(**changes):
    """A record of two passes whose timed pass moved three times as much."""
    return two_passes(made("A1-host", **changes))


def record_of(data, point=None):
    """As the loader gives it, checked."""
    check(data, "run.json")
    return Record(data, Path("run.json"), point)


def no_probes():
    """A record of version 1 whose run had no probes."""
    return made("A1-host", backend__name="none")


@pytest.mark.parametrize("data, kind", [
    (made("A1-host"), "counted"), (no_probes(), "timed"), (both(), "timed"),
    (two_passes(made("A1-host"), kinds=("counted",)), "counted"),
    (two_passes(no_probes(), kinds=("timed",)), "timed")])
def test_a_record_says_which_pass_its_times_are_from(data, kind):
    record = record_of(data)
    assert record.times.kind == kind and record.times.probed == (kind == "counted")


def test_times_are_of_the_timed_pass_and_copies_of_the_counted_one():
    data, old = both(), REAL["A1-host"]
    data["experiment"]["passes"]["timed"]["counters"]["sender"][EVENT]["value"] = COUNT
    record, messages = record_of(data), old["experiment"]["workload"]["messages"]
    assert record.throughput_gbps == pytest.approx(3 * old["experiment"]["timing"]["throughput_gbps"])
    assert record.latency_us("p99") == pytest.approx(old["experiment"]["timing"]["latency_us"]["p99"] / 3)
    assert record.message_ns == pytest.approx(old["experiment"]["timing"]["elapsed_ns"] / messages / 3)
    assert record.counter("sender", EVENT) == COUNT
    assert record.messages == messages and record.site_per_byte("rx_copy") == pytest.approx(1)
    found = values.metrics(record, SETTINGS)
    # Divided by the messages of its own pass.
    assert found["sender_context_switches_per_message"] == pytest.approx(COUNT / messages / 3)
    assert found["send_calls_per_message"] == pytest.approx(1)
    assert values.column(record, SETTINGS, "total_bytes") == 3 * old["experiment"]["workload"]["received_bytes"]


def test_two_passes_share_the_nominal_time():
    nominal = {**SETTINGS, "throughput_is": "nominal"}
    asked = {"workload__seconds": 4.0, "workload__messages_asked": None}
    for data, seconds in ((both(**asked), 2), (made(**asked), 4)):
        record = record_of(data)
        assert values.column(record, nominal, "duration_s") == seconds
        assert values.throughput_gbps(record, nominal) == \
            pytest.approx(record.times.received_bytes * 8e-9 / seconds)


def test_one_client_is_of_the_timed_pass_too():
    record = record_of(both(), Point("p", "A1", 4096, 1, 1, "mine", "as-published", True))
    old = Record(REAL["A1-host"], Path("old"), record.point)
    assert (record.times.kind, old.times.kind) == ("timed", "counted")
    assert record.throughput_gbps == pytest.approx(3 * old.throughput_gbps)
    assert record.latency_us() == pytest.approx(old.latency_us() / 3)
    of_first = {**SETTINGS, "figures_of": "first"}
    assert values.column(record, of_first, "total_messages") == \
        3 * values.column(old, of_first, "total_messages")


def test_tables_name_the_pass_of_each_number():
    row = dict(zip(tables.tidy_header(), tables.tidy_row(record_of(both()))))
    assert row["times_from_pass"] == "timed" and row["attempts"] == 1
    assert row["times_messages"] == 3 * row["messages"]
    assert row["throughput_gbps"] * row["elapsed_s"] * 1e9 / 8 == \
        pytest.approx(row["times_payload_bytes"], rel=1e-6)
    plan = made_plans.plan()
    points = {"p": [record_of(both(), Point("p", "A3", 4096, 1, 1, "mine", "corrected"))]}
    from_pass = {row[5]: row[6] for row in tables.point_rows(plan, points)}
    assert {from_pass[name] for name in ("throughput_gbps", "latency_p99_us",
                                         "sender_cycles_per_message")} == {"timed"}
    assert {from_pass[name] for name in ("rx_copy_bytes_per_payload_byte", "messages",
                                         "pinned_pages_per_message")} == {"counted"}
    assert from_pass["overhead_throughput_ratio"] == "both"


def test_a_sweep_of_both_kinds_gets_no_table(tmp_path):
    point = Point("p", "A3", 4096, 1, 1, "mine", "corrected")
    mixed = [record_of(each, point) for each in (both(), made("A1-host"))]
    with OutputFolder.at(tmp_path) as folder, pytest.raises(BadRecord, match="1 of 2 were timed"):
        tables.write_all(folder, made_plans.plan(), mixed, [])
    assert not list(tmp_path.iterdir())


def test_figures_of_both_kinds_are_drawn_apart_and_say_so(tmp_path):
    new, old = both(), made("A1-host", 1)
    folder = pictures.write(tmp_path / "in", [new, old])
    done = pictures.plot(folder, "--out", tmp_path / "out")
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and "drawn apart" in done.stderr
    names = {path.stem for path in (tmp_path / "out").glob("copies-by-site*.png")}
    assert names == {"copies-by-site-timed", "copies-by-site-counted"}
    spec = specs.DEFAULTS[0]
    said = {group.probed: words(draw_lines.draw(group, spec))
            for group in groups.split(as_records([new, old]))}
    assert PROBED in said[True] and "Timed without probes" not in said[True]
    assert PROBED not in said[False] and "Timed without probes" in said[False]


@pytest.mark.parametrize("key", ["elapsed_ns", "messages", "received_bytes", "throughput_gbps",
                                 "latency_us", "counters", "first_client"])
@pytest.mark.parametrize("how", ["gone", "text"])
def test_a_damaged_pass_is_named(key, how):
    data = both()
    if how == "gone":
        del data["experiment"]["passes"]["timed"][key]
    else:
        data["experiment"]["passes"]["timed"][key] = "x"
    with pytest.raises(BadRecord, match=rf"passes\.timed\.{key}"):
        check(data, "run.json")


@pytest.mark.parametrize("value", [[], "x", {}, {"timed": 1, "counted": None, "why": None}])
def test_passes_that_are_there_are_whole(value):
    with pytest.raises(BadRecord, match=r"run\.json: experiment\.passes"):
        data = both()
        check({**data, "experiment": {**data["experiment"], "passes": value}}, "run.json")


# Counts

def test_medians_of_counts_are_counts():
    assert spread.middle([3, 8]) == 5.5 and spread.middle([8, 3], True) == 3
    assert spread.spread([2, 9, 4, 7], True).middle == 4
    documents = [made(number=number) for number in range(2)]
    for each, value in zip(documents, (10, 15)):
        each["experiment"]["counters"]["sender"][EVENT]["value"] = value
    records = as_records(documents)
    assert tables.middle(records, SETTINGS, "context_switches") == 10
    spec = specs.Spec("f", "T", "size", "context_switches", end="sender")
    figure = draw_lines.draw(groups.split(records)[0], spec)
    assert "lower is shown" in words(figure)


# Plans

def make_plan(name, passes=None):
    """The plan of a whole profile."""
    return plans.make(profiles.load(name), None, None, None, None, 1, "host", passes)


def test_a_plan_has_two_passes_unless_told():
    plan, one = make_plan("standard"), make_plan("standard", "counted")
    assert (plan["pass"], one["pass"], make_plan("model")["pass"]) == ("both", "counted", "timed")
    assert plans.differs(plan, one) == "pass"
    # Two passes share the measured time.
    assert 0 < plans.duration_s(plan) - plans.duration_s(one) <= 0.5 * len(plan["points"])
    run = plans.runs(plan)[0]
    assert "--pass" not in launch.command_of(run, None, 2, "host", "both")
    assert "--pass timed --seconds 2" in " ".join(launch.command_of(run, None, 2, "host", "timed"))
    quiet = plans.runs(make_plan("model"))[0]
    assert "--pass" not in launch.command_of(quiet, None, 2, "host", "timed")


def test_a_profile_without_probes_counts_nothing():
    with pytest.raises(Unusable, match="--pass both"):
        make_plan("model", "both")


@pytest.mark.parametrize("probes, kind", [({}, "counted"), ({"probes": False}, "timed")])
def test_a_plan_of_before_says_how_its_runs_were_made(tmp_path, probes, kind):
    plan = made_plans.plan(**probes)
    del plan["pass"]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert load_plan(tmp_path)["pass"] == kind


# Replies

def test_the_inventory_of_a_reply_is_3_2_and_2():
    heights = {}
    for variant, tx in (("A1", {"user_gather": 1, "tx_copy": 1}), ("A2", {"tx_copy": 1}),
                        ("A3", {"tx_reference": 1, "late_copy": 1})):
        data = copy.deepcopy(REAL[f"{variant}-host"])
        payload = data["experiment"]["workload"]["received_bytes"]
        data["experiment"]["workload"].update(pattern="rr", received_bytes=2 * payload)
        for each in data["sockets"]:
            mine = tx if each["end"] == "sender" else {"tx_copy": 1}
            for site in ("user_gather", "tx_copy", "tx_reference", "late_copy"):
                each["sites"][site]["bytes"] = payload * mine.get(site, 0)
            each["sites"]["rx_copy"]["bytes"] = payload
            each["sites"]["reshape"]["bytes"] = 0
            each["counts"]["returned_bytes"] = payload
        data["sites"]["reshape"].update(bytes=0, how="measured", why=None)
        group, = groups.split(as_records([data]))
        figure = draw_bars.copy_bars(group)
        heights[variant] = sum(bar.get_height() for bar in figure.axes[0].patches)
        assert "replies alone" in words(figure) and "bytes / reply byte" in words(figure)
    assert heights == pytest.approx({"A1": 3, "A2": 2, "A3": 2})


# Figures as a report drew them

def drawn(documents, **keys):
    """One figure of these records, and its lines by panel."""
    figure = draw_lines.draw(groups.split(as_records(documents))[0], specs.Spec("f", "T", **keys))
    return figure, [[line for line in axes.lines if line.get_marker() not in ("None", "_", "|")]
                    for axes in figure.axes]


def test_a_mean_over_threads_is_one_line_and_leaves_out_what_is_not_whole():
    documents = sweep(("A1",), (64, 4096), (1, 4), 1)
    for each, gbps in zip(documents, (1.0, 3.0, 10.0, 20.0)):
        each["experiment"]["timing"]["throughput_gbps"] = gbps
    figure, (lines,) = drawn(documents, x="size", y="throughput_gbps", mean_over="threads")
    assert list(lines[0].get_ydata()) == [2, 15] and "mean over threads 1, 4" in words(figure)
    documents[3]["experiment"]["timing"]["throughput_gbps"] = None
    figure, (lines,) = drawn(documents, x="size", y="throughput_gbps", mean_over="threads")
    assert lines[0].get_ydata()[0] == 2 and "not measured" in words(figure)


def test_two_quantities_stand_side_by_side():
    documents = [pictures.counted(each) for each in sweep(("A1", "A2"), threads=(1,))]
    figure, panels = drawn(documents, x="size", y="l1_misses", beside="llc_misses")
    assert [len(lines) for lines in panels] == [2, 2] and not pictures.faults_of_text(figure)
    assert [axes.get_title("left") for axes in figure.axes] == \
        ["L1 data cache load misses", "Last-level cache load misses"]
    # Also where this machine counts neither.
    assert len(drawn(sweep(), x="size", y="l1_misses", beside="llc_misses")[0].axes) == 2


@pytest.mark.parametrize("entry, key", [
    ({"mean_over": "size"}, "mean_over"), ({"beside": "bandwidth"}, "beside"),
    ({"beside": "latency_us", "panels": "threads"}, "beside"),
    ({"beside": "throughput_gbps"}, "beside")])
def test_keys_that_make_no_sense_together_are_named(entry, key):
    with pytest.raises(BadRecord, match=rf"figures\[1\]\.{key}"):
        specs.parse("mine.toml", 1, {"file": "f", "title": "T", "x": "size",
                                     "y": "throughput_gbps", **entry}, "both")


@pytest.mark.parametrize("clock, said", [(True, "times the busy processors"),
                                         (False, "Warning: A1, send() at 4 threads: a speed-up of 6.0")])
def test_a_speed_up_beyond_the_processors_is_explained_or_warned_of(clock, said):
    documents = sweep(("A1",), (4096,), (1, 4), 1)
    for each, gbps in zip(documents, (1.0, 6.0)):
        each["experiment"]["timing"]["throughput_gbps"], each["machine"]["cpus"] = gbps, 2
        for end in ("sender", "receiver"):
            each["experiment"]["counters"][end]["task-clock"]["value"] = 10 ** 6 if clock else None
    assert said in words(drawn(documents, x="threads", y="speedup")[0])
    for each in documents:
        each["machine"]["cpus"] = 8
    documents[1]["experiment"]["timing"]["throughput_gbps"] = 3.9
    assert "speed-up of" not in words(drawn(documents, x="threads", y="speedup")[0])


def test_the_committed_matrix_shows_the_copies_of_plain_sends():
    rows = list(csv.DictReader((Path(__file__).resolve().parents[2]
                                / "results/matrix/matrix.csv").open(encoding="utf-8")))
    for row in rows:
        plain = row["variant"] in ("A1", "A2")
        assert row["rx_copy_bytes"] == row["accepted_bytes"]
        assert row["tx_copy_bytes"] == (row["accepted_bytes"] if plain else "0")
        assert row["user_gather_bytes"] == (row["accepted_bytes"] if row["variant"] == "A1" else "0")
