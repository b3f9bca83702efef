# SPDX-License-Identifier: GPL-2.0
"""What is shown of a watch's record is what the watch printed, to the letter: of each kind of watch, one."""
from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from copyscope.report import sums
from helpers import printed
from helpers.records import ROOT, needs_root
from helpers.watch_tool import COPYSCOPE, talk, watch

pytestmark = needs_root
ALL = ("--detail", "--sizes", "--stacks", "--cpu", "--books", "calls")


def workload(words: str) -> tuple[str, ...]:
    """The command of a run without probes, which prints nothing."""
    return "--", "sh", "-c", f"exec build/trace_run {words} --no-probes --json /dev/null >/dev/null 2>&1"


TALK = ("--", *talk(23))
# NAME: the words of a watch, and a part of its report that it is there for.
WATCHES = {
    "plain": (TALK, "send copied all of"),
    "in a shell": (("--by", "process", "--top", "1", *workload("A1 4093 2 --messages 46 --path lo")), "1 more: --by process --top 2"),
    "all of A3": ((*ALL, *workload("A3 65536 2 --messages 46 --path lo")), "zero-copy sends whose pages were held"),
    "sendfile": (("--by", "socket", *workload("sendfile 65536 2 --messages 46 --path lo")), "\nsockets\n"),
    "io_uring": (("--sizes", "--stacks=4", *workload("uring-zc 65536 1 --messages 46 --path lo")), "by io_uring"),
    "mapped": (("--books", "calls", *workload("A1 65536 1 --messages 46 --path lo --receiver map")), "a probe in each call"),
    "UDP": (("--by", "cgroup", "--sizes", *workload("udp-zc 1201 2 --messages 46 --path lo")), "\ndatagrams  "),
    "UDP that copies": (("--by", "port", *workload("udp-zc 40009 1 --messages 46 --path veth")), "refused that by"),
    "one byte lost": (("--sizes", "--break", "lose-sizes", *TALK), "Do not trust these sizes"),
    "one stack lost": (("--stacks", "--break", "lose-stack", *TALK), "\nstacks                  broken"),
    "all": (("--all", "--seconds", "0.5", "--sizes", "--cpu"), "CPU time  "),
    "all by socket": (("--all", "--seconds", "0.5", "--by", "socket", "--top", "23"), "not covered"),
    "nobody": (("--port", "9", "--seconds", "0.1"), "No process of the subject"),
}


@pytest.fixture(scope="module", name="watched")
def each_once(tmp_path_factory) -> Callable[[str], tuple[str, dict, Path]]:
    """What a watch printed, its record, and the file that has it."""
    folder = tmp_path_factory.mktemp("shown")

    @functools.cache
    def made(name: str) -> tuple[str, dict, Path]:
        file = folder / f"{name.replace(' ', '-')}.json"
        done = watch("--json", file, *WATCHES[name][0], cwd=ROOT)
        return done.stdout + done.stderr, json.loads(file.read_text()), file
    return made


@pytest.mark.parametrize("name", WATCHES)
def test_a_record_is_shown_as_its_watch_was(name, watched):
    told, record, _ = watched(name)
    assert printed.PART in told and " ".join(WATCHES[name][1].split()) in " ".join(told.split())
    assert not printed.differences(told, record)
    assert record["socket_sums"] == sums.of_sockets(record)


@pytest.mark.parametrize("words, other", [((), {}), (("--by", "peer", "--top", "1"), {"by": "peer", "top": 1})])
def test_the_command_shows_it_with_the_rows_that_are_asked_for(words, other, watched):
    told, record, file = watched("plain")
    shown = subprocess.run([COPYSCOPE, "show", file, *words], capture_output=True, text=True, timeout=60, check=True)
    text, _, origin = shown.stdout.rpartition("\n\n")
    assert origin.startswith("record 20") and (text in told) == (not words)
    assert text == printed.shown({**record, "report": {**record["report"], **other}})
