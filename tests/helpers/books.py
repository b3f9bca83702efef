# SPDX-License-Identifier: GPL-2.0
"""What each variant's books must show on a path that stays on this machine, as data."""
from __future__ import annotations

from helpers.names import TABLES
from helpers.records import calls, causes, how, law, laws_with, site, unseen

RECEIVERS = [row["name"] for row in TABLES["receivers"]
             if not any(row[how] for how in ("blind", "peeks", "splices", "maps", "tls"))]

# 23 and 4093 are primes: no page, segment or batch size makes their product by accident.
PRIME_MESSAGES, PRIME_BYTES, PRIME_PAYLOAD = 23, 4093, 94139

ALL, NONE = 1, 0
GATHERS = {"A1"}
BY_RING = {row["name"] for row in TABLES["variants"] if row["call"] == "io_uring SEND_ZC"}
ZEROCOPY = {row["name"] for row in TABLES["variants"] if row["references"]}
DATAGRAMS = {row["name"] for row in TABLES["variants"] if row["datagrams"]}
# Their memory is held by io_uring: a send takes no reference to its pages.
REGISTERED = {"uring-zc-fixed"}
SPLICES = {row["name"] for row in TABLES["variants"] if row["splices"]}
# Shares of the payload that the studied sender moves at each site, by what its variant says that it calls.
# rx_copy is all for everyone, late_copy is told by tx_reference and the retransmissions.
SENT = {row["name"]: {"user_gather": ALL if row["name"] in GATHERS else NONE,
                      "tx_copy": NONE if row["name"] in ZEROCOPY | SPLICES else ALL,
                      "tx_reference": ALL if row["name"] in ZEROCOPY else NONE,
                      "tx_splice": ALL if row["name"] in SPLICES else NONE}
        for row in TABLES["variants"]}

SENDS_A_MESSAGE = {"A1-8send": 8, "A2-more": 8}
NEVER_READS_COMPLETIONS = {"A3-unreaped", "A3-aligned-unreaped"}


def expected_sites(variant: str, payload: int, pattern: str, retransmitted: int) -> dict[str, int]:
    """Bytes at each site that every backend knows. In rr the requests are as long as the replies
    and go the other way as plain sends, which nothing gathers."""
    sent = {name: share * payload for name, share in SENT[variant].items()}
    requests = payload if pattern == "rr" else 0
    return {
        "user_gather": sent["user_gather"],
        "tx_copy": sent["tx_copy"] + requests,
        "tx_reference": sent["tx_reference"],
        "tx_splice": sent["tx_splice"],
        "late_copy": sent["tx_reference"] + retransmitted if sent["tx_reference"] else 0,
        "rx_copy": payload + requests,
    }


def check_sites(record: dict, payload: int) -> None:
    """Every site shows the byte count that this variant must have, and says how it is known."""
    work = record["experiment"]["workload"]
    expected = expected_sites(work["variant"], payload, work["pattern"],
                              record["counts"]["retrans_referenced_bytes"] or 0)
    if unseen(record):
        # Retransmissions may be among the packets that were kept from the probes.
        assert site(record, "late_copy") >= expected["tx_reference"]
        expected["late_copy"] = site(record, "late_copy")
    assert {name: site(record, name) for name in expected} == expected
    for name in set(record["sites"]) - set(expected):
        assert site(record, name) in ((None,) if how(record, name) == "not_measured" else (0,))
    assert work["accepted_bytes"] == work["received_bytes"] == expected["rx_copy"]
    for name in expected:
        assert sum(each["sites"][name]["bytes"] for each in record["sockets"]) == expected[name]


