# SPDX-License-Identifier: GPL-2.0
"""Figures show what the records say, say what was not measured, and can be read."""
from __future__ import annotations

import errno
import html
import json
import math
import re
import resource

import pytest

from copyscope import drawing
from copyscope.common import spread
from copyscope.common.errors import Unusable
from copyscope.common.tables import column
from copyscope.figures import draw_bars, draw_lines, specs
from copyscope.figures.metrics import METRICS
from copyscope.pictures import copymap as draw_map, groups
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import Point, Record
from helpers import pictures, plans
from helpers.names import VARIANTS
from helpers.pictures import as_records, counted, faults_of_text, made, sweep, variance, words

DEFAULTS = {spec.file: spec for spec in specs.DEFAULTS}
NO_PMU = "no such hardware counter"
UNCOUNTED = {"l1_misses_per_mb-by-size", "llc_misses_per_mb-by-size", "cycles_per_byte-by-size"}


def group_of(documents, point=None):
    """The one group that these records make."""
    found = groups.split(as_records(documents, point))
    assert len(found) == 1
    return found[0]


def figures(documents, lines=specs.DEFAULTS):
    """Every figure of these records that the command would draw, but of lines these alone."""
    for group in groups.split(as_records(documents)):
        for spec in lines:
            yield spec.file, draw_lines.draw(group, spec)
        yield "copies", draw_bars.copy_bars(group)
        yield "pins", draw_bars.pin_bars(group)
        # As many maps as lines, in turn: one is like the next.
        labels = list(draw_bars.by_label(group).items())
        for label, mine in labels if len(lines) == len(specs.DEFAULTS) else labels[::3]:
            yield f"map {label}", draw_map.draw(group, label, mine)


def lines_of(figure):
    """Lines with a marker and points, of all axes."""
    return [line for axes in figure.axes for line in axes.lines
            if line.get_marker() not in ("None", "_", "|") and len(line.get_xdata())]


SETS = {
    "a sweep": lambda: sweep(),
    "all variants": lambda: sweep(VARIANTS, repeats=1),
    "one point": lambda: [made()],
    "counters": lambda: [counted(each) for each in sweep()],
    "a guest": lambda: [made("A3-guest")],
    "two paths": lambda: sweep(("A3",)) + sweep(("A3",), path__kind="lo", path__tx_dev="lo", path__rx_dev="lo"),
    "many sizes": lambda: sweep(("A1", "A3"), sizes=tuple(range(8, 4000, 97)), threads=(1,), repeats=1),
    "many threads": lambda: sweep(("A1", "A3"), sizes=(4096,), threads=(1, 2, 4, 8, 16, 32, 64, 100, 128, 256)),
    "long words": lambda: [made(workload__variant="A3-" + "verylong" * 9, timing__why=pictures.LONG,
                                timing__throughput_gbps=None, machine__cpu_model="C$P_U^ " * 30)],
    "no probes": lambda: [pictures.blind(made())],
    "nothing arrived": lambda: [made(workload__received_bytes=0, workload__messages=0,
                                     timing__throughput_gbps=0.0)],
}


# "counters" has the figures of "a sweep" and more. A set of other records has every third figure of lines, in turn.
THIRDS = [(name, specs.DEFAULTS if name == "counters" else specs.DEFAULTS[number % 3::3])
          for number, name in enumerate(SETS) if name != "a sweep"]


@pytest.mark.parametrize("name, lines", [*THIRDS, *(pytest.param(name, specs.DEFAULTS, marks=pytest.mark.long) for name in SETS
                                                    if name != "counters")], ids=lambda each: each if isinstance(each, str) else "")
def test_text_stays_on_the_page_and_apart(name, lines):
    for title, figure in figures(SETS[name](), lines):
        assert not faults_of_text(figure), title


