# SPDX-License-Identifier: GPL-2.0
"""The tree keeps its shape: who may include whom, what every file begins with, what is written."""
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 800
NOT_SOURCE = {"LICENSE", ".gitignore"}


def tracked() -> list[str]:
    """Every file of the commit, or of an unpacked archive without git."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=False)
    if done.returncode == 0:
        return [name for name in done.stdout.decode().split("\0")
                if name and (ROOT / name).is_file()]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
            if path.is_file() and path.relative_to(ROOT).parts[0] not in ("build", "results")]


FILES = tracked()
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8", errors="replace") for name in FILES
         if not name.startswith("results/")}
C_FILES = [name for name in FILES if name.endswith((".c", ".h"))]


def first_line(name: str) -> str:
    """The first line, empty for an empty file."""
    return (TEXTS[name].splitlines() or [""])[0]


def language(name: str) -> str | None:
    """Tell a source file by its name or its interpreter."""
    first = first_line(name)
    if name.endswith((".c", ".h")):
        return "c"
    if name.endswith(".bt") or "bpftrace" in first and first.startswith("#!"):
        return "bpftrace"
    if name.endswith(".py") or first.startswith("#!") and "python" in first:
        return "python"
    if name.endswith(".sh") or first.startswith("#!") and re.search(r"\b(ba)?sh\b", first):
        return "shell"
    return "make" if name == "Makefile" else None


SOURCES = {name: language(name) for name in TEXTS if language(name)}


def includes(name: str) -> set[str]:
    """What a C file includes."""
    return set(re.findall(r'^#\s*include\s+[<"]([^>"]+)[>"]', TEXTS[name], re.MULTILINE))


def includers(pattern: str, among=tuple(C_FILES)) -> dict[str, set[str]]:
    """Which files include something that matches, and what."""
    found = {name: {path for path in includes(name) if re.search(pattern, path)} for name in among}
    return {name: paths for name, paths in found.items() if paths}


def under(*folders: str) -> list[str]:
    """C files in these folders, but tests."""
    return [name for name in C_FILES if name.startswith(folders) and not name.startswith("studies/tests/")]


# Rooms: docs/ARCHITECTURE.md says which room may include which

# What follows is about Python: test_python_rooms.py checks it.
ARCHITECTURE = TEXTS["docs/ARCHITECTURE.md"].partition("\n## Python\n")[0]
ROOM_ROW = re.compile(r"^\| `([\w/.]+)` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)
# In the order of the page: a room may include rooms further up on it alone.
ALLOWED = {room: re.findall(r"`([\w/.]+)`", below) for room, below in ROOM_ROW.findall(ARCHITECTURE)}


def room_of(name: str) -> str:
    """The folder a C file lies in; a program's main file is a room of its own."""
    folder = str(Path(name).parent)
    return name if folder == "userspace" else folder


def included_rooms(name: str) -> set[str]:
    """The other rooms of this tree that a C file includes headers of."""
    ours = {path for path in includes(name) if path in TEXTS}
    return {room_of(path) for path in ours} - {room_of(name)}


ROOMS = sorted({room_of(name) for name in under("bpf/", "studies/", "userspace/")})


def test_the_page_tells_of_every_room():
    assert set(ALLOWED) == set(ROOMS) | {"vmlinux"}


def test_a_room_includes_what_the_page_allows():
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for name in under("bpf/", "studies/", "userspace/"):
        found[room_of(name)] |= included_rooms(name)
    assert found == {room: set(ALLOWED[room]) for room in ROOMS}


def test_no_arrow_points_up_the_page_so_there_is_no_circle():
    order = {room: place for place, room in enumerate(ALLOWED)}
    assert not [f"{room} -> {below}" for room in ROOMS for below in ALLOWED[room]
                if order[below] >= order[room]]


WAY = ARCHITECTURE.partition("## The way of one byte")[2].partition("\n## ")[0]
WAY_ROW = re.compile(r"^\| [^|]+ \| `([\w/.]+)` \| `(\w+)` \|$", re.MULTILINE)


def defines(name: str, function: str) -> bool:
    """Is the function defined in that file: at the start of a line, and not declared alone?"""
    return bool(re.search(rf"^(?:def |int BPF_PROG\(|\w[\w *]*\b){function}\b[^;{{]*[{{:]", TEXTS[name],
                          re.MULTILINE))


def test_the_way_of_a_byte_passes_where_the_page_says():
    assert not [row for row in WAY_ROW.findall(WAY) if not defines(*row)]


def test_the_way_of_a_byte_is_told_in_full():
    assert len(WAY_ROW.findall(WAY)) == WAY.count("\n| ") - 1 > 20


def in_picture(room: str) -> str:
    """What the picture calls a room: sub-rooms stand under the name of the room they are in."""
    if room.startswith("studies/"):
        return "/".join(room.split("/")[:2])
    return room if not room.startswith("userspace/") else room.split("/")[1]


