# SPDX-License-Identifier: GPL-2.0
"""On this kernel, every byte of a known workload is found at every site that it passes."""
import os
import re
import signal
import time

import pytest

from helpers import processes, records
from helpers.books import (
    PRIME_BYTES,
    PRIME_MESSAGES,
    PRIME_PAYLOAD,
    RECEIVERS,
    TRACEPOINT_NOT_TESTABLE,
    check_books,
    check_sockets,
)
from helpers.names import VARIANTS, names
from helpers.patience import Patience

pytestmark = records.needs_root

PATHS = names("paths", nics=False, two_hosts=False)
THREADS = [1, 4]
LARGE_BYTES = 65536


def not_testable(record):
    """What the backend that this kernel allows cannot test."""
    return TRACEPOINT_NOT_TESTABLE if record["backend"]["name"] == "tracepoint" else frozenset()


def of_variants(variants):
    """Parametrize a test by variant, path and number of threads, any two of which meet."""
    return pytest.mark.parametrize("variant, path, threads", [
        (variant, path, THREADS[(number + place) % 2])
        for number, variant in enumerate(variants) for place, path in enumerate(PATHS)])


def run_books(variant, size, threads, messages, *words):
    """Makes a run of so many messages and holds all its books against the table."""
    record = records.run_record(variant, size, threads, "--messages", messages, *words)
    check_books(record, messages, not_testable(record))
    return record


@of_variants(VARIANTS)
def test_23_messages_of_4093_bytes_are_94139_at_each_site(variant, path, threads):
    record = run_books(variant, PRIME_BYTES, threads, PRIME_MESSAGES, "--path", path)
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD == 94139
    assert record["experiment"]["path"]["kind"] == path and record["experiment"]["workload"]["connections"] == threads
    check_sockets(record, threads)


@of_variants(["A1", "A2", "A3"])
def test_requests_and_replies_are_94139_bytes_each_way(variant, path, threads):
    record = run_books(variant, PRIME_BYTES, threads, PRIME_MESSAGES, "--path", path,
                       "--pattern", "rr")
    assert records.site(record, "rx_copy") == 2 * PRIME_PAYLOAD
    for each in record["sockets"]:
        assert each["sites"]["rx_copy"]["bytes"] == each["counts"]["accepted_bytes"]


