# SPDX-License-Identifier: GPL-2.0
"""The model predicts from the baseline and A1-plain alone, and says so when it misses."""
from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from copyscope.model.costs import Costs
from copyscope.model.terms import FITTED, PREDICTED, ROWS, Fit, predict, total
from copyscope.records.documents import BadRecord
from copyscope_studies.model import command, draw, evaluate, measure
from helpers import pictures
from helpers.baselines import SIZES, baseline, plain_ns, row, timed

COSTS = Costs(baseline(), "made")
FITTED_RUNS = [timed(FITTED, size, plain_ns(size)) for size in SIZES]
# What each should take by these prices, written out by hand for 4096 bytes. Eight fields of 512
# touch 8 * (1 + 511 / 4096) pages.
EXPECTED = {"A1": plain_ns(4096) + 4096 / 10, "A1-8send": 8 * plain_ns(512),
            "A2": plain_ns(4096) + 500 + 8 * 20 - 450,
            "A3": plain_ns(4096) + 500 + 1000 * 8 * (1 + 511 / 4096) - 600}


def all_runs(**factors):
    """Runs of all variants, as long as they should be, times a factor for each."""
    fit = Fit(COSTS, {size: plain_ns(size) for size in SIZES}, {size: 0.1 for size in SIZES})
    return FITTED_RUNS + [timed(variant, size, total(predict(fit, variant, size))
                                * factors.get(variant[:2], 1))
                          for variant in PREDICTED for size in SIZES[1:]]


def points(documents, costs=COSTS):
    """What the model makes of these runs."""
    return evaluate.points(costs, pictures.as_records(documents))


@pytest.mark.parametrize("variant", PREDICTED)
def test_a_prediction_is_what_its_terms_add_up_to(variant):
    found, = [each for each in points(FITTED_RUNS + [timed(variant, 4096, 1e6)])
              if each.variant == variant]
    assert found.predicted == pytest.approx(EXPECTED[variant])
    assert sum(found.terms.values()) == pytest.approx(EXPECTED[variant])


def test_the_fitted_variant_is_met_at_every_size():
    assert all(each.error == pytest.approx(0) for each in points(FITTED_RUNS))


def over(path, run):
    """A run on another path."""
    return {**run, "experiment": {**run["experiment"], "path": {**run["experiment"]["path"], "kind": path}}}


@pytest.mark.parametrize("path, predicted", [("lo", PREDICTED), ("veth", PREDICTED), ("nic", PREDICTED[:-1]),
                                             ("forward", PREDICTED[:-1]), ("peer", PREDICTED[:-1])])
def test_each_path_is_fitted_and_pages_are_predicted_where_they_are_copied_late(path, predicted):
    documents = [over(path, each) for each in all_runs()]
    assert {each.variant for each in points(documents)} == {evaluate.FITTED, *predicted}
    assert ("no row of the baseline prices pages" in command.summary(points(documents), path)[-2]) == ("A3" not in predicted)


def test_runs_of_two_paths_are_refused():
    with pytest.raises(BadRecord, match="they are of lo, veth; give those of one path"):
        points([*all_runs()[:-1], over("veth", all_runs()[-1])])


def test_a_switch_is_priced_as_often_as_the_busier_end_was_switched():
    assert all(each.terms["switch"] == pytest.approx(0.1 * 2000) for each in points(FITTED_RUNS))


def test_nothing_measured_of_the_others_enters():
    once = points(all_runs())
    again = points(all_runs(A1=7, A2=0.3, A3=11))
    assert [each.predicted for each in once] == [each.predicted for each in again]
    assert [each.error for each in once] != [each.error for each in again]


def test_errors_are_of_the_prediction_over_the_measurement():
    found = points(all_runs(A2=0.5, A3=2))
    assert evaluate.median_error(found, "A1") == pytest.approx(0)
    assert evaluate.median_error(found, "A2") == pytest.approx(1)
    assert evaluate.median_error(found, "A3") == pytest.approx(0.5)
    assert evaluate.median_error(found, "A4") is None


def test_a_size_whose_fields_are_smaller_than_any_fitted_is_left_out():
    assert not [each for each in points(FITTED_RUNS + [timed("A1-8send", 16, 5000)])
                if each.variant == "A1-8send"]


@pytest.mark.parametrize("key,value", [
    ("backend__name", "tracepoint"), ("path__kind", "veth"), ("workload__threads", 2),
    ("workload__pattern", "rr"), ("machine__emulated", True), ("machine__cpu_model", "another"),
    ("machine__kernel", "5.10"), ("workload__variant", "A3-reuse"), ("workload__messages", 0)])
def test_a_run_that_the_model_says_nothing_of_is_refused(key, value):
    with pytest.raises(BadRecord) as refused:
        points(FITTED_RUNS + [timed("A2", 4096, 1000, **{key: value})])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("changes", [
    {"write_pieces": row("write-pieces", 1, status="invalid")}, {"syscall": row("other", 1)},
    {"zerocopy_pieces": row("zerocopy-pieces", 5.0)}])