@pytest.mark.parametrize("name", METRICS)
def test_axes_carry_units(name):
    spec = specs.Spec("f", "T", "threads", name)
    axes, = draw_lines.draw(group_of([counted(each) for each in sweep()]), spec).axes
    assert f"[{METRICS[name].unit}]" in " ".join(axes.get_ylabel().split())
    assert axes.get_xlabel() == "Threads [number]"
    assert axes.get_ylim()[0] == 0


def test_what_was_not_counted_is_said_and_not_drawn_as_zero():
    for name in ("l1_misses_per_mb-by-size", "llc_misses_per_mb-by-size",
                 "cycles_per_byte-by-size"):
        figure = draw_lines.draw(group_of(sweep()), DEFAULTS[name])
        assert "not measured: this machine has" in words(figure) and NO_PMU in words(figure)
        assert not lines_of(figure) and not figure.axes[0].get_yticks().size


def test_series_that_lack_points_are_named():
    documents = [data if data["experiment"]["workload"]["variant"] == "A2" else counted(data) for data in sweep()]
    figure = draw_lines.draw(group_of(documents), DEFAULTS["cycles_per_byte-by-size"])
    assert "not measured: A2, sendmsg() (1 thread); A2, sendmsg() (4 threads): this machine" in \
        words(figure)
    # A1 and A3, in each of 2 panels.
    assert len(lines_of(figure)) == 4


def test_a_line_is_broken_where_a_point_is_missing():
    documents = sweep(("A1",), (4096,), (1, 2, 4), 1)
    documents[1]["experiment"]["timing"]["throughput_gbps"] = None
    figure = draw_lines.draw(group_of(documents), DEFAULTS["throughput_gbps-by-threads"])
    line, = lines_of(figure)
    assert [math.isnan(y) for y in line.get_ydata()] == [False, True, False]


def test_times_of_an_emulated_guest_are_refused():
    group = group_of([made("A3-guest")])
    for name in ("throughput_gbps-by-size", "latency_us-by-threads", "speedup-by-threads"):
        figure = draw_lines.draw(group, DEFAULTS[name])
        assert "times of an emulated machine mean nothing" in words(figure)
        assert not lines_of(figure)
    assert "counts are exact" in words(draw_lines.draw(group, DEFAULTS["speedup-by-threads"]))


def test_series_are_told_apart_without_colour():
    spec = specs.Spec("f", "T", "size", "throughput_gbps", ("label", "threads"))
    figure = draw_lines.draw(group_of(sweep(threads=(1, 2, 4, 8))), spec)
    handles = figure.legends[0].get_lines()
    assert len(handles) == len(lines_of(figure)) == 12
    assert len({line.get_marker() for line in handles}) == 12
    assert len({str(line._unscaled_dash_pattern) for line in handles}) == 12
    assert len({drawing.mark(index) for index in range(14 * 14)}) == 14 * 14


def test_bars_are_told_apart_without_colour():
    assert len(set(drawing.HATCHES)) == len(drawing.HATCHES) == len(drawing.FILLS)


def test_medians_and_ranges_are_those_of_the_records():
    documents = [made(number=n, timing__throughput_gbps=value)
                 for n, value in enumerate((3.0, 9.0, 4.0))]
    figure = draw_lines.draw(group_of(documents), specs.Spec("f", "T", "size", "throughput_gbps"))
    assert list(lines_of(figure)[0].get_ydata()) == [4.0]
    low, high = figure.axes[0].collections[0].get_segments()[0][:, 1]
    assert (low, high) == (3.0, 9.0)
    assert "n = 3" in words(figure) and "75 %" in words(figure)


def test_interval_holds_the_median_as_often_as_it_says():
    for n in range(1, 60):
        cut = spread.rank_below(n)
        if cut is None:
            assert n < 6
            continue
        held = 1 - 2 * sum(math.comb(n, rank) for rank in range(cut + 1)) / 2 ** n
        assert held >= 0.95
    assert [spread.kind(n) for n in (1, 2, 5, 6)] == \
        ["", "range of repeats", "range of repeats", "95 % interval of the median"]
    assert spread.spread([5, 1, 3]) == spread.Spread(3, 1, 5, 3)


