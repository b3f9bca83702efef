# SPDX-License-Identifier: GPL-2.0
"""Injected faults are caught: the report names the law that breaks, or what is not measured."""
import os
import re
import signal
import time

import pytest

from helpers import processes, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, TRACEPOINT_NOT_TESTABLE
from helpers.names import SITES, names

pytestmark = records.needs_root

# Of the tracepoint backend: what each hook that is left off leaves unknown, sites and laws.
# Where another count still tells a site, the laws that would then be true by construction fall.
DETACHED = {
    "accepted": ({"tx_copy", "tx_reference", "tx_splice", "late_copy"},
                 {"send", "reference", "end to end", "witness sent", "witness zero-copy sends",
                  "witness completions", "copied"}),
    "returned": ({"rx_discard"}, {"receive", "end to end", "witness received"}),
    "rx_copy": ({"rx_copy", "late_copy"}, {"receive", "reference", "copied"}),
    "tx_copy": (set(), {"send", "reference"}),
    "late_copy": (set(), {"reference", "copied"}),
    "user_gather": ({"user_gather"}, {"witness gathered"}),
}
ALWAYS_UNKNOWN = set(SITES) - {"user_gather", "tx_copy", "tx_reference", "tx_splice", "late_copy", "rx_copy",
                               "rx_discard", *names("sites", of_tls=True)}


def run_with(variant, what, code, *words):
    """Makes a run of 23 messages of 4,093 bytes with this fault."""
    return records.run_record(variant, PRIME_BYTES, 1, "--messages", PRIME_MESSAGES,
                              "--backend", "tracepoint", "--break", what, *words, code=code)


def unknown_sites(record):
    """Sites that the record calls not measured."""
    return {name for name in record["sites"] if records.how(record, name) == "not_measured"}


@pytest.mark.parametrize("question", DETACHED)
@pytest.mark.parametrize("variant", ["A1", "A3"])
def test_a_detached_probe_leaves_a_named_hole(variant, question):
    record = run_with(variant, f"detach:{question}", 0)
    sites, laws = DETACHED[question]
    reason = f"left off on purpose (--break detach:{question})"
    assert {(hook["status"], hook["why"]) for hook in records.probes(record, question)
            } == {("absent", reason)}
    assert unknown_sites(record) == sites | ALWAYS_UNKNOWN
    for name in sites:
        assert record["sites"][name]["bytes"] is None and record["sites"][name]["why"] == reason
    not_testable = records.laws_with(record, "not testable")
    assert not_testable >= laws
    if not records.unseen(record):
        assert not_testable == laws | TRACEPOINT_NOT_TESTABLE
    assert not records.laws_with(record, "broken")


@pytest.mark.parametrize("question", ["accepted", "rx_copy"])
def test_no_verdict_is_given_and_no_cause_named_for_what_was_not_measured(question):
    record = run_with("A3", f"detach:{question}", 0)
    assert "no verdict, because" in records.sentence_of(record)
    # A send that the kernel refused is counted where no byte is.
    assert all(cause["bytes"] is None for cause in record["causes"])


@pytest.mark.parametrize("nothing", ["nonsense", "rx_map"])
def test_a_probe_that_is_not_there_cannot_be_left_off(nothing):
    done = records.run("A3", 64, 1, "--messages", 1, "--backend", "tracepoint",
                       "--break", f"detach:{nothing}")
    assert done.code in (2, 3), "a mutation that changed nothing passed for one that was caught"
    assert done.out == "" and len(done.err.splitlines()) == 1 and nothing in done.err


@pytest.mark.parametrize("variant, laws", [
    ("A1", {"receive", "witness gathered"}), ("A2", {"receive"}), ("A3", {"receive", "reference"}),
])
def test_a_lost_map_update_breaks_the_law_of_its_site(variant, laws):
    record = run_with(variant, "lose-update", 1)
    testable = laws - records.laws_with(record, "not testable")
    assert "receive" in testable
    assert records.laws_with(record, "broken") == testable
    assert all(records.law(record, name)["residual"] for name in testable)
    assert "Do not trust this run" in records.sentence_of(record)


