# SPDX-License-Identifier: GPL-2.0
"""Signals of all kinds at random moments to every process of a run, a sweep, a guest."""
from __future__ import annotations

import contextlib
import os
import signal
import time

from attacks import judge, runs, started
from attacks.attack import Attack, Broken, Case
from helpers import processes
from helpers.patience import Patience
from helpers.records import ROOT

# Those that ask for an end, those that are no request, and a pause.
ASK = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
STRIKE = [signal.SIGQUIT, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1, signal.SIGPIPE,
          signal.SIGABRT, signal.SIGALRM]
PAUSE = signal.SIGSTOP
ASKED_S, ANY_S, LINGER_S = 2.0, 16.0, 5.0
VARIANTS = ["A1", "A1-plain", "A2", "A3", "A3-unreaped", "A3-aligned"]


def identity(pid: int) -> tuple[int, str] | None:
    """A process as no later one with the same number is called: by its start, too."""
    try:
        stat = processes.stat_of(pid)
    except OSError:
        return None
    return None if stat[0] in "ZX" else (pid, stat[19])


def victim(case: Case, long: bool) -> list:
    """What is to be hit: mostly a run, now and then what starts runs."""
    dice, kind = case.dice, case.dice.random()
    if kind < 0.80:
        words = [dice.choice(VARIANTS), dice.choice([64, 4096, 65536]), dice.choice([1, 2, 4]),
                 "--path", dice.choice(["lo", "veth"]), "--pattern", dice.choice(["stream", "rr"]),
                 "--seconds", 30 if long else 0.6]
        return [runs.TRACE_RUN, *words, "--quiet", "--json", case.place / "record.json"]
    if kind < 0.92:
        return [ROOT / "tools/sweep", "--profile", "standard", "--sizes", "64", "--threads", "1",
                "--variants", "A1,A2", "--repeats", "1", "--seconds", 8 if long else 0.3,
                "--others-at-most", "1", "--out", "o", "--quiet"]
    if kind < 0.96:
        return [ROOT / "tools/baseline", "--only", "call", "--quick", "--quiet", "--json",
                case.place / "baseline.json"]
    return [runs.TRACE_RUN, "A3", 4096, 1, "--messages", 5, "--kernel", "6.12", "--quiet", "--json",
            case.place / "record.json"]


def hit(process, case: Case, number: int, on_itself: bool) -> tuple[float, set]:
    """Send the signal to the command or one of those below it; when, and all that were there."""
    below = sorted(processes.descendants(process.pid))
    target = process.pid if on_itself or not below else case.dice.choice(below)
    there = {identity(each) for each in (process.pid, *below)} - {None}
    sent = time.monotonic()
    try:
        os.kill(target, number)
    except ProcessLookupError:
        return sent, there
    if number == PAUSE:
        time.sleep(case.dice.uniform(0.02, 0.4))
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, signal.SIGCONT)
    return sent, there


def nobody_lingers(process, there: set, done: started.Done) -> None:
    """All that belonged to the run are gone soon after it."""
    patience = Patience(runs.bound_s(LINGER_S))
    while left := {each for each in there if identity(each[0]) == each and each[0] != process.pid}:
        if not patience.sleep(0.02):
            names = {each[0]: processes.command_line(each[0])[:4] for each in left}
            raise Broken(f"processes are left: {names}: {done}")


def try_signal(case: Case) -> None:
    """One signal."""
    dice = case.dice
    number = dice.choice([*ASK, *ASK, *STRIKE, PAUSE, PAUSE])
    on_itself = dice.random() < (0.8 if number in ASK else 0.4)
    long = number in (*ASK, signal.SIGKILL, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT) \
        and on_itself
    words, moment_s = victim(case, long), dice.uniform(0, 0.9)
    process = started.start(words, case.place, started.let_signals_be, os.setsid)
    began, there = time.monotonic(), set()
    try:
        time.sleep(moment_s)
        sent, there = hit(process, case, number, on_itself)
        asked = number in ASK and on_itself
        limit_s = runs.bound_s(ASKED_S if asked else ANY_S)
        try:
            done = started.finish(process, case.place, limit_s, words, began)
        except Broken as late:
            raise Broken(f"{signal.Signals(number).name} at {moment_s:.3f} s, "
                         f"{'to itself' if on_itself else 'to a process below it'}: {late}") from None
        check_end(case, done, number, on_itself, sent)
        nobody_lingers(process, there, done)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for each in there:
            if identity(each[0]) == each:
                os.kill(each[0], signal.SIGKILL)


