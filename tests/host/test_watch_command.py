# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch -- COMMAND` leaves the command as it is, and sees all that it sends."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from helpers import processes, records, watch_tool
from helpers.screens import GIVE_BACK, Screen
from helpers.watch_tool import PRIME, broken, record_of, talk, watch

pytestmark = records.needs_root


def test_its_status_is_the_commands():
    for line, status in (("exit 7", 7), ("true", 0), ("kill -TERM $$", 128 + signal.SIGTERM)):
        assert watch("--quiet", "--", "sh", "-c", line).returncode == status


def test_a_command_that_is_not_there_is_told_as_env_tells_it(tmp_path):
    done = watch("--", tmp_path / "none")
    assert done.returncode == 127 and done.stderr.count("\n") == 1 and not done.stdout
    assert watch("--", tmp_path).returncode == 126


def test_stdin_and_stdout_are_the_commands():
    done = watch("--", "tr", "a-z", "A-Z", stdin=None, input="typed\n")
    assert done.returncode == 0 and done.stdout == "TYPED\n"
    assert "laws" in done.stderr


def test_every_byte_of_it_is_in_the_books(tmp_path):
    done = watch("--json", tmp_path / "r.json", "--", *talk(23))
    record = record_of(tmp_path / "r.json")
    assert done.returncode == 0 and not done.stdout, done.stderr
    counts = record["total"]["counts"]
    assert counts["accepted_bytes"] == counts["returned_bytes"] == 23 * (PRIME + 7)
    assert record["total"]["sites"]["tx_copy"]["bytes"] == 23 * (PRIME + 7)
    assert len(record["sockets"]) == 2 and all(each["whole"] for each in record["sockets"])
    assert not broken(record)
    assert record["subject"] == {"kind": "command", "asked": sys.executable, "words": 5,
                                 "exit_status": 0}
    assert record["window"]["ended_by"] == "subject ended"
    assert "sent" in done.stderr and "copied" in done.stderr


def test_children_belong_to_it_until_the_last_has_ended(tmp_path):
    line = 'for i in 1 2 3; do "$@" & done; exit 5'
    done = watch("--json", tmp_path / "r.json", "--", "sh", "-c", line, "sh", *talk(3))
    record = record_of(tmp_path / "r.json")
    assert done.returncode == 5
    assert record["total"]["counts"]["accepted_bytes"] == 9 * (PRIME + 7)
    assert not broken(record)


def test_the_report_keeps_to_80_columns_and_to_its_order_and_its_record_stays(tmp_path):
    there = {"env": {**os.environ, "COPYSCOPE_RUNS": str(tmp_path)}}
    for number in range(105):
        (tmp_path / f"20000101T0{number // 60:02}0{number % 60:02}.000-1-watch.json").touch()
    (tmp_path / "20000101T0.json").touch()
    done = watch("--csv", tmp_path / "rows.csv", "--", *talk(3), **there)
    # The newest hundred stay, and what is no watch's.
    kept = sorted(each.name for each in tmp_path.glob("*.json"))
    assert len(kept) == 101 and "20000101T0.json" in kept
    record = record_of(tmp_path / kept[-1])
    assert record["total"]["counts"]["accepted_bytes"] == 3 * (PRIME + 7) and f"record          {tmp_path}/{kept[-1]}" in done.stderr
    show = subprocess.run([watch_tool.COPYSCOPE, "show", "last", "--csv"], capture_output=True, text=True, check=True, **there)
    assert show.stdout == (tmp_path / "rows.csv").read_text() and f",1,2,{3 * (PRIME + 7)}," in show.stdout
    lines = done.stderr.splitlines()
    # The name of a file is never cut.
    assert max(len(line) for line in lines if not line.startswith("record ")) <= 80
    starts = ["python", "site ", "tx_copy", "rx_copy", "laws ", "overhead", "not seen"]
    at = [next(i for i, line in enumerate(lines) if line.startswith(each)) for each in starts]
    assert at == sorted(at)
    assert re.search(r"python[\d.]*, pid \d+: send copied all of 282 kB", done.stderr)


def test_a_name_cannot_command_the_terminal(tmp_path):
    # A process is named after the file that it executes.
    evil = tmp_path / "\x1b[2J\nnginx"
    evil.symlink_to("/usr/bin/python3")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    done = watch("--", evil, "-c", watch_tool.TALK, "1", "0", env={**os.environ, "COPYSCOPE_RUNS": str(theirs)})
    # Where a record could be redirected none is kept, and the watch goes on.
    assert done.returncode == 0 and str(theirs) in done.stderr and not list(theirs.iterdir())
    assert "\x1b" not in done.stderr and "\\x1b[2J\\nnginx, pid " in done.stderr


