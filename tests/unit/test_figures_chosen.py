# SPDX-License-Identifier: GPL-2.0
"""What is drawn shows something; what would be empty, or a line of one point, is told instead."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from copyscope import drawing
from copyscope.common.errors import Unusable
from copyscope.figures import draw_bars, draw_lines, jobs, lines, published, specs
from copyscope.files.output_folder import OutputFolder
from copyscope.pictures import groups
from copyscope.records.documents import BadRecord
from copyscope.records.run_record import Point, Record
from helpers import pictures
from helpers.names import VARIANTS
from helpers.pictures import as_records, blind, faults_of_text, made, sweep, words


def group_of(documents):
    """The one group that these records make."""
    found, = groups.split(as_records(documents))
    return found


def blinded(documents):
    """The records, of which the last does not know its late copies."""
    pictures.site(documents[-1], "late_copy", None)
    return documents


@pytest.mark.parametrize("scale, sizes, y", [("", (64, 512, 4096, 65536), "log"), ("", (4096, 8192), "linear"),
                                             ("linear", (64, 65536), "linear"), ("log-x", (64, 65536), "linear")])
def test_an_axis_is_logarithmic_where_sizes_span_decades(scale, sizes, y):
    spec = specs.Spec("f", "T", "size", "throughput_gbps", scale=scale)
    axes, = draw_lines.draw(group_of(sweep(sizes=sizes, threads=(1,))), spec).axes
    assert axes.get_yscale() == y


def test_what_has_one_point_a_line_is_told_and_not_drawn():
    group = group_of(sweep(sizes=(4096,), threads=(1,)))
    whys = {job.name: job.left_out for job in jobs.jobs([group], None)}
    assert "no line, as each has one size alone, 4 KiB; throughput [Gbit/s]: A1, send() " in \
        whys["throughput_gbps-by-size"]
    assert "one number of threads alone, 1 thread" in whys["speedup-by-threads"]
    assert not whys["copies-by-site"] and not whys["copymap-A1"]
    # Of several sizes with one point a line each there is none either.
    documents = [made(workload__variant=variant, workload__bytes=size)
                 for variant, size in (("A1", 64), ("A2", 4096))]
    spec = specs.Spec("f", "T", "size", "throughput_gbps")
    assert jobs.line_job(group_of(documents), spec).left_out


def test_a_figure_of_what_nobody_ran_says_what_it_lacks():
    group = group_of(sweep(sizes=(64, 4096), threads=(1, 4)))
    why = jobs.line_job(group, specs.Spec("f", "T", "size", "throughput_gbps", where={"threads": 8})).left_out
    assert why == "it is of 8 threads, and these runs are of 1 thread and 4 threads"
    spec = specs.Spec("f", "T", "threads", "throughput_gbps", where={"size": [512, 65536], "label": "A1"})
    assert jobs.line_job(group, spec).left_out == "it is of 512 B or 64 KiB, and these runs are of 64 B and 4 KiB"
    # Each by itself is there, and not both.
    spec = specs.Spec("f", "T", "size", "throughput_gbps", where={"label": "A1", "variant": "A2"})
    assert jobs.line_job(group, spec).left_out == "no run of this kind is among the records"


TABLE = """[[tables]]
name = "R-results"
where = "C"
keys = ["label", "size", "threads"]
columns = { rate = "Gbps", cycles = "cycles" }
rows = [["A1", 64, 1, 0.125, 8e9], ["A1", 64, 4, 2, ""], ["A1", 4096, 4, 3.5, 1e9], ["A2", 4096, 1, 9, ""]]

