# SPDX-License-Identifier: GPL-2.0
"""What compares takes every path of a run: its words reach trace_run, and what makes no sense is refused first."""
from __future__ import annotations

import json
import re

import pytest

from copyscope import sweep
from copyscope.common.errors import Unusable
from copyscope.common.tree import ROOT
from copyscope.runs import folder, paths, tables

OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
# Those of a guest's launcher, and of what a user of sweep cannot have asked for.
ELSEWHERE = {"--nics", "--mtu", "--netem", "--qdisc", "--no-tso", "--no-sg", "--tap", "--optmem", "--ipv6"}


def plan_of(*words):
    """The plan of a sweep's words."""
    options = sweep.build_parser().parse_args(["--variants", "A1,A3", "--sizes", "64", *words])
    return sweep.planned(options, sweep.chosen(options))


@pytest.mark.parametrize("words", [
    ("--path", "peer", "--host", "me@lab2"), ("--path", "nic", "--devices", "eth1,eth2"),
    ("--path", "peer", "--host", "lab2", "--ssh", "ssh -J gate", "--far", "sudo -n copyscope/tools/trace_run",
     "--addresses", "10.0.0.1,10.0.0.2")])
def test_words_for_a_path_reach_every_run(words):
    plan = plan_of(*words)
    for point in plan["points"]:
        said = point["arguments"]
        assert {said[said.index(option) + 1] for option in words[::2]} == set(words[1::2])
    assert plan["pass"] == ("timed" if "peer" in words else "both")


@pytest.mark.parametrize("words, why", [
    (("--path", "peer"), "--host"), (("--host", "lab2"), "--path peer"), (("--path", "lo", "--ssh", "ssh"), "--path peer"),
    (("--path", "peer", "--host", "lab2", "--kernel", "6.12"), "leave out --kernel"),
    (("--path", "peer", "--host", "lab2", "--pass", "both"), "one pass")])
def test_words_that_make_no_sense_together_are_refused(words, why):
    with pytest.raises(Unusable, match=why):
        plan_of(*words)


@pytest.mark.parametrize("words", [("--path", "lo"), ("--devices", "a,b"), ("--host", "lab2"), ("--pattern", "rr")])
def test_a_profile_says_its_path_itself(words):
    options = sweep.build_parser().parse_args(["--profile", "mt25064", *words])
    with pytest.raises(Unusable, match=f"{words[0]} {words[1]}: the profile says that"):
        sweep.chosen(options)


def test_a_profile_is_made_over_the_network_to_another_host():
    options = sweep.build_parser().parse_args(["--profile", "mt25018", "--path", "peer", "--host", "me@lab2"])
    plan = sweep.planned(options, sweep.chosen(options))
    for point in plan["points"]:
        said = point["arguments"]
        assert (said[said.index("--path") + 1], said[said.index("--host") + 1]) == ("peer", "me@lab2")
        # Those of the namespaces that the report made.
        assert "--addresses" not in said and "--devices" not in said
    assert plan["profile"] == "mt25018" and plan["settings"]["note"].endswith("on path peer to me@lab2")


def test_an_option_that_an_error_of_a_path_names_is_there():
    texts = [file.read_text(encoding="utf-8") for pattern in ("userspace/path/*.c", "userspace/run/options_peer.c")
             for file in ROOT.glob(pattern)]
    strings = [each for text in texts for each in re.findall(r'"((?:[^"\\]|\\.)*)"', text)]
    named = {option for each in strings for option in OPTION.findall(each)} - ELSEWHERE
    there = set(OPTION.findall(sweep.build_parser().format_help()))
    assert {"--devices", "--kernel", "--host"} <= named
    # One half starts the other by it; and what a container lacks, its own tool is told.
    assert named - there <= {"--far-half", "--no", "--cap-add", "--privileged", "--map-auto", "--net", "--security-opt", "--role"}


@pytest.mark.parametrize("path, said", [
    ("veth", "its own kernel takes each packet in"), ("nic", "behind two NICs"), ("peer", "on another host")])
def test_an_answer_says_where_it_holds(path, said):
    assert paths.told(path, "6.12").startswith(f"Path {path}, Linux 6.12; ") and said in paths.told(path, "6.12")


SHELLS = ["--ssh", "sshpass -p SECRET ssh", "--far=sudo SECRET", "--ss=SECRET", "--fa", "--SECRET"]


def test_no_file_of_a_sweep_keeps_how_the_other_host_is_reached(tmp_path):
    words = ("--path", "peer", "--host", "lab2", "--ssh", SHELLS[1], "--far", "SECRET")
    plan = plan_of(*words)
    made = folder.Folder(tmp_path / "out", plan)
    with made:
        made.set_aside("a", 1, "it failed", ["trace_run", *SHELLS, "--host", "lab2"])
    # Reached otherwise it is the same plan; an older file of it keeps nothing either.
    file = tmp_path / "out" / "plan.json"
    file.write_text(json.dumps(plan))
    with folder.Folder(tmp_path / "out", plan_of(*words[:-1], "OTHER")):
        pass
    texts = [each.read_text() for each in (tmp_path / "out").rglob("*.json")]
    assert len(texts) == 2 and not any("SECRET" in each or "OTHER" in each for each in texts)
    assert "lab2" in texts[0] and "lab2" in texts[1]
    assert "SECRET" not in tables.command_line([*SHELLS, "--out", "x"]) and "--out x" in tables.command_line([*SHELLS, "--out", "x"])


def test_words_that_are_no_shells_are_kept():
    words = ["--seconds", "1", "--s=1", "--f", "x", "--sshx", "y", "--far-half", "z", "ssh", "--", "-"]
    assert paths.hidden(words) == words
