# SPDX-License-Identifier: GPL-2.0
"""On Debian's 6.1 to 7.2, every byte is found where it passes, and an injected fault is caught."""
from __future__ import annotations

import pytest

from copyscope.common.releases import age_key
from guest.boots import ALL, EDGES, TIMEOUT_S, Asked, Maker, dealt, run_lines, where_run
from helpers import records, run_report
from helpers.books import (
    PRIME_BYTES,
    PRIME_MESSAGES,
    PRIME_PAYLOAD,
    TRACEPOINT_NOT_TESTABLE,
    check_books,
    check_sockets,
)
from helpers.names import VARIANTS, all_tables

PRIME = f"--messages {PRIME_MESSAGES}"
# Every variant between two namespaces; all combinations are run on the host.
PRIMES = {f"{variant}.veth.4": f"{variant} {PRIME_BYTES} 4 {PRIME}" for variant in VARIANTS}
MAPPED_BYTES = 23 << 20
RECEIVED = {
    "A1-plain.peek": f"A1-plain {PRIME_BYTES} 4 --receiver peek {PRIME}",
    "A3.splice": f"A3 {PRIME_BYTES} 4 --receiver splice {PRIME}",
    "A3.map": "A3 1M 1 --receiver map --path lo --mtu 61492 --messages 23",
    "sendfile.splice": f"sendfile {PRIME_BYTES} 1 --receiver splice --netem loss+5% {PRIME}",
    "A3.unmapped": f"A3 65536 4 --receiver map --mtu 1500 --no-tso --netem loss+2% {PRIME}",
    "detach.rx_splice": f"A1-plain {PRIME_BYTES} 1 --receiver splice --break detach:rx_splice {PRIME}",
    "detach.rx_map": "A3 1M 1 --receiver map --path lo --mtu 61492 --messages 5 --break detach:rx_map",
}
REPLIES = {f"{variant}.rr": f"{variant} {PRIME_BYTES} 4 --pattern rr {PRIME}" for variant in ("A1", "A3")}
LARGE_BYTES, LARGE_MESSAGES = 65536, 200
LARGE = {f"{variant}.large": f"{variant} {LARGE_BYTES} 4 --messages {LARGE_MESSAGES}"
         for variant in ("A1", "A3", "A3-aligned", "A3-unreaped", "uring-zc", "uring-zc-fixed")}
# Emulated senders are slow: only large messages are still in flight when they are overwritten.
REUSE_MESSAGES = 25
REUSE = {"reuse": f"A3-reuse 1M 4 --messages {REUSE_MESSAGES}"}

FAULTS_MESSAGES = 50
DETACHED = {  # what is left off: the variant that would show it, the laws that lose their evidence
    "late_copy": ("A3", {"reference"}),
    "tx_reference": ("A3", {"send", "reference", "pin", "completion"}),
    "completions": ("A3", {"completion", "pin"}),
    "rx_copy": ("A3", {"receive"}),
    "tx_copy": ("A1", {"send", "reference"}),
    "accepted": ("A3", {"send", "end to end", "completion", "witness sent",
                        "witness zero-copy sends"}),
}
FAULTS = {f"detach.{what}": f"{variant} {LARGE_BYTES} 2 --messages {FAULTS_MESSAGES} "
                             f"--break detach:{what}" for what, (variant, _) in DETACHED.items()}
FAULTS |= {what: f"A3 {LARGE_BYTES} 2 --messages {FAULTS_MESSAGES} --break {what}"
            for what in ("drop-completion", "lose-update")}
FAULTS |= {"drop-notification": f"uring-zc {LARGE_BYTES} 2 --messages {FAULTS_MESSAGES} --break drop-completion"}
FORCED = {"forced": f"A3 {LARGE_BYTES} 2 --messages {FAULTS_MESSAGES} --backend tracepoint"}

