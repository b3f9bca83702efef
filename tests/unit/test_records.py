# SPDX-License-Identifier: GPL-2.0
"""A damaged record is refused with its key, or it does no harm: no reader stumbles over it."""
from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from copyscope.figures import lines, specs
from copyscope.pictures import arrows as copymap, groups
from copyscope.records.check import check
from copyscope.records.documents import BadRecord
from copyscope.records.load import load_sweep
from copyscope.records.run_record import Point, Record
from copyscope.runs import tables, values
from helpers import plans
from helpers.names import ROOT
from helpers.pictures import REAL, made, two_passes

SETTINGS = {"figures_of": "first", "throughput_is": "elapsed", "latency_is": "measured",
            "end": "sender"}
DAMAGE = {"gone": None, "null": None, "text": "x", "list": [], "table": {}, "number": 3.5}
DOCUMENTS = {**REAL, "two passes": two_passes(made("A3-host"))}
# What no reader of a sweep or a figure looks into.
UNREAD = ("backend", "command", "subject", "window", "books", "detail", "count_whys")


def places(value, at=()):
    """Where something lies in a document, but for all elements of a list after the second."""
    pairs = value.items() if isinstance(value, dict) else \
        enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*at, key)
        yield from places(inner, (*at, key))


def damaged(data, place, how):
    """A record with one thing in it gone or replaced; what does not hold that thing is the record's own."""
    data = node = copy.copy(data)
    for key in place[:-1]:
        node[key] = node = copy.copy(node[key])
    if how == "gone":
        del node[place[-1]]
    else:
        node[place[-1]] = copy.deepcopy(DAMAGE[how])
    return data


def read_all(data) -> None:
    """Do what sweeps and figures do with a record, short of drawing."""
    check(data, "run.json")
    record = Record(data, Path("run.json"), Point("p", "A3", 4096, 1, 1, "mine", "corrected", True))
    record.broken_laws()
    tables.tidy_row(record)
    values.metrics(record, SETTINGS)
    for what in ("throughput_gbps", "latency_us", "total_bytes", "duration_s", "cycles"):
        values.column(record, SETTINGS, what)
    # Of a lone run, as a figure has no folder with a plan here.
    group, = groups.split([Record(data, Path("run.json"))])
    assert group.provenance
    copymap.build(group.records)
    for spec in specs.DEFAULTS:
        lines.panels(group.records, spec)


def newer(data):
    """An older record with the verdict of a newer one."""
    verdict = {"sentence": data["experiment"]["verdict"], "passed": True, "laws_broken": 0}
    return {**data, "experiment": {**data["experiment"], "verdict": verdict}}


@pytest.mark.parametrize("name", ["A1-host", "A3-host"])
def test_a_verdict_of_either_age_is_read(name):
    for data in (REAL[name], newer(REAL[name])):
        check(data, "run.json")
        assert Record(data, "run.json").kept_sentence == REAL[name]["experiment"]["verdict"]
    good = newer(REAL[name])["experiment"]
    for wrong in ({"laws_broken": 0}, 7, {**good["verdict"], "passed": "no"}):
        with pytest.raises(BadRecord, match="verdict"):
            check({**REAL[name], "experiment": {**good, "verdict": wrong}}, "run.json")


def lines_of(tool):
    """The lines of docs/RECORDS.md that begin with a word."""
    text = (ROOT / "docs/RECORDS.md").read_text()
    return re.findall(rf"^    ({tool} .*)$", text, re.M)


@pytest.mark.parametrize("line", lines_of("jq"))
def test_each_line_of_jq_that_is_told_works(line, tmp_path):
    if not shutil.which("jq"):
        pytest.skip("jq is missing: the lines for it were not run")
    (tmp_path / "results/runs").mkdir(parents=True)
    (tmp_path / "results/runs/one.json").write_text(json.dumps(newer(REAL["A3-host"])))
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr
    # No law broke, and no run did not pass.
    assert bool(done.stdout) == ("broken" not in line and "| not" not in line)


def test_the_lines_of_pandas_that_are_told_work(tmp_path):
    pytest.importorskip("pandas", reason="pandas is missing: the lines for it were not run")
    text = (ROOT / "docs/RECORDS.md").read_text().split("## pandas")[1]
    (tmp_path / "results/runs").mkdir(parents=True)
    (tmp_path / "results/runs/new.json").write_text(json.dumps(newer(REAL["A3-host"])))
    script = "\n".join(re.findall(r"^    (.*)$", text, re.M))
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", ["A3-host", "A3-guest", "two passes"])
def test_no_damage_makes_a_reader_stumble(name, how):
    whole, refused = DOCUMENTS[name], 0
    read_all(whole)
    for place in places(whole):
        # The rest of a newer record is as in the older ones.
        if place[0] in UNREAD or place[1:2] == ("verdict",) or \
                "passes" in whole["experiment"] and place[1:2] != ("passes",):
            continue
        try:
            read_all(damaged(whole, place, how))
        except BadRecord as error:
            assert str(error).startswith("run.json: ") and "\n" not in str(error)
            refused += 1
    assert refused > (25 if "passes" in whole["experiment"] else 60)


@pytest.mark.parametrize("place, key", [
    (("laws", 0, "status"), "laws[0].status"), (("sockets", 1, "connection"), "sockets[1].connection"),
    (("experiment", "timing", "latency_us", "what"), "experiment.timing.latency_us.what"),
    (("sites", "rx_copy", "bytes"), "sites.rx_copy.bytes"), (("started",), "started")])
def test_what_is_gone_is_named(place, key):
    with pytest.raises(BadRecord, match="it is missing") as caught:
        check(damaged(REAL["A3-host"], place, "gone"), "run.json")
    assert f"run.json: {key}: " in str(caught.value)


@pytest.mark.parametrize("text, key", [
    ("[]", "schema"), ('{"schema": "copyscope.plan/1", "mode": "corrected"}', "profile"),
    (json.dumps(plans.plan([{"name": "x"}])), "points[0].label"),
    (json.dumps(plans.plan(repeats=10 ** 7)), "repeats"),
    (json.dumps(plans.plan([plans.point("a"), plans.point("a")])), "points.name"),
    (json.dumps(plans.plan(map(plans.point, map(str, range(11))), repeats=10000)), "repeats"),
    ("{", "JSON")])
def test_a_damaged_plan_is_named(tmp_path, text, key):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(BadRecord) as caught:
        load_sweep(tmp_path)
    assert f"plan.json: {key}: " in str(caught.value)


def test_the_plans_that_are_committed_can_be_read():
    for plan in (Path(__file__).resolve().parents[2] / "results").glob("*/plan.json"):
        assert load_sweep(plan.parent) == [] and json.loads(plan.read_text())["points"]
