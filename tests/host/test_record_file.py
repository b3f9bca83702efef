# SPDX-License-Identifier: GPL-2.0
"""The file of a record: a device or a pipe of that name is written to, never replaced."""
import json
import os
import stat
import struct
import subprocess
import threading
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope.files.record_file import RecordFile, write_whole
from helpers import processes, records
from helpers.victims import assert_refused, give_away, snapshot, victim

RECORDERS = {
    "trace_run": [records.TRACE_RUN, "A2", "4093", "1", "--messages", "23", "--quiet"],
    "baseline": [records.ROOT / "tools" / "baseline", "--only", "loop", "--quick", "--runs", "2",
                 "--quiet"],
}
NULL, FULL = os.makedev(1, 3), os.makedev(1, 7)


def completed(words, timeout=records.TIMEOUT_S, **more) -> subprocess.CompletedProcess:
    """Runs a command to its end."""
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout, **more)


@pytest.fixture(params=RECORDERS)
def record_to(request):
    """Runs a program that leaves a record, and has it written to a path."""
    return lambda path: completed([*RECORDERS[request.param], "--json", path])


def device(path, number: int):
    """A device of a test's own: the machine's would be lost if the test is right to fail."""
    os.mknod(path, stat.S_IFCHR | 0o666, number)
    return path


@records.needs_root
def test_a_device_stays_a_device(record_to, tmp_path):
    null = device(tmp_path / "null", NULL)
    assert record_to(null).returncode in records.WELL
    assert stat.S_ISCHR(null.stat().st_mode) and null.stat().st_rdev == NULL
    assert list(tmp_path.iterdir()) == [null]


@records.needs_root
def test_a_device_stays_one_when_tools_write_to_it(tmp_path):
    null = device(tmp_path / "null", NULL)
    write_whole(null, "whole")
    assert null.stat().st_rdev == NULL and list(tmp_path.iterdir()) == [null]


@records.needs_root
def test_a_device_stays_one_when_the_record_of_a_guest_comes_home(tmp_path):
    null = device(tmp_path / "null", NULL)
    mode = null.stat().st_mode
    with RecordFile(null) as file:
        file.write("whole")
    assert (null.stat().st_mode, null.stat().st_rdev) == (mode, NULL)
    with RecordFile(tmp_path / "kept.json") as file:
        file.write("whole")
    assert (tmp_path / "kept.json").read_text() == "whole"


@records.needs_root
def test_a_device_that_takes_nothing_fails_the_run(record_to, tmp_path):
    full = device(tmp_path / "full", FULL)
    done = record_to(full)
    assert done.returncode == 1 and "cannot write the record: No space left" in done.stderr