RUNS = PRIMES | RECEIVED | REPLIES | LARGE | REUSE | FAULTS | FORCED
# What tells which hooks were attached, and which backends there are, is asked of each kernel, of those between in
# the long tier. Completions are found by another function since 6.19.
EACH = ("A1.veth.4", "A3.veth.4", "forced")
BOTH_SIDES = ("drop-completion", "A3.large")
# Others like these are of the short tier, there or on the host. That of 6.12 is launched from the host.
LATER = ("A1-8send.veth.4", "A2-more.veth.4", "A3-whole.veth.4", "A3-unset.veth.4", "A3-unreaped.veth.4",
         "A3-aligned-unreaped.veth.4", "uring-zc-sqpoll.veth.4", "A1-file.veth.4", "udp.veth.4", "udp-zc.veth.4",
         "sendfile.splice", "A3.unmapped", "A1.rr", "A1.large", "A3-unreaped.large", "uring-zc-fixed.large",
         "detach.rx_map", "detach.rx_copy", "detach.tx_copy", "detach.late_copy")
SOON = dict.fromkeys(EACH, EDGES) | dict.fromkeys(LATER, ()) | {"drop-completion": EDGES[1:], "A3.large": EDGES[:1]}
makes = Maker(dict.fromkeys(EACH, ALL) | dict.fromkeys(BOTH_SIDES, EDGES) | dealt(
    (run for run in RUNS if run not in EACH + BOTH_SIDES), EDGES), soon=SOON)
on_kernels = where_run(makes)


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    return run_lines(tmp_path_factory.mktemp("books"), RUNS, makes=makes, releases=ALL, asked=Asked(request))


def checked(outcome, run, messages):
    """The record of a run that ended well, with all its books in order."""
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    record = outcome.record(run)
    assert record["machine"]["kernel"].startswith(outcome.release)
    check_books(without_reshape(record), messages)
    return record


def without_reshape(record):
    """The record without the one site whose bytes depend on chance: how much payload the kernel
    moves between its own buffers depends on how full they are."""
    assert records.how(record, "reshape") == "measured"
    return {**record, "sites": {name: site for name, site in record["sites"].items()
                                if name != "reshape"}}


@on_kernels("run", PRIMES)
def test_23_messages_of_4093_bytes_are_94139_at_each_site(outcome, run):
    record = checked(outcome, run, PRIME_MESSAGES)
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD == 94139
    assert record["experiment"]["path"]["kind"] == "veth"
    check_sockets(record, 4)
    assert {records.how(record, name) for name in record["sites"]} == {"measured", "derived"}


@on_kernels("run", ["A1-plain.peek"])
def test_bytes_that_are_peeked_first_are_copied_twice(outcome, run):
    record = outcome.record(run)
    assert outcome.status(run) == 0 and not records.laws_with(record, "broken")
    assert record["counts"]["peeked_bytes"] == record["counts"]["returned_bytes"] == PRIME_PAYLOAD
    assert records.site(record, "rx_copy") == records.law(record, "receive")["left"] == 2 * PRIME_PAYLOAD
    assert records.laws_with(record, "not testable") == set()


SPLICED = ("A3.splice", "sendfile.splice")


def taken(outcome, run, site):
    """Bytes at a site of the receiver, of a run whose laws all balance, and what is left for recv to copy."""
    record = outcome.record(run)
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    assert records.how(record, site) == "measured" and not records.laws_with(record, "broken")
    assert records.laws_with(record, "not testable") == set()
    assert record["experiment"]["workload"]["content_errors"] == 0
    assert records.law(record, "receive")["left"] == record["experiment"]["workload"]["received_bytes"]
    return records.site(record, site), records.site(record, "rx_copy")


@on_kernels("run", SPLICED)
def test_bytes_that_are_spliced_out_of_the_socket_are_not_copied(outcome, run):
    assert taken(outcome, run, "rx_splice") == (PRIME_PAYLOAD, 0)


