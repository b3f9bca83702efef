# SPDX-License-Identifier: GPL-2.0
"""Bytes are told by the stack of the program that moved them: each byte once, by the names of its functions."""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import processes, schemas
from helpers.foreign import free_port, serving
from helpers.patience import Stopwatch
from helpers.records import ROOT, law, needs_root
from helpers.small_program import Program
from helpers.watch_tool import COPYSCOPE, SCHEMA
from helpers.windows import WATCH, Watching
from host.test_watch_servers import BODY, all_of

pytestmark = needs_root
DATA = Path(__file__).resolve().parents[1] / "data"
# As in tests/data/callers.c.
PRIME, ROUNDS = 4093, 23
SENT = {"send_one": PRIME * ROUNDS, "send_two": 2 * PRIME * ROUNDS, "send_five": 5 * PRIME * ROUNDS}
TAKEN = {"recv_three": 3 * PRIME * ROUNDS, "recv_rest": 5 * PRIME * ROUNDS}


def built(folder: Path, source: str = "callers.c", *options: str) -> Path:
    """The program of that source, with frame pointers."""
    program = folder / "callers"
    compiler = "g++" if source.endswith("cpp") else "gcc"
    subprocess.run([compiler, "-O2", "-fno-omit-frame-pointer", *options, DATA / source, "-o", program, "-pthread"],
                   check=True)
    return program


@contextlib.contextmanager
def started(*command: object) -> Iterator[subprocess.Popen]:
    """A program that waits to be told to work."""
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.communicate("\n", timeout=60)


def watched(*command: object, words: tuple = (), statuses=(0,), between=lambda process: None) -> dict:
    """The record of a window around what a program does when it is told."""
    with started(*command) as process:
        watching = Watching("-p", process.pid, "--stacks", *words)
        print(file=process.stdin, flush=True)
        process.stdout.readline()
        between(process)
        record = watching.close(statuses)
    assert not (faults := schemas.faults(SCHEMA, record)), faults
    return record


def frames_of(record: dict, stack: dict) -> list[str]:
    """Names of a stack's frames, innermost first; without a name file+offset."""
    found, names = record["stacks"], []
    for number in stack["frames"]:
        frame = found["frames"][number]
        module = "" if frame["module"] is None else Path(found["modules"][frame["module"]]["path"]).name
        names.append(frame["function"] or f"{module}+{int(frame['offset']):#x}")
    return names


def by_function(record: dict, *sites: str) -> Counter:
    """Bytes of these sites under each function."""
    sums: Counter = Counter()
    for stack in record["stacks"]["stacks"]:
        if stack["site"] in sites:
            for name in set(frames_of(record, stack)):
                sums[name] += stack["bytes"]
    return sums


def check_sums(record: dict) -> None:
    """Stacks hold what the sockets accepted, returned and were peeked at."""
    counts = record["total"]["counts"]
    assert sum(each["bytes"] for each in record["stacks"]["stacks"]) + record["stacks"]["unstacked_bytes"] == \
        counts["accepted_bytes"] + counts["returned_bytes"] + counts["peeked_bytes"]
    assert law(record, "stacks")["status"] == "balanced" and law(record, "stacks")["residual"] == 0, law(record, "stacks")


@pytest.mark.parametrize("how", ["work", "thread"])
def test_each_function_has_the_bytes_that_it_sent_and_received(how, tmp_path):
    record = watched(built(tmp_path), how)
    check_sums(record)
    assert record["stacks"]["unstacked_bytes"] == record["stacks"]["lost_bytes"] == 0
    sent, taken = by_function(record, "tx_copy"), by_function(record, "rx_copy")
    assert {name: sent[name] for name in SENT} == SENT and {name: taken[name] for name in TAKEN} == TAKEN
    assert sent["work"] == sum(SENT.values()) and sent["send"] == sent["work"]
    calls = {frames_of(record, each)[1]: each["calls"] for each in record["stacks"]["stacks"]}
    assert calls == dict.fromkeys([*SENT, *TAKEN], ROUNDS)
    for stack in record["stacks"]["stacks"]:
        names = frames_of(record, stack)
        assert names[2] == "work" and stack["end"] == "whole"
        assert names[3] == ("main" if how == "work" else "working")
    program = next(each for each in record["stacks"]["modules"] if each["path"] == str(tmp_path / "callers"))
    assert len(program["build_id"]) == 40 and program["read"] and not program["replaced"]


