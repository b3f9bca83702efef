# SPDX-License-Identifier: GPL-2.0
"""The report is as wide as the terminal, has colours there alone, and says a run was cut short."""
from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import pytest

from helpers import processes, records

pytestmark = records.needs_root

RUN = ("A3", 4093, 1, "--messages", 23, "--pass", "counted")
BAD, ESCAPE = "\x1b[1;31m", "\x1b"


def read_all(master):
    """What comes from a terminal until nobody has it open any more."""
    said = b""
    while True:
        try:
            said += os.read(master, 65536)
        except OSError:  # the other side is closed
            break
    os.close(master)
    return said.decode().replace("\r\n", "\n")


def on_a_terminal(folder, columns, *words, **variables):
    """What a run prints on a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment |= {"TERM": "xterm", "COPYSCOPE_RUNS": str(folder), **variables}
    with subprocess.Popen([str(word) for word in (records.TRACE_RUN, *RUN, *words)], stdout=slave,
                          stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(slave)
        said = read_all(master)
        assert process.wait(records.TIMEOUT_S) in records.WELL
    return said


def plain(text):
    """The lines of a report without colours and without the file of its record."""
    return re.sub("\x1b\\[[0-9;]*m", "", text).split("\nrecord ")[0].splitlines()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_report_is_as_wide_as_the_terminal_and_coloured(tmp_path, columns):
    text = on_a_terminal(tmp_path, columns)
    lines = plain(text)
    assert ESCAPE in text
    # Tables take 80 columns, whatever the terminal has; what is read as text follows it.
    assert max(map(len, lines)) <= max(columns, 80)
    assert len(lines[0]) <= columns
    assert not lines[1] or columns < len(lines[0]) + 1 + len(lines[1].split(" ")[0])
    assert any("bytes/message" in line for line in lines) == (columns == 120)


@pytest.mark.parametrize("words, variables", [
    ((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"}), (("--color", "never"), {})],
    ids=["NO_COLOR", "TERM=dumb", "--color never"])
def test_a_terminal_that_wants_no_colours_gets_none(tmp_path, words, variables):
    assert ESCAPE not in on_a_terminal(tmp_path, 80, *words, **variables)


def test_a_pipe_gets_80_columns_and_no_colours(tmp_path):
    done = records.run(*RUN, env={**os.environ, "COPYSCOPE_RUNS": str(tmp_path), "TERM": "xterm"})
    assert ESCAPE not in done.out and max(map(len, plain(done.out))) <= 80
    done = records.run(*RUN, "--color", "always", env={**os.environ, "COPYSCOPE_RUNS": str(tmp_path)})
    assert ESCAPE in done.out


def test_a_terminal_sees_the_rate_of_each_second(tmp_path):
    master, slave = pty.openpty()
    with subprocess.Popen([str(records.TRACE_RUN), "A2", "65536", "1", "--pass", "timed", "--seconds", "2.4",
                           "--json", str(tmp_path / "record.json")], stdout=subprocess.DEVNULL,
                          stderr=slave) as process:
        os.close(slave)
        said = read_all(master)
        assert process.wait(records.TIMEOUT_S) == 0
    rates = [float(rate) for rate in re.findall(r"[0-2]-[1-3] s  ([0-9.]+) Gbit/s", said)]
    whole = records.load(tmp_path / "record.json")["experiment"]["timing"]["throughput_gbps"]
    # Two whole seconds of 2.4: headers are little beside 64 KiB.
    assert len(rates) == 2 and whole / 2 < sum(rates) / 2 < whole * 2, (rates, whole, said)
    assert said.count("headers included") == 1


@pytest.mark.parametrize("passes", ["both", "counted"])
def test_an_interrupted_run_is_none_that_looks_like_success(tmp_path, passes):
    with records.under_way("A3", 4096, 1, "--seconds", 60, "--pass", passes, "--color", "always",
                          "--json", tmp_path / "record.json") as run:
        processes.wait_running(run.pid)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
    record = records.load(tmp_path / "record.json")
    assert run.done.code == 130 and record["window"]["ended_by"] == "interrupted"
    assert not record["experiment"]["verdict"]["passed"]
    assert run.done.out.startswith(f"{BAD}The run was interrupted: signal 2 (SIGINT)")
    assert "no verdict on A3, MSG_ZEROCOPY." in " ".join(" ".join(plain(run.done.out)).split())
    unseen = records.unseen(record)
    assert (f"the probes missed {unseen} packets" in record["experiment"]["outcome"]["reason"]) == bool(unseen)
