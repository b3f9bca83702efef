# SPDX-License-Identifier: GPL-2.0
"""What stands around the programs keeps its promises: the test runner, the set-up."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runner import tiers

ROOT = Path(__file__).resolve().parents[2]
ARCH = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=False).stdout.strip()
PASSING = "def test_{}():\n    pass\n"
FAILING = "def test_wrong():\n    assert False\n"
SKIPPED = "import pytest\n\ndef test_later():\n    pytest.skip('no such machine')\n"
DYING = "import os\n\ndef test_dies():\n    os._exit(0)\n"
BROKEN_CLEANUP = ("import pytest\n\n@pytest.fixture\ndef thing():\n    yield\n    assert False\n\n"
                  "def test_uses(thing):\n    pass\n")


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A tree of its own with the runner and an environment, and no tests."""
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests/run", tmp_path / "tests/run")
    shutil.copytree(ROOT / "tests/runner", tmp_path / "tests/runner")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/venv").symlink_to(ROOT / "build/venv")
    return tmp_path


def add(tree: Path, group: str, name: str, text: str) -> None:
    """Add one test file."""
    (tree / "tests" / group).mkdir(exist_ok=True)
    (tree / "tests" / group / f"test_{name}.py").write_text(text)


def run(tree: Path, *words: str, **more) -> subprocess.CompletedProcess:
    """Run the runner."""
    return subprocess.run([tree / "tests/run", *words], capture_output=True, text=True, timeout=60, check=False, **more)


def last_line(tree: Path, *groups: str, **more) -> tuple[int, str]:
    """Run the runner; return its status and its last line."""
    done = run(tree, *groups, **more)
    return done.returncode, (done.stdout.splitlines() or [done.stderr])[-1]


def test_failures_and_skips_of_all_groups_are_summed(tree):
    add(tree, "host", "a", PASSING.format("one") + FAILING)
    add(tree, "guest", "b", SKIPPED + PASSING.format("two"))
    assert last_line(tree) == (1, "2 passed, 1 failed, 1 skipped")


def test_a_failed_clean_up_counts_once(tree):
    add(tree, "host", "a", BROKEN_CLEANUP)
    assert last_line(tree, "host") == (1, "0 passed, 1 failed")


def test_a_file_that_cannot_be_read_counts_as_a_failure(tree):
    add(tree, "host", "a", "import no_such_module\n")
    assert last_line(tree) == (1, "0 passed, 1 failed")


def test_nothing_run_is_no_success(tree):
    add(tree, "host", "a", "")
    assert last_line(tree) == (1, "0 passed, 0 failed")


def test_a_keyword_chooses_tests_of_every_group(tree):
    add(tree, "host", "a", PASSING.format("one") + PASSING.format("two"))
    add(tree, "guest", "b", PASSING.format("one_more") + FAILING)
    assert last_line(tree, "-k", "one") == (0, "2 passed, 0 failed")
    assert last_line(tree, "guest", "-k", "wrong") == (1, "0 passed, 1 failed")


MEETING = """import pathlib, time

def test_meets():
    mine = pathlib.Path(__file__).with_suffix(".here")
    mine.touch()
    ended = time.monotonic() + 30
    while len(list(mine.parent.glob("*.here"))) < 2:
        assert time.monotonic() < ended
        time.sleep(0.01)
    time.sleep(0.5)
    mine.with_suffix(".gone").touch()
"""
ALONE = """import pathlib

def test_is_alone():
    here, gone = ([each.stem for each in pathlib.Path(__file__).parent.glob(f"*.{kind}")] for kind in ("here", "gone"))
    assert sorted(here) == sorted(gone)
"""


@pytest.mark.parametrize("group", ["guest", "host"])
def test_files_run_side_by_side_but_for_those_of_this_machine_that_want_it_alone(tree, group):
    if group == "guest" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor: one guest at a time")
    for name in ("a", "b"):
        add(tree, group, name, MEETING)
    add(tree, "host", "baseline_rows", ALONE)
    assert last_line(tree, "host", group) == (0, "3 passed, 0 failed")


SECONDS = r"\d+\.\d s"
LOADED = """import os, subprocess, sys

def test_loads():
    # Of a child of a child, which the runner never sees.
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 1: pass"], check=True)
"""


