# SPDX-License-Identifier: GPL-2.0
"""`copyscope WORD` is the tool of that word; help, versions and completion come from one table."""
from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess

import pytest

from copyscope.common.tables import RELEASE
from copyscope.dispatch import manual, straight
from copyscope.dispatch.command import act, page_of, plain, source
from copyscope.dispatch.words import NAMES, OWN, SHELLS, WORDS, help_of
from helpers.records import ROOT

COPYSCOPE = ROOT / "tools/copyscope"
# Of a tool: its words, stdin, which signals it ignores; then an exit status of its own.
FAKE = """#!/bin/bash
printf '%q ' "$@"; echo; cat; grep SigIgn /proc/self/status; exit 7
"""


def copyscope(*words, program=COPYSCOPE, **more) -> subprocess.CompletedProcess:
    """Runs the command to its end."""
    options = {"stdin": subprocess.DEVNULL, "text": True} | more
    return subprocess.run([program, *words], capture_output=True, timeout=60, check=False, **options)


@pytest.fixture(name="tree", scope="module")
def fixture_tree(tmp_path_factory):
    """A tree in which nothing was built, with a tool that tells how it was started."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("tools", "studies"):
        shutil.copytree(ROOT / folder, tree / folder)
    (tree / "tools/trace_run").write_text(FAKE)
    return tree


def test_every_word_has_a_tool_that_explains_itself():
    for word in WORDS:
        done = help_of(word.program, *word.before)
        assert done.returncode == 0 and "sage: " in done.stdout, (word.name, done)


def test_help_lists_each_word_on_one_line():
    done = copyscope("--help")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and not done.stderr and copyscope().stdout == done.stdout
    for name in (*NAMES, *OWN):
        assert sum(line.split()[:1] == [name] for line in lines) == 1
    assert max(map(len, lines)) < 100


def test_version_names_release_and_commit():
    commit = (ROOT / "build/version").read_text().strip()
    for word in ("--version", "-V"):
        assert copyscope(word).stdout == f"copyscope {RELEASE} ({commit})\n"


@pytest.mark.parametrize("word, meant", [
    ("swep", "sweep"), ("Plot", "plot"), ("trace_run", "run"), ("gest", "guest"), ("hepl", "help"),
    ("A3", "run A3"), ("crosover", "crossover"), ("completions", "completion")])
def test_an_unknown_word_gets_a_suggestion(word, meant):
    done = copyscope(word, "64", "1")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout
    assert f"did you mean copyscope {meant}?" in done.stderr


@pytest.mark.parametrize("words", [["xyzzy"], [""], ["--sweep"], ["help", "xyzzy"], ["--help", "run"],
                                   ["help", "run", "sweep"], ["completion"], ["completion", "fish"]])
def test_what_it_cannot_use_is_refused_in_one_line(words):
    done = copyscope(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout
    assert done.stderr.startswith("copyscope: ") and "did you mean" not in done.stderr


def test_a_watch_is_started_before_modules_are_imported():
    done = copyscope("-X", "importtime", "-SB", COPYSCOPE, "watch", "--version", program="/usr/bin/python3")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.stdout.startswith("copyscope ") and "lib.launch" in imported
    assert not {"site", "argparse", "pathlib"} & imported
    for option in (*straight.EXPORTS, *straight.FILES):
        assert not straight.is_plain(["watch", "--all", option]) and not straight.is_plain(["watch", f"{option}=x"])
    assert not straight.is_plain(["watch", "\udcff"]) and not straight.is_plain(["run"])


def test_a_tool_is_started_as_if_it_had_been_typed(tree):
    words = [b"A3", b"--", b"two words", b"\xff", b"--help"]
    done = copyscope("run", *words, program=tree / "tools/copyscope", stdin=None, text=False,
                     input=b"typed\n")
    said, typed, ignored, *_ = done.stdout.decode("utf-8", "replace").splitlines()
    assert done.returncode == 7 and not done.stderr and typed == "typed"
    assert shlex.split(said.replace("$'\\377'", "octal")) == ["A3", "--", "two words", "octal", "--help"]
    mask = int(ignored.split()[1], 16)
    assert not mask & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1 | 1 << signal.SIGINT - 1)


def test_before_set_up_it_says_what_can_be_said(tree):
    program = tree / "tools/copyscope"
    assert copyscope("--version", program=program).stdout == f"copyscope {RELEASE} (not built yet)\n"
    assert "sweep" in copyscope("--help", program=program).stdout
    assert copyscope("guest", "--list", program=program).returncode == 0
    done = copyscope("baseline", "--quick", program=program)
    assert done.returncode == 2 and done.stderr.endswith("is not built: run make first\n")


@pytest.mark.skipif(not shutil.which("man"), reason="man is missing: help prints the tool's own")
@pytest.mark.parametrize("word, title", [("run", "TRACE_RUN(8)"), ("baseline", "COPYSCOPE-BASELINE(8)"), ("guest", "COPYSCOPE-GUEST(1)")])
def test_help_opens_the_manual_page(word, title):
    done = copyscope("help", word, env={**os.environ, "LC_ALL": "C", "MANPAGER": "cat"})
    assert done.returncode == 0 and not done.stderr and done.stdout.lstrip().startswith(title)


def test_each_word_has_a_page_that_can_be_read_without_man():
    """tests/structure/test_install.py has man read them all."""
    for word in WORDS:
        page = page_of(word)
        lines = plain(source(page) if page else manual.of_word(word)).splitlines()
        assert lines[0] == "NAME" and {"SYNOPSIS", "OPTIONS", "OVERHEAD"} <= set(lines) and max(map(len, lines)) <= 80, word.name


def test_help_on_help_is_what_the_command_prints(tree):
    done = copyscope("help", "help", program=tree / "tools/copyscope")
    assert done.returncode == 0 and done.stdout == copyscope("help").stdout == copyscope("--help").stdout


@pytest.fixture(name="scripts", scope="module")
def fixture_scripts(tmp_path_factory):
    """Completion for each shell, in files."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        with (folder / shell).open("w") as file, contextlib.redirect_stdout(file):
            # Here, as each tool is asked for its help once by a process.
            assert not act(["completion", shell])
    return folder