def test_efficiency_of_a_flat_thread_axis_falls_as_one_over_n():
    documents = sweep(("A1",), (4096,), (1, 2, 4, 8), 1, timing__throughput_gbps=2.0,
                      workload__connections=1)
    figure = draw_lines.draw(group_of(documents), DEFAULTS["efficiency-by-threads"])
    assert list(lines_of(figure)[0].get_ydata()) == [1, 0.5, 0.25, 0.125]
    assert "connections open: 1 at 2, 1 at 4, 1 at 8" in words(figure)


def test_a_zero_does_not_go_on_a_log_axis():
    documents = sweep(repeats=1)
    documents[0]["experiment"]["timing"]["throughput_gbps"] = 0.0
    figure = draw_lines.draw(group_of(documents), DEFAULTS["throughput_gbps-by-size"])
    assert {axes.get_yscale() for axes in figure.axes} == {"linear", "log"}


def test_the_call_stands_beside_the_code():
    group = group_of(sweep(threads=(1,)))
    figure = draw_lines.draw(group, DEFAULTS["throughput_gbps-by-size"])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "A1, send()", "A2, sendmsg()", "A3, MSG_ZEROCOPY"]
    for drawn in (draw_bars.copy_bars(group), draw_bars.pin_bars(group),
                  draw_map.draw(group, "A3", draw_bars.by_label(group)["A3"])):
        assert "A3, MSG_ZEROCOPY" in words(drawn)


def test_the_legend_says_what_a_site_is():
    meaning = column("sites", "meaning")
    group = group_of(sweep(threads=(1,)))
    legend, = draw_bars.copy_bars(group).legends
    found = [" ".join(text.get_text().split()) for text in legend.get_texts()]
    assert found[0] == f"rx_copy: {meaning['rx_copy']}" and len(found) == 4
    shown = words(draw_map.draw(group, "A3", draw_bars.by_label(group)["A3"]))
    assert f"late_copy: {meaning['late_copy']}" in shown and meaning["tx_copy"] not in shown


def test_a_long_name_stands_whole_below_its_bar():
    documents = sweep(variants=("A1", "A3-unset"), threads=(1,))
    drawn = " ".join(words(draw_bars.copy_bars(group_of(documents))).split())
    assert "A3-unset, MSG_ZEROCOPY without SO_ZEROCOPY" in drawn


# The command

def test_every_file_is_there_and_none_is_blank(tmp_path):
    folder = pictures.write(tmp_path / "in", sweep(repeats=1))
    done = pictures.plot(folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = {*DEFAULTS, "copies-by-site", "pins-per-message", "copymap-A1", "copymap-A2",
             "copymap-A3"} - UNCOUNTED
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {f"{name}.{kind}" for name in names for kind in ("svg", "png")} | {"index.md"}
    # What this machine cannot count is one line, however many figures would have shown it.
    told = [line for line in (tmp_path / "out/index.md").read_text().splitlines() if "not drawn" in line]
    assert len(told) == 1 and NO_PMU in told[0] and all(name in told[0] for name in UNCOUNTED)
    assert sorted(done.stdout.split()) == sorted(str(tmp_path / "out" / name) for name in files)
    for name in names:
        assert variance(tmp_path / "out" / f"{name}.png") > 1e-3, name
        assert (tmp_path / "out" / f"{name}.svg").read_text().count("<path") > 5


def test_words_of_a_drawing_are_words_in_a_font_that_others_have(tmp_path):
    for name, figure in figures([made(each) for each in ("A1-host", "A3-host")], specs.DEFAULTS[::3]):
        file, _ = drawing.save(figure, tmp_path / re.sub(r"\W", "-", name))
        texts = re.findall(r"<text([^>]*)>([^<]*)</text>", file.read_text())
        said = html.unescape(" ".join(text for _, text in texts))
        assert set(words(figure).split()) <= set(said.split()), name
        assert all("'Verdana', sans-serif" in html.unescape(looks) for looks, _ in texts)
        assert file.stat().st_size < 60_000, name


def test_a_full_disk_names_the_figure_and_spares_the_old_one(tmp_path, monkeypatch):
    figure = draw_bars.copy_bars(group_of([made()]))
    old = {file: file.read_bytes() for file in drawing.save(figure, tmp_path / "f")}

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Unusable) as caught:
        drawing.save(figure, tmp_path / "f")
    assert str(caught.value).startswith(f"{tmp_path / 'f.svg'}: No space left on device")
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == old


