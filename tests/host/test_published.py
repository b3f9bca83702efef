# SPDX-License-Identifier: GPL-2.0
"""The reports' command lines, as they type them: each program runs, and nothing of it is left."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope_studies.published import command, programs
from helpers.processes import wait_until
from helpers.records import ROOT, needs_root

PUBLISHED = ROOT / "tools" / "published"
# What each report types, and what its client says with numbers for #.
TYPED = {
    "MT25018": (["./MT25018_Part_A1_Server 4096 4", "./MT25018_Part_A1_Client 127.0.0.1 4096 1"],
                "Throughput_Gbps # TotalBytes # TotalMessages # Duration_sec # Latency_us #"),
    "MT25018 in namespaces": (
        ["sudo ip netns exec server_ns ./MT25018_Part_A3_Server 4096 1",
         "sudo ip netns exec client_ns ./MT25018_Part_A3_Client 10.1.1.1 4096 1"],
        "Throughput_Gbps # TotalBytes # TotalMessages # Duration_sec # Latency_us #"),
    "MT25023": (["sudo ip netns exec ns_server ./server_A1 9000 4096 2",
                 "sudo ip netns exec ns_client ./client_A1 10.0.0.1 9000 1 4096"],
                "[A1] Connected to server Throughput # Latency #"),
    "MT25029": (["./a1_server 4096", "./a1_client 127.0.0.1 9090 64 2"], "latency_us # throughput_mbps #"),
    "MT25064": (["./MT25064_Part_A2_server 9000 4096 2", "./MT25064_client 127.0.0.1 9000 4096 1",
                 "./MT25064_client 127.0.0.1 9000 4096 1"], "TotalBytes # Throughput_Gbps #"),
}


def runs(words):
    """True if a process with these words runs, anywhere."""
    found = subprocess.run(["pgrep", "-fx", words], stdout=subprocess.DEVNULL, check=False)
    return found.returncode == 0


def typed(report, commands, *words):
    return subprocess.Popen([PUBLISHED, report, *words, *commands], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


@needs_root
@pytest.mark.parametrize("name", TYPED)
def test_what_a_report_types_says_what_its_program_said(name):
    commands, said = TYPED[name]
    process = typed(name.split()[0], commands, "--no-books")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and not err, err
    numbers = [float(each) for each in re.findall(r" (\d+(?:\.\d+)?)$", out, re.MULTILINE)]
    told = [line if "=" in line else re.sub(r" [\d.]+$", " #", line) for line in out.splitlines() if not line.startswith("$")]
    once = re.findall(r"\[A1\] Connected to server|\w+ #", said)
    server = ["[A1] Server listening on port 9000 | msg=4096 | max_threads=2"] if name == "MT25023" else []
    assert sorted(told) == sorted([*server, *once * (len(commands) - 1)]) and min(numbers) > 0
    assert not Path(f"/run/{name.split()[0]}").exists()


@needs_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_namespaces_vanish_whatever_ends_the_session(number):
    before, sleep = set(os.listdir("/run")), f"sleep 60.{os.getpid()}{int(number)}"
    process = typed("MT25023", ["ip netns exec ns_server ./server_A1 9000 4096 2", sleep], "--no-books")
    assert "server_A1" in process.stdout.readline() and process.stdout.readline() == f"$ {sleep}\n"
    wait_until(lambda: runs(sleep))
    process.send_signal(number)
    process.communicate(timeout=30)
    wait_until(lambda: not runs(sleep))
    assert process.returncode and set(os.listdir("/run")) == before


@pytest.mark.parametrize("words", [["server_A4", "9000", "64", "1"], ["server_A1", "9000", "64"],
                                   ["client_A1", "10.0.0.1", "70000", "5", "64"]])
def test_words_that_no_report_types_are_refused_with_what_it_types(words):
    with pytest.raises(Unusable, match="server_A1|PORT"):
        programs.read("MT25023", words[0], words[1:])


def test_the_books_are_those_of_a_watch_over_the_session(monkeypatch, tmp_path):
    became = []
    monkeypatch.setattr(command.os, "execv", lambda path, words: became.append(words))
    monkeypatch.setattr(command.os, "geteuid", lambda: 0)
    assert command.act(["MT25064", "--json", "FILE", "ls"]) == 0
    watch = became[0]
    assert watch[1:5] == ["watch", "--as-root", "--json", "FILE"] and watch[-2:] == ["MT25064", "ls"]


@needs_root
def test_beside_it_stand_the_books_of_both_ends(tmp_path):
    record = tmp_path / "watch.json"
    process = typed("MT25064", ["./MT25064_Part_A1_server 9000 4096 1", "./MT25064_client 127.0.0.1 9000 4096 1"],
                       "--json", record)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    moved = int(re.search(r"^TotalBytes (\d+)$", out, re.MULTILINE)[1])
    assert json.loads(record.read_text())["sites"]["rx_copy"]["bytes"] == moved