[[tables]]
name = "R-wide"
where = "D"
keys = ["size"]
columns = { first = "Gbps" }
rows = [[64, 0.5], [4096, 4]]
"""
PLACE = {"file": "numbers.toml", "table": "R-results", "columns": {"rate": "throughput_gbps", "cycles": "cycles"}}
WIDE = {**PLACE, "table": "R-wide", "columns": {"first": "throughput_gbps of A1"}}


@pytest.fixture(name="numbers")
def fixture_numbers(tmp_path):
    """What a report published, by what its profile says of it."""
    (tmp_path / "numbers.toml").write_text(TABLE)
    return lambda place: published.published(tmp_path / "profile.toml", {"published": place, "seconds": 2})


def test_what_a_report_published_is_read_by_point(numbers):
    found = {(each.y, *each.point): each.value for each in numbers(PLACE)}
    # 0.125 Gbit/s are 31.25 MB in 2 s.
    assert found == {("throughput_gbps", "A1", 64, 1): 0.125, ("throughput_gbps", "A1", 64, 4): 2.0,
                     ("throughput_gbps", "A1", 4096, 4): 3.5, ("throughput_gbps", "A2", 4096, 1): 9.0,
                     ("cycles", "A1", 64, 1): 8e9, ("cycles", "A1", 4096, 4): 1e9,
                     ("cycles_per_byte", "A1", 64, 1): 256, ("cycles_per_byte", "A1", 4096, 4): pytest.approx(1.142857)}
    assert {each.point for each in numbers(WIDE)} == {("A1", 64, None), ("A1", 4096, None)}
    for wrong in (8, {**PLACE, "file": 3}, {**PLACE, "columns": {"rate": "colour"}}, {**PLACE, "table": "R-none"}):
        with pytest.raises(BadRecord, match="names no table|no quantity|none is called"):
            numbers(wrong)


def test_a_figure_shows_published_values_beside_ours(numbers):
    group = group_of(sweep(variants=("A1", "A2"), sizes=(64, 4096), threads=(1, 4)))
    spec = specs.Spec("f", "T", "size", "throughput_gbps", panels="threads", published=numbers(PLACE))
    drawn = lines.panels(group.records, spec)
    assert [[series.published for series in panel.series] for panel in drawn] == \
        [[{64: 0.125}, {4096: 9.0}], [{64: 2.0, 4096: 3.5}, {}]]
    # Two machines share no axes; a line is broken where the report prints no number.
    beside = lines.beside_published(drawn)
    assert [(panel.title, panel.published) for panel in beside] == [
        ("1 thread, published", True), ("1 thread, measured here", False),
        ("4 threads, published", True), ("4 threads, measured here", False)]
    first = beside[0].series[0]
    assert first.points[64].middle == 0.125 and list(first.missing) == [4096] and not beside[0].counts
    figure = draw_lines.draw(group, spec)
    assert "what the report prints or its CSV has" in words(figure) and "prints no number" not in words(figure)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [panel.title for panel in beside]
    # Nothing is published of what is a mean over points, but what does not tell of which it is.
    mean = replace(spec, panels="", mean_over="threads")
    assert "ublished" not in words(draw_lines.draw(group, mean))
    wide = words(draw_lines.draw(group, replace(mean, published=numbers(WIDE))))
    assert "does not say of which threads" in wide
    assert "ublished" not in words(draw_lines.draw(group, replace(spec, published=numbers(WIDE))))


def test_published_speedup_is_of_published_throughput_and_modelled_values_stand_beside_what_was_printed(numbers):
    at = specs.Spec("f", "T", "threads", "speedup", where={"size": 64}, published=numbers(PLACE))
    assert lines.published_at(at, "speedup", (), ("A1",)) == {1: 1, 4: 16}
    assert lines.published_at(at, "efficiency", (), ("A1",)) == {1: 1, 4: 4}
    assert lines.published_at(at, "cycles_per_message", (), ("A1",)) == {1: 8e9}
    assert lines.published_at(at, "instructions_per_byte", (), ("A1",)) == {1: 256}


def test_a_drawing_is_kept_without_indentation():
    plain = b'<svg>\n  <g>\n    <text x="1" transform="rotate(-0 1.5 2)">a  b</text>\n  </g>\n</svg>'
    assert drawing.compact(plain) == b'<svg>\n<g>\n<text x="1">a  b</text>\n</g>\n</svg>'


def test_profiles_have_points_that_their_reports_published():
    counts = {name: len(specs.load(name, "as-published")[0].published) for name in ("mt25018", "mt25023", "mt25064")}
    assert counts == {"mt25018": 12, "mt25023": 48 * 7, "mt25064": 48 * 5}


def test_bars_that_would_show_nothing_are_told_and_not_drawn():
    whys = {job.name: job.left_out for job in jobs.jobs([group_of([blind(made("A1-host"))])], None)}
    assert whys["copies-by-site"] == whys["copymap-A1"] == "not measured: nothing looked"
    assert whys["pins-per-message"].startswith("not measured: ")
    plain = group_of([made("A1-host", pins__pages=0)])
    assert draw_bars.no_pins(plain) == "no page was pinned" and not draw_bars.no_pins(group_of([made()]))


def test_sizes_get_bars_of_their_own_where_one_bar_would_hide_that_they_differ():
    documents = sweep(threads=(1,), repeats=1)
    assert list(draw_bars.bars_of(group_of(documents))[0]) == ["A1, send()", "A2, sendmsg()",
                                                               "A3, MSG_ZEROCOPY"]
    for data in documents:
        if (data["experiment"]["workload"]["variant"], data["experiment"]["workload"]["bytes"]) == ("A3", 64):
            pictures.site(data, "late_copy", 0.5)
    bars, notes = draw_bars.bars_of(group_of(documents))
    assert len(bars) == 9 and "A3, MSG_ZEROCOPY\n64 B" in bars and "as sizes differ" in notes[0]
    figure = draw_bars.copy_bars(group_of(documents))
    assert not faults_of_text(figure) and "1.50" in words(figure)
    assert "(of A3, MSG_ZEROCOPY, 64 KiB)" in words(draw_bars.copy_bars(group_of(blinded(documents))))
    many = sweep(VARIANTS, sizes=(64, 512, 4096, 16384, 65536), threads=(1,), repeats=1)
    pictures.site(many[0], "reshape", 0.5)
    bars, notes = draw_bars.bars_of(group_of(many))
    assert len(bars) <= 2 * len(VARIANTS) and "2 of 5 sizes are shown" in notes


def test_an_older_picture_of_what_is_left_out_now_is_removed_and_nothing_else(tmp_path):
    work = list(jobs.jobs([group_of(sweep(sizes=(4096,), threads=(1,)))], None))
    job = next(each for each in work if each.left_out)
    drawing.save(drawing.Page(2, 1, "a title", []).figure, tmp_path / job.name)
    (tmp_path / f"{work[1].name}.png").write_text("mine")
    (tmp_path / f"{work[2].name}.png").symlink_to(tmp_path / "elsewhere")
    with OutputFolder.at(tmp_path) as folder:
        for each in work[:3]:
            assert jobs.make(folder, each, tmp_path) == []
        assert folder.names() == sorted([f"{work[1].name}.png", f"{work[2].name}.png"])
        folder.write(jobs.INDEX, "my own page\n")
        with pytest.raises(Unusable, match="is not an index"):
            jobs.write_index(folder, work)


def of_points(*points: tuple[str, int, int]) -> list[Record]:
    """A record of each point: label, size, threads."""
    return [Record(made(), Path(f"{place}.json"), Point(f"p{place}", *point, 1, "mine", "corrected"))
            for place, point in enumerate(points)]


PROFILE = {"sizes": [64, 4096], "threads": [1, 8], "corrected": {"variants": [{"label": "A1"}, {"label": "A3"}]}}


@pytest.mark.parametrize("ran, where, said", [
    ([("A1", 64, 1), ("A1", 4096, 1), ("A3", 64, 1), ("A3", 4096, 1)], {},
     "4 of the 8 points that its profile has: 8 threads"),
    ([("A1", 64, 1), ("A1", 4096, 1), ("A3", 64, 1), ("A3", 4096, 1)], {"threads": 1}, ""),
    ([("A1", 64, 8), ("A3", 64, 8), ("A3", 4096, 8)], {"threads": [8]},
     "1 of the 4 points that its profile has: A1 4 KiB 8 threads"),
    ([("A3", 64, 8)], {"threads": 8}, "3 of the 4 points that its profile has: A1, 4 KiB"),
    # Told by their variant, and not by a label of the profile.
    ([("A3", 64, 8)], {"variant": "A3"}, "")])
def test_points_of_its_profile_that_a_figure_lacks_are_named(ran, where, said):
    spec = specs.Spec("f", "T", "size", "pinned_pages", where=where,
                      wanted=specs.points(PROFILE, "corrected"))
    assert lines.lacking(of_points(*ran), spec) == said
    group, = groups.split(of_points(*ran))
    assert said in " ".join(words(draw_lines.draw(group, spec)).split())


def test_the_index_names_points_that_nobody_ran(tmp_path):
    profile = tmp_path / "mine.toml"
    profile.write_text('sizes = [64, 4096, 512]\nthreads = [1]\n[corrected]\nvariants = [{ label = "A3" }]\n'
                       '[[figures]]\nfile = "f"\ntitle = "T"\nx = "size"\ny = "pinned_pages"\n')
    group, = groups.split(of_points(("A3", 64, 1), ("A3", 4096, 1)))
    assert "- [f](f.svg): T; not run: 1 of the 3 points that its profile has: 512 B\n" in \
        jobs.index(list(jobs.jobs([group], str(profile))))


@pytest.mark.parametrize("profile", [
    {}, {"corrected": 3}, {"corrected": {"variants": "A1"}, "sizes": [1], "threads": [1]},
    {**PROFILE, "sizes": [[1], None]}, {**PROFILE, "sizes": list(range(100_000))}])
def test_a_profile_that_no_sweep_would_take_has_no_points(profile):
    assert specs.points(profile, "corrected") == frozenset()
