# SPDX-License-Identifier: GPL-2.0
"""What a watch gives to other programs: lines of intervals, an exit status, no word of a command."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime, timedelta

import pytest

from helpers import records, schemas
from helpers.watch_tool import PRIME, record_of, start, talk, watch

pytestmark = records.needs_root
SCHEMA = records.ROOT / "docs/watch-line.schema.json"
# Sends the bytes of its first word by MSG_ZEROCOPY over loopback, where all of them are copied, and
# those of its second word by sendfile to nobody who reads them.
SENDS = """
import os, socket, sys
zerocopy, spliced = map(int, sys.argv[1:3])
listener = socket.create_server(("127.0.0.1", 0))
one = socket.create_connection(listener.getsockname())
other, _ = listener.accept()
one.setsockopt(socket.SOL_SOCKET, 60, 1)
left = zerocopy
while left:
    sent = one.send(bytes(min(left, 16384)), 0x4000000)
    left -= sent
    while sent:
        sent -= len(other.recv(sent))
with open(sys.argv[3], "rb") as file:
    if spliced:
        os.sendfile(one.fileno(), file.fileno(), 0, spliced)
while spliced:
    spliced -= len(other.recv(spliced))
"""
# Opens a connection over which nothing is sent, and closes it.
IDLE = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
sys.stdin.readline()
one = socket.create_connection(listener.getsockname())
other, _ = listener.accept()
sys.stdin.readline()
one.close(); other.close()
sys.stdin.readline()
"""
# Opens and closes connections until its first word says enough.
SHORT = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
for _ in range(int(sys.argv[1])):
    one = socket.create_connection(listener.getsockname())
    other, _ = listener.accept()
    one.send(b"x"); other.recv(1)
    one.close(); other.close()
    time.sleep(0.01)
"""


def lines_of(text: str) -> list[dict]:
    """Lines of intervals, each by its schema."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines
    for each in lines:
        assert not (faults := schemas.faults(SCHEMA, each)), faults
    return lines


def added(parts: list[dict]) -> dict[str, int | None]:
    """Bytes and counts of parts of lines, added up; null if one is."""
    sums: dict[str, int | None] = {}
    for part in parts:
        pairs = {**part["counts"], **{site: each["bytes"] for site, each in part["sites"].items()}}
        for key, value in pairs.items():
            known = value is not None and sums.get(key, 0) is not None
            sums[key] = sums.get(key, 0) + value if known else None
    return sums


