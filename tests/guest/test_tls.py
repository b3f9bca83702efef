# SPDX-License-Identifier: GPL-2.0
"""Over kernel TLS the books balance twice, in plaintext and in records, and each hook that is left off is told."""
from __future__ import annotations

import pytest

from guest.boots import ALL, EDGES, Asked, Maker, dealt, run_lines, where_run
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.names import TABLES, names

# What a record of AES-GCM is longer than its plaintext.
OVERHEAD = {"1.3": 22, "1.2": 29}
RECORD_BYTES, LARGE_BYTES, LARGE_MESSAGES = 16384, 65536, 50
TLS_LAWS = set(names("laws", of_tls=True))
TLS_VARIANTS = names("variants", tls=True)
SPLICES = {row["name"] for row in TABLES["variants"] if row["splices"]}

PRIME = f"{PRIME_BYTES} 2 --messages {PRIME_MESSAGES}"
WAYS = ("ktls", "ktls-1.2", "ktls-sendfile", "ktls-sendfile-1.2")
PRIMES = {f"{variant}.{path}": f"{variant} {PRIME} --path {path}" for variant in WAYS for path in ("lo", "veth")}
LARGE = {f"{variant}.large": f"{variant} {LARGE_BYTES} 1 --messages {LARGE_MESSAGES}" for variant in WAYS}
REPLIES = {"rr": f"ktls {PRIME} --pattern rr"}
# Fields of a half record each: the kernel copies what comes before more, and encrypts the rest from where it lies.
MORE = {"more": f"ktls-more {LARGE_BYTES} 1 --messages {LARGE_MESSAGES}"}
NIC = {"nic": f"ktls {PRIME} --path nic"}
ROUGH = {"lost": f"ktls-1.2 {LARGE_BYTES} 2 --messages {LARGE_MESSAGES} --netem loss+5%+delay+2ms+limit+10",
         "full": f"ktls {LARGE_BYTES} 2 --messages {LARGE_MESSAGES} --netem delay+5ms+limit+6"}
DETACHED = {  # what is left off: the variant that would show it, the laws that lose their evidence
    "tls_copy": ("ktls-more", {"TLS send"}),
    "tls_reference": ("ktls", {"TLS send"}),
    "tls_splice": ("ktls-sendfile", {"TLS send"}),
    "tls_encrypt": ("ktls", {"TLS encryption", "TLS records sent"}),
    "tls_decrypt": ("ktls", {"TLS records received"}),
    "rx_direct": ("ktls-1.2", {"receive"}),
    "tx_splice": ("ktls", {"send", "TLS records sent"}),
    "TLS accepted": ("ktls", {"TLS send", "TLS encryption", "end to end", "witness sent"}),
    "TLS returned": ("ktls", {"receive", "end to end", "witness received"}),
}
FAULTS = {f"detach.{what.replace(' ', '-')}": f"{variant} {PRIME} --break detach:{what.replace(' ', '+')}"
          for what, (variant, _) in DETACHED.items()}

RUNS = PRIMES | LARGE | REPLIES | MORE | NIC | ROUGH | FAULTS
# TLS returns by another form since 6.19, and is spliced into by another function up to 6.4.
EACH = ("ktls.veth", "ktls-sendfile.lo", "ktls-1.2.lo")
# On 6.1 a large sendfile was seen to wait for ever: see docs/METHOD.md.
LONG_SPLICES = tuple(run for run in LARGE if "sendfile" in run)
# Others like these are of the short tier.
LATER = ("ktls.lo", "ktls-1.2.veth", "ktls-sendfile.veth", "ktls-sendfile-1.2.veth", "ktls-1.2.large", *LONG_SPLICES, "full",
         "detach.tls_reference", "detach.tls_decrypt", "detach.rx_direct", "detach.tx_splice", "detach.TLS-accepted")
makes = Maker(dict.fromkeys(EACH, ALL) | dict.fromkeys(LONG_SPLICES, EDGES[-1:]) | dealt(
    (run for run in RUNS if run not in EACH + LONG_SPLICES), EDGES), soon=dict.fromkeys(EACH, EDGES) | dict.fromkeys(LATER, ()))
on_kernels = where_run(makes)


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    return run_lines(tmp_path_factory.mktemp("tls"), RUNS, ["--nics", "2"], ALL, makes, asked=Asked(request))


