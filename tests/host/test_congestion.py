# SPDX-License-Identifier: GPL-2.0
"""On this kernel the books balance under full queues, links that go down and MTUs that change."""
from __future__ import annotations

import subprocess
import time

import pytest

from helpers import congestion, processes, records
from helpers.books import SENT

pytestmark = records.needs_root

# A packet of lo carries a whole message, and each that is refused waits for a timer.
BYTES, MESSAGES = 65536, {"lo": 24, "veth": 100}
PRIME_BYTES, PRIMES = 4093, 997
# Packets that exceed its burst it cuts, and its queue has room for two pieces.
CUTTING = "tbf rate 20mbit burst 3000 limit 3000"
DEVICE = {"lo": "lo", "veth": "tx0"}
# Long enough for packets to be lost or refused, short enough for no connection to give up.
DOWN_S, UP_S, TURNS = 0.005, 0.03, 12
MTUS = (576, 1500, 9000, 1300)


def dealt(*plans):
    """Two plans, each on one of the two paths; on the other one it waits."""
    return [pytest.param(*plan, path, marks=() if number == place else pytest.mark.long)
            for number, plan in enumerate(plans) for place, path in enumerate(DEVICE)]


def made(*words):
    """The record of a run that ended well."""
    done = records.run(*words, "--pass", "counted", "--json", "-")
    if "has no sch_tbf" in done.err:
        pytest.skip("this kernel has no sch_tbf")
    assert done.code in records.WELL, done.err
    return done.record


def refused(variant, path, *words):
    """The record of a run whose queue is full most of the time."""
    return made(variant, *words, "--path", path, "--qdisc", congestion.REFUSING)


@pytest.mark.parametrize("variant, threads, path", [
    ("A1", 1, "lo"), ("A1", 4, "veth"), ("A2", 2, "veth"), ("A3", 4, "veth"), ("A1-8send", 2, "veth"),
    *(pytest.param(*each, marks=pytest.mark.long) for each in (("A3", 1, "lo"), ("A3-aligned", 2, "lo")))])
def test_what_a_full_queue_refused_is_told_from_what_was_copied(variant, threads, path):
    record = refused(variant, path, BYTES, threads, "--messages", MESSAGES[path])
    congestion.check(record, BYTES * MESSAGES[path])
    assert record["experiment"]["path"]["qdisc"] == congestion.REFUSING
    if not records.unseen(record):
        assert congestion.sent_again(record) > 0, "the queue refused nothing: this run proves nothing"
        used = next(site for site in ("tx_reference", "tx_splice", "tx_copy") if SENT[variant][site])
        assert records.site(record, used) == BYTES * MESSAGES[path]


@pytest.mark.parametrize("switches, variant", [("--pattern rr", "A1"), ("--pattern rr", "A3"), ("--ipv6", "A1"),
                                               ("--no-tso", "A3"), ("--tap tx", "A3"), ("--no-sg", "A1")])
def test_a_full_queue_and_a_switch_balance(variant, switches):
    record = refused(variant, "veth", BYTES, 2, "--messages", MESSAGES["veth"], *switches.split())
    congestion.check(record)


def test_messages_of_prime_length_balance_in_a_queue_that_holds_three_packets():
    congestion.check(made("A1", PRIME_BYTES, 2, "--messages", PRIMES, "--qdisc", "pfifo limit 3"),
                     PRIME_BYTES * PRIMES)
    congestion.check(refused("A3", "veth", PRIME_BYTES, 2, "--messages", PRIMES),
                     PRIME_BYTES * PRIMES)


# A run that is this short hardly ever misses a packet.
@pytest.mark.parametrize("words", [(4, "--messages", PRIMES // 4, "--pattern", "rr"), (1, "--messages", 40)],
                         ids=["many", "few"])
def test_a_packet_is_dropped_once_though_a_queue_cut_it_and_refused_every_piece(words):
    record = made("A3", PRIME_BYTES, *words, "--path", "veth", "--qdisc", CUTTING)
    congestion.check(record)
    if not records.unseen(record):
        assert congestion.sent_again(record) > 0, "the queue refused nothing: this run proves nothing"


@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_forgetting_what_has_left_breaks_the_send_law(variant):
    done = records.run(variant, BYTES, 2, "--messages", MESSAGES["veth"], "--qdisc", congestion.REFUSING,
                       "--break", "forget-departures", "--json", "-")
    if "has no sch_tbf" in done.err:
        pytest.skip("this kernel has no sch_tbf")
    if records.unseen(done.record):
        pytest.skip("the probes missed packets")
    assert done.code == 1
    assert "send" in records.laws_with(done.record, "broken")


def disturb(pid, lines):
    """Gives ip(8) these lines in the network namespace of a process, with their pauses."""
    ip = subprocess.Popen(["nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-batch", "-"], text=True,
                          stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1)
    for line, pause_s in lines:
        ip.stdin.write(f"{line}\n")
        time.sleep(pause_s)
    said = ip.communicate(timeout=60)[1]
    assert ip.returncode == 0, said


def disturbed(lines, path, *words):
    """The record of a run that is disturbed in its midst. It ends by itself when all is done."""
    with records.under_way(*words, "--path", path, "--seconds", 1, "--pass", "counted", "--json", "-",
                           timeout_s=records.TIMEOUT_S) as run:
        disturb(processes.wait_running(run.pid)["server"], lines)
    assert run.done.code in records.WELL, run.done.err
    return run.done.record


@pytest.mark.parametrize("variant, threads, path", dealt(("A1", 1), ("A3", 4)))
def test_a_link_that_goes_down_and_up_breaks_no_law(variant, threads, path):
    lines = [(f"link set {DEVICE[path]} down", DOWN_S), (f"link set {DEVICE[path]} up", UP_S)]
    congestion.check(disturbed(lines * TURNS, path, variant, BYTES, threads))


@pytest.mark.parametrize("variant, pattern, path", dealt(("A1", "stream"), ("A3", "rr")))
def test_an_mtu_that_changes_breaks_no_law(variant, pattern, path):
    lines = [(f"link set {DEVICE[path]} mtu {mtu}", UP_S) for mtu in MTUS]
    congestion.check(disturbed(lines * (TURNS // 3), path, variant, BYTES, 2, "--pattern", pattern))