def test_every_arrow_of_the_picture_points_down():
    lines = ARCHITECTURE.split("```")[1].splitlines()
    words = [(height, word) for height, line in enumerate(lines)
             for word in re.findall(r"[a-z_][\w/.]+", line)]
    highest = {word: height for height, word in reversed(words)}
    lowest = {word: height for height, word in words}
    assert set(highest) == {in_picture(room) for room in ALLOWED}
    for room, belows in ALLOWED.items():
        for name, below in {(in_picture(room), in_picture(each)) for each in belows}:
            assert name == below or highest[name] < lowest[below], f"{name} -> {below}"


# A record points to its experiment, which points to the record of the other host.
ONE_UNIT = {"userspace/record/experiment": "userspace/record/record"}


def unit_of(name: str) -> str:
    """A source and its header are one."""
    name = name.rpartition(".")[0]
    return ONE_UNIT.get(name, name)


def units() -> dict[str, set[str]]:
    """Which other units each one includes."""
    found: dict[str, set[str]] = {}
    for name in under("bpf/", "studies/", "userspace/"):
        unit = unit_of(name)
        below = {unit_of(path) for path in includes(name) if path in TEXTS}
        found[unit] = found.get(unit, set()) | below - {unit}
    return found


def test_no_files_include_each_other_in_a_circle():
    # Takes away what includes nothing that is left, again and again: what stays is in a circle or
    # includes one.
    left = units()
    while free := {unit for unit, below in left.items() if not below & set(left)}:
        left = {unit: below for unit, below in left.items() if unit not in free}
    assert not left


def reached(room: str) -> set[str]:
    """Every room that a room includes, directly or by way of others."""
    found: set[str] = set()
    left = list(ALLOWED[room])
    while left:
        found.add(left[-1])
        left += [below for below in ALLOWED[left.pop()] if below not in found]
    return found


def reached_by(*folders: str) -> set[str]:
    """Every room that these rooms and their sub-rooms include, directly or by way of others."""
    return set().union(*(reached(room) for room in ROOMS if room.startswith(folders)))


def rooms_in(*folders: str) -> set[str]:
    """These rooms and their sub-rooms."""
    return {room for room in ROOMS if room.startswith(folders)}


def test_the_workload_knows_nothing_of_probes():
    assert reached_by("userspace/workload") <= \
        rooms_in("userspace/workload", "userspace/common", "userspace/tables")


def test_what_all_share_knows_nothing_of_them():
    assert reached_by("userspace/common") <= rooms_in("userspace/common")


def test_what_the_kernel_runs_knows_nothing_of_user_space():
    assert not includers(r"^userspace/|^std(io|lib)\.h$", under("bpf/", "vmlinux/"))


def test_the_tracer_knows_nothing_of_the_workload():
    tracer = {room for room in ROOMS if not room.startswith("userspace/workload")}
    assert not set().union(*map(reached, tracer)) & rooms_in("userspace/workload")


def test_what_every_user_runs_knows_nothing_of_the_studies():
    assert not includers(r"^studies/", under("bpf/", "userspace/"))


def headers_behind(*folders: str) -> set[str]:
    """Every header that these folders' files include, directly or by way of others."""
    found: set[str] = set()
    left = under(*folders)
    while left:
        new = {path for path in includes(left.pop()) if path in TEXTS} - found
        found |= new
        left += new
    return found


def test_whoever_reads_what_another_host_says_has_no_probes_at_hand():
    probes = re.compile(r"^userspace/engine/(?!hooks\.h)|^userspace/run/window|libbpf")
    assert not [path for path in headers_behind("userspace/peer/") if probes.match(path)]


def test_only_the_probes_room_includes_libbpf():
    # The oracle is a program of its own: a witness shares nothing with what it is to check.
    # The tests of targets, of types, of the choice of hooks and of dead code make up what libbpf reads.
    allowed = re.compile(r"^userspace/engine/|^bpf/|^tests/guest/oracle\.|^tests/unit/(targets|core_types|choose|dead_code)_test\.")
    assert not [name for name in includers(r"^bpf/(lib)?(bpf|btf)\.h$|skel\.h$")
                if not allowed.match(name)]


def test_no_version_chooses_a_hook():
    # BTF says what is there; the record alone is told which release it was.
    asks = re.compile(r"KERNEL_VERSION|linux/version\.h|LINUX_VERSION_CODE|\buname\(|\.release\b")
    tracer = [name for name in under("bpf/", "userspace/")
              if not name.startswith("userspace/workload")]
    assert [name for name in tracer if asks.search(TEXTS[name])] == \
        ["userspace/common/system/machine.c"]


def test_the_shared_header_includes_nothing():
    assert not includes("bpf/include/sites.h")


