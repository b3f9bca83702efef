# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch` refuses what it cannot use in one line, before anything is touched."""
from __future__ import annotations

import os
import subprocess

import pytest

from helpers import records
from helpers.records import ROOT

COPYSCOPE = ROOT / "tools/copyscope"
WHOM = ("-p", "--comm", "--cgroup", "--netns", "--port", "--all", "-- COMMAND")


def watch(*words, **more) -> subprocess.CompletedProcess:
    """Runs it to its end."""
    options = {"stdin": subprocess.DEVNULL} | more
    return subprocess.run([COPYSCOPE, "watch", *words], capture_output=True, text=True, timeout=60,
                          check=False, errors="surrogateescape", **options)


def refused(*words, **more) -> str:
    """Its line, after the checks that hold for every refusal of words."""
    done = watch(*words, **more)
    assert done.returncode == 2 and not done.stdout, done
    assert done.stderr.startswith("copyscope watch: ") and done.stderr.count("\n") == 1, done
    assert done.stderr.removesuffix("\n").isprintable()
    return done.stderr


def test_whom_to_watch_must_be_said_once():
    line = refused("--seconds", "1")
    assert all(each in line for each in WHOM)
    assert "-p and --all exclude each other" in refused("-p", "1", "--all")
    assert "--comm and -- COMMAND" in refused("--comm", "x", "--", "true")


@pytest.mark.parametrize("words, told", [
    (["-p", "0"], "-p '0' must be a whole number from 1 to 4194304"),
    (["-p", "12,"], "-p ''"), (["-p", "12,x"], "-p 'x'"), (["-p", "4k"], "-p '4k'"),
    (["-p", ",".join(map(str, range(1, 66)))], "use --cgroup or --comm"),
    (["--comm", ""], "--comm names nothing"), (["--comm", "x" * 16], "longer than 15 bytes"),
    (["--cgroup", ""], "--cgroup names nothing"), (["--cgroup", "x" * 300], "too long"),
    (["--netns", "self"], "--netns 'self'"), (["--port", "65536"], "from 1 to 65535"),
    (["--all", "--seconds", "0"], "--seconds '0'"), (["--all", "--interval", "0.01"], "0.1 is the least"),
    (["--all", "--interval", "3", "--seconds", "2"], "longer than --seconds"),
    (["--all", "--by", "thread"], "threads share sockets"), (["--all", "--by", "pid"], "must be one of service socket process cgroup peer port"),
    (["--all", "--books", "both"], "must be one of sequence calls"),
    (["--all", "--backend", "kprobe"], "must be one of auto trampoline tracepoint"),
    (["--all", "--top", "0"], "--top '0'"), (["--all", "--json", ""], "--json names no file"),
    (["--all", "--quiet"], "nothing to see"), (["--all", "--as-root"], "goes with -- COMMAND"),
    (["--"], "-- names no command"), (["--", ""], "-- names no command"),
    (["--json", "-", "--", "true"], "would mix"), (["curl", "http://x/"], "-- before it starts it"),
    (["--comm"], "lacks its value"), (["--wait", "--all"], "'--wait' is no option"),
    (["no-such-name"], "no process that runs is called no-such-name"), (["--unit", "no-such"], "no unit that runs is called no-such"),
    (["--container", "no-such"], "no container that runs"), (["--all", "--exclude", "pid=1"], "--exclude 'pid=1'"),
    (["--port", "9-7"], "lower one first"), (["--all", "--no-children"], "goes with -p"), (["--comm", "x", "--all"], "exclude each other"),
    (["--comm", "x", "--exclude", ""], "--exclude names nothing"),
    (["1234"], "did you mean -p before it"), ([":443"], "did you mean --port N?"), (["-p", "nginx"], "did you mean --comm?"),
    (["--name", "nginx"], "did you mean --comm?"), (["--process=nginx"], "did you mean --comm?"), (["%s%n"], "called %s%n"),
    (["--all", "--color", "red"], "--color"), (["--all", "--sort", "pid"], "must be one of copied sent received avoidable cpu name"),
    (["--all", "--secs", "1"], "did you mean --seconds?"),
    (["--comm\x1b[2J"], "\\x1b[2J"), (["--all", "--seconds", "nan"], "'nan'"),
    (["--all", "--json", "/no/such/folder/r.json"], "/no/such/folder"),
])
@records.needs_root
def test_bad_words_are_refused_in_one_line(words, told):
    assert told in refused(*words)


@records.needs_root
def test_a_process_that_is_not_there_is_refused():
    assert "4194304" in refused("-p", "4194304", "--seconds", "1")
    assert "no process that runs is called ngnix" in refused("--comm", "ngnix", "--seconds", "1")


def test_help_names_every_option():
    done = watch("--help")
    assert done.returncode == 0 and not done.stderr
    for each in (*WHOM[:-1], "--seconds", "--interval", "--by", "--top", "--books",
                 "--backend", "--json", "--quiet"):
        assert f" {each}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 100


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: nobody else can be become")
def test_without_privileges_it_says_what_is_missing():
    done = watch("--all", "--seconds", "1", user=65534, group=65534, extra_groups=[])
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and not done.stdout, done