def test_intervals_in_a_pipe_are_blocks(tmp_path):
    done = watch("--interval", "0.2", "--json", tmp_path / "r.json", "--", *talk(10, 0.1))
    blocks = re.findall(r"^\d+\.\d s\n +sent/s +recv/s", done.stderr, re.MULTILINE)
    assert 2 <= len(blocks) <= 10
    assert record_of(tmp_path / "r.json")["total"]["counts"]["accepted_bytes"] == 10 * (PRIME + 7)


def test_a_signal_for_it_reaches_the_command():
    with watch_tool.start("--", "sh", "-c", "trap 'exit 9' TERM; echo ready; sleep 4 & wait") as one:
        assert one.stdout.readline() == "ready\n"
        one.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        # The sleep is left: a second signal ends the watch, and leaves it.
        one.send_signal(signal.SIGTERM)
        one.communicate(timeout=watch_tool.TIMEOUT_S)
    assert one.returncode == 9


def test_a_killed_watch_leaves_the_command_running(tmp_path):
    out = tmp_path / "lived"
    with watch_tool.start("--", "sh", "-c", f"echo ready; sleep 0.5; echo yes > {out}") as one:
        assert one.stdout.readline() == "ready\n"
        one.kill()
        one.communicate(timeout=watch_tool.TIMEOUT_S)
    for _ in range(100):
        if out.exists() and out.read_text():
            break
        time.sleep(0.05)
    assert out.read_text() == "yes\n"


def test_under_sudo_it_is_the_callers():
    done = watch("--quiet", "--", "id", "-u",
                 env={**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534"})
    assert done.stdout == "65534\n"
    done = watch("--quiet", "--as-root", "--", "id", "-u", env={**os.environ, "SUDO_UID": "65534"})
    assert done.stdout == "0\n"


def test_a_live_view_obeys_its_keys_and_gives_the_terminal_back(busy):
    screen = Screen("-p", busy, "--interval", "0.2")
    screen.wait_for("services")
    screen.press("p")
    screen.wait_for(f"pid {busy}")
    screen.press("s")
    screen.wait_for("127.0.0.1:")
    screen.press("\r")
    # Sites of the first row, which the watch tells from then on alone.
    screen.wait_for("what became of them")
    screen.press("\x1b")
    screen.wait_for("? keys")
    screen.press("/no such name\r")
    screen.wait_for(" have that name")
    screen.press("\x1b")
    screen.wait_for("127.0.0.1:")
    screen.press("r")
    screen.wait_for("remote peers")
    screen.press("t")
    screen.wait_for("by sent")
    screen.press(" ")
    screen.wait_for("paused")
    screen.press("q")
    assert screen.end() == 0
    assert "q quit" not in screen.said.rpartition(GIVE_BACK)[2]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_however_it_ends_the_terminal_is_given_back(busy, number):
    screen = Screen("-p", busy, "--by", "process", "--interval", "0.2")
    screen.wait_for(f"pid {busy}")
    screen.process.send_signal(number)
    assert screen.end() == (-number if number == signal.SIGKILL else 0)
    # What is watched goes on.
    assert processes.state_of(busy) != "Z"


CLOSE_MANY = """
import socket
server = socket.create_server(("127.0.0.1", 0))
for number in range(1500):
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    client.sendall(b"x" * 10)
    client.close()
    while peer.recv(64):
        pass
    peer.close()
"""


def test_peers_and_ports_are_right_when_more_have_closed_than_are_kept(tmp_path):
    done = watch("--by", "peer", "--json", tmp_path / "r.json", "--", sys.executable, "-c", CLOSE_MANY)
    record = record_of(tmp_path / "r.json")
    assert record["losses"]["folded_sockets"] == 2000
    peer, = record["peers"]
    assert (peer["peer"], peer["sockets"], peer["sent_bytes"], peer["received_bytes"]) == \
        ("127.0.0.1", 3000, 15000, 15000)
    assert sum(each["sent_bytes"] for each in record["ports"]) == 15000
    assert re.search(r"15\.0 kB +15\.0 kB +30\.0 kB +0 B +3,000 +0 B  127\.0\.0\.1\n", done.stderr)
