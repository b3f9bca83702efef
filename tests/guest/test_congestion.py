# SPDX-License-Identifier: GPL-2.0
"""On Debian's 5.10 to 7.2 the books balance under full queues, links that go down, MTUs that change."""
from __future__ import annotations

import itertools

import pytest

from guest.boots import ALL, boot_all
from helpers import congestion, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD

BYTES, MESSAGES = 65536, 40
FULL = "--netem delay+5ms+limit+6"
REFUSED = {f"{variant}.{path}": f"{variant} {BYTES} {threads} --path {path} --messages {MESSAGES} {FULL}"
           for (variant, threads), path in itertools.product(
               (("A1", 1), ("A3", 4), ("A1-8send", 2)), ("lo", "veth"))}
ROUTED = {f"A3.{path}": f"A3 {BYTES} 2 --path {path} --messages {MESSAGES} {FULL}"
          for path in ("nic", "forward")}
SWITCHED = {f"{switch.split()[0].strip('-')}.A3":
            f"A3 {BYTES} 2 --messages {MESSAGES} {FULL} {switch}"
            for switch in ("--pattern rr", "--ipv6", "--no-sg")}
PRIMES = {f"{variant}.prime": f"{variant} {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} {FULL}"
          for variant in ("A1", "A3")}
LOST = {"lost.A3": f"A3 {BYTES} 2 --messages {MESSAGES} --netem loss+3%+delay+2ms+reorder+20%"}
FORGOT = {f"forgot.{variant}": f"{variant} {BYTES} 2 --messages {MESSAGES} {FULL} "
                               "--break forget-departures" for variant in ("A1", "A3")}
BALANCED = REFUSED | ROUTED | SWITCHED | PRIMES | LOST
MEDDLED = {f"{how}.{variant}.{path}": f"{how} {variant} {BYTES} {threads} --path {path} --seconds 4"
           for how, (variant, threads, path) in itertools.product(
               ("flap", "mtu"), (("A3", 4, "veth"), ("A3-aligned", 1, "lo")))}


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    folder = tmp_path_factory.mktemp("congestion")
    quiet, meddled = folder / "quiet", folder / "meddled"
    quiet.write_text("".join(f"{name} {words}\n" for name, words in (BALANCED | FORGOT).items()))
    meddled.write_text("".join(f"{name} {words}\n" for name, words in MEDDLED.items()))
    script = folder / "script"
    script.write_text(f"tests/guest/matrix.sh {quiet}\ntests/guest/meddled.sh {meddled}\n")
    added = itertools.chain(*(("--add", path) for path in (quiet, meddled, script)))
    return boot_all(folder, ["bash", script], ["--nics", 2, *added], ALL)


@pytest.fixture(scope="module", name="outcome", params=ALL)
def one_kernel(outcomes, request):
    """What one kernel's guest left."""
    return outcomes[request.param]


def checked(outcome, run):
    """The record of a run that ended well, every law of which was tested and holds."""
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    record = outcome.record(run)
    congestion.check(record)
    assert not records.laws_with(record, "not testable")
    return record


@pytest.mark.parametrize("run", BALANCED)
def test_every_law_balances_in_a_full_queue(outcome, run):
    record = checked(outcome, run)
    if run in REFUSED | ROUTED:
        assert record["counts"]["accepted_bytes"] == BYTES * MESSAGES
    if run in PRIMES:
        assert record["counts"]["accepted_bytes"] == PRIME_PAYLOAD == 94139


def test_the_queue_was_full(outcome):
    assert all(congestion.sent_again(outcome.record(run)) for run in REFUSED if run.startswith("A3."))


@pytest.mark.parametrize("run", MEDDLED)
def test_every_law_balances_when_the_device_changes(outcome, run):
    checked(outcome, run)
    assert int(outcome.text(f"{run}.meddled")) > 2, "too little changed in mid-run"


@pytest.mark.parametrize("run", FORGOT)
def test_forgetting_what_has_left_breaks_a_law(outcome, run):
    assert outcome.status(run) == 1
    broken = records.laws_with(outcome.record(run), "broken")
    assert ("reference" if run.endswith("A3") else "send") in broken
