# SPDX-License-Identifier: GPL-2.0
"""trace_run --runs: hooks stay attached from one run to the next, and each window opens at 0 bytes."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess

import pytest

from helpers import leftovers, processes, records
from helpers.books import TRACEPOINT_NOT_TESTABLE, check_laws, check_sites

pytestmark = records.needs_root

PROGRAM = records.ROOT / "build" / "trace_run"
PRIME, MESSAGES = 4093, 23
PLAIN = f"A1 {PRIME} 2 --messages {MESSAGES} --path lo"
PAGES = f"A3 65536 2 --messages {MESSAGES} --path lo"


class Series:
    """A trace_run that waits for runs."""

    def __init__(self, folder, *words):
        self.folder = folder
        self.process = subprocess.Popen([PROGRAM, "--runs", folder, "--pass", "counted", *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)

    def begin(self, name, words):
        """Ask for a run, and wait until it begins."""
        self.process.stdin.write(f"{name} {words}\n")
        assert self.process.stdout.readline() == f"begin {name}\n"

    def end(self, name):
        """The exit status of the run that was begun."""
        word, ended, status = self.process.stdout.readline().split()
        assert (word, ended) == ("end", name)
        assert (self.folder / f"{name}.status").read_text() == f"{status}\n"
        return int(status)

    def make(self, name, words):
        """The record of a run that goes well."""
        self.begin(name, words)
        assert self.end(name) in records.WELL, (self.folder / f"{name}.err").read_text()
        return records.load(self.folder / f"{name}.json")


@pytest.fixture(name="series")
def one_series(tmp_path):
    """One that is told nothing yet. It is killed, and no hook of it is left."""
    series = Series(tmp_path / "runs", "--quiet")
    yield series
    attached = links_of(series)
    series.process.kill()
    series.process.communicate()
    processes.wait_until(lambda: not attached & {str(link["id"]) for link in leftovers.bpf_list("link")})


def links_of(series):
    """Numbers of the links that it holds attached."""
    found = set()
    if series.process.poll() is not None:
        return found
    for name in os.listdir(f"/proc/{series.process.pid}/fdinfo"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{series.process.pid}/fdinfo/{name}") as file:
            found |= {line.split()[1] for line in file if line.startswith("link_id:")}
    return found


def check_exact(record, size=PRIME):
    """The books show the bytes of this run, all of them and no others."""
    check_sites(record, MESSAGES * size)
    check_laws(record, TRACEPOINT_NOT_TESTABLE if record["backend"]["name"] == "tracepoint" else frozenset())
    assert len(record["sockets"]) == 4


def hooks_of(record):
    """What became of each hook."""
    return [(row["hook"], row["status"], row["why"]) for row in record["backend"]["probes"]]


def test_each_run_has_its_own_bytes_though_hooks_are_attached_once(series):
    check_exact(series.make("first", PLAIN))
    attached = links_of(series)
    assert attached
    for number in range(4):
        record = series.make(f"plain{number}", PLAIN)
        check_exact(record)
        assert record["counts"]["accepted_bytes"] == MESSAGES * PRIME == 94139
        check_exact(series.make(f"pages{number}", PAGES), 65536)
    assert links_of(series) == attached


def test_a_record_is_that_of_a_run_alone_but_for_what_differs_each_time(series):
    series.make("before", PAGES)
    beside, alone = series.make("beside", PAGES), records.run(*PAGES.split(), "--pass", "counted", "--json", "-").record
    assert [(law["law"], law["status"]) for law in beside["laws"]] == [(law["law"], law["status"]) for law in alone["laws"]]
    assert hooks_of(beside) == hooks_of(alone)
    for site, row in beside["sites"].items():
        assert (row["bytes"], row["how"]) == (alone["sites"][site]["bytes"], alone["sites"][site]["how"]) or site in (
            "late_copy", "reshape"), site


def test_hooks_that_a_run_leaves_off_are_attached_again_and_all_others_stay(series):
    left_off = f"{PLAIN} --break detach:rx_copy"
    check_exact(series.make("before", PLAIN))
    attached = links_of(series)
    record = series.make("left-off", left_off)
    assert links_of(series) < attached
    assert "receive" in records.laws_with(record, "not testable") and not records.laws_with(record, "broken")
    assert hooks_of(record) == hooks_of(records.run(*left_off.split(), "--pass", "counted", "--json", "-").record)
    check_exact(series.make("after", PLAIN))
    assert len(links_of(series)) == len(attached) and len(links_of(series) & attached) == len(attached) - 1


def test_a_run_with_other_needs_has_hooks_of_its_own_and_the_next_one_is_exact(series):
    check_exact(series.make("plain", PLAIN))
    before = links_of(series)
    record = series.make("datagrams", f"udp 1200 1 --messages {MESSAGES} --path lo")
    assert record["counts"]["accepted_bytes"] == MESSAGES * 1200
    assert not links_of(series) & before
    series.begin("fault", f"{PLAIN} --break lose-update")
    assert series.end("fault") == 1
    assert "broken" in {law["status"] for law in records.load(series.folder / "fault.json")["laws"]}
    check_exact(series.make("after", PLAIN))


def test_no_hook_is_attached_beside_a_pass_that_is_timed(tmp_path):
    series = Series(tmp_path / "runs")
    series.process.kill()
    series.process.communicate()
    with subprocess.Popen([PROGRAM, "--runs", tmp_path / "runs", "--quiet"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1) as process:
        series.process = process
        series.make("counted", f"{PLAIN} --pass counted")
        assert links_of(series)
        record = series.make("both", PLAIN)
        assert not links_of(series)
        assert record["experiment"]["passes"]["timed"] and record["counts"]["accepted_bytes"] == MESSAGES * PRIME
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_run_that_is_killed_takes_nothing_along(series):
    series.make("before", PLAIN)
    series.begin("long", f"A1 {PRIME} 2 --seconds 30 --path lo")
    running = processes.wait_until(lambda: processes.descendants(series.process.pid) and [
        pid for pid in processes.descendants(series.process.pid) if processes.comm(pid) == "workload"])
    for pid in {*processes.descendants(series.process.pid)} - set(running):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert series.end("long") != 0
    check_exact(series.make("after", PLAIN))


def test_a_signal_ends_the_run_in_order_and_then_the_series(series):
    series.make("before", PLAIN)
    series.begin("long", f"A1 {PRIME} 2 --seconds 30 --path lo")
    processes.wait_until(lambda: [pid for pid in processes.descendants(series.process.pid)
                                  if processes.comm(pid) == "workload"])
    series.process.send_signal(signal.SIGINT)
    assert series.process.wait(20) == 130
    record = records.load(series.folder / "long.json")
    assert record["experiment"]["outcome"]["status"] == "interrupted"
    assert not series.folder.joinpath("long.status").exists()


@pytest.mark.parametrize("line, says", [
    ("../up A1 64 1", "'../up' can be no file's name"), (".x A1 64 1", "'.x' can be no file's name"),
    ("\n", "'' can be no file's name"), ("x A1 64 '1", "the line of x ends within a quote"),
    ("x " + "1 " * 200, "the line of x has too many words")])
def test_a_line_that_is_none_ends_it_with_one_line(tmp_path, line, says):
    done = subprocess.run([PROGRAM, "--runs", tmp_path / "runs"], input=f"{line}\ny {PLAIN}\n", capture_output=True,
                          text=True, check=False, timeout=30)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1
    assert not list((tmp_path / "runs").iterdir())


def test_words_may_be_quoted_and_a_run_that_is_refused_leaves_the_others(series):
    series.begin("wrong", "A9 64 1")
    assert series.end("wrong") == 2
    assert "unknown VARIANT 'A9'" in (series.folder / "wrong.err").read_text()
    record = series.make("quoted", f"'A1' {PRIME} \"2\" --messages='{MESSAGES}' --behaviours '' --path \"l\"'o'")
    assert {"", "lo"} <= set(record["command"]) and record["experiment"]["workload"]["messages"] == MESSAGES


def test_it_comes_first_and_names_a_folder(tmp_path):
    late = records.run(*PLAIN.split(), "--runs", tmp_path)
    assert late.code == 2 and "--runs" in late.err and "comes first" in late.err
    (tmp_path / "file").write_text("")
    done = subprocess.run([PROGRAM, "--runs", tmp_path / "file"], input="", capture_output=True, text=True,
                          check=False, timeout=30)
    assert done.returncode == 2 and "choose another folder" in done.stderr and done.stderr.count("\n") == 1
