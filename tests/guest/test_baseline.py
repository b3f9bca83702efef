# SPDX-License-Identifier: GPL-2.0
"""On a kernel that has netem the remote path is delayed by it, and its rows prove what they do."""
from __future__ import annotations

import json
import subprocess

from guest.boots import GUEST, TIMEOUT_S
from helpers import baseline

RELEASE = "6.12"
ROWS = ("tcp-rtt-remote", "icmp-rtt-remote", "connect-remote", "close-remote", "tcp-stream-remote")
# An emulated machine may stand still for longer than TCP waits with an answer.
ATTEMPTS = 3


def rows_in_a_guest() -> dict[str, dict]:
    """The rows of one quick run."""
    words = [word for row in ROWS for word in ("--only", row)]
    done = subprocess.run([GUEST, "--kernel", RELEASE, "--", "build/baseline", "--quick", "--runs",
                           "2", *words, "--json", "-"], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
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
