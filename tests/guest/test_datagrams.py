# SPDX-License-Identifier: GPL-2.0
"""On Debian's kernels, each byte sent by UDP is found where it passes, or among those that were dropped."""
from __future__ import annotations

import pytest

from guest.boots import ALL, EDGES, Asked, Maker, dealt, run_lines, where_run
from helpers import records
from helpers.books import check_books, check_sockets

PRIME, BYTES, MESSAGES = 4093, 65536, 40
WHOLE = {f"{variant}.{path}": f"{variant} {BYTES} 2 --messages {MESSAGES} --path {path}"
         for variant in ("udp", "udp-zc") for path in ("veth", "lo")}
WHOLE |= {f"{variant}.v6": f"{variant} {PRIME} 2 --messages {MESSAGES} --ipv6" for variant in ("udp", "udp-zc")}
LOST = {f"{variant}.lost": f"{variant} {PRIME} 2 --messages 97 --netem loss+20%" for variant in ("udp", "udp-zc")}
ON_NIC = {f"{variant}.nic": f"{variant} {BYTES} 2 --messages {MESSAGES} --path nic" for variant in ("udp", "udp-zc")}
NO_SG = {"udp-zc.nosg": f"udp-zc {BYTES} 2 --messages {MESSAGES} --no-sg"}
DETACHED = {  # what is left off: the run that would show it, the laws that lose their evidence
    "drops": (LOST["udp.lost"], {"end to end"}),
    "rx_copy": (WHOLE["udp.lo"], {"receive"}),
    "tx_reference": (WHOLE["udp-zc.lo"], {"send", "reference", "completion", "pin"}),
}
FAULTS = {f"detach.{what}": f"{run} --break detach:{what}" for what, (run, _) in DETACHED.items()}
FAULTS |= {"lose-update": f"{WHOLE['udp.lo']} --break lose-update",
           "drop-completion": f"{WHOLE['udp-zc.lo']} --break drop-completion"}
RUNS = WHOLE | LOST | ON_NIC | NO_SG | FAULTS
# What is copied, and where datagrams are lost, differs between kernels: all of them make these, those between in the
# long tier.
EACH = ("udp.veth", "udp-zc.veth", "udp-zc.lost")
# Others like these are of the short tier.
LATER = ("udp.lo", "udp.v6", "udp.lost", "udp.nic", "udp-zc.nosg", "detach.drops", "detach.rx_copy", "drop-completion")
makes = Maker(dict.fromkeys(EACH, ALL) | dealt((run for run in RUNS if run not in EACH), EDGES),
              soon=dict.fromkeys(EACH, EDGES) | dict.fromkeys(LATER, ()))
of_runs = where_run(makes)


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    return run_lines(tmp_path_factory.mktemp("datagrams"), RUNS, ["--nics", 2], ALL, makes, asked=Asked(request))


def made(outcome, run):
    """The record of a run that ended well."""
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    return outcome.record(run)


def without_reshape(record):
    """The record without the one site whose bytes depend on how full the kernel's buffers are."""
    return {**record, "sites": {name: site for name, site in record["sites"].items() if name != "reshape"}}


@of_runs("run", WHOLE)
def test_every_byte_is_found_at_its_site(outcome, run):
    record = made(outcome, run)
    check_books(without_reshape(record), MESSAGES)
    check_sockets(record, 2)
    assert not record["counts"]["dropped_bytes"] and not record["counts"]["truncated_bytes"]


@of_runs("run", LOST)
def test_what_is_lost_on_the_way_is_counted(outcome, run):
    record = made(outcome, run)
    counts = record["counts"]
    assert {"send", "reference", "receive", "end to end", "completion"} <= records.laws_with(record, "balanced")
    assert counts["dropped_bytes"] > 0
    assert counts["returned_bytes"] + counts["dropped_bytes"] == counts["accepted_bytes"] == 97 * PRIME


@of_runs("run", ON_NIC)
def test_a_nic_sends_the_pages_themselves(outcome, run):
    record = made(outcome, run)
    assert not records.laws_with(record, "broken")
    referenced = MESSAGES * BYTES if run.startswith("udp-zc") else 0
    assert records.site(record, "tx_reference") == referenced and records.site(record, "late_copy") == 0
    assert record["counts"]["clean_bytes"] == referenced


@of_runs("run", NO_SG)
def test_without_scatter_gather_the_call_copies(outcome, run):
    record = made(outcome, run)
    assert not records.laws_with(record, "broken")
    assert records.site(record, "tx_copy") == record["counts"]["nosg_bytes"] == MESSAGES * BYTES
    assert records.site(record, "tx_reference") == 0


@of_runs("what", DETACHED, "detach.{}".format)
def test_without_its_hook_no_law_is_balanced(outcome, what):
    record = outcome.record(f"detach.{what}")
    assert DETACHED[what][1] <= records.laws_with(record, "not testable")
    assert not records.laws_with(record, "broken") and "left off on purpose" in str(records.probes(record, what))


BROKEN = {"lose-update": "receive", "drop-completion": "completion"}


@of_runs("fault", BROKEN)
def test_a_lost_count_breaks_its_law(outcome, fault):
    assert outcome.status(fault) == 1
    assert BROKEN[fault] in records.laws_with(outcome.record(fault), "broken")