def test_each_file_and_each_stage_says_what_it_took_as_it_ends(tree):
    add(tree, "host", "a", LOADED)
    add(tree, "guest", "b", PASSING.format("one"))
    *lines, last = run(tree, "host", "guest").stdout.splitlines()
    assert lines[0] == "== host, guest" and last == "2 passed, 0 failed"
    for name, stage in (("tests/host/test_a.py", "host"), ("tests/guest/test_b.py", "guest")):
        of_file, of_stage = (next(number for number, line in enumerate(lines) if re.fullmatch(
            f"{re.escape(who)}: 1 passed, 0 failed in {SECONDS}, processor {SECONDS}{more}", line))
            for who, more in ((name, rf" \({stage} 1 of 1\)"), (f"== {stage}", "")))
        assert of_file < of_stage
        used = float(lines[of_stage].split()[-2])
        assert used >= 1 if stage == "host" else used > 0
    most, first, second, busy = lines[-4:]
    assert most == "most processor time, of 2 files:"
    assert re.fullmatch(rf" +[1-9]\d*\.\d s  tests/host/test_a.py \({SECONDS}\)", first) and "test_b.py" in second
    assert re.fullmatch(r"== \d+\.\d minutes, processor \d+ s: \d+\.\d of \d+ processors busy", busy)


def test_what_failed_is_named_once_more_at_the_end(tree):
    add(tree, "host", "a", PASSING.format("one") + FAILING)
    add(tree, "host", "b", DYING)
    lines = run(tree, "host").stdout.splitlines()
    named = [line for line in lines if line.startswith("FAILED ")][-2:]
    assert sorted(named) == ["FAILED tests.host.test_a::test_wrong",
                             "FAILED tests/host/test_b.py: it left no report"]
    assert lines[-4:-2] == named


def test_a_file_in_which_a_process_of_many_dies_is_named(tree):
    for name in "abcd":
        add(tree, "unit", name, PASSING.format(name))
    add(tree, "unit", "b", PASSING.format("first") + DYING)
    (tree / "build/tests").mkdir()
    lines = run(tree, "unit").stdout.splitlines()
    assert lines[-1] == "2 passed, 1 failed" and "FAILED tests/unit/test_b.py: it left no report" in lines
    assert [line for line in lines if line.startswith("tests/unit/test_c.py d: 2 passed, 0 failed in ")]
    assert [line for line in lines if line.startswith("tests/unit/test_a.py b: 0 passed, 1 failed in ")]


def test_a_keyword_that_matches_nothing_or_is_none_is_told(tree):
    add(tree, "host", "a", PASSING.format("one"))
    add(tree, "guest", "b", PASSING.format("nothing"))
    done = run(tree, "host", "-k", "nothing")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "0 passed, 0 failed")
    assert "nothing matches -k 'nothing' in host" in done.stdout.splitlines()
    done = run(tree, "host", "-k", "one and")
    assert done.returncode == 2 and "one and" in done.stderr and done.stderr.count("\n") == 1


LONG = "import pytest\n\n@pytest.mark.long\ndef test_waits():\n    pass\n"
INI = "[pytest]\nmarkers = long: waits for make test-long\n"


def test_a_long_test_waits_for_its_tier_unless_it_is_named(tree):
    (tree / "pytest.ini").write_text(INI)
    add(tree, "host", "a", PASSING.format("one") + LONG)
    add(tree, "host", "b", PASSING.format("two"))
    assert last_line(tree, "host") == (0, "2 passed, 0 failed")
    assert last_line(tree, "-k", "waits or two") == (0, "2 passed, 0 failed")
    assert last_line(tree, "--long", "-k", "two") == (1, "0 passed, 0 failed")