def check_end(case: Case, done: started.Done, number: int, on_itself: bool, sent: float) -> None:
    """How it ended is told by status and record alike."""
    name = signal.Signals(number).name
    said = f"{name} {'to itself' if on_itself else 'below it'}"
    judge.said_soundly(done)
    by_signal = (-number, 128 + number)
    if done.status not in (0, 1, 2, 3, 4, *by_signal) and not (not on_itself and done.status < 0):
        raise Broken(f"{said}: exit status {done.status}: {done}")
    record = runs.read(case.place / "record.json", done)
    if record is not None and done.status in (0, 1, 4, *judge.ASKED_TO_END):
        runs.agree(done, record)
    if record is None and done.status == 0 and "sweep" not in str(done.words[0]) \
            and "baseline" not in str(done.words[0]):
        raise Broken(f"{said}: exit 0 without a record: {done}")
    if record is not None and number == PAUSE and runs.outcome(record) == runs.FAILED \
            and "no byte was sent" not in (record["experiment"]["outcome"]["reason"] or ""):
        raise Broken(f"{said}: a pause failed the run: {record['experiment']['outcome']}: {done}")
    hidden = [each.name for each in case.place.iterdir() if each.name.endswith(".part")]
    if hidden and number != signal.SIGKILL:
        raise Broken(f"{said}: left {hidden}: {done}")


def strike_all(pids: list[int], number: int) -> list[int]:
    """As user nobody send each process a signal; those that it reached. In a child, as there is no way back."""
    got, told = os.pipe()
    child = os.fork()
    if not child:
        started.become_nobody()
        for each in pids:
            with contextlib.suppress(PermissionError, ProcessLookupError):
                os.kill(each, number)
                os.write(told, b"%d " % each)
        os._exit(0)
    os.close(told)
    with open(got, "rb") as reached:
        os.waitpid(child, 0)
        return [int(each) for each in reached.read().split()]


def try_other_user(case: Case) -> None:
    """Signals of a user whom the system shares out, at a random moment of a run or a watch."""
    dice = case.dice
    words = [runs.TRACE_RUN, "A3", 65536, 2, "--seconds", 0.6, "--quiet"] if dice.random() < 0.5 else \
        [ROOT / "tools/copyscope", "watch", "--all", "--seconds", 1, "--quiet"]
    process = started.start([*words, "--json", case.place / "record.json"], case.place)
    try:
        time.sleep(dice.uniform(0, 1))
        number = dice.choice([PAUSE, signal.SIGKILL, signal.SIGINT])
        reached = strike_all([process.pid, *processes.descendants(process.pid)], number)
        done = started.finish(process, case.place, runs.bound_s(20))
    finally:
        process.kill()
        process.wait()
    if reached or done.status not in judge.WELL:
        raise Broken(f"{signal.Signals(number).name} of nobody reached {reached}: {done}")


ATTACKS = [Attack(
    "other-users", "No process of user nobody can stop or end one of a run or a watch.", "signals", 200, 4,
    try_other_user, batch=20), Attack(
    "signals", "Whatever signal any process of a run, a sweep or a guest gets at whatever moment, it "
    "ends within a bound (2 s after the first INT, TERM or HUP to the command itself, in proportion "
    "longer on a machine with more to run than processors), no process stays, and its record is "
    "whole or absent and says what its exit status says.", "signals", 1000, 16, try_signal, batch=40,
    jobs=4)]
