# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch --host` from one guest to another counts what a watch there counts, and leaves nothing there."""
from __future__ import annotations

import json
import shlex
import socket
from types import SimpleNamespace

import pytest

from copyscope import peers
from guest.boots import TIMEOUT_S
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.guest_python import SWEEP, python_with
from helpers.watch_tool import record_of

WORKLOAD = f"build/trace_run A3 {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --no-probes --quiet --json /dev/null"
OPTIONS = SimpleNamespace(memory="1G", timeout=TIMEOUT_S)


def watched(kernels: str, kills: int, out) -> dict:
    """Have both guests, and end them; what became of the watches that were ended."""
    near, far = kernels.split(",")
    links = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    private, public = peers.make_key()
    guests = [peers.FarGuest(OPTIONS, far, links[1], public)]
    try:
        host_key = guests[0].wait_for_key()
        command = shlex.join(["python3", "-SB", "tests/guest/far_watch.py", str(kills), peers.SSH, f"root@{peers.FAR}", WORKLOAD])
        added = (word for each in python_with(*SWEEP) for word in ("--add", each))
        guests.append(peers.Guest(OPTIONS, near, links[0], peers.NEAR, peers.RUN + command,
                                  ["--with", "ssh", "--out", out, *added],
                                  {"COPYSCOPE_SSH_KEY": private, "COPYSCOPE_SSH_HOST": host_key}))
        assert guests[1].process.wait() == 0
    finally:
        for each in guests:
            each.stop()
    return json.loads((out / "ends.json").read_text())


def moved(record: dict) -> dict:
    """What the workload's sockets did, of which each watch saw the whole life."""
    found, = [each["sum"] for each in record["processes"] if each["comm"] == "workload" and each["sum"]["counts"]["accepted_bytes"]]
    return {name: each["bytes"] for name, each in found["sites"].items()} | \
        {name: found["counts"][name] for name in ("accepted_bytes", "zerocopy_sends")} | {"sockets": found["sockets"]}


@pytest.mark.parametrize("kernels, kills", [("6.12,6.1", 3), pytest.param("6.1,7.2", 50, marks=pytest.mark.long)])
def test_a_watch_from_another_guest_has_the_record_of_the_host_itself_and_leaves_nothing(kernels, kills, tmp_path):
    ends = watched(kernels, kills, tmp_path)
    far, own = (record_of(tmp_path / f"{each}.json") for each in ("far", "own"))
    assert far["machine"] == own["machine"] and far["machine"]["kernel"].startswith(f"{kernels.partition(',')[2]}.")
    assert far["backend"] == own["backend"]
    assert moved(far) == moved(own)
    assert moved(far)["tx_reference"] == moved(far)["late_copy"] == moved(far)["accepted_bytes"] == PRIME_PAYLOAD
    assert not [law["law"] for law in far["laws"] if law["status"] == "broken"]
    assert ends["left"] == "" and ends["opened"] >= 1, ends