def test_the_long_tier_leaves_a_record_whose_age_the_short_one_tells(tree, monkeypatch):
    monkeypatch.setattr(tiers, "ROOT", tree)
    monkeypatch.setattr(tiers, "RECORD", tree / "results/tests/long.json")

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@n", "-C", tree, *words],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()

    (tree / "pytest.ini").write_text(INI)
    add(tree, "host", "a", PASSING.format("one") + LONG)
    git("init", "-q")
    git("add", "tests/host")
    git("commit", "-qm", "first")
    assert tiers.age() == "long tier: no record of a run: make test-long"
    # Of a part of it there is no record.
    for words in (("host", "--long"), ("--long", "-k", "waits")):
        assert last_line(tree, *words) == (0, "1 passed, 0 failed")
    assert not (tree / "results").exists()
    assert last_line(tree, "--long") == (0, "1 passed, 0 failed")
    told = json.loads((tree / "results/tests/long.json").read_text())
    assert (told["commit"], told["changed"], told["passed"], told["failed"]) == (git("rev-parse", "HEAD"), False, 1, 0)
    assert told["machine"]["kernel"] == os.uname().release and told["stages"]["host"]["passed"] == 1
    git("commit", "-qm", "second", "--allow-empty")
    short = told["commit"][:8]
    assert tiers.age() == f"long tier: passed at {short}, 0 days ago, 1 commit since"
    add(tree, "host", "a", LONG.replace("pass", "assert False"))
    assert last_line(tree, "--long") == (1, "0 passed, 1 failed")
    assert run(tree).stdout.splitlines()[-2].startswith(f"long tier: 1 failed at {git('rev-parse', 'HEAD')[:8]} with ")


def test_contributing_has_each_file_of_the_long_tier_and_no_other():
    marked = {str(file.relative_to(ROOT)) for folder in ("tests", "studies/tests") for file in (ROOT / folder).rglob("test_*.py")
              if tiers.has_long(file)} - {"tests/structure/test_tools.py"}
    listed = re.findall(r"^\| `(\S+)` \| [^|]+ \| [^|]{10,} \| [^|]+ \|$", (ROOT / "CONTRIBUTING.md").read_text().partition(
        "### Two tiers")[2].partition("\n### ")[0], re.MULTILINE)
    assert sorted(listed) == sorted(marked | {"sanitize"})


def test_a_failed_build_ends_the_run(tree):
    (tree / "Makefile").write_text("lint:\n\t@true\n%:\n\tfalse\n")
    add(tree, "host", "a", PASSING.format("one"))
    assert last_line(tree, "all") == (1, "0 passed, 1 failed")


def test_an_unknown_group_is_bad_usage(tree):
    assert last_line(tree, "moon")[0] == 2


