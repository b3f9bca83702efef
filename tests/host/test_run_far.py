# SPDX-License-Identifier: GPL-2.0
"""`copyscope run --host` runs there as here, and leaves nothing there, however it ends."""
from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import time

import pytest

from helpers import processes, records, watch_tool
from helpers.watch_tool import FAR_SHELL, PRIME, TIMEOUT_S, ended, left_there

pytestmark = records.needs_root

HERE = FAR_SHELL.format(become="exec")
KILLS, AT_ONCE, SEED = 8, 4, 46


def start(*words: object, ssh: str = HERE, **more) -> subprocess.Popen:
    """A run on another host."""
    return subprocess.Popen([watch_tool.COPYSCOPE, "run", "--host", "me@lab2", "--ssh", ssh, *map(str, words)], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def run(*words: object, **more) -> subprocess.CompletedProcess:
    """One to its end."""
    with ended(start(*words, **more)) as one:
        said, complained = one.communicate(timeout=TIMEOUT_S)
    return subprocess.CompletedProcess(words, one.returncode, said, complained)


def test_it_counts_to_the_byte_and_prints_the_report_of_the_record_that_comes_home(tmp_path):
    file = tmp_path / "r.json"
    done = run("A1", PRIME, 2, "--messages", 7, "--json", file)
    assert done.returncode == 0 and not done.stderr, done.stderr
    record = records.validate(json.loads(file.read_text()))
    payload = 7 * PRIME
    assert [records.site(record, name) for name in ("user_gather", "tx_copy", "rx_copy")] == [payload] * 3
    assert "lab2" not in file.read_text()
    shown = subprocess.run([watch_tool.COPYSCOPE, "show", file], capture_output=True, text=True, check=True).stdout
    assert done.stdout.partition("\nrecord ")[0].strip() in shown and str(file) in done.stdout
    assert not left_there()


def test_without_a_file_named_it_goes_where_runs_leave_theirs(tmp_path, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    assert run("A3", PRIME, 1, "--messages", 3, "--pass", "timed", "--quiet").stdout == ""
    file, = tmp_path.iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}-lab2-\d+\.json", file.name)


def test_several_hosts_are_rows_of_one_table(tmp_path, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    (tmp_path / "hosts").write_text("lab2\nlab3 # not there\nlab4\n")
    # The last but one of its words is the host.
    ssh = HERE.replace("for command", '[ "${9}" != lab3 ] || { echo "lab3 is down" >&2; exit 255; }; for command')
    done = subprocess.run([watch_tool.COPYSCOPE, "run", "--hosts", tmp_path / "hosts", "--ssh", ssh, "A1", str(PRIME), "2", "--messages",
                           "7"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    head, *rows = done.stdout.splitlines()
    # Hosts run side by side: their records need not bear the same second.
    kept = [next(tmp_path.glob(f"*-{host}-*.json")) for host in ("lab2", "lab4")]
    assert done.returncode == 3 and head.split()[:4] == ["host", "kernel", "received", "copies/byte"], done.stderr
    assert [row.split()[0] for row in rows[:2]] == ["lab2", "lab4"] and all(" 3.00 " in row for row in rows[:2])
    assert rows[2:] == ["lab3: lab3 is down", *(f"record         {file}" for file in kept)] and len(list(tmp_path.glob("*.json"))) == 2
    assert not left_there()


def test_starts_of_turns_are_made_there(tmp_path):
    file = tmp_path / "a.json"
    done = run("--alternate", "A1-plain,A3", 4096, 1, "--starts", 1, "--every", 0, "--seconds", 0.1, "--json", file)
    found = json.loads(file.read_text())
    assert done.returncode == 0 and "beside A1-plain" in done.stdout and not done.stderr, done.stderr
    plain, reference = (each["copies_per_byte"] for each in found["counted"])
    # What is sent again by reference is copied again on arrival.
    assert plain == 2 and 2 <= reference < 2.1 and found["starts"][0]["ends"] is None
    assert HERE not in file.read_text() and "me@lab2" in found["command"] and not left_there()


def test_the_baseline_of_another_host_comes_home(tmp_path):
    words = ["--host", "lab2", "--ssh", HERE, "--only", "syscall", "--quick", "--runs", 2, "--json", tmp_path / "b.json"]
    done = subprocess.run([records.ROOT / "tools/baseline", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and done.stdout == f"record         {tmp_path / 'b.json'}\n", done.stderr
    assert "syscall" in {row["row"] for row in json.loads((tmp_path / "b.json").read_text())["rows"]} and not left_there()


def test_ctrl_c_ends_it_with_its_record(tmp_path):
    with ended(start("A1", PRIME, 1, "--seconds", 30, "--pass", "counted", "--json", tmp_path / "r.json")) as one:
        processes.wait_until(lambda: sum(line.startswith("/proc/self/exe") for line in map(str, left_there())) == 2)
        one.send_signal(signal.SIGINT)
        said, complained = one.communicate(timeout=TIMEOUT_S)
    assert one.returncode == 130 and "interrupt" in said, said + complained
    assert records.load(tmp_path / "r.json") and not left_there()


def test_cut_or_killed_at_any_moment_it_leaves_nothing_there():
    dice = random.Random(SEED)
    for _ in range(0, KILLS, AT_ONCE):
        running = [start("A3", PRIME, 1, "--seconds", 20, "--json", "/dev/null", start_new_session=True) for _ in range(AT_ONCE)]
        for one in running:
            time.sleep(dice.uniform(0, 0.7))
            one.send_signal(dice.choice((signal.SIGKILL, signal.SIGTERM)))
        for one in running:
            one.communicate(timeout=TIMEOUT_S)
    processes.wait_until(lambda: not left_there(), timeout_s=20)


def test_without_root_and_sudo_one_line_says_so():
    done = run("A1", 64, 1, ssh=FAR_SHELL.format(become="exec setpriv --reuid 65534 --regid 65534 --clear-groups"))
    assert done.returncode == 3 and "is not root, and sudo -n refuses" in done.stderr and done.stderr.count("\n") == 1
    assert not left_there()


@pytest.mark.parametrize("words, why", [
    (["--kernel", "6.12"], "leave out --kernel"), (["--role", "sender"], "of --path peer"), (["--ssh", "'"], "closing quotation"),
    (["--json", "/nowhere/r.json"], "/nowhere"), (["--ssh", "false"], "me@lab2: no shell answered there"),
    (["--receiver", "none"], "'none'"), (["--hosts", "x"], "exclude each other"), (["--hosts", "x", "--alternate", "A1,A3"], "one host at a time"),
    (["--hosts", "x", "--path", "peer"], "with --path peer give --host"), (["--host", ""], "must name a host")])
def test_what_cannot_be_is_told_in_one_line(words, why):
    done = run("A1", 64, 1, *words) if words[0] != "--ssh" else run("A1", 64, 1, ssh=words[1])
    assert done.returncode in (2, 3) and why in done.stderr and done.stderr.count("\n") == 1, done.stderr