def completed(scripts, *words: str, tool: bool = False) -> set[str]:
    """What bash offers for the last of these words, of copyscope or of the tool that they begin with."""
    function, command = ("_copyscope_tool", []) if tool else ("_copyscope", ["copyscope"])
    done = subprocess.run(
        ["bash", "-c", 'compopt() { :; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
         f'{function}; printf "%s\\n" "${{COMPREPLY[@]}}"', scripts / "bash", *command, *words],
        capture_output=True, text=True, check=True, timeout=60)
    assert not done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("words, offered", [
    (["/usr/bin/trace_run", "A3-un"], {"A3-unset", "A3-unreaped"}),
    (["/usr/bin/copyscope-collect", "--by", "p"], {"process", "peer", "port"})])
def test_bash_completes_the_tools_of_an_install(scripts, words, offered):
    assert completed(scripts, *words, tool=True) == offered


@pytest.mark.parametrize("words, offered", [
    (["s"], {"show", "sweep"}), (["show", "l"], {"last"}), (["p"], {"plot", "predict", "peers"}), (["help", "b"], {"baseline"}),
    (["run", "A3-un"], {"A3-unset", "A3-unreaped"}), (["run", "A3", "64", "1", "--rec"], {"--receiver"}),
    (["run", "--path", "v"], {"veth"}), (["sweep", "--profile", "st"], {"standard"}),
    (["guest", "--kernel", "6.12", "--", "tru"], {"true", "truncate"}), (["plot", "x"], set()),
    (["completion", ""], {"bash", "zsh"}), (["run", "A3", "64k", "1", "--kernel", "6.12"], {"6.12"}),
    (["claims", "check", "results", "--report", "MT2506"], {"MT25064"})])
def test_bash_completes(scripts, words, offered):
    found = completed(scripts, *words)
    assert found >= offered if "--" in words else found == offered


@pytest.mark.parametrize("words", [["show", ""], ["show", "one", ""], ["compare", "one", ""], ["compare", ""]])
def test_bash_completes_what_is_kept(scripts, words, tmp_path, monkeypatch):
    (tmp_path / "a-sweep").mkdir()
    for name in ("20261120T000000.000-7.json", "a-sweep/plan.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path))
    found = completed(scripts, *words)
    assert found - {"last"} == {"20261120T000000.000-7", "a-sweep"}
    assert ("last" in found) == (len(words) == 2)


def test_bash_completes_what_runs_here(scripts):
    program = subprocess.Popen(["sleep", "60"])
    try:
        assert "sleep" in completed(scripts, "watch", "--comm", "sle")
        assert str(program.pid) in completed(scripts, "watch", "-p", str(program.pid))
    finally:
        program.kill()
        program.wait()


def test_every_option_of_the_main_job_is_offered(scripts):
    told = copyscope("run", "--help").stdout
    options = completed(scripts, "run", "-")
    assert {"--path", "--seconds", "--json", "--quiet", "--host", "--tap"} <= options
    assert all(f" {option}" in told for option in options)


def test_zsh_reads_its_completion(scripts):
    assert (scripts / "zsh").read_text().startswith("#compdef copyscope ")
    if not shutil.which("zsh"):
        pytest.skip("zsh is missing: its completion was not read by it")
    subprocess.run(["zsh", "-n", scripts / "zsh"], check=True, timeout=60)
