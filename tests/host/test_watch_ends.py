# SPDX-License-Identifier: GPL-2.0
"""Whatever ends a watch, its terminal, its pipe, a signal, a limit: the record is written."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
import time

import pytest

from helpers import processes, records, watch_tool
from helpers.screens import GIVE_BACK, TAKE, Screen
from helpers.watch_tool import record_of, start, watch

pytestmark = records.needs_root
CTRL_S = "\x13"
HANGUP_IGNORED = ("env", "--ignore-signal=HUP")
# Said when a record could not have its name; the name that it has.
KEPT = re.compile(r"cannot write the record: [\w ]+; it lies beside it as (copyscope-\w+\.json)\n")


@pytest.mark.parametrize("ignored", [(), HANGUP_IGNORED])
def test_a_hang_up_of_the_terminal_costs_no_record(busy, tmp_path, ignored):
    for number in range(4):
        record = tmp_path / f"{number}.json"
        screen = Screen("-p", busy, "--by", "process", "--interval", "0.1", "--json", record, start=ignored)
        screen.wait_for(f"pid {busy}")
        time.sleep(number * 0.05)
        screen.hang_up()
        assert record_of(record)["total"]["counts"]["accepted_bytes"] > 0
        assert record_of(record)["window"]["ended_by"] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_ctrl_s_does_not_keep_a_view_from_ending(busy, tmp_path, number):
    screen = Screen("-p", busy, "--by", "process", "--interval", "0.1", "--json", tmp_path / "r.json")
    screen.wait_for(f"pid {busy}")
    screen.press(CTRL_S)
    time.sleep(0.3)
    screen.process.send_signal(number)
    assert screen.end() == 0 and record_of(tmp_path / "r.json")


def test_a_terminal_that_nobody_reads_does_not_keep_a_view_from_ending(busy, tmp_path):
    screen = Screen("-p", busy, "--by", "process", "--interval", "0.1", "--json", tmp_path / "r.json")
    screen.wait_for(f"pid {busy}")
    # Some 100 pages fill what lies between the two ends.
    for _ in range(400):
        os.write(screen.master, b"s")
        time.sleep(0.005)
    screen.process.send_signal(signal.SIGTERM)
    assert screen.process.wait(watch_tool.TIMEOUT_S) == 0
    assert record_of(tmp_path / "r.json")["window"]["ended_by"] == "interrupted"
    screen.hang_up()


def test_a_stop_by_another_process_gives_the_terminal_back_until_it_goes_on(busy):
    screen = Screen("-p", busy, "--by", "process", "--interval", "0.1")
    screen.wait_for(f"pid {busy}")
    screen.said = ""
    screen.process.send_signal(signal.SIGTSTP)
    screen.wait_for(GIVE_BACK)
    processes.wait_until(lambda: processes.state_of(screen.process.pid) == "T")
    assert termios.tcgetattr(screen.slave) == screen.was
    screen.process.send_signal(signal.SIGCONT)
    screen.wait_for(TAKE)
    screen.wait_for(f"pid {busy}")
    screen.press("q")
    assert screen.end() == 0


def test_a_view_in_the_background_is_not_shown_until_it_is_in_front(busy):
    shell = ["bash", "--norc", "-m", "-c", '"$@" & sleep 1.5; echo now; fg', "sh"]
    screen = Screen("-p", busy, "--by", "process", "--interval", "0.1", start=tuple(shell))
    screen.wait_for("now")
    # Who reads late has read what comes after it, too.
    before = screen.said.partition("now")[0]
    assert TAKE not in before and f"pid {busy}" not in before
    screen.wait_for(TAKE)
    screen.wait_for(f"pid {busy}")
    screen.press("q")
    assert screen.end() == 0


def test_a_reader_that_leaves_ends_the_watch_and_costs_no_record(busy, tmp_path):
    for words in ([], ["--json-lines", "-"]):
        with start("-p", busy, "--interval", "0.1", "--json", tmp_path / "r.json", *words) as one:
            assert one.stdout.readline()
            one.stdout.close()
            one.wait(watch_tool.TIMEOUT_S)
        assert record_of(tmp_path / "r.json")["window"]["ended_by"] == "interrupted"
        (tmp_path / "r.json").unlink()


# A shell without job control starts what is in its background so.
IN_BACKGROUND = ("env", "--ignore-signal=INT")


def test_in_the_background_of_a_script_a_signal_of_a_process_ends_it(busy, tmp_path):
    words = [*IN_BACKGROUND, watch_tool.COPYSCOPE, "watch", "-p", str(busy), "--json", tmp_path / "r.json"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as one:
        assert "open" in one.stderr.readline()
        one.send_signal(signal.SIGINT)
        assert one.wait(watch_tool.TIMEOUT_S) == 0
    assert record_of(tmp_path / "r.json")["window"]["ended_by"] == "interrupted"


def test_in_the_background_of_a_script_the_terminals_ctrl_c_does_not_end_it(busy):
    screen = Screen("-p", busy, "--by", "process", "--interval", "0.1", start=IN_BACKGROUND)
    screen.wait_for(f"pid {busy}")
    screen.press("\x03")
    screen.wait_for(f"pid {busy}")
    assert screen.process.poll() is None
    screen.press("q")
    assert screen.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_of_a_process_is_the_commands(number):
    with start("--", "sleep", "60") as one:
        processes.wait_until(lambda: ["sleep", "60"] in map(processes.command_line, processes.descendants(one.pid)))
        one.send_signal(number)
        assert one.wait(watch_tool.TIMEOUT_S) == 128 + number
        one.communicate()


def test_the_command_has_the_signals_that_the_watch_was_started_with():
    line = "grep SigIgn /proc/self/status"
    bare = subprocess.run(["env", "--ignore-signal=INT", "sh", "-c", line], capture_output=True,
                          text=True, check=True).stdout
    watched = subprocess.run(["env", "--ignore-signal=INT", watch_tool.COPYSCOPE, "watch", "-q", "--",
                              "sh", "-c", line], capture_output=True, text=True, check=True).stdout
    assert watched == bare


def test_a_subreaper_that_is_killed_does_not_end_the_watch_well(tmp_path):
    lived = tmp_path / "lived"
    with start("--json", tmp_path / "r.json", "--", "sh", "-c", f"echo $PPID; sleep 2; echo > {lived}") as one:
        os.kill(int(one.stdout.readline()), signal.SIGKILL)
        said = one.communicate(timeout=watch_tool.TIMEOUT_S)[1]
    assert one.returncode == 3 and "the parent of the command was killed" in said
    assert lived.exists()
    record = record_of(tmp_path / "r.json")
    assert record["subject"]["exit_status"] is None


def printer_of(watch: int) -> int:
    """The process that prints for a watch."""
    found, = [each for each in processes.children(watch) if "watch" in processes.command_line(each)]
    return found


def test_whoever_prints_may_be_killed_and_the_record_is_whole(tmp_path):
    for words, reason in ((["--seconds", "0.6"], "seconds"), (["--interval", "0.1"], "interrupted")):
        with start("-p", os.getpid(), "--json", tmp_path / "r.json", *words) as one:
            assert "open" in one.stderr.readline()
            os.kill(printer_of(one.pid), signal.SIGKILL)
            said, complaints = one.communicate(timeout=watch_tool.TIMEOUT_S)
        assert one.returncode == 1 and "the report was not printed whole" in complaints and "laws" not in said
        assert record_of(tmp_path / "r.json")["window"]["ended_by"] == reason


def test_a_watch_that_is_killed_leaves_nobody_who_prints():
    with start("-p", os.getpid(), "--interval", "60") as one:
        assert "open" in one.stderr.readline()
        printer = printer_of(one.pid)
        one.kill()
        one.communicate(timeout=watch_tool.TIMEOUT_S)
    processes.wait_until(lambda: processes.has_ended(printer))


def test_without_whoever_prints_a_watch_says_so_and_writes_its_record(tmp_path):
    words = [records.ROOT / "build/watch", "-p", str(os.getpid()), "--seconds", "0.1"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=watch_tool.TIMEOUT_S)
    assert not done.stdout and "no report: start it by copyscope watch, or give --table or --json FILE" in done.stderr
    done = subprocess.run([*words, "--json", tmp_path / "r.json"], capture_output=True, text=True, check=True,
                          timeout=watch_tool.TIMEOUT_S)
    assert not done.stdout and record_of(tmp_path / "r.json") and "no report" not in done.stderr


def test_a_name_that_somebody_takes_during_the_window_costs_no_record(tmp_path):
    folder, record = tmp_path / "all", tmp_path / "all/r.json"
    folder.mkdir()
    folder.chmod(0o1777)
    for take in (lambda: record.symlink_to("/etc/passwd"), lambda: record.mkdir(),
                 lambda: (record.write_text("theirs"), os.chown(record, 65534, 65534))):
        with start("--seconds", 60, "-p", os.getpid(), "--json", record) as one:
            assert "open" in one.stderr.readline()
            take()
            one.send_signal(signal.SIGINT)
            _, said = one.communicate(timeout=watch_tool.TIMEOUT_S)
        assert one.returncode == 1
        kept = folder / KEPT.search(said)[1]
        assert record_of(kept)["window"]["ended_by"] == "interrupted"
        assert sorted(folder.iterdir()) == [kept, record]
        if record.is_file() and not record.is_symlink():
            assert record.read_text() == "theirs"
        subprocess.run(["rm", "-r", kept, record], check=True)


@pytest.mark.parametrize("flag", ["i", "a"])
def test_a_file_that_may_not_be_replaced_is_found_before_the_window(tmp_path, flag):
    record = tmp_path / "r.json"
    record.write_text("old")
    if subprocess.run(["chattr", f"+{flag}", record], capture_output=True, check=False).returncode:
        pytest.skip("this file system has no such flags")
    try:
        done = watch("-p", os.getpid(), "--json", record)
    finally:
        subprocess.run(["chattr", f"-{flag}", record], check=True)
    assert done.returncode == 2 and "may not be replaced" in done.stderr
    assert done.stderr.count("\n") == 1 and "open" not in done.stderr


def test_a_mount_is_found_before_the_window(tmp_path):
    record = tmp_path / "r.json"
    record.write_text("old")
    line = f"mount --bind {record} {record} && {watch_tool.COPYSCOPE} watch -p 1 --json {record}"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", line], capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 2 and "it is a mount" in done.stderr


# More sockets than a record of 1 MiB has room for.
SOCKETS = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0), backlog=512)
ends = []
for _ in range(400):
    ends += [socket.create_connection(listener.getsockname()), listener.accept()[0]]
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("limit_bytes, status, said", [
    (4096, 2, "File too large; choose another --json FILE"),
    (1 << 20, 1, "cannot write the record: File too large")])
def test_a_limit_on_the_size_of_files_is_told(tmp_path, limit_bytes, status, said):
    with subprocess.Popen([sys.executable, "-c", SOCKETS], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as many:
        many.stdout.readline()
        done = subprocess.run(["prlimit", f"--fsize={limit_bytes}", watch_tool.COPYSCOPE, "watch", "-p",
                               str(many.pid), "--seconds", "0.2", "--json", tmp_path / "r.json"],
                              capture_output=True, text=True, check=False, timeout=watch_tool.TIMEOUT_S)
        many.kill()
    assert done.returncode == status and said in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_small_stack_is_enough():
    line = 'ulimit -s 64; "$@"'
    for words in ([records.ROOT / "build/watch", "-p", str(os.getpid()), "--seconds", "0.1"],
                  [records.TRACE_RUN, "A3", "4096", "1", "--messages", "3", "--quiet", "--json", "/dev/null"]):
        done = subprocess.run(["bash", "-c", line, "bash", *words], capture_output=True, check=False,
                              timeout=watch_tool.TIMEOUT_S)
        assert done.returncode == 0, done.stderr


def test_low_memory_is_told_as_that():
    for kilobytes in (15_000, 18_000):
        done = subprocess.run(["bash", "-c", f'ulimit -v {kilobytes}; "$@"', "bash", records.ROOT / "build/watch",
                               "-p", str(os.getpid())], capture_output=True, text=True, check=False,
                              timeout=watch_tool.TIMEOUT_S)
        assert done.returncode == 3 and "Cannot allocate memory" in done.stderr, done.stderr
