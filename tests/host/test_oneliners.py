# SPDX-License-Identifier: GPL-2.0
"""The one-liners of tracepoints alone work on this kernel, whatever it accepts, and are right."""
from __future__ import annotations

import json
import re
import subprocess

import pytest

from helpers.oneliners import joined, maps, numbers, oneliners, parted
from helpers.records import ROOT, needs_root

pytestmark = needs_root
OTHER_PROBES = re.compile(r"\b(?:kfunc|kretfunc|kprobe|kretprobe|usdt):")
HERE = {title: each for title, each in oneliners().items() if not OTHER_PROBES.search(each[0])}
COPIED = "Does TCP_ZEROCOPY_RECEIVE map anything?"
PAYLOAD = 200 * 65536
# bpftrace looks for tracepoints there, and leaves no bytecode beside the programs.
TRACED = "mount -t tracefs none /sys/kernel/tracing; export PYTHONDONTWRITEBYTECODE=1; "


def printed(command: str, truth) -> list[str]:
    """What a command prints; what its program holds true goes to a file of its own."""
    done = subprocess.run(["unshare", "-m", "bash", "-c", TRACED + command.replace("/tmp/truth", str(truth))],
                          cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_three_questions_need_tracepoints_alone():
    assert list(HERE) == list(oneliners())[:3]


@pytest.mark.parametrize("title", HERE)
def test_oneliner_yields_what_its_text_shows(title, tmp_path):
    command, shown = HERE[title]
    lines = printed(command, tmp_path / "truth")
    truth = json.loads((tmp_path / "truth").read_text()) if "/tmp/truth" in command else {}
    if "skip" in truth:
        pytest.skip(truth["skip"])
    assert maps(lines) == maps(shown) != set()
    assert sum(numbers(lines)) > 0


def test_sendfile_leaves_as_pages_and_what_send_copied_does_not(tmp_path):
    command = HERE["Is my sendfile copied?"][0]
    for variant, flag in (("sendfile", "2"), ("A1-plain", "0")):
        lines = printed(command.replace("trace_run sendfile", f"trace_run {variant}"), tmp_path)
        # Another workload on this machine may send, too.
        found = {match[1]: int(match[2]) for match in re.finditer(r"@bytes\[(\w+)\]: (\d+)", "\n".join(lines))}
        assert found[flag] >= PAYLOAD


@pytest.mark.parametrize("program", ["mapped", "mapped_nothing"])
def test_what_is_mapped_is_told_to_the_byte(program, tmp_path):
    lines = printed(HERE[COPIED][0].replace("odd mapped ", f"odd {program} "), tmp_path / "truth")
    truth = json.loads((tmp_path / "truth").read_text())
    if "skip" in truth:
        pytest.skip(truth["skip"])
    assert f"@mapped: {truth['bytes']['rx_map']}" in lines
    assert (truth["bytes"]["rx_map"] > 0) == (program == "mapped")


def test_programs_that_are_joined_are_told_apart():
    run = "build/trace_run A1 64 1 --quiet"
    script, runs = joined({
        0: f"bpftrace -e 'BEGIN {{ @n = count(); }}' -c '{run}'",
        1: f"({run}) & bpftrace -e 'kprobe:f {{ @n[kstack(1)] = count(); }} interval:s:4 {{ exit(); }}'"})
    assert " ".join(script.split()) == "BEGIN { @of0_n = count(); } kprobe:f { @of1_n[kstack(1)] = count(); }"
    assert runs == [run]
    lines = ["Attaching 2 probes...", "@of0_n: 1", "@of1_n[", "    f+5", "]: 7"]
    assert [parted(lines, number) for number in (0, 1)] == [["@n: 1"], ["@n[", "    f+5", "]: 7"]]
