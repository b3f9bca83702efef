# SPDX-License-Identifier: GPL-2.0
"""Hostile peers at the control port of a listener that an honest partner then reaches, too."""
from __future__ import annotations

import subprocess

from attacks import judge, runs, started
from attacks.attack import Attack, Broken, Case
from helpers import hostile_peer, peers, records

# Conversations of one case: as many as one listener has to bear before its partner comes.
CONVERSATIONS = 20
# What it may say of them: refusals are told at a bounded rate.
LINES_MOST = 60


def done_of(process: subprocess.Popen, words: list, timeout_s: float) -> started.Done:
    """Wait for a side of the run, with a bound."""
    try:
        out, err = process.communicate(timeout=runs.bound_s(timeout_s))
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise Broken(f"did not end within {timeout_s} s: {words} {err[-500:]!r}") from None
    return started.Done(words, process.returncode, out.encode(errors="surrogateescape"),
                        err.encode(errors="surrogateescape"), 0.0)


def attack_it(case: Case, listener: subprocess.Popen, hosts: list) -> tuple[int, bool]:
    """Have strangers and partners who lie talk to the listener; how many, and was a plan taken?"""
    hello = hostile_peer.learn_hello(peers.call(hosts[1], hosts[0].address), hosts[0].key)
    many = hostile_peer.attacks(case.dice.randrange(1 << 32), CONVERSATIONS)
    for number, each in enumerate(many, 1):
        if listener.poll() is not None:
            raise Broken(f"the listener ended with {listener.returncode} after attack {number - 1}: "
                         f"{listener.stderr.read()[-500:]!r}")
        try:
            word = hostile_peer.commit_attack(each, peers.call(hosts[1], hosts[0].address),
                                              hosts[0].key, hello)
        except AssertionError as error:
            raise Broken(f"the listener answered {each} wrongly: {error}") from None
        if word == "accept" and each.name != "odd plan":
            raise Broken(f"the listener accepted {each}")
        if word == "accept":
            return number, True
    return CONVERSATIONS, False


def try_listener(case: Case) -> int:
    """Some conversations with one listener, then an honest run."""
    with peers.two_hosts() as hosts:
        listener = peers.listen(hosts[0], "--json", "-", preexec_fn=started.before_exec())
        honest = None
        try:
            counted, taken = attack_it(case, listener, hosts)
            if taken:
                done = done_of(listener, ["--listen"], 40)
                judge.ended_soundly(done)
                return counted
            honest = hosts[1].start("A1", 64, 1, "--messages", 5, "--connect", hosts[0].address,
                                    "--json", "-", preexec_fn=started.before_exec())
            connected = done_of(honest, ["--connect"], 60)
            listened = done_of(listener, ["--listen"], 60)
        finally:
            for process in filter(None, (listener, honest)):
                process.kill()
                process.communicate()
    for done in connected, listened:
        judge.said_soundly(done)
        if done.status not in (*judge.WELL, judge.FAILED):
            raise Broken(f"the honest run after {counted} attacks ended with {done.status}: {done}")
        if done.status == judge.FAILED and b"trying again" not in done.err + connected.err + \
                listened.err:
            raise Broken(f"the honest run after {counted} attacks failed: {done}")
    if listened.err.count(b"\n") > LINES_MOST:
        raise Broken(f"{listened.err.count(bytes([10]))} lines for {counted} attacks: {listened}")
    if connected.status in judge.WELL:
        records.load(connected.out.decode())
    return counted


ATTACKS = [Attack(
    "hostile-peers", "Whoever reaches the control port, with the key or without: the listener takes no "
    "plan beyond its limits, prints nothing raw and not much, and then serves an honest partner.",
    "conversations", 2000, 1, try_listener, batch=4)]