TRANSPORTS = {
    "veth": ("10.0.0.1,10.0.0.2/24", "10.0.0.1", "10.0.0.2"),
    "veth, IPv6": ("fd00::1,fd00::2/64", "[fd00::1]", "[fd00::2]"),
    "lo": ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
    "lo, IPv6": ("::1", "[::1]", "[::1]"),
    "lo, an address of another network": ("10.9.8.7", "10.9.8.7", "10.9.8.7"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_addresses_and_port_are_those_asked_for(transport):
    words, sender, receiver = TRANSPORTS[transport]
    record = run_books("A3", PRIME_BYTES, 2, PRIME_MESSAGES, "--path", transport.split(",")[0],
                       "--addresses", words, "--port", 8080)
    for each in record["sockets"]:
        local, remote = each["local"].rsplit(":", 1), each["remote"].rsplit(":", 1)
        near, far = (local, remote) if each["end"] == "sender" else (remote, local)
        assert near == [sender, "8080"] and far[0] == receiver


def test_devices_have_the_names_asked_for():
    record = run_books("A1", PRIME_BYTES, 1, PRIME_MESSAGES, "--devices", "veth_srv,veth_cli")
    assert (record["experiment"]["path"]["tx_dev"], record["experiment"]["path"]["rx_dev"]) == ("veth_srv", "veth_cli")


@pytest.mark.parametrize("receiver", RECEIVERS)
def test_every_receiver_copies_every_byte_once(receiver):
    record = run_books("A3", PRIME_BYTES, 4, PRIME_MESSAGES, "--receiver", receiver)
    # What is received multishot may hold several messages.
    least = {"perfield": 8 * PRIME_MESSAGES, "uring-multishot": 4}.get(receiver, PRIME_MESSAGES)
    assert record["experiment"]["workload"]["receiver"] == receiver
    assert record["counts"]["recv_calls"] >= least


@pytest.mark.parametrize("variant, threads, path, pattern", [
    ("A1-plain", 1, "lo", "stream"), ("A1-plain", 4, "veth", "rr"), ("A3", 4, "lo", "stream"),
    ("A3", 1, "veth", "stream"), ("sendfile", 4, "veth", "stream"), ("sendfile", 1, "lo", "stream")])
def test_bytes_that_are_peeked_first_are_copied_twice(variant, threads, path, pattern):
    record = records.run_record(variant, PRIME_BYTES, threads, "--messages", PRIME_MESSAGES, "--receiver", "peek",
                                "--path", path, "--pattern", pattern)
    requests = PRIME_PAYLOAD if pattern == "rr" else 0
    assert record["counts"]["peeked_bytes"] == PRIME_PAYLOAD
    assert record["counts"]["returned_bytes"] == PRIME_PAYLOAD + requests
    assert records.site(record, "rx_copy") == 2 * PRIME_PAYLOAD + requests
    assert records.law(record, "receive")["left"] == 2 * PRIME_PAYLOAD + requests
    assert not records.laws_with(record, "broken") and records.law(record, "content")["status"] == "balanced"
    assert records.laws_with(record, "not testable") == TRACEPOINT_NOT_TESTABLE
    assert "Peeks (MSG_PEEK) copied 94,139 bytes to the reader, which recv then copied again." in \
        records.sentence_of(record)


def test_a_peek_whose_reader_is_killed_balances():
    with records.under_way("A3", LARGE_BYTES, 2, "--receiver", "peek", "--seconds", 60, "--pass", "counted",
                           "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        time.sleep(0.3)
        os.kill(pids["client"], signal.SIGKILL)
    assert run.done.code == 1 and run.done.record["counts"]["peeked_bytes"] > LARGE_BYTES
    assert records.law(run.done.record, "receive")["status"] == "balanced"


# What cannot be told apart without trampolines: what left as pages is the rest.
BY_THE_REST = TRACEPOINT_NOT_TESTABLE | {"receive"}


def check_pages(record, site, pages, payload, requests=0):
    """So many bytes left as pages at the site, the rest was copied, and no law is broken."""
    assert records.how(record, site) == "derived" and record["sites"][site]["calls"] is None
    assert records.site(record, site) == pages and records.site(record, "rx_copy") == payload + requests - pages
    assert record["counts"]["returned_bytes"] == payload + requests
    assert sum(each["sites"][site]["bytes"] for each in record["sockets"]) == pages
    assert not records.laws_with(record, "broken")
    assert records.laws_with(record, "not testable") == BY_THE_REST
    for law in ("content", "end to end", "witness received", "sequence returned"):
        assert records.law(record, law)["status"] == "balanced"


@pytest.mark.parametrize("variant, threads, path, pattern", [
    ("A1-plain", 1, "veth", "stream"), ("A1-plain", 4, "lo", "rr"), ("A3", 4, "veth", "stream"),
    ("A3", 1, "lo", "rr"), ("sendfile", 4, "lo", "stream"), ("sendfile", 1, "veth", "stream")])
def test_bytes_that_are_spliced_out_of_the_socket_are_not_copied(variant, threads, path, pattern):
    record = records.run_record(variant, PRIME_BYTES, threads, "--messages", PRIME_MESSAGES, "--receiver", "splice",
                                "--path", path, "--pattern", pattern)
    check_pages(record, "rx_splice", PRIME_PAYLOAD, PRIME_PAYLOAD, PRIME_PAYLOAD if pattern == "rr" else 0)
    assert "The reader spliced 94,139 bytes out as pages." in records.sentence_of(record)


def test_pages_that_nobody_looks_at_are_spliced_on():
    record = records.run_record("A3", LARGE_BYTES, 4, "--messages", 400, "--receiver", "splice", "--pass", "timed")
    assert record["experiment"]["workload"]["received_bytes"] == 400 * LARGE_BYTES
    assert records.law(record, "sequence returned")["status"] == "balanced"


# Single pages that a packet fills: on this machine those that the kernel copied late.
UNMAPPED = {
    "packets of MTU 1500 carry 1448 bytes": ("A3", LARGE_BYTES, 1, "--path", "lo", "--mtu", 1500, "--no-tso"),
    "packets of MTU 1500 carry 1448": ("A3", LARGE_BYTES, 4, "--no-tso"),
    "send copies into larger ones": ("A1-plain", LARGE_BYTES, 4, "--path", "lo", "--mtu", 61492),
    "send copies into": ("A1-plain", LARGE_BYTES, 1, "--mtu", 1500),
    "a message here is shorter than a page": ("A3", PRIME_BYTES, 4),
    "a message here is shorter": ("sendfile", PRIME_BYTES, 1),
}


@pytest.mark.parametrize("why", UNMAPPED)
def test_what_cannot_be_mapped_is_copied_and_the_report_says_why(why):
    variant, size, *rest = UNMAPPED[why]
    record = records.run_record(variant, size, *rest, "--messages", PRIME_MESSAGES, "--receiver", "map")
    check_pages(record, "rx_map", 0, PRIME_MESSAGES * size)
    assert (record["counts"]["map_calls"] > 0) == (size == LARGE_BYTES)
    assert f"TCP_ZEROCOPY_RECEIVE mapped nothing: it takes single pages that a packet fills; {why}" in \
        records.sentence_of(record)


@pytest.mark.parametrize("threads, path, pattern", [(1, "lo", "stream"), (4, "lo", "stream"), (1, "veth", "rr")])
def test_packets_that_fill_pages_are_mapped_and_what_is_left_is_copied(threads, path, pattern):
    size, messages = 1 << 20, 40
    record = records.run_record("A3", size, threads, "--messages", messages, "--receiver", "map", "--path", path,
                                "--mtu", 61492, "--pattern", pattern)
    mapped, payload = records.site(record, "rx_map"), messages * size
    check_pages(record, "rx_map", mapped, payload, payload if pattern == "rr" else 0)
    assert mapped % 4096 == 0 and 0.9 * payload < mapped <= payload
    assert f"TCP_ZEROCOPY_RECEIVE mapped {mapped:,} of " in records.sentence_of(record)


@pytest.mark.parametrize("end", ["server", "client"])
@pytest.mark.parametrize("receiver, site", [("splice", "rx_splice"), ("map", "rx_map")])
def test_pages_are_not_measured_where_an_end_left_no_sequence_numbers(receiver, site, end):
    with records.under_way("A3", LARGE_BYTES, 2, "--receiver", receiver, "--seconds", 60, "--pass", "counted",
                           "--json", "-") as run:
        pids = processes.wait_running(run.pid)
        time.sleep(0.3)
        os.kill(pids[end], signal.SIGKILL)
    assert run.done.code == 1 and records.how(run.done.record, site) == "not_measured"
    assert "left no sequence numbers" in run.done.record["sites"][site]["why"]
    assert not records.laws_with(run.done.record, "broken")


@pytest.mark.parametrize("pattern", ["stream", "rr"])
@pytest.mark.parametrize("variant", ["A1", "A3", "sendfile"])
def test_bytes_that_are_received_with_msg_trunc_are_copied_to_nobody(variant, pattern):
    record = records.run_record(variant, PRIME_BYTES, 4, "--messages", PRIME_MESSAGES, "--receiver", "trunc",
                                "--pattern", pattern)
    requests = PRIME_PAYLOAD if pattern == "rr" else 0
    assert records.site(record, "rx_discard") == PRIME_PAYLOAD
    assert records.site(record, "rx_copy") == requests
    assert records.laws_with(record, "not testable") == TRACEPOINT_NOT_TESTABLE | {"content"}
    assert not records.laws_with(record, "broken")
    assert records.law(record, "content")["why"] == "no byte reaches the receiver's memory"
    assert "94,139 bytes were dropped unread" in records.sentence_of(record) or variant == "A3"


@pytest.mark.parametrize("variant, path", [("A1", "veth"), ("A2", "lo"), ("A3", "veth"), ("A3", "lo")])
def test_4000_messages_of_65536_bytes_balance(variant, path):
    record = run_books(variant, LARGE_BYTES, 4, 4000, "--path", path)
    assert records.site(record, "rx_copy") == 4000 * LARGE_BYTES
    assert record["experiment"]["workload"]["content_errors"] == 0


@pytest.mark.parametrize("limit, words", [("memlock", ("--memlock", "256k")),
                                          ("optmem", ("--optmem", 2048))])
def test_refused_sends_are_made_again_and_no_byte_is_lost(limit, words):
    patience = Patience(30)
    # The book that a watch beside has of a socket is charged to its optmem, too: then there is no room for the run's.
    while True:
        done = records.run("A3", LARGE_BYTES, 2, "--messages", 400, *words, "--json", "-")
        if records.law(done.record, "probes")["status"] != "broken" or not patience.sleep(1):
            break
    assert done.code in records.WELL, f"exit {done.code}: {done.err}{records.broken_text(done.out)}"
    record = done.record
    check_books(record, 400, not_testable(record))
    assert record["experiment"]["workload"]["enobufs"] > 0
    assert record["experiment"]["workload"]["accepted_bytes"] == 400 * LARGE_BYTES
    refused = [each for each in record["causes"] if each["site"] == "tx_reference"]
    assert all(each["cause"] == f"ENOBUFS, {limit}" or
               each["cause"] == "ENOBUFS" and "is not measured" in each["why"] for each in refused)


@pytest.mark.parametrize("variant, pages", [("A3-aligned", 17), ("A3", 24)])
def test_aligned_fields_pin_17_pages_a_message_and_others_24(variant, pages):
    record = run_books(variant, LARGE_BYTES, 1, 400)
    for _ in range(5):
        if not records.unseen(record):
            break
        record = run_books(variant, LARGE_BYTES, 1, 400)
    assert not records.unseen(record), "the probes missed packets in six runs"
    # At most: pages of a field that two packets share are counted in both. Seen: up to 1 more.
    assert (pages - 1) * 400 <= record["pins"]["pages"] <= (pages + 4) * 400


def test_a_buffer_that_is_reused_too_early_is_caught_by_content():
    record = run_books("A3-reuse", LARGE_BYTES, 4, 2000)
    assert record["experiment"]["workload"]["content_errors"] > 0
    assert records.law(record, "content")["status"] == "balanced"
    assert records.law(record, "content")["left"] == record["experiment"]["workload"]["content_errors"]


@pytest.mark.parametrize("variant, said", [
    ("A1", "gathered in user space"), ("A2", "copied each payload byte 2.00 times"),
    ("A3", "0 of 94,139 bytes were sent without a copy, because of local delivery"),
    ("A3-unset", "SO_ZEROCOPY is not set"),
])
def test_the_report_says_the_same_in_a_sentence(variant, said, tmp_path):
    done = records.run(variant, PRIME_BYTES, 1, "--messages", PRIME_MESSAGES, "--exact",
                       "--json", tmp_path / "record.json")
    record = records.load(tmp_path / "record.json")
    if record["experiment"]["outcome"]["status"] == "blind":
        said = "no verdict"
    assert done.code in records.WELL and said in records.sentence_of(record)
    assert said in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= 80 + len(str(tmp_path))


def test_the_report_is_for_people_and_short(tmp_path):
    done = records.run("A2", PRIME_BYTES, 1, "--messages", PRIME_MESSAGES, "--json", tmp_path / "record.json")
    record = records.load(tmp_path / "record.json")
    lines = done.out.splitlines()[:-1]
    assert done.code in records.WELL and max(map(len, lines)) <= 80 and "\033" not in done.out
    heads = [line.split("  ")[0] for line in lines if line and line[0] != " "]
    order = ["throughput", "latency", "site", "laws", "counters", "overhead", "not seen"]
    found = [each for each in order if each in heads]
    assert found == [head for head in heads if head in order] and found[:5] == order[:5]
    assert re.search(r"^tx_copy +94.1 kB +1.000 +derived +copied from your buffer into the$", done.out, re.M)
    balanced = len(records.laws_with(record, "balanced"))
    assert f"{balanced} balance to the byte, none is broken, " in done.out
    assert not re.search(r"^receive ", done.out, re.M)
    every = records.run("A2", PRIME_BYTES, 1, "--messages", PRIME_MESSAGES, "--laws", "--color", "always",
                        env={**os.environ, "COPYSCOPE_RUNS": str(tmp_path)})
    assert len(re.findall(r"^[a-z][a-z_ -]+ balanced ", every.out, re.M)) == balanced
    assert every.out.startswith("\033[1")


def test_odd_sizes_and_many_threads_balance():
    for size, threads, messages in (8, 1, 1), (9, 3, 17), (131071, 2, 31), ("1M", 16, 64):
        record = run_books("A3", size, threads, messages)
        assert record["counts"]["accepted_bytes"] == messages * record["experiment"]["workload"]["bytes"]
