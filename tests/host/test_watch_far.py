# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch --host` counts there as here, and leaves nothing there, however it ends."""
from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from helpers import peers, processes, records, watch_tool
from helpers.watch_tool import FAR_SHELL, PRIME, TIMEOUT_S, ended, left_there, record_of, talk

pytestmark = records.needs_root

PAYLOAD = 3 * (PRIME + len(b"thanks!"))
HERE = FAR_SHELL.format(become="exec")
KILLS, AT_ONCE, SEED = 12, 4, 29


def far(*words: object, ssh: str = HERE, **more) -> subprocess.CompletedProcess:
    """A watch on another host, to its end."""
    return watch_tool.watch("--host", "lab2", "--ssh", ssh, *words, **more)


@pytest.fixture(name="talker")
def fixture_talker():
    """A program that waits for a word before it talks to itself."""
    with subprocess.Popen(["sh", "-c", 'read go; exec "$@"', "sh", *talk(3, 0.1)], stdin=subprocess.PIPE, text=True) as one:
        yield one
        one.kill()


def test_it_counts_to_the_byte_and_prints_the_report_of_the_record_that_it_keeps(talker, tmp_path):
    file = tmp_path / "r.json"
    words = ["--host", "lab2", "--ssh", HERE, "-p", talker.pid, "--json", file, "--interval", 0.2]
    with ended(watch_tool.start(*words)) as watching:
        assert "open" in watching.stderr.readline()
        talker.communicate("go\n", timeout=TIMEOUT_S)
        said, complained = watching.communicate(timeout=TIMEOUT_S)
    assert watching.returncode == 0, complained
    record = record_of(file)
    sites = record["total"]["sites"]
    assert sites["tx_copy"]["bytes"] == sites["rx_copy"]["bytes"] == PAYLOAD
    assert record["command"] == ["copyscope-collect", "-p", str(talker.pid), "--interval", "0.2"]
    blocks, _, report = said.partition(f"sh, pid {talker.pid}: ")
    shown = subprocess.run([records.ROOT / "tools/copyscope", "show", file], capture_output=True, text=True, check=True)
    assert "sent/s" in blocks and report.partition("\nrecord ")[0].strip() in shown.stdout
    assert not left_there()


def test_a_signal_ends_it_with_its_report():
    with ended(watch_tool.start("--host", "lab2", "--ssh", HERE, "--all")) as watching:
        assert "open" in watching.stderr.readline()
        watching.send_signal(signal.SIGINT)
        said, complained = watching.communicate(timeout=TIMEOUT_S)
    assert watching.returncode == 0 and "overhead" in said, complained
    assert not left_there()


def test_cut_or_killed_at_any_moment_it_leaves_nothing_there():
    dice = random.Random(SEED)
    for _ in range(0, KILLS, AT_ONCE):
        running = [watch_tool.start("--host", "lab2", "--ssh", HERE, "--all", start_new_session=True) for _ in range(AT_ONCE)]
        for one in running:
            time.sleep(dice.uniform(0, 0.5))
            # The connection is cut with whoever began it.
            os.kill(one.pid, dice.choice((signal.SIGKILL, signal.SIGTERM)))
        for one in running:
            one.communicate(timeout=TIMEOUT_S)
    processes.wait_until(lambda: not left_there())


def test_without_root_there_it_takes_sudo(tmp_path):
    # What says that it is not root, and what makes it root.
    for name, script in {"id": 'echo "${1#-u}1000"', "sed": "echo 0",
                         "sudo": '[ "$1" = -n ] && shift; echo "sudo $1" | cut -c1-10 >&2; exec "$@"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    done = far("--all", "--seconds", 0.1, ssh=FAR_SHELL.format(become=f"PATH={tmp_path}:$PATH exec"))
    assert done.returncode == 0 and "sudo /proc" in done.stderr, done.stderr


def test_without_root_and_sudo_one_line_says_so():
    done = far("--all", ssh=FAR_SHELL.format(become="exec setpriv --reuid 65534 --regid 65534 --clear-groups"))
    assert done.returncode == 3 and "has no CAP_BPF" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not left_there()


def test_where_tmp_runs_no_program_it_takes_another_folder():
    script = "; ".join(f"mount -t tmpfs -o noexec none {place}" for place in ("/tmp", "/dev/shm"))
    become = f"exec unshare --mount sh -ec \"{script}; exec \\\"\\$@\\\"\" sh"
    done = far("--all", "--seconds", 0.1, ssh=FAR_SHELL.format(become=become))
    assert done.returncode == 0 and "overhead" in done.stdout, done.stderr


@pytest.mark.parametrize("words, why", [
    (["--all", "--", "true"], "start it there"), (["--all", "--serve", "9435"], "leave out --serve"),
    (["--all", "--ssh", "false"], "lab2: no shell answered there"), (["--all", "--hosts", "x"], "exclude each other"),
    (["--all", "--ssh", "'"], "No closing quotation")])
def test_what_cannot_be_is_told_in_one_line(words, why):
    done = watch_tool.watch("--host", "lab2", *words)
    assert done.returncode in (2, 3) and why in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_several_hosts_are_rows_of_one_table(tmp_path):
    (tmp_path / "hosts").write_text("lab2\nlab3 # not there\nlab4\n")
    # The last but one of its words is the host.
    ssh = HERE.replace("for command", '[ "${9}" != lab3 ] || { echo "lab3 is down" >&2; exit 255; }; for command')
    done = watch_tool.watch("--hosts", tmp_path / "hosts", "--ssh", ssh, "--all", "--seconds", 0.3)
    assert done.returncode == 3, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split()[:4] == ["host", "kernel", "sent", "received"]
    assert [row.split()[:2] for row in rows[:2]] == [[host, os.uname().release] for host in ("lab2", "lab4")]
    assert rows[2:] == ["lab3: lab3 is down"]


@pytest.mark.skipif(not shutil.which("dropbear"), reason="dropbear is missing")
def test_by_ssh_itself_it_is_the_same(talker, tmp_path):
    with peers.two_hosts() as pair, peers.dropbear(pair.far, tmp_path) as ssh:
        words = ["--host", "root@" + pair.far.address, "--ssh", ssh, "-p", talker.pid, "--json", "-"]
        with ended(subprocess.Popen(pair.near.inside(watch_tool.COPYSCOPE, "watch", *words), text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, start_new_session=True)) as watching:
            assert "open" in watching.stderr.readline()
            talker.communicate("go\n", timeout=TIMEOUT_S)
            said, complained = watching.communicate(timeout=TIMEOUT_S)
        assert watching.returncode == 0, complained
        assert json.loads(said)["total"]["sites"]["tx_copy"]["bytes"] == PAYLOAD
        with ended(subprocess.Popen(pair.near.inside(watch_tool.COPYSCOPE, "watch", *words[:4], "--all"), text=True,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)) as watching:
            assert "open" in watching.stderr.readline()
        processes.wait_until(lambda: not left_there())
