# SPDX-License-Identifier: GPL-2.0
"""Records of watch have a schema, and figures show each process of one by what it moved."""
from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from copyscope.figures import command, draw_bars, draw_sizes, jobs
from copyscope.pictures import arrows as copymap, copymap as draw_map, groups
from copyscope.pictures.arrows import BUFFER, DEVICE, RECEIVER, SENDER, USER
from copyscope.records import documents, load
from helpers import schemas, watches
from helpers.pictures import faults_of_text, words
from helpers.records import ROOT

SCHEMA = ROOT / "docs/record.schema.json"
NGINX = watches.process(812, "nginx", watches.moved(
    900, 100, tx_splice=800, tx_copy=100, rx_copy=100, reshape=None))
CURL = watches.process(90, "curl", watches.moved(0, 300, rx_copy=300))
IDLE = watches.process(91, "idle", watches.moved(0, 0))


def damaged(record: dict, path: str, value: object) -> dict:
    """A copy with another value at a place."""
    made = copy.deepcopy(record)
    *folders, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    node = made
    for part in folders:
        node = node[part]
    assert node[last] != value, "this changes nothing"
    node[last] = value
    return made


def test_a_record_is_accepted_by_both_checkers():
    record = watches.watch_record(NGINX, CURL, IDLE)
    assert not schemas.faults(SCHEMA, record)
    documents.check(record, "record", "made", "mend it")


@pytest.mark.parametrize("path, value", [
    ("schema", "copyscope.record/5"), ("sites.tx_copy.bytes", None), ("sites.reshape.why", None),
    ("sites.reshape.bytes", 0), ("processes.0.sum.sites.tx_copy.how", "not_measured"),
    ("processes.0.sum.counts.accepted_bytes", -1), ("sockets.0.opening.unread_bytes", "7"),
    ("sockets.0.laws.send queue.residual", 1), ("sockets.0.laws.send queue.status", "not testable"),
    ("sockets.0.cookie", "0"), ("laws.0.residual", 5), ("laws.0.law", "karma"), ("books", "guesses"),
    ("verdicts.0.verdict", "fine"), ("subject.kind", "thread"), ("window.ended_by", "luck"),
    ("overhead.events", -1), ("causes", [{}]), ("subject.exit_status", 256)])
def test_a_damaged_record_is_refused(path, value):
    assert schemas.faults(SCHEMA, damaged(watches.watch_record(NGINX), path, value))


def loaded(tmp_path: Path, *processes: dict) -> list:
    """The processes of a record, as plot loads them."""
    file = tmp_path / "watch.json"
    file.write_text(json.dumps(watches.watch_record(*processes)))
    return load.load_any(file)


def test_each_process_that_moved_payload_is_shown_the_busiest_first(tmp_path):
    found = loaded(tmp_path, CURL, IDLE, NGINX)
    assert [(each.label, each.payload_bytes) for each in found] == \
        [("nginx, pid 812", 1000), ("curl, pid 90", 300)]


def test_a_map_has_the_arrows_of_the_process(tmp_path):
    nginx, curl = loaded(tmp_path, NGINX, CURL)
    arrows = {(each.name, each.start, each.end): each.amount.value
              for each in copymap.build([nginx]).arrows}
    assert arrows[("tx_splice", USER, SENDER)] == pytest.approx(0.8)
    assert arrows[("pointer", SENDER, DEVICE)] == pytest.approx(0.9)
    assert arrows[("rx_copy", RECEIVER, BUFFER)] == pytest.approx(0.1)
    assert {each.name for each in copymap.build([curl]).arrows} == {"rx_copy"}


def test_a_few_bytes_are_not_told_as_none(tmp_path):
    books = watches.moved(10**9, 0, tx_splice=10**9 - 50, tx_copy=50, reshape=None)
    group, = groups.split(loaded(tmp_path, watches.process(7, "nginx", books)))
    said = words(draw_map.draw(group, "nginx, pid 7", group.records))
    assert "a CPU copied under 0.0001 bytes per byte sent or received where it was watched" in \
        " ".join(said.split())
    assert "Too few bytes for an arrow passed: tx_copy" in said


def test_figures_say_what_was_watched_and_nothing_of_runs(tmp_path):
    group, = groups.split(loaded(tmp_path, NGINX, CURL))
    for figure in (draw_map.draw(group, "nginx, pid 812", group.records[:1]),
                   draw_bars.copy_bars(group)):
        assert not faults_of_text(figure)
        said = words(figure)
        assert "watched for 5.0 s" in said
        assert "Messages of" not in said and "runs" not in said and "reshape" in said
    names = [job.name for job in jobs.jobs([group], None)]
    assert names == ["copies-by-site", "copymap-nginx-pid-812", "copymap-curl-pid-90"]


