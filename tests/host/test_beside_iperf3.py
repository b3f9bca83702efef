# SPDX-License-Identifier: GPL-2.0
"""A program in iperf3's place is run beside the workload; ratios are of pairs, and judged."""
from __future__ import annotations

import subprocess

import pytest

from copyscope.common.errors import CommandError
from copyscope_studies import beside_iperf3
from copyscope_studies.beside_iperf3 import Compared, Run, table
from helpers.records import ROOT, needs_root

SAID = '{"end": {"sum_received": {"bytes": %d, "bits_per_second": %g}}}'
# A client that comes too early once.
STAND_IN = """#!/bin/sh
case $1 in
-s) ;;
-c) [ -e {flag} ] || {{ touch {flag}; echo '{{"error": "refused"}}'; exit 0; }}
    echo '%s' ;;
esac
"""


def beside(*words):
    """Run the command to its end."""
    return subprocess.run([ROOT / "tools/beside_iperf3", *map(str, words)], capture_output=True,
                          text=True, timeout=120, check=False, cwd=ROOT)


def stand_in(folder, said):
    """A program in iperf3's place that reports this."""
    program = folder / "iperf3"
    program.write_text((STAND_IN % said.replace("{", "{{").replace("}", "}}")).format(
        flag=folder / "flag"))
    program.chmod(0o755)
    return program


def test_what_iperf3_received_is_read():
    run = beside_iperf3.theirs_of(SAID % (10 * 65536, 5e9), 2e-3, 65536)
    assert run == Run(5.0, pytest.approx(200.0))


@pytest.mark.parametrize("said", ["", "{}", "null", '{"end": {}}', '{"end": {"sum_received": 1}}',
                                  SAID % (0, 0), "not json"])
def test_what_is_no_result_is_an_error_in_one_line(said):
    with pytest.raises(CommandError) as refused:
        beside_iperf3.theirs_of(said, 1.0, 65536)
    assert "\n" not in str(refused.value)
    with pytest.raises(CommandError):
        beside_iperf3.ours_of(said, 1.0, 65536)


def test_ratios_are_of_pairs_and_slower_means_the_whole_interval():
    def compared(mine):
        return Compared(1, [Run(gbps, 10.0) for gbps in mine], [Run(10.0, 20.0)] * len(mine))
    even = compared([9.0, 9.5, 9.9, 10.1, 11.0, 12.0])
    assert even.ratio("gbps").middle == pytest.approx(1.0) and not even.slower
    assert even.ratio("us_per_message").middle == 0.5
    assert compared([9.0, 9.1, 9.2, 9.3, 9.4, 9.9]).slower
    assert "6 pairs: medians of the pairs and 95 % interval of the median" in \
        table([even], 65536)[-1]


@needs_root
@pytest.mark.parametrize("bits_per_second, code", [(1.0, 0), (1e15, 1)])
def test_the_exit_status_says_whether_the_workload_is_slower(tmp_path, bits_per_second, code):
    program = stand_in(tmp_path, SAID % (65536, bits_per_second))
    done = beside("--bin", program, "--pairs", 2, "--seconds", 1, "--connections", 2)
    assert done.returncode == code, done.stderr
    assert "2 pairs" in done.stdout and not done.stderr


@needs_root
def test_a_program_that_fails_is_one_line(tmp_path):
    program = stand_in(tmp_path, "no result")
    done = beside("--bin", program, "--pairs", 1, "--seconds", 1, "--connections", 1)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "iperf3" in done.stderr


@pytest.mark.parametrize("words", ["--pairs 0", "--connections 0", "--seconds 0.5", "--bytes 4",
                                   "--bin /nowhere/iperf3", "more"])
def test_bad_words_are_one_line_and_exit_2(words):
    done = beside(*words.split())
    assert done.returncode == 2 and done.stderr.count("\n") == 1