def checked(outcome, run):
    """The record of a run that ended well, whose laws balance but for those that TLS leaves nothing to compare."""
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    record = outcome.record(run)
    assert records.laws_with(record, "broken") == set()
    assert records.laws_with(record, "balanced") >= TLS_LAWS | {"send", "receive", "end to end", "witness sent"}
    assert records.laws_with(record, "not testable") == {"sequence accepted", "sequence returned"}
    assert {records.how(record, name) for name in record["sites"]} == {"measured", "derived"}
    return record


def check_ways(record, payload, records_sent):
    """Each site has what this variant's bytes pass, and both books differ by the overhead of the records."""
    variant = record["experiment"]["workload"]["variant"]
    old = variant.endswith("1.2")
    overhead = records_sent * OVERHEAD["1.2" if old else "1.3"]
    sent = "tls_splice" if variant in SPLICES else "tls_reference"
    expected = dict.fromkeys(record["sites"], 0) | {
        sent: payload, "tls_encrypt": payload, "tls_decrypt": payload, "tx_splice": payload + overhead,
        "rx_direct" if old else "rx_copy": payload}
    found = {name: records.site(record, name) for name in expected}
    # Heads of records, and records that arrive in pieces.
    assert found.pop("reshape") >= 0
    expected.pop("reshape")
    assert found == expected
    counts = record["counts"]
    assert counts["tls_accepted_bytes"] == counts["tls_received_bytes"] == counts["returned_bytes"] == payload
    assert counts["tls_carried_bytes"] == counts["accepted_bytes"] == payload + overhead
    assert counts["tls_sent_overhead_bytes"] == counts["tls_received_overhead_bytes"] == overhead
    assert counts["tls_sent_records"] == counts["tls_received_records"] == records_sent
    assert record["experiment"]["workload"]["content_errors"] == 0
    assert "unknown" not in {each["cause"] for each in record["causes"]}


@on_kernels("run", PRIMES)
def test_23_messages_of_4093_bytes_are_94139_of_plaintext_in_23_records(outcome, run):
    check_ways(checked(outcome, run), PRIME_PAYLOAD, PRIME_MESSAGES)


@on_kernels("run", NIC)
def test_a_nic_sends_records_as_pages(outcome, run):
    check_ways(checked(outcome, run), PRIME_PAYLOAD, PRIME_MESSAGES)


@on_kernels("run", ROUGH)
def test_every_law_balances_where_packets_are_lost_or_refused(outcome, run):
    counts = checked(outcome, run)["counts"]
    assert counts["tls_accepted_bytes"] == counts["tls_received_bytes"] == LARGE_MESSAGES * LARGE_BYTES
    assert counts["retrans_copied_bytes"] + counts["retrans_referenced_bytes"]


@on_kernels("run", LARGE)
def test_a_message_of_64_kib_is_four_records(outcome, run):
    check_ways(checked(outcome, run), LARGE_MESSAGES * LARGE_BYTES, LARGE_MESSAGES * LARGE_BYTES // RECORD_BYTES)


@on_kernels("run", REPLIES)
def test_requests_and_replies_are_encrypted_both_ways(outcome, run):
    check_ways(checked(outcome, run), 2 * PRIME_PAYLOAD, 2 * PRIME_MESSAGES)


@on_kernels("run", MORE)
def test_what_more_may_follow_is_copied_into_its_record(outcome, run):
    record = checked(outcome, run)
    assert records.site(record, "tls_copy") == records.site(record, "tls_reference") == \
        LARGE_MESSAGES * LARGE_BYTES // 2


@on_kernels("what", DETACHED, lambda what: f"detach.{what.replace(' ', '-')}")
def test_a_hook_of_tls_that_is_left_off_leaves_no_claim(outcome, what):
    run = f"detach.{what.replace(' ', '-')}"
    record = outcome.record(run)
    assert DETACHED[what][1] <= records.laws_with(record, "not testable")
    assert not records.laws_with(record, "broken") and outcome.status(run) == 0
    assert "left off on purpose" in str(records.probes(record, what))
    if what in record["sites"]:
        assert records.how(record, what) == "not_measured" and records.site(record, what) is None


def test_every_way_over_tls_has_a_run():
    assert {words.split()[0] for words in RUNS.values()} == set(TLS_VARIANTS)