def test_a_price_that_was_not_proved_is_not_used(changes):
    with pytest.raises(BadRecord, match="run tools/baseline with the row"):
        points(all_runs(), Costs(baseline(**changes), "made"))


def test_two_sizes_of_the_fitted_variant_are_the_fewest():
    with pytest.raises(BadRecord, match="two sizes"):
        points(FITTED_RUNS[:1])


def test_the_rows_that_are_measured_are_all_that_is_used():
    assert {each["row"] for each in baseline()["rows"]} == set(ROWS)


@pytest.fixture(name="inputs")
def fixture_inputs(tmp_path):
    """Writes a baseline and runs; returns what to type."""
    def write(documents, prices=None):
        (tmp_path / "baseline.json").write_text(json.dumps(prices or baseline()))
        folder = pictures.write(tmp_path / "runs", documents)
        return [str(tmp_path / "baseline.json"), str(folder), "--out", str(tmp_path / "out")]
    return write


def test_the_command_writes_table_page_and_figure(inputs, tmp_path, capsys):
    assert command.main(inputs(all_runs())) == 0
    shown = capsys.readouterr()
    assert "predicted median error 0% over 16 points" in shown.out and not shown.err
    rows = list(csv.DictReader((tmp_path / "out/predictions.csv").open()))
    assert len(rows) == 20 and {each["variant"] for each in rows} == {FITTED, *PREDICTED}
    assert {each["dominant"] for each in rows if each["variant"] == "A3"} >= {"reference"}
    page = (tmp_path / "out/predictions.md").read_text()
    assert "| A1-8send | 4096 |" in page and "reference: sending pages" in page
    assert "time a message" in (tmp_path / "out/predicted-against-measured.svg").read_text()
    assert (tmp_path / "out/predicted-against-measured.png").stat().st_size > 10_000


def test_a_model_that_misses_is_status_1_and_still_written(inputs, tmp_path, capsys):
    assert command.main(inputs(all_runs(A1=2, A2=2, A3=2))) == 1
    assert "above 25%" in capsys.readouterr().err
    assert (tmp_path / "out/predictions.csv").exists()


def test_a_prediction_below_nothing_is_status_1_and_named(inputs, tmp_path, capsys):
    # One whole piece for more than all that eight pieces and their message take.
    prices = baseline()
    for each in prices["rows"]:
        if each["row"] == "write-whole":
            each["measured"]["value"] *= 1e6
    words = inputs([*FITTED_RUNS, *(timed("A2", size, plain_ns(size)) for size in SIZES[1:])], prices)
    assert command.main(words) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "not above 0 ns (A2 at 64 B, A2 at 512 B, " in line]
    assert said[-1].removeprefix("predict: ") in (tmp_path / "out/predictions.md").read_text()
    rows = list(csv.DictReader((tmp_path / "out/predictions.csv").open()))
    assert {each["variant"] for each in rows if float(each["predicted_ns"]) <= 0} == {"A2"}


@pytest.mark.parametrize("documents", [
    FITTED_RUNS, FITTED_RUNS[:1], [timed("A2", 4096, 1000)],
    [*FITTED_RUNS, timed("A2", 4096, 1000, backend__name="tracepoint")]])
def test_what_cannot_be_judged_leaves_no_file(inputs, tmp_path, capsys, documents):
    assert command.main(inputs(documents)) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [
    "", "base.json", "base.json --out o", "base.json runs --out o", "--out o --seconds 0",
    "--out o --repeats none", "--out o --fast", "base.json runs --out o --repeats 3"])
def test_bad_usage_is_one_line_and_status_2(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command.main(words.split()) == 2
    shown = capsys.readouterr()
    assert not shown.out and shown.err.startswith("predict: ") and shown.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("status,passed_on", [(1, 1), (3, 3), (-9, 1)])
def test_a_baseline_that_fails_is_not_kept(status, passed_on, tmp_path, monkeypatch, capsys):
    def fail(words, **_):
        record = json.dumps(baseline(send_copy=row("send-copy", 1, status="invalid")))
        return type("Done", (), {"returncode": status, "stdout": record.encode()})
    monkeypatch.setattr(measure.launch, "check_built", lambda _: None)
    monkeypatch.setattr(measure.baseline, "PROGRAM", Path(__file__))
    monkeypatch.setattr(measure.baseline.subprocess, "run", fail)
    monkeypatch.setattr(measure, "conduct", lambda *_: pytest.fail("swept all the same"))
    assert command.main(["--out", str(tmp_path)]) == passed_on
    assert "send-copy is invalid: a neighbour" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_measuring_without_root_says_what_to_type(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(measure.launch.os, "geteuid", lambda: 65534)
    assert command.main(["--out", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "out").exists()


def test_the_figure_can_be_read():
    for documents in (all_runs(), all_runs(A3=50), FITTED_RUNS + all_runs()[-1:]):
        figure = draw.draw(points(documents), "of made records " * 9)
        assert not pictures.faults_of_text(figure)
        said = pictures.words(figure)
        assert "A1-plain: fitted" in said and "A3: median error" in said
