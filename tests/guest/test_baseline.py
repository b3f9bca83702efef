# SPDX-License-Identifier: GPL-2.0
"""On a kernel that has netem the remote path is delayed by it, and its rows prove what they do."""
from __future__ import annotations

import json
import subprocess

import pytest

from guest.boots import GUEST, TIMEOUT_S
from helpers import baseline

RELEASE = "6.12"
ROWS = ("tcp-rtt-remote", "icmp-rtt-remote", "connect-remote", "close-remote", "tcp-stream-remote")
# An emulated machine may stand still for longer than TCP waits with an answer.
ATTEMPTS = 3


def rows_in_a_guest(guest: tuple[str, ...] = (), more: tuple[str, ...] = (),
                    names: tuple[str, ...] = ROWS) -> dict[str, dict]:
    """The rows of one quick run."""
    words = [word for row in names for word in ("--only", row)]
    done = subprocess.run([GUEST, "--kernel", RELEASE, *guest, "--", "build/baseline", "--quick",
                           "--runs", "2", *words, *more, "--json", "-"], capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False)
    assert done.stdout.startswith("{"), done.stderr
    record = json.loads(done.stdout)
    assert not baseline.faults(record)
    return {row["row"]: row for row in record["rows"]}


def test_rows_of_a_path_delayed_by_netem_are_valid():
    valid: set[str] = set()
    for _ in range(ATTEMPTS):
        rows = rows_in_a_guest()
        assert all("netem" in row["how"] for row in rows.values())
        valid |= {name for name, row in rows.items() if row["status"] == "valid"}
        if valid == set(ROWS):
            break
    assert valid == set(ROWS), {name: rows[name]["why"] for name in set(ROWS) - valid}


# Without a delay a reply to a ping may be there before it is waited for.
@pytest.mark.parametrize("names", [("connect-remote",), pytest.param(
    ("tcp-rtt-remote", "close-remote", "tcp-stream-remote"), marks=pytest.mark.long)])
def test_rows_between_two_network_cards_count_the_same(names):
    valid: dict[str, dict] = {}
    for _ in range(ATTEMPTS):
        rows = rows_in_a_guest(("--nics", "2"), ("--nics", "eth0,eth1"), names)
        assert all("eth0 and eth1" in row["how"] for row in rows.values())
        valid |= {name: row for name, row in rows.items() if row["status"] == "valid"}
        if set(valid) == set(names):
            break
    assert set(valid) == set(names), {name: rows[name]["why"] for name in set(names) - set(valid)}
    if row := valid.get("connect-remote"):
        assert baseline.counted(row, "connections up when connect() returned") == row["proof"]["calls"]


def test_a_card_that_is_up_is_not_taken():
    row = rows_in_a_guest(("--nics", "2"), ("--nics", "lo,eth1"), ("connect-remote",))["connect-remote"]
    assert row["status"] == "not_measured" and "lo is up" in row["why"]