def test_bars_of_processes_are_bytes_the_busiest_first(tmp_path):
    few, many = (watches.process(pid, "w", watches.moved(moved, 0, tx_copy=moved))
                 for pid, moved in ((1, 5 * 10**7), (2, 5 * 10**9)))
    group, = groups.split(loaded(tmp_path, few, many))
    axes, = draw_bars.copy_bars(group).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["w, pid 2", "w, pid 1"]
    assert [round(bar.get_height()) for bar in axes.patches] == [5 * 10**9, 5 * 10**7]
    assert axes.get_xlabel() == "Process" and "5.00 GB" in words(axes.figure) and "50.0 MB" in words(axes.figure)


def test_a_damaged_record_of_a_watch_is_refused_by_plot_in_one_line(tmp_path):
    record = damaged(watches.watch_record(NGINX), "processes.0.pid", "812")
    (tmp_path / "watch.json").write_text(json.dumps(record))
    with pytest.raises(documents.BadRecord, match="watch.json: .*pid"):
        load.load_any(tmp_path / "watch.json")


def test_too_many_processes_are_left_out_with_a_line(tmp_path, capsys):
    many = [watches.process(pid, "w", watches.moved(pid, 0, tx_copy=pid)) for pid in range(1, 15)]
    found = command.few_watched(loaded(tmp_path, *many))
    assert len(found) == command.MOST_WATCHED
    assert "2 of 14 processes are left out" in capsys.readouterr().err


SIZED = NGINX | {"sizes": [
    {"direction": "send", "way": "plain", "buckets": [
        {"from_bytes": 0, "below_bytes": 1, "calls": 1, "bytes": 0},
        {"from_bytes": 4096, "below_bytes": 8192, "calls": 23, "bytes": 94_150}]},
    {"direction": "recv", "way": "peek", "buckets": [
        {"from_bytes": 65536, "below_bytes": 131_072, "calls": 2, "bytes": 131_074}]}]}


def test_sizes_of_calls_are_drawn_from_the_smallest_to_the_largest(tmp_path):
    assert not schemas.faults(SCHEMA, watches.watch_record(SIZED))
    group, = groups.split(loaded(tmp_path, SIZED, CURL))
    drawn = [job for job in jobs.jobs([group], None) if job.name.startswith("call-sizes")]
    assert [job.title for job in drawn] == ["How much each call of nginx, pid 812 moved"]
    figure = drawn[0].draw()
    said = words(figure)
    assert not faults_of_text(figure)
    assert "plain send: 24 calls, 94,150 bytes" in said and "peek recv: 2 calls, 131,074 bytes" in said
    assert all(size in said for size in ("0 B", "1 B", "4 KiB", "64 KiB")) and "128 KiB" not in said
    calls, moved = figure.axes
    assert sorted(bar.get_height() for bar in calls.patches) == [1, 2, 23]
    assert sorted(bar.get_height() for bar in moved.patches) == [0, 94_150, 131_074]


def held(*buckets: tuple[int, int]) -> dict:
    """Times of sends by the first nanosecond of their bucket."""
    sends = sum(count for _, count in buckets)
    edges = [{"from_ns": ns, "below_ns": 2 * ns} for ns, _ in buckets]
    return {"sends": sends, "shortest_ns": buckets[0][0], "longest_ns": buckets[-1][0], "median": edges[0], "p99": edges[-1],
            "buckets": [edge | {"sends": count} for edge, (_, count) in zip(edges, buckets)]}


def test_hold_times_are_drawn_from_the_shortest_to_the_longest(tmp_path):
    holds = {"notified": held((1 << 20, 23), (1 << 25, 7)), "read": held((1 << 23, 29)), "by_ring": 1, "rings_missed": False,
             "ended_by": {"acknowledgment": 29, "copy": 1, "close": 0, "untold": 0}, "outstanding": 0, "outstanding_most": 3,
             "untimed_sends": 0}
    process = SIZED | {"holds": holds}
    assert not schemas.faults(SCHEMA, watches.watch_record(process))
    group, = groups.split(loaded(tmp_path, process, CURL))
    job, = [job for job in jobs.jobs([group], None) if job.name.startswith("holds")]
    assert job.title == "How long pages of zero-copy sends of nginx, pid 812 were held"
    figure = job.draw()
    said = words(figure)
    assert not faults_of_text(figure)
    assert "until the notification: 30 sends" in said and "until it was read: 29 sends" in said
    assert "1 of them by io_uring, whose reading is not measured" in said
    assert "1.05 ms" in said and "33.6 ms" in said and "67.1 ms" not in said
    axes, = figure.axes
    assert sorted(bar.get_height() for bar in axes.patches) == [7, 23, 29]


def test_sizes_of_one_process_in_two_records_are_added():
    class Two:
        """A record that has these sizes."""
        call_sizes = SIZED["sizes"]

    assert draw_sizes.found([Two(), Two()])["send", "plain"] == {0: (2, 0), 4096: (46, 188_300)}