def moment(text: str) -> datetime:
    """A time of a line."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")


def check_times(lines: list[dict]) -> None:
    """Each interval begins where the one before it ended."""
    assert [each["interval"] for each in lines] == list(range(1, len(lines) + 1))
    assert lines[0]["start_seconds"] < 0.01
    for before, after in zip(lines, lines[1:]):
        assert before["end"] == after["start"]
        assert before["end_seconds"] == pytest.approx(after["start_seconds"])
    for each in lines:
        long = moment(each["end"]) - moment(each["start"])
        told = timedelta(seconds=each["end_seconds"] - each["start_seconds"])
        assert abs(long - told) < timedelta(seconds=0.3)


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_lines_of_intervals_add_up_to_the_record(tmp_path, quiet):
    lines, record = tmp_path / "lines", tmp_path / "r.json"
    done = watch(*quiet, "--interval", "0.2", "--json-lines", lines, "--json", record, "--",
                 *talk(12, 0.1))
    assert done.returncode == 0, done.stderr
    found, whole = lines_of(lines.read_text()), record_of(record)
    assert len(found) >= 4 and {each["id"] for each in found} == {whole["id"]}
    assert [each["ended_by"] for each in found] == [None] * (len(found) - 1) + ["subject ended"]
    check_times(found)
    assert added([each["total"] for each in found]) == added([whole["total"]])
    for process in whole["processes"]:
        parts = [part for each in found for part in each["processes"] if part["pid"] == process["pid"]]
        assert added(parts) == added([process["sum"]])
    for key in ("born", "died"):
        assert sum(each["total"][key] for each in found) == whole["total"][key]
    assert whole["total"]["counts"]["accepted_bytes"] == 12 * (PRIME + 7)
    # The program may begin in any of them.
    first = next(each["total"] for each in found if each["total"]["counts"]["accepted_bytes"])
    assert found[-1]["total"]["open"] == 0 and first["verdict"] == "copies"


def histograms(sizes: list[dict]) -> Counter:
    """Calls and bytes by way and size."""
    found: Counter = Counter()
    for way in sizes:
        for bucket in way["buckets"]:
            for what in ("calls", "bytes"):
                found[way["direction"], way["way"], bucket["from_bytes"], what] += bucket[what]
    return found


def held(holds: dict | None) -> Counter:
    """Zero-copy sends by how long their pages were held."""
    notified = holds["notified"] if holds else []
    buckets = notified["buckets"] if isinstance(notified, dict) else notified
    return Counter({bucket["from_ns"]: bucket["sends"] for bucket in buckets})


def test_lines_have_calls_holds_causes_and_samples_and_each_adds_up(tmp_path):
    lines, record, file = tmp_path / "lines", tmp_path / "r.json", tmp_path / "file"
    file.write_bytes(bytes(65536))
    done = watch("-q", "--sizes", "--cpu=999", "--interval", "0.1", "--json-lines", lines, "--json", record,
                 "--", sys.executable, "-c", SENDS, "400000000", "65536", file)
    assert done.returncode == 0, done.stderr
    found, whole = lines_of(lines.read_text()), record_of(record)
    assert len(found) > 1
    late = next((each for each in whole["causes"] if each["site"] == "late_copy"), None)
    for process in whole["processes"]:
        parts = [part for each in found for part in each["processes"] if part["pid"] == process["pid"]]
        assert sum((histograms(part["sizes"]) for part in parts), Counter()) == histograms(process["sizes"])
        assert sum((held(part["holds"]) for part in parts), Counter()) == held(process["holds"])
        classes = sum((Counter(part["cpu"]) for part in parts), Counter())
        assert classes == Counter({key: each["samples"] for key, each in process["cpu"]["classes"].items()
                                   if each["samples"]})
        causes = [cause["bytes"] for part in parts for cause in part["causes"] if cause["site"] == "late_copy"]
        if process["sum"]["sites"]["late_copy"]["bytes"]:
            assert sum(causes) == late["bytes"] == sum(part["needless_bytes"] for part in parts)
        assert {part["cgroup"] for part in parts} == {process["cgroup"]}


def test_a_line_tells_when_an_idle_socket_opens_and_closes():
    def opens(text: str) -> list[int]:
        return [part["open"] for each in lines_of(text) for part in each["processes"]]

    with subprocess.Popen([sys.executable, "-c", IDLE], stdin=subprocess.PIPE, text=True) as idle:
        with start("-p", idle.pid, "--interval", "0.2", "--json-lines", "-", stderr=subprocess.DEVNULL) as one:
            # One line before it opens, then lines until one tells of it.
            assert max(opens(one.stdout.readline()), default=0) == 0
            print(file=idle.stdin, flush=True)
            while max(opens(one.stdout.readline()), default=0) < 2:
                assert one.poll() is None
            idle.communicate("\n\n")
            after = one.stdout.read()
    assert opens(after)[-1] == 0, after


def test_lines_stay_small_however_many_sockets_died(tmp_path):
    file = tmp_path / "lines"
    done = watch("--interval", "0.2", "--json-lines", file, "--", sys.executable, "-c", SHORT, "300")
    assert done.returncode == 0, done.stderr
    lines = lines_of(file.read_text())
    assert len(lines) > 4 and max(map(len, file.read_text().splitlines())) < 6000
    assert sum(each["total"]["born"] for each in lines) == 600


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_records_of_intervals_name_each_socket_that_died_once(quiet):
    with subprocess.Popen([sys.executable, "-c", SHORT, "400"]) as short:
        done = watch(*quiet, "-p", short.pid, "--interval", "0.2", "--json", "-")
    assert done.returncode == 0, done.stderr
    *before, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(before) > 3
    died = [socket["cookie"] for each in before for socket in each["sockets"] if socket["died"]]
    assert died and len(died) == len(set(died))
    assert set(died) <= {each["cookie"] for each in last["sockets"]}
    assert last["window"]["ended_by"] == "subject ended"


def test_a_file_of_lines_is_read_while_it_is_written(tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("those of an earlier watch\n")
    with start("-q", "-p", os.getpid(), "--interval", "0.1", "--json-lines", lines) as one:
        for _ in range(200):
            if lines.read_text().count("\n") > 2 and "earlier" not in lines.read_text():
                break
            one.poll()
            time.sleep(0.05)
        assert one.poll() is None
        lines_of(lines.read_text().rpartition("\n")[0])
        one.send_signal(signal.SIGKILL)
    assert len(lines.read_text().splitlines()) > 2


def test_lines_that_cannot_be_written_fail_and_cost_no_record(tmp_path):
    done = watch("-q", "-p", os.getpid(), "--interval", "0.1", "--json-lines", "/dev/full", "--json",
                 tmp_path / "r.json")
    assert done.returncode == 1 and "lines of intervals were lost: No space left" in done.stderr
    assert record_of(tmp_path / "r.json")["window"]["ended_by"] == "interrupted"


@pytest.mark.parametrize("words, said", [
    (["--json-lines", "-", "-p", "1"], "give --interval S"),
    (["--json-lines", "-", "--json", "-", "--interval", "1", "-p", "1"], "would be mixed"),
    (["--json-lines", "-", "--interval", "1", "--", "true"], "--json-lines - would mix"),
    (["--json-lines", "", "--interval", "1", "-p", "1"], "--json-lines names no file"),
    (["--fail-on", "late", "-p", "1"], "must be broken or needless=PERCENT"),
    (["--fail-on", "needless", "-p", "1"], "must be broken or needless=PERCENT"),
    (["--fail-on", "needless=", "-p", "1"], "a percentage from 0 to 100"),
    (["--fail-on", "needless=-1", "-p", "1"], "a percentage from 0 to 100"),
    (["--fail-on", "needless=100.1", "-p", "1"], "a percentage from 0 to 100"),
    (["--fail-on", "needless=nan", "-p", "1"], "a percentage from 0 to 100"),
    (["-q", "--interval", "1", "-p", "1"], "leaves nothing to see")])
def test_bad_words_are_one_line(words, said):
    done = watch(*words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.fixture(name="fails")
def fixture_fails(tmp_path):
    """Watches the program that sends in two ways."""
    file = tmp_path / "file"
    file.write_bytes(bytes(65536))

    def run(*words: object, zerocopy: int = 0, spliced: int = 0) -> subprocess.CompletedProcess:
        for _ in range(5):
            done = watch("-q", *words, "--", "sh", "-c", '"$@" || exit 8; exit $STATUS', "sh",
                         sys.executable, "-c", SENDS, str(zerocopy), str(spliced), file)
            # The kernel may skip programs where other tasks are watched beside it.
            if "sums may be short" not in done.stderr or "--break" in words:
                break
        return done
    return run


def test_what_was_copied_needlessly_fails_by_its_share(fails, monkeypatch):
    monkeypatch.setenv("STATUS", "0")
    done = fails("--fail-on", "needless=5", zerocopy=98304)
    assert done.returncode == 1
    assert "of 98.3 kB that were to be sent without a copy were copied, 100.0 %" in done.stderr
    # A fifth of what was to be sent without a copy.
    for percent, status in ((19, 1), (21, 0)):
        done = fails("--fail-on", f"needless={percent}", "--fail-on", "broken", zerocopy=16384,
                     spliced=65536)
        assert done.returncode == status, done.stderr
    # Nothing was to be sent so.
    assert fails("--fail-on", "needless=0").returncode == 0
    assert fails(zerocopy=98304).returncode == 0
    monkeypatch.setenv("STATUS", "7")
    assert fails("--fail-on", "needless=5", zerocopy=98304).returncode == 7


def test_what_is_not_measured_fails(fails, monkeypatch):
    monkeypatch.setenv("STATUS", "0")
    # No program runs when a socket ends: sums may be short.
    done = fails("--fail-on", "needless=100", "--break", "skip-ends", zerocopy=98304)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "--fail-on needless: not measured: " in done.stderr


def test_a_secret_of_the_command_is_in_no_record(tmp_path):
    done = watch("-q", "--json", tmp_path / "r.json", "--", "sh", "-c", "true", "--password=hunter2")
    assert done.returncode == 0
    record = record_of(tmp_path / "r.json")
    assert "hunter2" not in (tmp_path / "r.json").read_text()
    assert record["command"][-2:] == ["--", "sh"] and record["subject"]["words"] == 4
    assert record["subject"]["asked"] == "sh"
