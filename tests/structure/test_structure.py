# SPDX-License-Identifier: GPL-2.0
"""The tree keeps its shape: who may include whom, what every file begins with, what is written."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITES = re.findall(r"^\s*X\((\w+), \"", (ROOT / "bpf/sites.h").read_text(), re.MULTILINE)
MOST_LINES = 400
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
    """C files in these folders."""
    return [name for name in C_FILES if name.startswith(folders)]


# Dependencies point down

def test_the_workload_knows_nothing_of_probes():
    assert not includers(r"^(userspace/(trace|path|counters)|bpf|vmlinux|build)/|skel\.h$",
                         under("userspace/workload/"))


def test_what_all_share_knows_nothing_of_them():
    assert not includers(r"^(userspace/(?!common/)|bpf|vmlinux|build)/|skel\.h$",
                         under("userspace/common/"))


def test_what_the_kernel_runs_knows_nothing_of_user_space():
    assert not includers(r"^userspace/|^std(io|lib)\.h$", under("bpf/", "vmlinux/"))


def test_counters_and_paths_know_nothing_of_the_tracer():
    counters = includers(r"^(userspace/(trace|path|workload)|bpf|build)/",
                         under("userspace/counters/"))
    assert not counters
    assert not includers(r"^(userspace/(trace|workload|counters)|bpf|build)/",
                         under("userspace/path/"))


def test_the_tracer_knows_nothing_of_the_workload_or_of_paths():
    found = includers(r"^userspace/(workload|path)/", under("userspace/trace/"))
    # The record holds a path's facts; the command line is where a path is wished for.
    assert found.pop("userspace/trace/record.h") == {"userspace/path/facts.h"}
    assert set(found) <= {"userspace/trace/options.h", "userspace/trace/options_path.c",
                          "userspace/trace/options_peer.c", "userspace/trace/ends.c",
                          "userspace/trace/ends.h"}
    assert all(paths == {"userspace/path/path.h"} for paths in found.values())


def test_two_hosts_are_joined_above_the_tracer():
    # Whoever parses what a stranger sends has no probes at hand.
    found = includers(r"^userspace/(workload|counters)/|^userspace/trace/(probes|window)|libbpf",
                      under("userspace/peer/"))
    assert not found
    below = includers(r"^userspace/peer/", under("userspace/trace/", "userspace/path/",
                                                 "userspace/counters/", "userspace/workload/"))
    assert not below


def test_only_the_probes_module_includes_libbpf():
    # The oracle is a program of its own: a witness shares nothing with what it is to check.
    allowed = re.compile(r"^userspace/trace/probes\w*\.[ch]$|^bpf/|^tests/guest/oracle\.")
    assert not [name for name in includers(r"^bpf/(lib)?(bpf|btf)\.h$|skel\.h$")
                if not allowed.match(name)]


def test_no_version_chooses_a_hook():
    # BTF says what is there; the record alone is told which release it was.
    asks = re.compile(r"KERNEL_VERSION|linux/version\.h|LINUX_VERSION_CODE|\buname\(|\.release\b")
    assert [name for name in under("bpf/", "userspace/trace/", "userspace/path/", "userspace/peer/")
            if asks.search(TEXTS[name])] == ["userspace/trace/machine.c"]


def test_the_shared_header_includes_nothing():
    assert not includes("bpf/sites.h")


@pytest.mark.parametrize("name", ["sites", "causes", "causes_known", "laws", "verdict"])
def test_judges_are_pure(name):
    path = f"userspace/trace/{name}.c"
    assert includes(path) <= {"inttypes.h", "stdbool.h", "stdint.h", "stdio.h", "string.h",
                              "bpf/sites.h"} | {p for p in includes(path)
                                                if p.startswith("userspace/trace/")}
    # stdio.h is there for snprintf alone.
    calls = set(re.findall(r"\b(\w+)\s*\(", TEXTS[path]))
    assert not calls & {"fopen", "fprintf", "printf", "puts", "fputs", "fwrite", "open", "read",
                        "write", "system", "getenv", "time", "clock_gettime", "perror"}


def test_only_the_conductor_joins_paths_and_probes():
    joined = set(includers(r"^userspace/path/path\.h$")) & \
        set(includers(r"^userspace/trace/probes\.h$"))
    assert joined <= {"userspace/trace_run.c"}


# Every file

@pytest.mark.parametrize("name", sorted(SOURCES))
def test_file_begins_with_its_licence_and_its_duty(name):
    lines = TEXTS[name].splitlines()
    if lines[0].startswith("#!"):
        lines = lines[1:]
    assert "SPDX-License-Identifier: GPL-2.0" in lines[0], lines[0]
    opening = re.sub(r"^\W+", "", " ".join(lines[1:8]))
    assert re.match(r"\w.{15,}?[.?:]", opening), f"no sentence: {opening[:80]!r}"


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_file_is_short_enough_to_read(name):
    assert len(TEXTS[name].splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", sorted(set(TEXTS) - NOT_SOURCE))
def test_file_names_no_place_of_one_machine(name):
    # In pieces, so that this file passes too.
    places = "|".join(("/ho" + "me/", "/wo" + "rk/", "/ro" + "ot/"))
    assert not re.findall(rf"^.*(?:{places}).*$", TEXTS[name], re.MULTILINE)


@pytest.mark.parametrize("name", sorted(n for n in SOURCES if SOURCES[n] == "shell"))
def test_shell_file_is_clean(name):
    assert shutil.which("shellcheck"), "run tools/setup"
    done = subprocess.run(["shellcheck", "-x", ROOT / name], capture_output=True, text=True,
                          check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    if "bash" in first_line(name):
        assert "set -euo pipefail" in TEXTS[name]


def test_python_names_are_defined_and_used():
    python = sorted(n for n in SOURCES if SOURCES[n] == "python")
    done = subprocess.run([sys.executable, "-m", "pyflakes", *python], capture_output=True,
                          text=True, check=False, cwd=ROOT)
    found = [line.split(":", 3) for line in (done.stdout + done.stderr).splitlines()]
    assert not [where for where in found
                if "noqa" not in TEXTS[where[0]].splitlines()[int(where[1]) - 1]]


def test_makefile_stays_one_page_long():
    assert len(TEXTS["Makefile"].splitlines()) <= 150
    assert [name for name in FILES if Path(name).name == "Makefile"] == ["Makefile"]


# What is written agrees with what is built

@pytest.mark.parametrize("site", SITES)
def test_site_is_documented(site):
    assert re.search(rf"^#+ .*`{site}`", (ROOT / "docs/METHOD.md").read_text(), re.MULTILINE)


def test_sites_of_the_schema_are_those_of_the_table():
    schema = json.loads((ROOT / "docs/run.schema.json").read_text())
    assert SITES and site_lists(schema)
    for names in site_lists(schema):
        assert names == set(SITES)


def site_lists(node) -> list[set[str]]:
    """Every object of the schema whose properties are sites."""
    found = []
    if isinstance(node, dict):
        names = node.get("properties")
        if isinstance(names, dict) and len(set(names) & set(SITES)) > 1:
            found.append(set(names))
        for value in node.values():
            found += site_lists(value)
    elif isinstance(node, list):
        for value in node:
            found += site_lists(value)
    return found


def test_packages_are_listed_once_with_a_reason():
    lines = [line for line in TEXTS["tools/packages.txt"].splitlines()
             if line and not line.startswith("#")]
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