def test_labels_that_make_the_same_name_get_files_of_their_own(tmp_path):
    documents = sweep(("A1", "A2"), (4096,), (1,), 1)
    folder = pictures.write(tmp_path / "in" / "runs", documents).parent
    points = [plans.point(label, label) for label in ("a_b", "a-b")]
    (folder / "plan.json").write_text(json.dumps(plans.plan(points)))
    for file, point in zip(sorted((folder / "runs").iterdir()), points):
        file.rename(folder / "runs" / f"{point['name']}.r1.json")
    done = pictures.plot_here(folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").glob("copymap-*.png")} == {
        "copymap-a-b.png", "copymap-a-b-2.png"}
    profile = tmp_path / "mine.toml"
    profile.write_text('[[figures]]\nfile = "pins-per-message"\ntitle = "T"\nx = "size"\n'
                       'y = "latency_us"\n')
    done = pictures.plot_here(folder, "--profile", profile, "--out", tmp_path / "twice")
    assert done.returncode == 2 and "pins-per-message" in done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "twice").exists()


def test_bars_say_what_the_maps_and_lines_say():
    group = group_of([made(workload__pattern="rr", workload__bytes=4096)],
                     Point("A3", "A3", 64, 1, 1, "mine", "as-published"))
    assert "requests are plain sends" in words(draw_bars.copy_bars(group))
    bars = words(draw_bars.pin_bars(group))
    assert "bytes sent: 4096 at 64" in bars and "Derived, the most there can be: " in bars
    line = specs.Spec("f", "T", "threads", "pinned_pages")
    assert "Derived, the most there can be: " in words(draw_lines.draw(group, line))