def test_the_runner_works_with_stdin_closed(tree):
    add(tree, "host", "a", PASSING.format("one"))
    command = ["bash", "-c", f"{tree}/tests/run <&-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "CI": "true"})
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed")


def test_a_c_program_that_crashes_counts_as_a_failure(tree):
    (tree / "tests/unit").mkdir()
    (tree / "tests/unit/dying_test.c").write_text("")
    (tree / "build/tests/unit").mkdir(parents=True)
    program = tree / "build/tests/unit/dying_test"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n")
    program.chmod(0o755)
    assert last_line(tree, "unit") == (1, "0 passed, 1 failed")


@pytest.fixture(name="set_up")
def fixture_set_up(tmp_path):
    """Runs the set-up of a tree that needs the packages on these lines."""
    (tmp_path / "tools/lib/copyscope/common").mkdir(parents=True)
    for name in ("setup", "requirements.txt", "lib/shown.sh", "lib/copyscope/common/releases.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools" / name)
    (tmp_path / "tools/packages-tests.txt").write_text("bash runs it\n")
    (tmp_path / "tools/packages-more.txt").write_text("bash runs it\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/fetch_programs").write_text("")

    def run(packages: str, *before: str, words: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
        (tmp_path / "tools/packages.txt").write_text(packages)
        return subprocess.run([*before, tmp_path / "tools/setup", *words], capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL)
    return run


def states(folder: Path) -> dict[Path, int]:
    """When each file below was written last."""
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_setup_does_nothing_when_all_is_there(set_up, tmp_path):
    venv = tmp_path / "build/venv"
    venv.mkdir(parents=True)
    (venv / "recipe").write_text(f"{venv}, with the system's modules\n{Path('/usr/bin/python3').resolve()}\n"
                                 + (tmp_path / "tools/requirements.txt").read_text())
    for prefix in ("6.1", "6.12", "6.18", "6.19", "7.2"):
        (tmp_path / f"build/kernels/{prefix}.0-{ARCH}").mkdir(parents=True)
    before = states(tmp_path / "build")
    # bash prints each command before it runs it.
    done = set_up("dpkg is always there\n", "bash", "-x", words=("--with-tests", "--with-kernels"))
    assert done.returncode == 0, done.stderr
    assert states(tmp_path / "build") == before
    ran = re.findall(r"^\++ (.*)$", done.stderr, re.MULTILINE)
    assert any(line.startswith("xargs dpkg-query") for line in ran)
    assert not [line for line in ran if re.search(r"^step |^apt-get|tools/guest |-m (venv|pip)", line)]


def test_setup_takes_nothing_from_elsewhere_unless_tests_are_asked_for(set_up, tmp_path):
    done = set_up("dpkg is always there\n")
    assert done.returncode == 0 and "[#]" not in done.stderr, done.stderr
    assert not (tmp_path / "build").exists()


def unprivileged(folder: Path) -> list[str]:
    """What starts a program as a user who is not root, and who can reach the folder."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("setpriv is missing")
    for each in (folder, *folder.parents):
        if str(each).startswith("/tmp/"):
            each.chmod(0o755)
    return ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []


def test_setup_for_a_command_installs_what_that_needs_alone(set_up, tmp_path):
    (tmp_path / "tools/packages-more.txt").write_text("bash runs it\nno-such-package-here draws\nno-such-other serves\n")
    drop = unprivileged(tmp_path)
    done = set_up("no-such-base builds\n", words=("--for", "bash", "make"))
    assert (done.returncode, done.stderr) == (0, "")
    done = set_up("no-such-base builds\n", *drop, words=("--for", "no-such-package-here", "bash"))
    assert done.returncode == 3 and done.stderr.endswith("run as root: apt-get install no-such-package-here\n")
    done = set_up("dpkg is always there\n", *drop, words=("--all",))
    assert done.returncode == 3 and done.stderr.endswith("install no-such-package-here no-such-other\n")


def test_some_command_asks_for_each_package_that_set_up_leaves_out():
    listed = re.findall(r"^([a-z0-9.+-]+) ", (ROOT / "tools/packages-more.txt").read_text(), re.MULTILINE)
    named = {name for file in (ROOT / "tools/lib").rglob("*.py") for name in re.findall(r'"([a-z0-9.+-]+)"', file.read_text())}
    for script in (ROOT / "Makefile", ROOT / "tools/baseline"):
        named |= set(" ".join(re.findall(r"tools/setup\"? --for ([a-z0-9 -]+)", script.read_text())).split())
    assert listed and not [name for name in listed if name not in named]


def test_setup_without_root_names_what_is_missing(set_up, tmp_path):
    done = set_up("make builds\nno-such-package-here never\nno-such-ubuntu: never\n", *unprivileged(tmp_path))
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "setup: missing: run as root: apt-get install no-such-package-here no-such-ubuntu:"]


@pytest.mark.parametrize("known, machine", [("x86_64-linux-gnu", "-"), ("", "x86_64-pc-linux-gnu"), ("", "x86_64-unknown-linux-gnu")])
def test_make_finds_the_kernel_s_headers_whichever_word_the_compiler_knows(tmp_path, known, machine):
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in -print-multiarch) [ "{known}" ] && echo {known} ;; -dumpmachine) echo {machine} ;; esac\n')
    compiler.chmod(0o755)
    said = subprocess.run(["make", "-s", f"CC={compiler}", "--eval", "where: ; @echo '$(BPFFLAGS)'", "where"], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout
    assert said.rstrip().endswith("/usr/include/x86_64-linux-gnu")


def test_a_row_of_a_table_that_changed_leaves_the_others_as_they_are(tmp_path):
    """Formatted are lines of functions alone: to clang-format a table is one line."""
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, tmp_path / "tree"], check=True)
    tree = tmp_path / "tree"
    shutil.copy(ROOT / "tests/checks.mk", tree / "tests/checks.mk")
    (tree / "build/venv").parent.mkdir()
    (tree / "build/venv").symlink_to(ROOT / "build/venv")
    row, code = tree / "userspace/record/laws.h", tree / "userspace/watch/choose.c"
    row.write_text(row.read_text().replace('R(send, "send"', 'R(send,  "send"'))
    code.write_text(code.read_text().replace("static int by_number(const void *a, ", "static int by_number(const void *a,  "))
    subprocess.run(["make", "-s", "format"], cwd=tree, check=True, capture_output=True)
    told = subprocess.run(["git", "diff", "--numstat", "--", "userspace"], cwd=tree, capture_output=True, text=True, check=True)
    assert told.stdout == "1\t1\tuserspace/record/laws.h\n"