def test_judges_are_pure():
    headers = {"inttypes.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "string.h", "sys/wait.h"}
    # stdio.h is there for snprintf alone, sys/wait.h for what an exit status means.
    impure = {"fopen", "fprintf", "printf", "puts", "fputs", "fwrite", "open", "read",
              "write", "system", "getenv", "time", "clock_gettime", "perror"}
    for path in under("userspace/judge/"):
        assert {name for name in includes(path) if not name.startswith(("userspace/", "bpf/"))} <= headers, path
        assert not set(re.findall(r"\b(\w+)\s*\(", TEXTS[path])) & impure, path


def test_the_engine_knows_of_a_path_what_a_record_says_and_the_path_knows_no_engine():
    told = {path for path in headers_behind("userspace/engine/", "userspace/watch/", "userspace/record/")
            if path.startswith("userspace/path/")}
    assert told == {"userspace/path/path_info.h"}
    assert not [path for path in headers_behind("userspace/path/") if path.startswith("userspace/engine/")]


# Every file

def faults_of(name: str) -> list[str]:
    """What is wrong with one source: its opening, its length."""
    lines = TEXTS[name].splitlines()
    opening = lines[1:] if lines[0].startswith("#!") else lines
    sentence = re.sub(r"^\W+", "", " ".join(opening[1:8]))
    return [f"{name}: {fault}" for fault, there in (
        ("its first line names no licence", "SPDX-License-Identifier: GPL-2.0" not in opening[0]),
        (f"it does not begin with a sentence: {sentence[:80]!r}", not re.match(r"\w.{15,}?[.?:]", sentence)),
        (f"it has {len(lines)} lines, more than {MOST_LINES}", len(lines) > MOST_LINES)) if there]


def test_every_file_begins_with_its_licence_and_its_duty_and_is_short_enough_to_read():
    assert not [fault for name in sorted(SOURCES) for fault in faults_of(name)]


def test_a_file_without_licence_or_duty_or_end_would_be_found(monkeypatch):
    for text, fault in (("int one;\n/* Does this and that for whoever asks. */\n", "licence"),
                        ("// SPDX-License-Identifier: GPL-2.0\nint one;\n", "sentence"),
                        ("#!/bin/sh\n# SPDX-License-Identifier: GPL-2.0\n# Does this and that, at length.\n" +
                         "true\n" * MOST_LINES, "lines")):
        monkeypatch.setitem(TEXTS, "a.c", text)
        found, = faults_of("a.c")
        assert fault in found


def test_no_file_names_a_place_of_one_machine():
    # In pieces, so that this file passes too.
    places = "|".join(("/ho" + "me/", "/wo" + "rk/", "/ro" + "ot/"))
    assert not [(name, line) for name in sorted(set(TEXTS) - NOT_SOURCE)
                for line in re.findall(rf"^.*(?:{places}).*$", TEXTS[name], re.MULTILINE)]


def test_every_bash_script_ends_at_its_first_fault():
    assert not [name for name, kind in SOURCES.items() if kind == "shell" and "bash" in first_line(name)
                and "set -euo pipefail" not in TEXTS[name]]


def test_makefile_stays_one_page_long():
    assert len(TEXTS["Makefile"].splitlines()) <= 150
    assert [name for name in FILES if Path(name).name == "Makefile"] == ["Makefile"]


# What is written agrees with what is built

def test_packages_are_listed_once_with_a_reason():
    lines = [line for name in TEXTS if re.fullmatch(r"tools/packages[\w-]*\.txt", name)
             for line in TEXTS[name].splitlines() if line and not line.startswith("#")]
    parts = [re.fullmatch(r"((?:debian|ubuntu): )?([a-z0-9][a-z0-9.+-]+) +(\S.*)", line)
             for line in lines]
    assert all(parts), [line for line, part in zip(lines, parts) if not part]
    names = [(part[1], part[2]) for part in parts]
    assert len(names) == len(set(names))


def test_this_kernel_has_what_the_header_names():
    if not Path("/sys/kernel/btf/vmlinux").exists():
        pytest.skip("this kernel has no BTF")
    done = subprocess.run([ROOT / "vmlinux/check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_field_that_is_gone_is_named(tmp_path):
    copy = tmp_path / "vmlinux"
    shutil.copytree(ROOT / "vmlinux", copy)
    header = (copy / "vmlinux.h").read_text()
    (copy / "vmlinux.h").write_text(header.replace("skc_cookie;", "skc_biscuit;")
                                    .replace("u6_addr32[4]", "u6_addr33[4]")
                                    .replace("struct msghdr {", "struct msghead {"))
    done = subprocess.run([copy / "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for gone in ("struct sock_common.skc_biscuit", "struct in6_addr.in6_u.u6_addr33",
                 "struct msghead"):
        assert f"{gone}: the kernel has no such" in done.stdout
