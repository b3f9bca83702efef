# SPDX-License-Identifier: GPL-2.0
"""Whatever word or signal a Python tool is given, it ends in one line at most and no traceback."""
from __future__ import annotations

import itertools
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from attacks import scripts
from helpers.records import ROOT

USAGE = 2
TOOLS = {"advise": ["--json"], "advise_truth": ["--out"], "sweep": ["--profile"], "plot": ["--out"], "crossover": ["--json"], "predict": ["--out"],
         "matrix": ["--out"], "beside_lmbench": ["--bin"], "beside_iperf3": ["--bin"],
         "peers": ["--json"], "guest": ["--kernel"], "copyscope": ["--help"],
         "claims": ["--json"], "facts": ["--json"], "published": ["--json"], "compare": ["--json"], "records": ["--in"], "fleet": ["--json"]}
PYTHON_LAUNCHER = re.compile(
    r"#!/usr/bin/env -S --block-signal=INT /usr/bin/python3 -SB\n# SPDX[^\n]*\n\"\"\"[^\n]*\"\"\"\n"
    r"from lib import launch\n\nlaunch\.run\(\"copyscope[\w.]+\"(, straight=\"copyscope[\w.]+\")?\)\n")
READERS = ("mistakes", "agree", "keep", "plot")
LONG = "x" * 100_000
# What a record of a damaged name, an odd file or a slip of the pen looks like on a command line.
WORDS = {"escape": "--\x1b[2J", "line end": "one\ntwo", "long": LONG, "long option": f"--{LONG}",
         "turned": "a\u202eb", "many words": "a " * 50_000}


@pytest.fixture(name="tool", scope="module")
def fixture_tool(tmp_path_factory):
    """Runs a tool in a fork of this process, which has loaded them all."""
    scripts.load()
    place = tmp_path_factory.mktemp("tools")
    return lambda name, *words: scripts.completed(name, *words, place=place)


def started(file: str, *words: str | bytes) -> subprocess.CompletedProcess:
    """Starts a program from its file; what it says must be UTF-8."""
    return subprocess.run([ROOT / file, *words], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", timeout=60, check=False)


def is_one_line(done: subprocess.CompletedProcess) -> bool:
    """True if it refused in one line that a person can read."""
    text = done.stderr.removesuffix("\n")
    return done.returncode == USAGE and text.isprintable() and 0 < len(text) < 2500 and \
        not done.stdout and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["alike", "bench", "campaign", "compare_trees", "fresh",
                                  "run", "start_cost", "watch_cost"])
def test_commands_of_the_tests_print_their_help(name):
    done = started(f"tests/{name}", "--help")
    assert done.returncode == 0 and "sage: " in done.stdout and not done.stderr


@pytest.mark.parametrize("name", TOOLS)
def test_two_dashes_are_no_value(name, tool):
    for words in ([f"{TOOLS[name][0]}=--"], ["A2", "--", "x", "--"]):
        if name != "guest" or len(words) == 1:
            done = tool(name, *words)
            assert is_one_line(done) and ("--" in done.stderr or name == "copyscope"), done


def test_two_dashes_are_no_record(tool):
    for reader in READERS:
        assert is_one_line(tool("baseline", reader, "--", "--"))


@pytest.mark.parametrize("words, meant", [
    (["sweep", "--secs", "5"], "--seconds"), (["guest", "--kernal=6.1", "--", "true"], "--kernel"),
    (["records", "list", "--lawz"], "--laws")])