@pytest.mark.parametrize("receiver, site", [("splice", "rx_splice"), ("map", "rx_map")])
@pytest.mark.parametrize("question", ["rx_copy", "returned"])
def test_pages_are_no_rest_where_a_term_is_not_measured(receiver, site, question):
    record = run_with("A1-plain", f"detach:{question}", 0, "--receiver", receiver)
    assert records.how(record, site) == "not_measured" and "left off on purpose" in record["sites"][site]["why"]
    assert records.laws_with(record, "not testable") >= {"receive", "end to end", "witness received"}
    assert not records.laws_with(record, "broken")


def test_a_copy_that_is_lost_looks_mapped_and_breaks_the_witness():
    record = run_with("A1-plain", "lose-update", 1, "--receiver", "map")
    assert records.site(record, "rx_map") > 0
    assert records.laws_with(record, "broken") == {"end to end", "witness received"}


def test_a_peek_that_is_lost_breaks_the_receive_law():
    assert records.laws_with(run_with("A2", "lose-update", 1, "--receiver", "peek"), "broken") == {"receive"}


def test_programs_that_do_nothing_break_every_witness():
    record = run_with("A3", "count-nothing", 1)
    assert records.laws_with(record, "broken") == {
        "witness sent", "witness received", "witness zero-copy sends", "witness completions"}
    assert "no byte was counted" in records.sentence_of(record)


def test_a_killed_sender_has_not_told_what_it_gathered():
    with records.under_way("A1", 4096, 1, "--seconds", 60, "--pass", "counted", "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        time.sleep(0.1)
        os.kill(pids["server"], signal.SIGKILL)
    site = run.done.record["sites"]["user_gather"]
    assert run.done.code == 1 and site["how"] == "not_measured" and site["bytes"] is None
    assert site["why"] == "the sender did not end by itself"


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("probes", [(), ("--no-probes",)], ids=["with probes", "without"])
def test_a_fin_that_is_taken_for_a_byte_breaks_the_law_of_sequence_numbers(pattern, probes):
    record = records.run_record("A2", PRIME_BYTES, 3, "--messages", PRIME_MESSAGES, "--pattern", pattern,
                                "--break", "count-fin", *probes, code=1)
    assert records.laws_with(record, "broken") == {"sequence returned"}
    law = records.law(record, "sequence returned")
    # One FIN has come to each end that reads.
    assert law["residual"] == 3 and "socket " in law["why"]


def test_a_broken_law_is_named_in_the_report_with_its_residual(tmp_path):
    done = records.run("A2", PRIME_BYTES, 1, "--messages", PRIME_MESSAGES,
                       "--break", "lose-update", "--json", tmp_path / "record.json")
    residual = records.law(records.load(tmp_path / "record.json"), "receive")["residual"]
    assert done.code == 1 and residual > 0
    assert re.search(rf"^receive +broken .* {residual:,}$", done.out, re.M)


@pytest.mark.parametrize("pattern", ["stream", "rr"])
def test_a_client_that_cannot_connect_fails_the_run_and_its_server_does_not_wait_for_it(pattern):
    # The last address of a network is everyone's, and TCP has no way to everyone.
    done = records.run("A3", 64, 1, "--messages", 1, "--pattern", pattern,
                       "--addresses", "10.9.9.255,10.9.9.1/24", "--json", "-")
    assert done.code == 1
    assert "cannot connect to 10.9.9.255:9000" in done.err
    assert "the client ended with status 1" in done.record["experiment"]["outcome"]["reason"]


def test_the_shortest_run_sends_a_message_in_each_pass():
    done = records.run("A3", 64, 1, "--seconds", "0.000001", "--json", "-")
    assert done.code == 0 and done.record["experiment"]["outcome"]["status"] == "complete"
    assert [done.record["experiment"]["passes"][which]["accepted_bytes"] for which in ("timed", "counted")] == [64, 64]
