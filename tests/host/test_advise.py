# SPDX-License-Identifier: GPL-2.0
"""Advice on a real program: what it sent is what it cost, and its receiver here is found."""
from __future__ import annotations

import json
import subprocess
import sys

from copyscope.advise import prices
from helpers import records, schemas, watch_tool
from helpers.records import ROOT

pytestmark = records.needs_root

# 23 sends of 4,093 bytes over loopback, with both ends in one process.
PROGRAM = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
for _ in range(23):
    client.sendall(b"a" * 4093)
    left = 4093
    while left:
        left -= len(server.recv(left))
"""


def test_a_program_that_sends_to_itself_is_left_as_it_is(tmp_path):
    file = tmp_path / "advice.json"
    done = subprocess.run([ROOT / "tools/advise", "--json", file, "--", sys.executable, "-c", PROGRAM],
                          capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert done.returncode in (0, 4), done.stderr
    document = json.loads(file.read_text())
    assert not schemas.faults(ROOT / "docs/advice.schema.json", document)
    found, = document["processes"]
    numbers = {each["name"]: each for each in found["quantities"]}
    assert numbers["copied.tx_copy"]["value"] == numbers["copied.rx_copy"]["value"] == 23 * 4093
    assert numbers["path.local_share"]["value"] == 1 and found["path"]["like"] == "lo"
    assert numbers["MSG_ZEROCOPY.from_2048.change"]["how"] == "modelled"
    assert "--path lo --sizes 4096" in " ".join(done.stdout.split()) and "--answer 4093" in done.stdout


def test_no_such_process_is_what_the_watch_says(tmp_path):
    done = subprocess.run([ROOT / "tools/advise", "-p", "4194304"], capture_output=True, text=True,
                          timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 2 and "4194304" in done.stderr and done.stderr.count("\n") == 1


def test_of_a_program_on_another_host_it_is_the_advice_on_the_record_that_came_home():
    # What this machine's prices are takes 20 s to measure, and the other host is this one.
    for text in [file.read_text() for file in prices.PLACE.glob("*.json")]:
        (prices.PLACE / f"{prices.key_of(json.loads(text)['machine'], 'lab2')}.json").write_text(text)
    with subprocess.Popen(watch_tool.talk(400, 0.05)) as one:
        try:
            done = subprocess.run([ROOT / "tools/advise", "--host", "lab2", "--ssh", watch_tool.FAR_SHELL.format(become="exec"),
                                   "-p", str(one.pid), "--seconds", "0.5", "--json", "-", "--quiet"],
                                  capture_output=True, text=True, timeout=120, check=False)
        finally:
            one.kill()
    assert done.returncode in (0, 1, 4), done.stderr
    told, = json.loads(done.stdout)["processes"]
    numbers = {each["name"]: each["value"] for each in told["quantities"]}
    assert told["pids"] == [one.pid] and numbers["copied.tx_copy"] >= watch_tool.PRIME
    assert not watch_tool.left_there()
