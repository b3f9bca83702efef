# SPDX-License-Identifier: GPL-2.0
"""Programs in lmbench's place are run beside real rows; nothing of them outlives the command."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from helpers.records import ROOT, needs_root

pytestmark = [needs_root, pytest.mark.long]
TIMEOUT_S = 120
NAMES = ("lat_syscall", "lat_proc", "lat_ctx", "lat_mem_rd", "bw_mem", "lat_tcp", "bw_tcp",
         "lat_connect", "lat_pagefault", "bw_file_rd")
# A server stays behind when it is told -s, and does not go when it is told -S.
SERVER = """#!/bin/sh
case $1 in
-s) setsid sleep 4327 >/dev/null 2>&1 & ;;
-S) ;;
*) echo "TCP latency using $3: {us} microseconds" ;;
esac
"""


@pytest.fixture(name="programs")
def fixture_programs(tmp_path):
    """A folder of programs that fail, and one that has a server."""
    for name in NAMES:
        (tmp_path / name).write_text("#!/bin/sh\necho not today\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "lat_tcp").write_text(SERVER.format(us=15.0))
    return tmp_path


def beside(*words):
    """Run the command to its end."""
    return subprocess.run([ROOT / "tools/beside_lmbench", *map(str, words)], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False, cwd=ROOT)


def sleepers() -> list[str]:
    """Processes of the server above."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"sleep\x004327" in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def test_a_server_does_not_outlive_its_measurement(programs):
    done = beside("--bin", programs, "--only", "TCP round trip", "--rounds", 1, "--quiet")
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    assert "TCP round trip" in done.stdout and " 15 us" in done.stdout
    assert not sleepers()


def test_a_program_that_prints_no_result_is_named(programs):
    done = beside("--bin", programs, "--only", "fork", "--rounds", 1)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr == ("beside_lmbench: lat_proc -N 5 fork: 'not today' is no time in "
                           "microseconds\n")


@pytest.mark.skipif("LMBENCH" not in os.environ,
                    reason="lmbench is not told: set LMBENCH to the folder of its programs")
def test_the_real_programs_are_understood():
    done = beside("--bin", os.environ["LMBENCH"], "--rounds", 1, "--quiet")
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    assert done.stdout.count("agrees") + done.stdout.count("explained") >= 15