@records.needs_root
def test_a_pipe_gets_the_whole_record(record_to, tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    assert record_to(pipe).returncode in records.WELL
    reader.join(records.TIMEOUT_S)
    assert "rows" in json.loads(heard[0]) or "sites" in json.loads(heard[0])
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@records.needs_root
def test_an_older_record_gives_way_to_the_new_one(record_to, tmp_path):
    path = tmp_path / "record.json"
    path.write_text("older")
    assert record_to(path).returncode in records.WELL
    json.loads(path.read_text())
    assert list(tmp_path.iterdir()) == [path]


def let_write(folder, user: int) -> None:
    """Make a folder to which an access list lets one more user write."""
    folder.mkdir(exist_ok=True)
    entries = ((1, 7, -1), (2, 7, user), (4, 5, -1), (16, 7, -1), (32, 5, -1))
    os.setxattr(folder, "system.posix_acl_access", struct.pack("<I", 2) + b"".join(
        struct.pack("<HHi", *entry) for entry in entries))


def bad_names(folder) -> dict[str, str]:
    """Names that no record can have, and a word of what is said."""
    (folder / "there").mkdir()
    victim(folder / "theirs")
    (folder / "link").symlink_to("theirs/precious.txt")
    (folder / "nowhere").symlink_to("missing/file")
    os.mkfifo(folder / "unread")
    give_away(folder / "nobodys", 0o755)
    give_away(folder / "anybodys", 0o777)
    os.chown(folder / "anybodys", 0, 0)
    (folder / "bent").symlink_to("there")
    os.chown(folder / "bent", 65534, 65534, follow_symlinks=False)
    (folder / "sticky").mkdir()
    (folder / "sticky").chmod(0o1777)
    (folder / "sticky" / "theirs.json").write_text("precious")
    os.mkfifo(folder / "sticky" / "pipe")
    for name in ("theirs.json", "pipe"):
        os.chown(folder / "sticky" / name, 65534, 65534)
    (folder / "grouped").mkdir()
    os.chown(folder / "grouped", 0, 65534)
    (folder / "grouped").chmod(0o775)
    let_write(folder / "listed", 65534)
    return {"grouped/r.json": "other users may write", "listed/r.json": "other users may write",
            "sticky/theirs.json": "belongs to user", "sticky/pipe": "belongs to user",
            "there": "", "there/": "", "there/.": "", "there/..": "", "new/": "", "no/such.json": "No such",
            "n" * 256: "too long", "n/" * 2100 + "n.json": "too long", "../" * 1400 + "n": "too long",
            "n" * 100_000: "too long", "link": "a link", "nowhere": "a link", "unread": "start its reader",
            "nobodys/r.json": "belongs to user", "anybodys/r.json": "other users may write",
            "bent/r.json": "a link of user"}


NAMERS = {**RECORDERS,
          "crossover": [records.ROOT / "tools" / "crossover", "A2", "A3"],
          "trace_run in a guest": [records.TRACE_RUN, "A2", "4093", "1", "--kernel", "6.12"],
          "peers": [records.ROOT / "tools" / "peers", "A2", "4093", "1"]}


@records.needs_root
@pytest.mark.parametrize("tool", NAMERS)
def test_a_bad_name_is_refused_before_the_run(tmp_path, tool):
    for name, said in bad_names(tmp_path).items():
        # A tool in Python asks RecordFile.
        if tool != "trace_run" and name not in ("link", "there", "nobodys/r.json"):
            continue
        before = snapshot(tmp_path)
        # Far less than what a boot or a search takes.
        done = completed([*NAMERS[tool], "--json", f"{tmp_path}/{name}"], timeout=60)
        assert_refused(done, "cannot write", said, "choose another --json FILE")
        assert snapshot(tmp_path) == before, name


@records.needs_root
def test_a_bad_name_is_refused_in_python_as_in_c(tmp_path):
    for name, said in bad_names(tmp_path).items():
        before = snapshot(tmp_path)
        with pytest.raises(Unusable, match=f"(?s)^cannot write .*{said}.*choose another --json FILE"):
            RecordFile(f"{tmp_path}/{name}")
        assert snapshot(tmp_path) == before, name


@records.needs_root
@pytest.mark.parametrize("tool", NAMERS)
def test_an_older_record_that_cannot_be_replaced_is_told_before_the_run(tmp_path, tool):
    words = [*map(str, NAMERS[tool]), "--json", f"{tmp_path}/r.json"]
    done = completed(["unshare", "-m", "sh", "-ec", 'mount -t tmpfs none "$0"; echo older >"$0/r.json"; '
                      'mount -o remount,ro "$0"; "$@"', tmp_path, *words], timeout=60)
    assert_refused(done, "cannot write", "choose another --json FILE")


@records.needs_root
def test_an_empty_name_of_the_runs_folder_is_none(monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", "")
    before = os.listdir("/")
    done = completed(RECORDERS["trace_run"][:-1])
    assert done.returncode in records.WELL and os.listdir("/") == before
    record = Path(done.stdout.rsplit("record  ", 1)[1].strip())
    assert record.parent == records.ROOT / "results" / "runs"
    record.unlink()


@records.needs_root
def test_a_long_name_of_the_runs_folder_is_not_cut(tmp_path, monkeypatch):
    folder, step = str(tmp_path), "/" + "d" * 200
    for _ in range(18):
        folder += step
    os.makedirs(folder)
    monkeypatch.setenv("COPYSCOPE_RUNS", folder)
    done = completed(RECORDERS["trace_run"])
    assert done.returncode in records.WELL and len(os.listdir(folder)) == 1
    monkeypatch.setenv("COPYSCOPE_RUNS", folder + step * 3)
    before = snapshot(tmp_path)
    done = completed(RECORDERS["trace_run"])
    assert_refused(done, "name too long", "COPYSCOPE_RUNS")
    assert snapshot(tmp_path) == before


@records.needs_root
@pytest.mark.parametrize("tool", [tool for tool in NAMERS if tool != "crossover"])
def test_no_runs_folder_is_made_for_somebody_else(tmp_path, monkeypatch, tool):
    theirs = give_away(tmp_path / "theirs", 0o755)
    monkeypatch.setenv("COPYSCOPE_RUNS", str(theirs / "runs"))
    done = completed(NAMERS[tool], timeout=60)
    assert_refused(done, "belongs to user", "COPYSCOPE_RUNS")
    assert not list(theirs.iterdir())


@records.needs_root
def test_a_link_that_came_during_the_run_is_not_followed(tmp_path):
    theirs, record = victim(tmp_path / "theirs"), tmp_path / "record.json"
    before = snapshot(theirs)
    run = records.start("A2", 4093, 1, "--seconds", 1, "--quiet", "--json", record)
    processes.wait_running(run.pid)
    record.symlink_to(theirs / "precious.txt")
    done = records.finish(run)
    assert done.code == 1 and "cannot write the record: File exists" in done.err
    assert snapshot(theirs) == before and record.is_symlink()


@records.needs_root
def test_a_folder_that_moved_during_the_run_still_gets_the_record(tmp_path):
    theirs, folder = victim(tmp_path / "theirs"), tmp_path / "folder"
    folder.mkdir()
    before = snapshot(theirs)
    run = records.start("A2", 4093, 1, "--seconds", 1, "--quiet", "--json", folder / "r.json")
    processes.wait_running(run.pid)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(theirs)
    assert records.finish(run).code in records.WELL
    assert snapshot(theirs) == before and records.load(tmp_path / "moved" / "r.json")


@records.needs_root
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("tool", RECORDERS)
def test_no_message_lands_in_a_record(tmp_path, tool, closed):
    record = tmp_path / "record.json"
    words = [str(word) for word in RECORDERS[tool] if word != "--quiet"]
    done = completed(["bash", "-c", f'"$@" {closed}', "bash", *words, "--json", record])
    # A report that nobody can read is a failure, and is told where somebody can.
    assert (done.returncode == 1) == (">&-" in closed.split()), done
    assert ("cannot write to stdout" in done.stderr) == (closed == ">&-")
    document = json.loads(record.read_text())
    assert "rows" in document or "sites" in document


@records.needs_root
@pytest.mark.parametrize("tool, words", [(tool, words) for tool in RECORDERS
                                         for words in (["--json", "-"], [], ["--help"])]
                         + [("baseline", ["--list"])])
def test_a_full_stdout_is_told_in_one_line(tmp_path, tool, words):
    with open("/dev/full", "w", encoding="ascii") as full:
        command = [word for word in RECORDERS[tool] if word != "--quiet"]
        if not words:
            command += ["--json", tmp_path / "record.json"]
        done = subprocess.run([*command, *words], stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=records.TIMEOUT_S)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert "cannot write" in done.stderr and ("No space left on device" in done.stderr or
                                              "file system full" in done.stderr)


@records.needs_root
def test_a_reader_that_leaves_early_is_no_failure():
    done = completed(f"{records.ROOT}/build/baseline --list | head -1; echo ${{PIPESTATUS[0]}}",
                     shell=True, executable="/bin/bash")
    assert done.stdout.splitlines()[-1] in ("0", "141") and not done.stderr


READERS = {
    "plot": ["tools/plot", "tests/data/run-A2-host.json", "--out"],
    "baseline mistakes": ["tools/baseline", "mistakes", "tests/data/baseline-host.json"],
    "sweep": ["tools/sweep", "--profile", "model", "--dry-run"],
    "help": ["tools/crossover", "--help"],
    "guest": ["tools/guest", "--list"],
}


@pytest.mark.parametrize("tool", READERS)
def test_a_command_tells_of_a_full_stdout_in_one_line(tmp_path, tool):
    words = READERS[tool] + [str(tmp_path / "out")] * (READERS[tool][-1] == "--out")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(words, cwd=records.ROOT, stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=records.TIMEOUT_S)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "stdout: No space left on device" in done.stderr and done.returncode == 1


def test_a_command_with_closed_descriptors_writes_no_message_into_a_file(tmp_path):
    done = completed(f"tools/plot tests/data/none.json --out {tmp_path}/out 2>&- | cat",
                     shell=True, cwd=records.ROOT)
    assert not done.stdout and not done.stderr
