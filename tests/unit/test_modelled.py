# SPDX-License-Identifier: GPL-2.0
"""What an emulator's plugin counted is read, stands apart from what was measured, and says so."""
from __future__ import annotations

import csv
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope.common.text import short
from copyscope.figures import draw_lines, jobs, lines, specs
from copyscope.files.output_folder import OutputFolder
from copyscope.pictures import groups
from copyscope.records.check import check
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import Point, Record
from copyscope.runs import answer, plan as planning, profile as profiles, tables
from helpers import plans as made_plans, records
from helpers.pictures import as_records, counted, made, modelled, two_passes, words

EVENT, MISSES = "L1-dcache-load-misses", 1000
# Of the timed pass of a made record.
MESSAGES = 60
COLUMNS = [["size", "size"], ["l1", "l1_misses"], ["cycles", "cycles"], ["gbps", "throughput_gbps"]]


def both(**changes) -> dict:
    """A record of two passes under the plugin."""
    return modelled(two_passes(made("A1-host", **changes)), MISSES)


def record_of(data: dict, name: str = "p") -> Record:
    """As the loader gives it."""
    return Record(data, Path("run.json"), Point(name, "A3", 4096, 1, 1, "mine", "corrected"))


def test_the_schema_takes_what_the_plugin_counted():
    check(both(), "run.json")
    faults = records.faults(both())
    assert not [fault for fault in faults if "modelled" in fault], faults


def test_an_event_of_an_end_is_the_sum_of_its_contexts():
    record = record_of(both())
    assert record.counter("sender", EVENT) is None
    assert record.modelled_counter("sender", EVENT) == 3 * MISSES
    assert record.modelled_counter("sender", "cycles") is None
    assert record.modelled.site("rx_copy", "l1d_misses") == MISSES
    assert record.modelled.site("tx_copy", "l1d_misses") == 0


def test_what_was_measured_comes_first():
    data = counted(made("A1-host"))
    record = record_of(modelled(two_passes(data)))
    assert record.counter("sender", EVENT) and record.modelled_counter("sender", EVENT) is None


@pytest.mark.parametrize("place", [("caches",), ("ends",), ("ends", 0, "l1d_misses"),
                                   ("sites", 0, "site"), ("caches", "name")])
def test_a_damaged_model_is_refused_with_its_key(place):
    data = both()
    node = data["experiment"]["passes"]["timed"]["modelled"]
    for key in place[:-1]:
        node = node[key]
    del node[place[-1]]
    with pytest.raises(BadRecord, match="modelled"):
        check(data, "run.json")


def written(tmp_path: Path, found: list[Record]) -> dict[str, list[list[str]]]:
    """Every table of a sweep with these records at one point each."""
    points = [made_plans.point(record.point.name) for record in found]
    plan = {**made_plans.plan(points), "tables": [{"file": "t.csv", "columns": COLUMNS}]}
    with OutputFolder.at(tmp_path) as folder:
        tables.write_all(folder, plan, found, [])
    return {file.name: list(csv.reader(file.read_text().splitlines()))
            for file in tmp_path.glob("*.csv")}