AGAIN, KIB = 200, 64


def test_samples_favour_no_size(tmp_path):
    with started(built(tmp_path), "again", AGAIN) as process:
        watching = Watching("-p", process.pid, f"--stacks={KIB}")
        print(file=process.stdin, flush=True)
        process.stdout.readline()
        record = watching.close()
    assert not (faults := schemas.faults(SCHEMA, record)), faults
    found, every = record["stacks"], KIB << 10
    assert found["sampled_every_bytes"] == every and law(record, "stacks")["status"] == "balanced", law(record, "stacks")
    assert all(each["bytes"] == each["calls"] * every for each in found["stacks"])
    for site, made in (("tx_copy", SENT), ("rx_copy", TAKEN)):
        moved = by_function(record, site)
        whole = AGAIN * sum(made.values())
        for name, each in made.items():
            share, samples = each / sum(made.values()), whole / every
            # Four deviations of a share of so many samples; gaps between them scatter less.
            error = 4 * (share * (1 - share) / samples) ** 0.5
            assert abs(moved[name] / whole - share) < error, (name, moved)


@pytest.mark.parametrize("word", ["--stacks=0", "--stacks=many", "--stacks=1048577", "--stacks="])
def test_a_distance_of_samples_that_makes_no_sense_is_one_line(word):
    done = subprocess.run([WATCH, word, "--all", "--seconds", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and "--stacks" in done.stderr


def test_a_byte_that_no_stack_has_breaks_the_law_of_stacks(tmp_path):
    record = watched(built(tmp_path), "work", words=("--break", "lose-stack"), statuses=(1,))
    assert law(record, "stacks")["residual"] > 0
    assert [each["law"] for each in record["laws"] if each["status"] == "broken"] == ["stacks"]


def test_without_the_option_there_are_no_stacks(tmp_path):
    with started(built(tmp_path)) as process:
        record = Watching("-p", process.pid).close()
    assert "stacks" not in record


def test_names_of_cpp_are_told_as_they_were_written(tmp_path):
    record = watched(built(tmp_path, "callers.cpp"))
    check_sums(record)
    assert by_function(record, "tx_copy")["harbour::Ship<char>::unload"] == PRIME * ROUNDS


def test_a_stripped_program_is_told_by_file_and_offset(tmp_path):
    program = built(tmp_path)
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    starts = {name: int(start, 16) for start, _, name in map(str.split, filter(lambda each: each[0] == "0", lines))}
    subprocess.run(["strip", program], check=True)
    record = watched(program)
    check_sums(record)
    for name, moved in SENT.items():
        found = [each for each in record["stacks"]["stacks"] if each["site"] == "tx_copy" and each["bytes"] == moved]
        assert len(found) == 1
        inner = record["stacks"]["frames"][found[0]["frames"][1]]
        assert inner["function"] is None and frames_of(record, found[0])[0] == "send"
        assert starts[name] < int(inner["offset"]) < starts[name] + 100


def test_a_file_whose_tables_are_damaged_stops_nothing(tmp_path):
    program = built(tmp_path)
    content = bytearray(program.read_bytes())
    sections = int.from_bytes(content[0x28:0x30], "little")
    content[sections + 64:] = b"\xff" * len(content[sections + 64:])
    program.write_bytes(content)
    record = watched(program)
    check_sums(record)
    names = by_function(record, "tx_copy")
    assert names["send"] == sum(SENT.values()) and not set(SENT) & set(names)
    assert any(name.startswith("callers+0x") for name in names)


def test_a_program_that_was_replaced_while_it_ran_is_told_by_the_names_of_what_ran(tmp_path):
    program = built(tmp_path)

    def replace(_):
        (tmp_path / "new").write_bytes(b"another program")
        os.replace(tmp_path / "new", program)

    with started(program) as process:
        replace(process)
        watching = Watching("-p", process.pid, "--stacks")
        print(file=process.stdin, flush=True)
        process.stdout.readline()
        record = watching.close()
    told = next(each for each in record["stacks"]["modules"] if each["path"] == str(program))
    assert told["replaced"] and told["read"]
    sent = by_function(record, "tx_copy")
    assert {name: sent[name] for name in SENT} == SENT


def test_a_program_of_another_mount_namespace_is_named(tmp_path):
    program = built(tmp_path)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    shell = f"mount -t tmpfs none {hidden} && cp {program} {hidden}/callers && exec {hidden}/callers"
    record = watched("unshare", "-m", "sh", "-c", shell)
    assert str(hidden / "callers") in [each["path"] for each in record["stacks"]["modules"]]
    assert not (hidden / "callers").exists()
    sent = by_function(record, "tx_copy")
    assert {name: sent[name] for name in SENT} == SENT


def test_code_that_was_compiled_at_run_time_has_the_names_of_its_map(tmp_path):
    try:
        record = watched(built(tmp_path), "compiled")
    finally:
        for file in Path("/tmp").glob("perf-*.map"):
            if "Compiled.at(run time)" in file.read_text(errors="replace"):
                file.unlink()
    check_sums(record)
    assert by_function(record, "tx_copy")["Compiled.at(run time)"] == sum(SENT.values())


@pytest.mark.parametrize("calls, end", [(100, "whole"), (200, "deeper")])
def test_a_stack_deeper_than_is_kept_is_told(calls, end, tmp_path):
    record = watched(built(tmp_path), "deeper", calls)
    check_sums(record)
    stack, = [each for each in record["stacks"]["stacks"] if each["site"] == "tx_copy"]
    names = frames_of(record, stack)
    assert stack["end"] == end and names[:3] == ["send", "send_one", "deeper"]
    # The frame that the C library's function does not have is found beside the 127.
    assert names.count("deeper") == (calls + 1 if end == "whole" else 126) and ("main" in names) == (end == "whole")


def test_stacks_that_find_no_room_are_counted_and_told(tmp_path):
    record = watched(built(tmp_path), "ways", 9000)
    found = record["stacks"]
    check_sums(record)
    assert len(found["stacks"]) == 8192
    assert found["lost_calls"] == found["lost_bytes"] // PRIME == 9001 - 8192
    assert found["unstacked_bytes"] == found["lost_bytes"]


# What each kind of call does, by the program that helpers.small_program starts.
KINDS = """
a.setsockopt(socket.SOL_SOCKET, 60, 1)
file = open("/proc/self/exe", "rb")
a.sendmsg([bytes(94_139)], [], 0x4000000); take(b, 94_139)
a.send(bytes(7_919)); b.recv(7_919, socket.MSG_PEEK); take(b, 7_919)
os.sendfile(a.fileno(), file.fileno(), 0, 40_009); take(b, 40_009)
a.send(bytes(5_003)); b.recv(5_003, socket.MSG_TRUNC)
u.send(bytes(1_013)); u.recv(2_000)
"""
DATAGRAMS = """
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0)); u.connect(u.getsockname())
"""


def test_each_site_of_a_python_program_has_its_stacks():
    _, record = Program(KINDS, before=DATAGRAMS).watched("--stacks")
    check_sums(record)
    sites = Counter()
    for stack in record["stacks"]["stacks"]:
        sites[stack["site"]] += stack["bytes"]
    assert sites == {"tx_reference": 94_139, "tx_copy": 12_922, "tx_splice": 40_009, "accepted": 1_013,
                     "rx_discard": 5_003, "rx_copy": 94_139 + 2 * 7_919 + 40_009 + 1_013}
    for site in ("tx_reference", "tx_splice", "rx_discard", "rx_copy"):
        assert sites[site] == record["total"]["sites"][site]["bytes"]
    assert any("python" in Path(each["path"]).name for each in record["stacks"]["modules"])
    names = by_function(record, "tx_copy", "tx_splice", "rx_copy")
    assert names["send"] == 12_922 and names["sendfile64"] + names["sendfile"] == 40_009


def test_a_process_that_ended_at_once_has_its_bytes(tmp_path):
    file = tmp_path / "record.json"
    shell = "import socket; a = socket.create_server(('127.0.0.1', 0)); b = socket.create_connection(a.getsockname())\n" \
            "b.send(bytes(4093))"
    done = subprocess.run([COPYSCOPE, "watch", "--stacks", "--json", file, "--", sys.executable, "-c", shell],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = json.loads(file.read_text())
    check_sums(record)
    assert sum(each["bytes"] for each in record["stacks"]["stacks"]) == PRIME
    assert law(record, "stacks")["status"] == "balanced" and "tx_copy" in done.stderr


def test_go_names_its_functions(tmp_path):
    if not shutil.which("go"):
        pytest.skip("no program of the name go is on this machine")
    subprocess.run(["go", "build", "-o", tmp_path / "serve", DATA / "serve_file.go"], check=True, cwd=tmp_path,
                   env=os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local"})
    port, file = free_port(), tmp_path / "file"
    file.write_bytes(bytes(BODY))
    with serving(port, tmp_path / "serve", port, file) as server:
        watching = Watching("-p", server.pid, "--stacks")
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert all_of(client) == BODY
        record = watching.close()
    names = by_function(record, "tx_splice")
    assert names["main.main"] == names["io.copyBuffer"] == names["syscall.RawSyscall6"] == BODY, names


def test_java_has_the_names_of_the_map_that_it_writes(tmp_path):
    if not shutil.which("jcmd"):
        pytest.skip("no program of the name jcmd is on this machine")
    port, file = free_port(), tmp_path / "file"
    file.write_bytes(bytes(BODY))
    with serving(port, "java", "-XX:+PreserveFramePointer", DATA / "ServeFile.java", port, file) as server:
        map_file = Path(f"/tmp/perf-{server.pid}.map")
        watching = Watching("-p", server.pid, "--stacks")
        try:
            with socket.create_connection(("127.0.0.1", port)) as client:
                assert all_of(client) == BODY
            subprocess.run(["jcmd", str(server.pid), "Compiler.perfmap"], check=True, capture_output=True, timeout=60)
            record = watching.close()
        finally:
            map_file.unlink(missing_ok=True)
    names = by_function(record, "tx_splice")
    assert sum(names[name] for name in names if name in ("Interpreter", "call_stub") or name.startswith("Lsun/")) >= BODY, names


def test_folded_stacks_and_a_flame_graph_are_made_of_a_watch(tmp_path):
    folded, record = tmp_path / "stacks.folded", tmp_path / "record.json"
    done = subprocess.run([COPYSCOPE, "watch", "--stacks", "--folded", folded, "--json", record, "--",
                           "sh", "-c", f"(sleep 0.3; echo; sleep 0.3; echo) | {built(tmp_path)}"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sums: Counter = Counter()
    for line in folded.read_text().splitlines():
        frames, moved = line.rsplit(" ", 1)
        names = frames.split(";")
        assert names[0].startswith("callers ") and names[-1] in ("[tx_copy]", "[rx_copy]")
        assert names.index("main") < names.index("work")
        sums[names[-3]] += int(moved)
    assert sums == SENT | TAKEN
    done = subprocess.run([COPYSCOPE, "plot", "--flame", record, "--out", tmp_path / "out"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    drawing = Path(done.stdout.strip()).read_text()
    assert drawing.startswith("<svg") and "<title>send_five: 470,695 bytes, 31.25 %</title>" in drawing
    assert profile_of(record, tmp_path).read_bytes()[:2] == b"\x1f\x8b"


def profile_of(record: Path, folder: Path) -> Path:
    """The profile of a watch, as pprof reads it."""
    profile = folder / "profile.pb.gz"
    done = subprocess.run([ROOT / "tools/records", "show", record, "--pprof", profile], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return profile


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("go"), reason="go is missing")
def test_pprof_reads_a_profile(tmp_path):
    record = tmp_path / "record.json"
    subprocess.run([COPYSCOPE, "watch", "-q", "--stacks", "--json", record, "--",
                    "sh", "-c", f"(sleep 0.3; echo; sleep 0.3; echo) | {built(tmp_path)}"], check=True)
    told = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=moved", profile_of(record, tmp_path)],
                          capture_output=True, text=True, check=True).stdout
    assert "send_five" in told and "work" in told


def reader_of(watching: Watching) -> int:
    """The process of a watch that looks at programs."""
    reader, = processes.wait_until(lambda: [
        pid for pid in processes.descendants(watching.process.pid) if processes.comm(pid) == "program-reader"])
    return reader


# CAP_DAC_READ_SEARCH, SETGID, SETUID, SETPCAP, SYS_PTRACE, CHECKPOINT_RESTORE.
POWERS = "00000100000801c4"


def test_who_looks_at_programs_has_the_rights_for_that_and_ends_with_the_watch(tmp_path):
    with started(built(tmp_path)) as process:
        watching = Watching("-p", process.pid, "--stacks")
        reader = reader_of(watching)
        # It lets go of its other rights last.
        processes.wait_until(lambda: "NoNewPrivs:\t1" in Path(f"/proc/{reader}/status").read_text())
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{reader}/status").read_text().splitlines()
                      if ":\t" in line)
        assert (status["CapEff"], status["CapBnd"], status["CapInh"]) == (POWERS, "0" * 16, "0" * 16)
        opened = {os.readlink(each).split(":")[0] for each in Path(f"/proc/{reader}/fd").iterdir()}
        assert opened == {"pipe"}
        watching.close()
    assert not Path(f"/proc/{reader}").exists()


# Twice the program; the second time its file system is unmounted while the watch goes on.
UNMOUNT = """
mount -t tmpfs none {hidden} && cp {program} {hidden}/gone || exit 9
for each in {program} {hidden}/gone; do (sleep 0.3; echo; sleep 0.3; echo) | $each; done
for try in $(seq 600); do umount {hidden} && exit 0; sleep 0.1; done
exit 8
"""


def test_files_of_programs_that_ended_are_let_go_and_named_while_they_are_there(tmp_path):
    program, hidden, file = built(tmp_path), tmp_path / "hidden", tmp_path / "record.json"
    hidden.mkdir()
    done = subprocess.run([COPYSCOPE, "watch", "--stacks", "--json", file, "--", "unshare", "-m", "sh", "-c",
                           UNMOUNT.format(program=program, hidden=hidden)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record = json.loads(file.read_text())
    check_sums(record)
    read = {Path(each["path"]).name: each["read"] for each in record["stacks"]["modules"]}
    assert read["callers"] and not read["gone"]
    sent = by_function(record, "tx_copy")
    assert {name: sent[name] for name in SENT} == SENT
    assert sum(moved for name, moved in sent.items() if name.startswith("gone+0x")) >= sum(SENT.values())
    assert "1 file was not read" in " ".join(done.stderr.split())


# userspace/watch/program_reader.h, and what its process has to end.
NAMING_S = 10 + 1


def test_programs_that_cannot_be_read_hold_the_window_up_for_a_bounded_time(tmp_path):
    with started(built(tmp_path), "again", AGAIN) as process:
        watching = Watching("-p", process.pid, "--stacks", "--cpu=4999")
        print(file=process.stdin, flush=True)
        process.stdout.readline()
        # As one that waits for a file system.
        reader = reader_of(watching)
        os.kill(reader, signal.SIGSTOP)
        spent = Stopwatch()
        record = watching.close()
        assert spent.seconds() < NAMING_S + 2
    # What held it up is over.
    os.kill(reader, signal.SIGCONT)
    processes.wait_until(lambda: not Path(f"/proc/{reader}").exists() or processes.state_of(reader) == "Z")
    check_sums(record)
    found = record["stacks"]
    assert "longer than 10 s" in found["why"] and "longer than 10 s" in record["cpu"]["names_why"]
    for stack in found["stacks"]:
        assert stack["end"] == "unread" and len(stack["frames"]) > 2
        assert all(found["frames"][each]["module"] is None and int(found["frames"][each]["offset"]) for each in stack["frames"])


def test_books_that_look_at_no_call_have_no_stacks():
    done = subprocess.run([COPYSCOPE, "watch", "--stacks", "--books", "sequence", "--all", "--seconds", "1"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "--books sequence" in done.stderr


# IOSQE_ASYNC: a worker makes the call. No splice of io_uring is made otherwise.
BY_WORKERS = """
import sys; sys.path.insert(0, sys.argv[1])
from odd.truth import Truth
from odd.uring import SEND, Ring
(a, b), ring = Truth().pair(), Ring()
print("ready", flush=True); sys.stdin.readline()
for _ in range(23):
    ring.prepare(a, SEND, 4093, 16); ring.enter(1, 1); list(ring.completions())
    assert len(b.recv(4093)) == 4093
print("done", flush=True); sys.stdin.readline()
"""


def test_what_a_worker_of_io_uring_sends_is_named_so():
    record = watched(sys.executable, "-c", BY_WORKERS, ROOT / "tests")
    check_sums(record)
    sent = {each["end"]: (each["bytes"], each["calls"], each["frames"]) for each in record["stacks"]["stacks"]
            if each["site"] == "tx_copy"}
    assert sent == {"io_uring": (PRIME * ROUNDS, ROUNDS, [])}
