# SPDX-License-Identifier: GPL-2.0
"""Command lines of the C programs, built with sanitizers, and of the launchers before them."""
from __future__ import annotations

import errno
import os

from attacks import judge, started
from attacks.attack import Attack, Broken, Case
from attacks.words import damage
from helpers import processes
from helpers.records import ROOT

TRACE_RUN = [
    "A3 65536 4", "A1 64 1 --messages 5", "A1-8send 4096 2 --seconds 0.2 --pattern rr",
    "A2 4093 1 --receiver perfield --path lo --quiet", "A3 64k 2 --readers 3 --json -",
    "A3 65536 1 --tap tx,rx --mtu 9000 --no-sg --ipv6", "A3 65536 1 --memlock 1M --optmem 4096",
    "A1 64 1 --netem loss_3% --no-tso", "A2 64 2 --behaviours client-processes,fresh-buffer",
    "A3 64 1 --break detach:rx_copy --backend tracepoint",
    "A3 64 1 --path peer --host here.invalid --ssh true --role receiver",
    "A3 64 1 --path peer --host here.invalid --ssh false --far trace_run --messages 3", "A1 64 1 --cost --no-probes",
    "A1 64 1 --addresses 10.0.0.1,10.0.0.2/24 --devices a0,b0 --port 9000 --json record.json"]
TRACE_RUN_OPTIONS = ["--path", "--pattern", "--receiver", "--readers", "--behaviours", "--messages",
                     "--seconds", "--memlock", "--optmem", "--backend", "--cost", "--no-probes",
                     "--verify", "--break", "--json", "--list", "--laws", "--exact", "--color", "--quiet", "--addresses",
                     "--devices",
                     "--port", "--tap", "--no-sg", "--no-tso", "--mtu", "--ipv6", "--netem",
                     "--qdisc", "--host", "--role", "--far", "--far-half", "--kernel", "--arch", "--modules", "--usage"]
WORKLOAD = ["server A3 65536 --clients 2 --port 0", "client 65536 2 --port 9123",
            "server A1 64 --messages 5 --json --listen ::1", "client 64 1 --receiver recvmsg",
            "server A3-unreaped 64 --behaviours reuse-at-once,end-on-enobufs",
            "server A2 8 --seconds 0.1 --pattern rr --max-clients 3", "client 64 1 --readers 2",
            "client 1k 3 --pattern rr --messages 7 --connect 127.0.0.1"]
WORKLOAD_OPTIONS = ["--clients", "--port", "--messages", "--seconds", "--pattern", "--receiver",
                    "--readers", "--check", "--behaviours", "--listen", "--connect", "--json",
                    "--max-clients", "--ready-fd", "--go-fd", "--usage"]
BASELINE = ["--list", "--only syscall --quick", "--only nothing --runs 3 --rounds 1", "--rtt 5",
            "--quick --json record.json", "--dir . --drop-caches", "--only call --json -"]
BASELINE_OPTIONS = ["--only", "--dir", "--quick", "--rounds", "--runs", "--rtt", "--json",
                    "--quiet", "--list", "--drop-caches", "--nics"]
# Each dies of the first thing that a run does and a refusal does not.
KEPT_FROM = {"trace_run": ("bpf", "unshare", "setns"), "workload": ("socket",),
             "baseline": ("perf_event_open", "unshare", "bpf")}


def check_untouched(case: Case, before: set[str]) -> None:
    """Words that were refused made no file, and none made one elsewhere."""
    made = set(os.listdir(case.place)) - before - {"out", "err", "record.json"}
    left = os.listdir(case.place / "runs") + os.listdir(case.place / "tmp")
    # A name that a case asked for may be there; what is never asked for is a temporary one.
    hidden = [name for name in made if name.startswith(".") and name.endswith(".part")]
    if hidden or any(name.startswith("tmp") for name in left):
        raise Broken(f"left behind: {hidden} {left}")


def attack_program(name: str, lines: list[str], options: list[str], tree) -> callable:
    """Words of one program, half as root and half as nobody, kept from doing what they say."""
    def try_once(case: Case) -> None:
        words = damage([word.replace("_", " ") if "loss_" in word else word
                       for word in case.dice.choice(lines).split()], options, case.dice)
        # No word leads to another host.
        words += ["--ssh", "false"] if any(word.startswith("--ho") for word in words) else []
        before = set(os.listdir(case.place))
        # Either it dies of the first attempt, or is refused it and has to say so. The baseline goes
        # on without what it is refused, for a minute.
        error = case.dice.choice([0, errno.EPERM]) if name != "baseline" else 0
        steps = [processes.forbid(*KEPT_FROM[name], error=error)]
        if case.dice.random() < 0.3:
            steps.insert(0, started.become_nobody)
        done = started.run([tree(name), *words], case.place, *steps, timeout_s=30)
        judge.ended_soundly(done, (judge.TOOK_THE_WORDS, 128 - judge.TOOK_THE_WORDS))
        judge.refusal_is_one_line(done)
        check_untouched(case, before)
    return try_once


def sanitized(name: str) -> str:
    """The program itself."""
    return str(started.SANITIZED / "build" / name)


def launcher(name: str) -> str:
    """What a person types."""
    return str(ROOT / "tools" / name)


CLAIM = ("No command line makes {} crash, read or write out of bounds, overflow a number, print a "
         "control character or more than one line of refusal, or leave a file.")
ATTACKS = [
    Attack("trace_run-words", CLAIM.format("trace_run (under ASan and UBSan)"), "command lines",
           2500, 60, attack_program("trace_run", TRACE_RUN, TRACE_RUN_OPTIONS, sanitized),
           batch=250, prepare=started.build_sanitized),
    Attack("workload-words", CLAIM.format("workload (under ASan and UBSan)"), "command lines",
           1000, 40, attack_program("workload", WORKLOAD, WORKLOAD_OPTIONS, sanitized),
           batch=250, prepare=started.build_sanitized),
    Attack("baseline-words", CLAIM.format("baseline (under ASan and UBSan)"), "command lines",
           500, 20, attack_program("baseline", BASELINE, BASELINE_OPTIONS, sanitized),
           batch=100, prepare=started.build_sanitized),
    Attack("launcher-words", CLAIM.format("tools/trace_run"), "command lines",
           500, 20, attack_program("trace_run", TRACE_RUN, TRACE_RUN_OPTIONS, launcher),
           batch=100),
]