def test_a_column_says_that_its_numbers_are_modelled(tmp_path):
    found = written(tmp_path, [record_of(both())])
    assert found["t.csv"][0] == ["size", "l1 (modelled, a message)", "cycles", "gbps"]
    assert found["t.csv"][1][1:3] == [str(3 * MISSES // MESSAGES), ""]
    tidy = dict(zip(*found["tidy.csv"]))
    assert tidy["sender_l1_misses"] == "" and tidy["sender_l1_misses_modelled"] == str(3 * MISSES)
    assert any(row[5] == "rx_copy_l1d_misses_per_payload_byte_modelled" and float(row[8]) > 0
               for row in found["points.csv"])
    sites = found["modelled_sites.csv"]
    assert [row[5] for row in sites[1:]] == ["rx_copy"] and "zen2" in sites[1][6]


def test_a_sweep_without_times_tells_the_instructions_of_a_message():
    data = both()
    data["experiment"]["timing"].update(comparable=False, why="its clock counts instructions")
    told = answer.instructions_table([record_of(data)])
    mine = record_of(data).modelled
    ends = [short(mine.counter(end, "instructions") / MESSAGES / 1000) for end in ("sender", "receiver")]
    assert told[-1].split()[-3:-1] == ends
    said = answer.lines(made_plans.plan([]), [record_of(data)], [], Path("mine"), "")
    assert told[-1] in said and not answer.instructions_table([record_of(two_passes(made("A1-host")))])


def test_no_column_has_measured_and_modelled_numbers(tmp_path):
    measured = record_of(two_passes(counted(made("A1-host", 1))), "q")
    found = written(tmp_path, [record_of(both()), measured])
    assert found["t.csv"][0][1] == "l1" and [row[1] == "" for row in found["t.csv"][1:]] == [True, False]


def test_without_a_model_the_tables_are_as_ever(tmp_path):
    found = written(tmp_path, [record_of(two_passes(made("A1-host")))])
    assert "modelled_sites.csv" not in found
    assert not [name for name in found["tidy.csv"][0] if "modelled" in name]


def test_a_report_s_own_tables_have_modelled_numbers_where_nobody_measured(tmp_path):
    summary = {"file": "s.csv", "note": "n", "rows": [{"size": 4096, "threads": 1, "published": ["1M"]}],
               "columns": [["Size", "size"], ["Misses", "cache_misses of A3"], ["Cycles", "cycles of A3"],
                           ["Of its own", "cache_misses of A3 over A3"]]}
    plan = {**made_plans.plan(), "summaries": [summary]}
    with OutputFolder.at(tmp_path) as folder:
        tables.write_all(folder, plan, [record_of(both())], [])
    head, row = csv.reader((tmp_path / "s.csv").read_text().splitlines())
    assert head == ["Size", "Misses (modelled, a message)", "Misses, published", "Cycles", "Cycles, published",
                    "Of its own (modelled)", "Of its own, published"]
    # Of loads and stores in all contexts of the sender.
    assert row[1] == str(3 * MISSES // MESSAGES) and row[3] == ""


def test_a_report_s_tables_have_no_times_of_an_emulated_machine(tmp_path):
    data = both()
    data["machine"]["emulated"] = True
    found = written(tmp_path, [record_of(data)])
    assert dict(zip(*found["t.csv"]))["gbps"] == "" and dict(zip(*found["tidy.csv"]))["throughput_gbps"]


def test_the_list_of_a_sweep_s_figures_leads_to_those_of_its_model(tmp_path):
    assert jobs.modelled_pages([tmp_path], tmp_path / "figures") == []
    page = tmp_path / "modelled/figures/index.md"
    page.parent.mkdir(parents=True)
    page.write_text(jobs.TITLE)
    assert jobs.modelled_pages([tmp_path, "none"], tmp_path / "figures") == ["../modelled/figures/index.md"]
    # Of another sweep of the same name, which other sweeps lie beside.
    beside = tmp_path / "modelled/mine/figures/index.md"
    beside.parent.mkdir(parents=True)
    beside.write_text(jobs.TITLE)
    assert jobs.modelled_pages([tmp_path / "mine"], tmp_path / "mine/figures") == [
        "../../modelled/mine/figures/index.md"]
    work = list(jobs.jobs(groups.split(as_records([both()])), None))
    assert "not measured, of the same points:\n\n- [x](x)\n" in jobs.index(work, ["x"])
    assert "Modelled in" not in jobs.index(work)


def drawn(documents: list[dict], y: str) -> str:
    """All words of a figure of these records."""
    spec = specs.Spec("f", "T", "size", y)
    said = words(draw_lines.draw(groups.split(as_records(documents))[0], spec))
    return " ".join(said.split())


def test_a_figure_says_what_is_modelled():
    said = drawn([both()], "l1_misses_per_mb")
    assert "Modelled, not measured: caches of zen2, by QEMU" in said
    assert "lines / payload byte" in drawn([both()], "rx_copy_l2_misses_per_byte")


def test_instructions_stand_for_cycles_that_nobody_measured():
    said = drawn([both()], "cycles_per_byte")
    assert "T (modelled, in place of cycles)" in said and "payload byte" in said
    assert "instructions" not in drawn([two_passes(made("A1-host"))], "cycles_per_byte")
    plot = specs.Spec("f", "Plot 4: cycles per byte", "size", "cycles_per_byte")
    assert lines.drawn_instead([record_of(both())], plot).title == \
        "Plot 4: instructions per byte (modelled, in place of cycles, corrected)"


@pytest.mark.parametrize("mode, y, title", [
    ("as-published", "l1_misses", "T (modelled, as published)"),
    ("corrected", "cycles_per_byte", "T (modelled, in place of cycles, corrected)"),
    # Its kernel counts them.
    ("corrected", "context_switches", "T")])
def test_a_title_says_what_is_modelled_and_of_which_mode(mode, y, title):
    point = Point("p", "A1", 4096, 1, 1, "mine", mode)
    spec = lines.drawn_instead([Record(both(), Path("run.json"), point)], specs.Spec("f", "T", "size", y))
    assert spec.title == title


def test_a_title_of_what_was_measured_besides_is_as_it_was():
    measured = Record(two_passes(counted(made("A2-host", 1))), Path("other.json"))
    spec = lines.drawn_instead([record_of(both()), measured], specs.Spec("f", "T", "size", "l1_misses"))
    assert spec.title == "T"


def test_a_modelled_figure_is_of_a_message_as_sizes_have_runs_of_other_lengths():
    assert "count / message" in drawn([both()], "l1_misses") and "Modelled" in drawn([both()], "l1_misses")
    measured = two_passes(counted(made("A2-host", 1)))
    assert "count / run" in drawn([both(), measured], "l1_misses")


def test_a_figure_leaves_modelled_values_out_where_others_were_measured():
    measured = two_passes(counted(made("A2-host", 1)))
    said = drawn([both(), measured], "l1_misses_per_mb")
    assert "1 runs are left out, whose values are modelled" in said and "zen2" not in said


def profile_with(tmp_path: Path, **more) -> profiles.Profile:
    """A small profile."""
    lines = "".join(f'{key} = "{value}"\n' for key, value in more.items())
    file = tmp_path / "mine.toml"
    file.write_text(f'title = "t"\nreport = ""\nsizes = [64, 65536]\nthreads = [1]\nseconds = 2.0\n'
                    f'end = "sender"\n{lines}[corrected]\nnote = "n"\npath = "lo"\npattern = "rr"\n'
                    'threads_are = "connections"\nvariants = [{ label = "A1", variant = "A1" }]\n')
    return profiles.load(str(file))


def planned(profile: profiles.Profile, kernel: str = "6.12", counters: str | None = None) -> dict:
    """Its plan."""
    return planning.make(profile, None, None, None, None, 1, kernel, counters=counters)


def test_a_profile_may_ask_for_a_model(tmp_path):
    plan = planned(profile_with(tmp_path, counters="model:zen2"))
    few, many = (each["arguments"] for each in plan["points"])
    assert plan["counters"] == "model:zen2" and few[-4:] == ["--counters", "model:zen2", "--messages",
                                                             "1000"]
    assert many[-1] == "128"
    assert 10 < planning.duration_s(plan) < 60
    assert "counters" not in planned(profile_with(tmp_path))


@pytest.mark.parametrize("counters, kernel, complaint", [
    ("model", "host", "give --kernel"), ("model:pentium", "6.12", "caches here")])
def test_a_model_that_cannot_be_is_refused_before_any_run(counters, kernel, complaint, tmp_path):
    with pytest.raises(Unusable, match=complaint):
        planned(profile_with(tmp_path), kernel, counters)
    with pytest.raises(Unusable, match="counters: must be model"):
        profile_with(tmp_path, counters="pmu")
