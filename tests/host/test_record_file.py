# SPDX-License-Identifier: GPL-2.0
"""The file of a record: a device or a pipe of that name is written to, never replaced."""
import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from helpers import records

sys.path.insert(0, str(records.ROOT / "tools"))

from copyscope.guest import peers  # noqa: E402
from copyscope.record_file import write_whole  # noqa: E402

RECORDERS = {
    "trace_run": [records.TRACE_RUN, "A2", "4093", "1", "--messages", "23", "--quiet"],
    "baseline": [records.ROOT / "tools" / "baseline", "--only", "loop", "--quick", "--runs", "2",
                 "--quiet"],
}
NULL, FULL = os.makedev(1, 3), os.makedev(1, 7)


@pytest.fixture(params=RECORDERS)
def record_to(request):
    """Runs a program that leaves a record, and has it written to a path."""
    def run(path) -> subprocess.CompletedProcess:
        return subprocess.run([*RECORDERS[request.param], "--json", path], capture_output=True,
                              text=True, check=False, timeout=records.TIMEOUT_S)
    return run


def device(path, number: int):
    """A device of a test's own: the machine's would be lost if the test is right to fail."""
    os.mknod(path, stat.S_IFCHR | 0o666, number)
    return path


@records.needs_root
def test_a_device_stays_a_device(record_to, tmp_path):
    null = device(tmp_path / "null", NULL)
    assert record_to(null).returncode == 0
    assert stat.S_ISCHR(null.stat().st_mode) and null.stat().st_rdev == NULL
    assert list(tmp_path.iterdir()) == [null]


@records.needs_root
def test_a_device_stays_one_when_tools_write_to_it(tmp_path):
    null = device(tmp_path / "null", NULL)
    write_whole(null, "whole")
    assert null.stat().st_rdev == NULL and list(tmp_path.iterdir()) == [null]


@records.needs_root
def test_a_device_stays_one_when_the_record_of_two_guests_comes_home(tmp_path):
    null, record = device(tmp_path / "null", NULL), tmp_path / "record.json"
    mode = null.stat().st_mode
    record.write_text("whole")
    peers.keep(record, null)
    assert (null.stat().st_mode, null.stat().st_rdev) == (mode, NULL)
    peers.keep(record, tmp_path / "kept.json")
    assert (tmp_path / "kept.json").read_text() == "whole"


@records.needs_root
def test_a_device_that_takes_nothing_fails_the_run(record_to, tmp_path):
    full = device(tmp_path / "full", FULL)
    done = record_to(full)
    assert done.returncode == 1 and "cannot write the record: No space left" in done.stderr


@records.needs_root
def test_a_pipe_gets_the_whole_record(record_to, tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    assert record_to(pipe).returncode == 0
    reader.join(records.TIMEOUT_S)
    assert "rows" in json.loads(heard[0]) or "sites" in json.loads(heard[0])
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@records.needs_root
def test_an_older_record_gives_way_to_the_new_one(record_to, tmp_path):
    path = tmp_path / "record.json"
    path.write_text("older")
    assert record_to(path).returncode == 0
    json.loads(path.read_text())
    assert list(tmp_path.iterdir()) == [path]