def test_a_mistyped_option_gets_its_neighbour(words, meant):
    done = subprocess.run([ROOT / "tools" / words[0], *words[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"is no option: did you mean {meant}?" in done.stderr


@pytest.mark.parametrize("name", [*TOOLS, "baseline"])
def test_foreign_words_are_shown_on_one_line(name, tool):
    for what, word in WORDS.items():
        done = tool(name, *(["mistakes", word] if name == "baseline" else [word]))
        assert is_one_line(done), (what, done.returncode, done.stderr[:300])


def test_from_their_files_tools_do_the_same():
    for name, words in (("plot", [WORDS["turned"]]), ("baseline", ["mistakes", WORDS["escape"]])):
        assert is_one_line(started(f"tools/{name}", *words)), name


@pytest.mark.parametrize("program", ["trace_run", "watch", "workload", "baseline"])
def test_programs_show_foreign_words_the_same_way(program):
    for word in WORDS.values():
        for words in ([word], [f"--json={word}", word], ["server", word, word], ["client", word, "1"]):
            done = started(f"build/{program}", *words)
            assert is_one_line(done), (words[0][:20], done.returncode, done.stderr[:300])


def test_launchers_in_shell_show_foreign_words_the_same_way():
    for what in ("escape", "line end", "long"):
        assert is_one_line(started("tools/setup", WORDS[what])), what
        assert is_one_line(started("tools/trace_run", "A3", "64", "1", "--arch", WORDS[what])), what


def test_a_home_that_cannot_be_written_to_adds_no_line():
    for words in (["plot", "gone.json", "--out", "x"], ["predict", "--out", ""]):
        done = started("/usr/bin/env", "HOME=/proc", f"{ROOT}/tools/{words[0]}", *words[1:])
        assert is_one_line(done), done.stderr


def test_a_word_that_is_no_utf8_is_refused(tmp_path):
    done = started("tools/plot", "run.json", "--out", bytes(tmp_path) + b"/\xff")
    assert is_one_line(done) and "UTF-8" in done.stderr


# Other moments and signals are for tests/campaign.
@pytest.mark.parametrize("name, moments_ms", list(zip([*TOOLS, "baseline"], itertools.cycle(
    [(5, 120), (20,), (60,)]))))
def test_a_ctrl_c_while_it_loads_leaves_no_traceback(name, moments_ms, tmp_path):
    words = {"baseline": ["plot", "gone.json", "--out", tmp_path]}.get(name, ["--help"])
    for moment_ms in moments_ms:
        with subprocess.Popen([ROOT / "tools" / name, *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as one:
            time.sleep(moment_ms / 1000)
            one.send_signal(signal.SIGINT)
            _, said = one.communicate(timeout=60)
        assert said.count("\n") <= 1 and "Traceback" not in said, said
        # Ended by the signal, or by the tool that caught it, or before it came.
        assert one.returncode in (0, USAGE, -signal.SIGINT, 128 + signal.SIGINT)


def test_a_launcher_leaves_a_ctrl_c_ignored_that_nohup_has_it_ignore():
    done = subprocess.run(["sh", "-c", "trap '' INT; exec \"$0\" --list", ROOT / "tools/guest"],
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0


def test_launchers_do_nothing_before_sigint_is_unblocked():
    # make_tables serves the tree itself and is not installed.
    found = [file for file in Path(ROOT / "tools").iterdir()
             if file.is_file() and file.name != "make_tables" and b"python3" in file.read_bytes().partition(b"\n")[0]]
    assert {file.name for file in found} == set(TOOLS)
    for file in found:
        assert PYTHON_LAUNCHER.fullmatch(file.read_text()), file
    assert "/usr/bin/env --block-signal=INT /usr/bin/python3 -SB " in \
        (ROOT / "tools/baseline").read_text()


def test_what_launchers_run_reads_modules_of_the_system_all_the_same():
    text = (ROOT / "tools/lib/launch.py").read_text()
    run = text[text.index("def run("):]
    parts = ["unblock_ctrl_c()", "import os", "site.main()"]
    assert sorted(parts, key=run.index) == parts
    # Nothing is read from a file before: _signal is a part of the interpreter.
    assert re.findall(r"^(?:import|from) .*", text, re.MULTILINE) == ["import _signal"]


def test_a_launcher_writes_no_bytecode(tmp_path):
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([tmp_path / "tools/guest", "--list"], capture_output=True, check=False,
                          timeout=60)
    assert done.returncode == 0 and not list(tmp_path.rglob("__pycache__"))