@on_kernels("run", ["A3.map"])
def test_packets_that_fill_pages_are_mapped_and_what_is_left_is_copied(outcome, run):
    mapped, copied = taken(outcome, run, "rx_map")
    # What the kernel moves into other packets, as of a queue that is full, need not fill pages.
    moved = records.site(outcome.record(run), "reshape")
    assert mapped + copied == MAPPED_BYTES and mapped % 4096 == 0 and mapped > 0.9 * (MAPPED_BYTES - moved)


@on_kernels("run", ["A3.unmapped"])
def test_what_cannot_be_mapped_is_copied_and_the_report_says_why(outcome, run):
    assert taken(outcome, run, "rx_map") == (0, 65536 * PRIME_MESSAGES)
    assert outcome.record(run)["counts"]["map_calls"] > 0
    assert "mapped nothing" in records.sentence_of(outcome.record(run))


@on_kernels("site", ["rx_splice", "rx_map"], "detach.{}".format)
def test_pages_whose_probe_is_off_are_not_measured_nor_what_was_received(outcome, site):
    record = outcome.record(f"detach.{site}")
    assert outcome.status(f"detach.{site}") == 0 and records.how(record, site) == "not_measured"
    assert "left off on purpose" in record["sites"][site]["why"]
    assert records.laws_with(record, "not testable") == {"receive", "end to end", "witness received"}
    assert not records.laws_with(record, "broken")


@on_kernels("run", REPLIES)
def test_requests_and_replies_are_94139_bytes_each_way(outcome, run):
    record = checked(outcome, run, PRIME_MESSAGES)
    assert records.site(record, "rx_copy") == 2 * PRIME_PAYLOAD


@on_kernels("run", LARGE)
def test_hundreds_of_messages_of_65536_bytes_balance(outcome, run):
    record = checked(outcome, run, LARGE_MESSAGES)
    assert records.site(record, "rx_copy") == LARGE_MESSAGES * LARGE_BYTES
    if run == "A3-unreaped.large":
        assert record["experiment"]["workload"]["zerocopy_sends"] == record["counts"]["completed_sends"]


PAGES = {"A3-aligned": (16.5, 17.5),  # 8 fields of 2 pages, and one page shared by two skbs
         "A3": (23.5, 24.5)}          # 8 fields that lie across 3 pages each


@on_kernels("variant", PAGES, "{}.large".format)
def test_aligned_fields_pin_17_pages_a_message_and_others_24(outcome, variant):
    least, most = PAGES[variant]
    pins = outcome.record(f"{variant}.large")["pins"]
    assert least <= pins["pages"] / LARGE_MESSAGES <= most
    assert pins["pages"] == pins["released_pages"] >= pins["peak_pages"] > 0


@on_kernels("run", REUSE)
def test_a_buffer_that_is_reused_too_early_is_caught_by_content(outcome, run):
    record = checked(outcome, run, REUSE_MESSAGES)
    assert record["experiment"]["workload"]["content_errors"] > 0
    assert records.law(record, "content")["status"] == "balanced"


# What hooks at a driver count, where no device does DMA.
OF_HARDWARE = {"clean", "devices"}


@on_kernels("run", ["A3.veth.4", "A1.veth.4"])
def test_every_hook_is_attached_or_absent_with_a_reason(outcome, run):
    backend = outcome.record(run)["backend"]
    attached = {each["site"] for each in backend["probes"] if each["status"] == "attached"}
    assert backend["name"] == "trampoline"
    assert {each["site"] for each in backend["probes"]} == attached | OF_HARDWARE
    assert not attached & OF_HARDWARE
    for probe in backend["probes"]:
        assert probe["status"] == "attached" or probe["status"] == "absent" and probe["why"]
        assert probe["site"] not in OF_HARDWARE or probe["why"] == "no device of this path does DMA"


def listed_hooks(release):
    """The functions that the table of hooks, and METHOD by it, has with trampolines on a kernel."""
    apart = ("without_trampolines", "of_tls", "of_sizes", "of_watches", "of_datagrams")
    return {hook["target"] for hook in all_tables()["hooks"] if not any(hook[each] for each in apart)
            and age_key(hook["since"]) <= age_key(release) <= age_key(hook["until"] or release)}


