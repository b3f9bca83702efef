# SPDX-License-Identifier: GPL-2.0
"""On Debian's kernels the books balance under full queues, links that go down, MTUs that change."""
from __future__ import annotations

import pytest

from guest.boots import EDGES, Asked, Maker, dealt, run_lines, where_made
from helpers import congestion, records

BYTES, MESSAGES = 65536, 40
FULL = f"--messages {MESSAGES} --netem delay+5ms+limit+6"
REFUSED = {f"A3.{path}": f"A3 {BYTES} 2 --path {path} {FULL}" for path in ("veth", "nic", "forward")}
# On lo a packet is a whole message: fewer fill the queue, which a busy guest would empty within 5 ms.
REFUSED["A1.lo"] = f"A1 {BYTES} 2 --path lo --messages {MESSAGES} --netem delay+20ms+limit+2"
REFUSED |= {f"{way}.{path}": f"{way} {BYTES} 2 --path {path} {FULL}" for way, path in (
    ("uring-zc", "nic"), ("sendfile", "veth"), ("vmsplice", "forward"))}
# Lost, out of order and refused by turns.
LOST = {f"lost.{way}": f"{way} {BYTES} 2 --messages {MESSAGES} --netem loss+5%+delay+2ms+reorder+20%+limit+10"
        for way in ("A3", "uring-zc-fixed", "splice")}
FORGOT = {"forgot.A3": f"A3 {BYTES} 2 {FULL} --break forget-departures"}
QUIET = REFUSED | LOST | FORGOT
# What is done, in whose network namespace, to which device, and the run.
FAULTS = {
    "flap.lo": f"flap server lo A3 {BYTES} 2 --path lo --seconds 2",
    "mtu.lo": f"mtu server lo A1 {BYTES} 2 --path lo --seconds 2",
    "flap.veth": f"flap server tx0 A3 {BYTES} 4 --path veth --seconds 2",
    "mtu.veth": f"mtu server tx0 A3 {BYTES} 4 --path veth --seconds 2",
    "flap.nic": f"flap server eth0 A3 {BYTES} 2 --path nic --seconds 2",
    "flap.A1": f"flap client eth1 A1 {BYTES} 2 --path nic --seconds 2",
    "flap.router": f"flap router eth0 A3 {BYTES} 2 --path forward --seconds 2",
    "mtu.nic": f"mtu client eth1 A3 {BYTES} 2 --path nic --seconds 3",
    # The router refuses what is too long and quotes it in ICMP errors.
    "mtu.router": f"narrow router eth0 A3 {BYTES} 2 --path forward --seconds 2",
}


# The host has the others between namespaces in the short tier.
SOON = ("A3.nic", "A1.lo", "sendfile.veth", "lost.splice", "flap.nic", "mtu.router")
makes = Maker(dealt(QUIET | FAULTS, EDGES), soon={run: () for run in QUIET | FAULTS if run not in SOON})


@pytest.fixture(scope="module", name="outcomes")
def each_kernel(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    script = "\n".join([f"grep -E '^({'|'.join(QUIET)}) ' $runs >/run/quiet", "tests/guest/matrix.sh /run/quiet",
                        f"grep -E '^({'|'.join(FAULTS)}) ' $runs >/run/faults",
                        "tests/guest/runs_with_faults.sh /run/faults"])
    return run_lines(tmp_path_factory.mktemp("congestion"), QUIET | FAULTS, ["--nics", 2], EDGES, makes,
                     lambda release: script, Asked(request))


# A send that finds no room while the socket has lost the features of its device marks the notification it joins.
MARKED = "send copied or was about to, or the bytes were sent before the window"


def checked(outcome, run):
    """The record of a run that ended well, every law of which was tested and holds."""
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    record = outcome.record(run)
    congestion.check(record)
    untested = records.laws_with(record, "not testable")
    if run.startswith("flap.") and records.law(record, "copied")["why"] == MARKED:
        untested -= {"copied"}
    assert not untested
    return record


def of_runs(runs):
    """Parametrize a test by kernel and run, where that kernel makes the run."""
    return where_made("run", EDGES, runs, makes)


@of_runs(REFUSED | LOST)
def test_every_law_balances_in_a_full_queue(outcome, run):
    record = checked(outcome, run)
    assert record["counts"]["accepted_bytes"] == BYTES * MESSAGES
    assert run in LOST or congestion.sent_again(record), "the queue was not full"


@of_runs(FAULTS)
def test_every_law_balances_when_a_device_changes(outcome, run):
    # The emulated NIC starts anew with each MTU. In some runs it then sends no more, probes or none, and
    # what it had under way may arrive wrong. A run that failed is not made again if it is blind, too.
    said = outcome.record(run)["experiment"]["outcome"]
    if run == "mtu.nic" and said["status"] == "failed":
        assert "no progress" in said["reason"] or "nothing moved" in said["reason"]
        broken = records.laws_with(outcome.record(run), "broken")
        assert broken <= {"content", "probes"}
        pytest.skip(f"{outcome.release}: the emulated NIC stood still after a change of its MTU; laws "
                    f"broken by that: {', '.join(sorted(broken)) or 'none'}")
    record = checked(outcome, run)
    assert not [cause for cause in record["causes"] if cause["cause"] == "unknown"]
    # A change of the emulated NIC's MTU may last as long as the run.
    assert int(outcome.text(f"{run}.faults")) > (run != "mtu.nic"), "too little changed in mid-run"


@of_runs(FORGOT)
def test_forgetting_what_has_left_breaks_a_law(outcome, run):
    assert outcome.status(run) == 1
    assert "reference" in records.laws_with(outcome.record(run), "broken")