def test_the_same_records_give_the_same_bytes(tmp_path):
    folder = pictures.write(tmp_path / "in", [made()])
    # Another process has another order of sets.
    for out, plot in (("one", pictures.plot), ("two", pictures.plot_here)):
        assert plot(folder, "--out", tmp_path / out).returncode == 0
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_runs_that_may_not_be_compared_get_files_of_their_own(tmp_path):
    folder = pictures.write(tmp_path / "in", [made(), made(number=1, path__kind="lo"),
                                              made("A3-guest", 2)])
    done = pictures.plot_here(folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    maps = {path.name for path in (tmp_path / "out").glob("copymap-*.png")}
    assert len(maps) == 3 and any("-lo-" in name or "-lo." in name for name in maps)


@pytest.mark.long
def test_a_thousand_records_are_drawn_in_time(tmp_path):
    documents = sweep(sizes=(64, 512, 4096, 16384, 65536), threads=(1, 2, 4, 8), repeats=17)
    assert len(documents) >= 1000
    folder = pictures.write(tmp_path / "in", documents)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = pictures.plot(folder, "--out", tmp_path / "out")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    # Time on a processor, which others on the machine cannot take. Measured: 5 s.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20


BAD = {
    "broken.json": "{\"schema\": ", "foreign.json": "[1, 2]", "empty.json": "",
    "other.json": "{\"schema\": \"copyscope.plan/1\"}", "short.json":
        "{\"schema\": \"copyscope.run/1\", \"id\": \"x\"}",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_in_one_line_and_nothing_is_drawn(tmp_path, name):
    folder = pictures.write(tmp_path / "in", [made()])
    (folder / name).write_text(BAD[name])
    done = pictures.plot_here(folder, "--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert done.stderr.count("\n") == 1 and name in done.stderr and not done.stdout


@pytest.mark.parametrize("key, value", [
    ("y", "\"bandwidth\""), ("scale", "\"cubic\""), ("where", "{ colour = 1 }"), ("colour", "1"),
    ("series", "[]"), ("file", "\"../x\""), ("x", "3"), ("end", "\"middle\"")])
def test_a_wrong_key_of_a_profile_is_named(tmp_path, key, value):
    entry = {"file": "\"f\"", "title": "\"T\"", "x": "\"size\"", "y": "\"throughput_gbps\"",
             key: value}
    profile = tmp_path / "mine.toml"
    profile.write_text("[[figures]]\n" + "\n".join(f"{k} = {v}" for k, v in entry.items()))
    with pytest.raises(BadRecord) as caught:
        specs.load(str(profile), "")
    assert "mine.toml" in str(caught.value) and key in str(caught.value)


def test_figures_of_a_sweep_show_what_its_tables_say(tmp_path):
    documents = sweep(("A1", "A2"), (4096,), (1,), 1, workload__seconds=2.0)
    documents[1]["experiment"]["workload"]["receiver"] = "recvmsg"
    pictures.write(tmp_path / "runs", documents)
    (tmp_path / "plan.json").write_text(json.dumps(plans.plan(
        throughput_is="nominal", latency_is="size/throughput")))
    points = [Point(label, label, 4096, 1, 1, "mine", "as-published") for label in ("A1", "A2")]
    records = [Record(data, tmp_path / "runs" / "0.json", point)
               for data, point in zip(documents, points)]
    group, = groups.split(records)
    figure = draw_lines.draw(group, DEFAULTS["throughput_gbps-by-threads"])
    payload = documents[0]["experiment"]["workload"]["received_bytes"]
    assert lines_of(figure)[0].get_ydata()[0] == pytest.approx(payload * 8e-9 / 2.0)
    assert "nominal time" in words(figure) and "receivers: A1 recv, A2 recvmsg" in words(figure)
    assert "latency" not in words(figure).lower()
    figure = draw_lines.draw(group, DEFAULTS["latency_us-by-threads"])
    assert "never measured" in words(figure) and "interval between" not in words(figure)


def test_a_sweep_run_that_nothing_arrived_in_is_no_zero(tmp_path):
    data = made(workload__seconds=2.0, workload__received_bytes=0, workload__messages=0,
                timing__throughput_gbps=None, timing__latency_us=None, workload__bytes=4096)
    (tmp_path / "plan.json").write_text(json.dumps(plans.plan(
        throughput_is="nominal", latency_is="size/throughput")))
    point = Point("A3", "A3", 512, 1, 1, "mine", "as-published")
    group, = groups.split([Record(data, tmp_path / "runs" / "0.json", point)])
    for name in ("throughput_gbps-by-size", "latency_us-by-size", "speedup-by-threads"):
        figure = draw_lines.draw(group, DEFAULTS[name])
        assert not lines_of(figure) and "not measured: no payload arrived" in words(figure)
    assert "bytes sent: 4096 at 512" in words(draw_lines.draw(
        group, DEFAULTS["throughput_gbps-by-size"]))


def test_every_profile_of_the_tree_can_be_drawn():
    found = [path for path in sorted(specs.PROFILES.glob("*.toml")) if "[[figures]]" in path.read_text()]
    assert {f"mt{number}" for number in (25018, 25023, 25029, 25064)} <= {path.stem for path in found}
    group = group_of(sweep(repeats=1))
    for path in found:
        drawn = [draw_lines.draw(group, spec) for spec in specs.load(path.stem, "as-published")]
        # Where the text lies is asked of one: to tell it takes longer than to draw all.
        most = max(drawn, key=lambda figure: len(figure.axes))
        assert not faults_of_text(most), f"{path.stem}: {words(most)}"