@on_kernels("run", ["A3.veth.4"])
def test_the_table_says_which_hooks_are_attached_on_a_kernel(outcome, run):
    attached = {each["hook"].split("/")[1] for each in outcome.record(run)["backend"]["probes"]
                if each["status"] == "attached" or each["site"] in OF_HARDWARE}
    assert attached - {"copyscope:gather"} == listed_hooks(outcome.release) - {"copyscope:gather"}


LOST = {"drop-completion": "completion", "drop-notification": "completion", "lose-update": "send"}


@on_kernels("mutation", LOST)
def test_a_lost_count_breaks_its_law(outcome, mutation):
    law = LOST[mutation]
    record = outcome.record(mutation)
    assert outcome.status(mutation) == 1
    assert records.law(record, law)["status"] == "broken"
    assert f"\n{law} " in run_report.printed(record)


@on_kernels("what", DETACHED, "detach.{}".format)
def test_without_its_probe_no_law_is_balanced(outcome, what):
    record = outcome.record(f"detach.{what}")
    assert DETACHED[what][1] <= records.laws_with(record, "not testable")
    if outcome.status(f"detach.{what}") == 0:
        assert not records.laws_with(record, "broken")


@on_kernels("what", DETACHED, "detach.{}".format)
def test_without_its_probe_no_count_is_claimed(outcome, what):
    record = outcome.record(f"detach.{what}")
    payload = FAULTS_MESSAGES * LARGE_BYTES
    again = record["counts"]["retrans_referenced_bytes"] or 0
    truth = {"A1": {"user_gather": payload, "tx_copy": payload, "rx_copy": payload},
             "A3": {"tx_reference": payload, "late_copy": payload + again, "rx_copy": payload}}
    for name in set(record["sites"]) - {"reshape"}:
        if records.how(record, name) == "not_measured":
            assert records.site(record, name) is None
        else:
            assert records.site(record, name) == truth[DETACHED[what][0]].get(name, 0), name
    assert "left off on purpose" in str(records.probes(record, what))


@on_kernels("run", ["forced"])
def test_tracepoint_backend_balances_or_is_refused_where_tracepoints_are_missing(outcome, run):
    # tp_btf/tcp_sendmsg_locked came with 6.18: without it the flags of a send are unknown.
    if outcome.release in ("6.18", "7.2"):
        assert outcome.status(run) == 0, outcome.errors(run)
        record = outcome.record(run)
        assert record["backend"]["name"] == "tracepoint"
        check_books(record, FAULTS_MESSAGES, TRACEPOINT_NOT_TESTABLE)
        return
    assert outcome.status(run) == 3 and not outcome.has_record(run)
    line, = outcome.errors(run).splitlines()
    assert "tracepoint backend cannot work here" in line and "--backend auto" in line


@pytest.fixture(scope="module", name="from_host")
def launched_from_the_host(tmp_path_factory):
    """The command that a person types on the host, with a record in a file."""
    file = tmp_path_factory.mktemp("host") / "record.json"
    return file, records.run("A3", LARGE_BYTES, 4, "--kernel", "6.1", "--messages", 100,
                             "--json", file, timeout_s=TIMEOUT_S)


# In the short tier an installed copy is launched.
@pytest.mark.long
def test_launcher_brings_report_and_record_home(from_host):
    file, done = from_host
    record = records.load(file)
    check_books(without_reshape(record), 100)
    assert done.code == 0 and record["machine"]["kernel"].startswith("6.1.")
    assert "local delivery" in done.out
    assert done.out.rstrip().split("\n")[-1].split() == ["record", str(file)]


def test_launcher_passes_one_document_and_the_exit_code():
    done = records.run("A3", LARGE_BYTES, 2, "--kernel", "6.12", "--messages", 50,
                       "--break", "drop-completion", "--json", "-", timeout_s=TIMEOUT_S)
    assert done.code == 1
    assert records.law(done.record, "completion")["status"] == "broken"