def check_sends(record: dict, messages: int) -> None:
    """Sends, completions and causes are those of this variant."""
    work, variant = record["experiment"]["workload"], record["experiment"]["workload"]["variant"]
    referenced = bool(SENT[variant]["tx_reference"])
    sends = messages * SENDS_A_MESSAGE.get(variant, 1)
    assert work["messages"] == messages
    # The kernel may accept a message in part, and the rest then is a send of its own. A small one
    # too: each of its eight pieces is charged as much of the send buffer as its page takes.
    parts = work["zerocopy_sends"] - sends if referenced else work["zerocopy_sends"]
    assert parts == 0 or (referenced and parts > 0)
    assert record["counts"]["zerocopy_sends"] == work["zerocopy_sends"]
    if variant in NEVER_READS_COMPLETIONS:
        assert work["completions"] is None and "never reads" in work["why"]
    else:
        assert work["completions"] == work["zerocopy_sends"]
        check_copied(record)
    if referenced:
        assert causes(record, "late_copy") == {"local delivery": site(record, "late_copy")}
        assert calls(record, "tx_reference") > 0
        # Of registered memory a packet takes references only once TCP has cut it, which is chance.
        assert variant in REGISTERED or unseen(record) or record["pins"]["pages"] >= sends
    elif variant == "A3-unset":
        assert causes(record, "tx_copy", "late_copy") == {
            "SO_ZEROCOPY not set": messages * work["bytes"]}
        assert record["counts"]["unset_sends"] == sends
    else:
        assert not causes(record, "tx_copy", "tx_reference", "late_copy")
        assert not record["pins"]["pages"]
    assert "unknown" not in causes(record)
    check_refusals(record)


def check_copied(record: dict) -> None:
    """On this machine each completion says that its bytes were copied, to the workload and to the kernel's count."""
    work = record["experiment"]["workload"]
    assert work["completions_copied"] == work["completions"]
    # Tracepoints see notifications of io_uring's alone.
    if record["backend"]["name"] == "trampoline" or work["variant"] in BY_RING:
        assert record["counts"]["copied_sends"] == work["completions"]


def check_refusals(record: dict) -> None:
    """Every refused send has its cause; which limit it was is told where a hook could see it."""
    refused = {each["cause"]: each["calls"] for each in record["causes"]
               if each["site"] == "tx_reference"}
    assert sum(refused.values()) == record["experiment"]["workload"]["enobufs"] == record["counts"]["enobufs"]
    known = {"ENOBUFS"} if record["backend"]["name"] == "tracepoint" else {
        "ENOBUFS, optmem", "ENOBUFS, memlock"}
    assert set(refused) <= known


def check_laws(record: dict, not_testable: frozenset[str] = frozenset()) -> None:
    """Every law balances to the byte, but for those that this kernel and variant cannot test."""
    variant, content = record["experiment"]["workload"]["variant"], record["experiment"]["workload"]["content_errors"]
    excused = set(not_testable)
    if variant in BY_RING:
        excused -= {"completion"}
    if variant in NEVER_READS_COMPLETIONS:
        excused |= {"witness completions"}
        # Without a hook for completions the workload tells of them.
        excused |= {"copied"} if record["backend"]["name"] == "tracepoint" else set()
    if variant in DATAGRAMS:
        excused |= {"sequence accepted", "sequence returned"}
        excused |= {"receive"} if record["backend"]["name"] == "tracepoint" else set()
    if variant == "A3-reuse" and not content:
        excused |= {"content"}
    assert laws_with(record, "broken") == set()
    if unseen(record):
        excused |= laws_with(record, "not testable") & {"send", "reference", "probes", "pin", "copied"}
        assert "probes" in excused
    assert laws_with(record, "not testable") == excused, [(each["law"], each["why"]) for each in record["laws"]
                                                          if each["status"] == "not testable"]
    for name in laws_with(record, "balanced"):
        assert law(record, name)["residual"] == 0, name
    assert content == 0 or variant == "A3-reuse"


def check_sockets(record: dict, threads: int) -> None:
    """Each end of a connection has a socket; beside one for datagrams it has one of TCP, which carries nothing."""
    datagrams = record["experiment"]["workload"]["variant"] in DATAGRAMS
    carriers = [each for each in record["sockets"] if each["end"]]
    assert len(carriers) == 2 * threads
    assert {each["protocol"] for each in carriers} == {"udp" if datagrams else "tcp"}
    beside = [each for each in record["sockets"] if not each["end"]]
    assert len(beside) == (2 * threads if datagrams else 0)
    assert all(each["protocol"] == "tcp" and not any(site["bytes"] for site in each["sites"].values())
               for each in beside)


def check_books(record: dict, messages: int, not_testable: frozenset[str] = frozenset()) -> None:
    """Sites, sends and laws of one run of a known number of messages."""
    check_sites(record, messages * record["experiment"]["workload"]["bytes"])
    check_sends(record, messages)
    check_laws(record, not_testable)


# What a kernel without trampolines leaves untested
TRACEPOINT_NOT_TESTABLE = frozenset({"completion", "pin", "refusal", "causes of late_copy",
                                     "causes of reshape"})
