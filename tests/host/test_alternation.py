# SPDX-License-Identifier: GPL-2.0
"""Variants that take turns in one connection: each byte arrives right, and each turn is timed."""
from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from copyscope.common.outcomes import ALIKE, COSTS, PAYS, UNDECIDED
from helpers import records, schemas
from helpers.names import TABLES
from helpers.workload import client, run_plain, server

SHARING = [row["name"] for row in TABLES["variants"] if row["name"] not in (
    "A3-unreaped", "A3-aligned-unreaped", "A3-reuse", "uring-zc-sqpoll", "udp", "udp-each", "udp-zc")
    and not row["name"].startswith("ktls") and not row["name"].startswith("uring")]
RINGS = ["A1-plain", "uring", "uring-zc", "uring-zc-fixed"]
COLUMNS = ("way", "wall_ns", "sender_ns", "receiver_ns", "lost_bytes")


def turns(ways, size, threads, *receiver, words=(), sender=()):
    """Totals of both ends after turns of these ways, all of whose bytes were checked."""
    shared = ("--json", "--check", "content", *words)
    with server("--alternate", ",".join(ways), size, "--clients", threads, "--seconds", 0.01, "--block", 1,
                *shared, *sender) as a:
        with client(a, size, threads, "--in-blocks", *receiver, *shared) as b:
            return a.totals(), b.totals()


def check(ways, sender, receiver, size, threads):
    """Whole rounds, each with a turn of each way; what arrived is what was sent."""
    blocks = sender["alternation"]
    count = len(blocks["way"])
    rounds = [sorted(blocks["way"][at:at + len(ways)]) for at in range(0, count, len(ways))]
    assert rounds and all(each == list(range(len(ways))) for each in rounds)
    assert all(len(blocks[column]) == count for column in COLUMNS)
    assert all(blocks["wall_ns"]) and all(blocks["sender_ns"]) and not any(blocks["lost_bytes"])
    assert blocks["block_bytes"] % (size * threads) == 0
    assert receiver["content_errors"] == 0 and sender["completion_errors"] == 0
    assert sender["completions"] == sender["zerocopy_sends"]
    assert sender["messages"] == receiver["messages"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("at", range(0, len(SHARING), 8))
def test_all_ways_that_can_share_a_connection_do(at, threads):
    ways = SHARING[at:at + 8]
    check(ways, *turns(ways, 20001, threads), 20001, threads)


@pytest.mark.parametrize("receiver", ["recvmsg", "splice", "map", "peek", "uring"])
def test_any_receiver_that_stops_behind_a_message_receives_them(receiver):
    ways = ["A1-plain", "sendfile", "A3"]
    check(ways, *turns(ways, 9000, 2, "--receiver", receiver), 9000, 2)


@pytest.mark.parametrize("receivers", ["recv,splice,map", "peek,trunc,recvmsg", "uring,perfield,splice"])
def test_receivers_take_turns_and_each_goes_on_where_the_last_one_ended(receivers):
    ways = ["A1-plain", "A3", "sendfile"]
    check(ways, *turns(ways, 9001, 2, f"--in-blocks={receivers}"), 9001, 2)


def test_a_receiver_that_knows_of_fewer_ways_says_so():
    with server("--alternate", "A1,A2,A3", 4096, "--clients", 1, "--seconds", 60, "--json") as a:
        with client(a, 4096, 1, "--in-blocks=recv,splice", "--json") as b:
            code, _, err = b.finish()
    assert code == 1 and "more ways than --in-blocks names" in err


@pytest.mark.parametrize("receivers, why", [
    ("recv,nonsense", "no 'nonsense'"), ("recv,uring-multishot", "does not stop"), ("recv,ktls", "TLS"), (",".join(["recv"] * 9), "at most 8")])
def test_receivers_that_cannot_take_turns_are_refused(receivers, why):
    done = run_plain("client", 64, 1, f"--in-blocks={receivers}")
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def test_a_sender_waits_for_answers_within_a_turn():
    """Of ways that send a message by one call both ends then send as often: a word before a turn, and behind each message."""
    ways = ["A1", "A3", "sendfile"]
    sender, receiver = turns(ways, 4096, 2, sender=("--answer-every", 1))
    check(ways, sender, receiver, 4096, 2)
    assert receiver["send_calls"] == sender["send_calls"] > sender["messages"]


def test_a_file_is_read_and_sent_in_pieces_beside_a_way_that_sends_it_whole():
    """Three messages of 32,771 bytes: 5 calls of 8 KiB each, and 1 of each message."""
    with server("A1-file", 32771, "--clients", 1, "--messages", 3, "--piece", 8192, "--json") as a:
        with client(a, 32771, 1, "--json") as b:
            sender, receiver = a.totals(), b.totals()
    assert (sender["send_calls"], receiver["received_bytes"], receiver["content_errors"]) == (15, 3 * 32771, 0)
    ways = ["A1-file", "sendfile"]
    check(ways, *turns(ways, 32771, 1, sender=("--piece", 8192)), 32771, 1)


def test_what_is_sent_before_an_answer_is_never_held_back(tmp_path):
    """Nagle's algorithm would hold the last piece until the receiver acknowledges the others, which it does late."""
    calls = tmp_path / "calls"
    with server("--alternate", "A1-file,sendfile", 65536, "--clients", 1, "--seconds", 0.01, "--block", 1, "--piece", 32768,
                "--answer-every", 1, "--json", prefix=("strace", "-f", "-o", calls, "-e", "trace=setsockopt")) as a:
        with client(a, 65536, 1, "--in-blocks", "--json") as b:
            check(["A1-file", "sendfile"], a.totals(), b.totals(), 65536, 1)
    assert re.findall(r"TCP_NODELAY, \[(\d)\]", calls.read_text()) == ["1"]


def test_rings_take_turns_with_a_send():
    words = (RINGS, 4096, 1)
    try:
        check(RINGS, *turns(*words), 4096, 1)
    except AssertionError as error:
        if "needs" in str(error) or "RLIMIT_MEMLOCK" in str(error):
            pytest.skip(f"this kernel has no such rings: {error}")
        raise


@pytest.mark.parametrize("size", [64, 8192])
def test_datagrams_take_turns(size):
    ways = ["udp", "udp-each", "udp-zc"]
    sender, receiver = turns(ways, size, 1, "--datagrams")
    check(ways, sender, receiver, size, 1)
    # The two words that follow each other on the connection beside are not held back until the first is acknowledged.
    assert min(sender["alternation"]["wall_ns"]) < 35_000_000


@pytest.mark.parametrize("ways, why", [
    ("A1", "two variants"), ("A1,nonsense", "no variant 'nonsense'"), ("A1,ktls", "kernel TLS"),
    ("A1,udp", "datagrams"), ("A3,uring-zc", "not told apart"), ("A1,A3-unreaped", "never reads"),
    ("A1,uring-zc-sqpoll", "polling"), ("A1,A3-reuse", "wrong bytes"), (",".join(["A1"] * 9), "at most 8")])
def test_those_that_cannot_are_refused_with_the_reason(ways, why):
    done = run_plain("server", "--alternate", ways, 64, "--clients", 1)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words, why", [
    (("--alternate", "A1,A3", 64), "--clients"), (("--alternate", "A1,A3", 64, 5, "--clients", 1), "BYTES alone"),
    (("--alternate", "A1,A3", 64, "--clients", 1, "--pattern", "rr"), "stream"),
    (("--alternate", "A1,A3", 64, "--clients", 1, "--messages", 5), "--seconds"),
    (("A1", 64, "--clients", 1, "--answer-every", 1), "--alternate"),
    (("--alternate", "udp,udp-zc", 64, "--clients", 1, "--answer-every", 1), "over TCP")])
def test_so_is_what_has_no_turns(words, why):
    done = run_plain("server", *words)
    assert done.returncode == 2 and why in done.stderr


def switches(pid):
    """How often the threads of a process have waited, all together."""
    return sum(int(line.split()[1]) for file in Path(f"/proc/{pid}/task").glob("*/status")
               for line in file.read_text().splitlines() if line.startswith("voluntary_ctxt_switches"))


def test_a_receiver_that_goes_away_ends_the_turns_of_all():
    with server("--alternate", "A1,A3", 65536, "--clients", 3, "--seconds", 60, "--json") as a:
        with client(a, 65536, 3, "--in-blocks", "--json") as b:
            # Each thread of the client waits in recv() now and then.
            while switches(b.process.pid) < 100:
                time.sleep(0.01)
            b.process.kill()
            code, _, _ = a.finish()
    assert code == 1


@records.needs_root
@pytest.mark.parametrize("path", ["lo", "veth"])
def test_a_run_keeps_the_turns_in_its_record(path):
    done = subprocess.run([records.ROOT / "build/trace_run", "--alternate", "a1-plain,SENDFILE", "64k", "2", "--path", path,
                           "--seconds", "0.05", "--json", "-"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    record = records.load(done.stdout)
    turned, passes = record["experiment"]["alternation"], record["experiment"]["passes"]
    assert turned["variants"] == ["A1-plain", "sendfile"] and set(turned["way"]) == {0, 1}
    assert turned["block_bytes"] % (2 * 65536) == 0
    assert passes["counted"] is None and passes["timed"]["cpu_shares"]["others"] is not None
    assert record["experiment"]["outcome"]["status"] == "complete"


ALTERNATION = records.ROOT / "docs" / "alternation.schema.json"
# More of the processors for others, and a run's own record excuses what it could not decide.
MOST_OTHERS = 0.3


def alternated(*words, timeout_s=300):
    """The document of an alternation, checked."""
    done = records.run("--alternate", *words, "--every", 0, "--json", "-", timeout_s=timeout_s)
    assert done.code == 0, done.err
    data = json.loads(done.out)
    assert not schemas.faults(ALTERNATION, data)
    return data


def disturbed(data):
    """Whether other programs took much beside its starts."""
    return max(each["others"] for each in data["starts"]) > MOST_OTHERS


@records.needs_root
def test_several_starts_are_compared_and_each_variant_is_counted_apart():
    data = alternated("a1,a1-plain,A1-file", "64k", 2, "--path", "lo", "--starts", 3, "--seconds", 0.1)
    assert [each["asked_ms"] for each in data["starts"]] == [2, 2, 6]
    if len(os.sched_getaffinity(0)) > 1:
        assert [each["ends"] for each in data["starts"]] == ["together", "apart", "together"]
    assert len({each["id"] for each in data["starts"]}) == 3
    assert [each["copies_per_byte"] for each in data["counted"]] == [3, 2, 2]
    assert all(each["record"] not in {start["id"] for start in data["starts"]} for each in data["counted"])
    assert all(each["processor_ns_per_byte"]["n"] == 3 for each in data["variants"])
    # Three starts have no 95 % interval.
    assert {each[key]["outcome"] for each in data["comparisons"] for key in ("processor_time", "wall_time")} == {UNDECIDED}


@records.needs_root
def test_a_receiver_of_its_own_is_timed_and_counted_with_its_variant():
    data = alternated("A1-plain,a1-plain:splice,sendfile:splice", "64k", 1, "--path", "lo", "--starts", 1, "--seconds", 0.1)
    assert [each["variant"] for each in data["variants"]] == ["A1-plain", "A1-plain:splice", "sendfile:splice"]
    assert [each["copies_per_byte"] for each in data["counted"]] == [2, 1, 0]


@records.needs_root
def test_the_report_is_printed_again_by_show(tmp_path):
    kept = tmp_path / "kept.json"
    done = records.run("--alternate", "udp,udp-zc", "8k", 1, "--path", "lo", "--starts", 1, "--seconds", 0.1, "--json", kept)
    assert done.code == 0 and done.out.startswith("udp and udp-zc in turns: 8 KiB, 1 connection, to recv, path lo")
    again = subprocess.run([records.ROOT / "tools/copyscope", "show", kept], capture_output=True, text=True, check=False)
    assert again.returncode == 0 and done.out == f"{again.stdout}\nrecord         {kept}\n"


@pytest.mark.parametrize("words, why", [
    (("--alternate", "A1,A3", "64k", 1, "--kernel", "6.12"), "guests"), (("--alternate", "A1", "64k", 1), "two variants"),
    (("--alternate", "A1,A3", "64k", 1, "--starts", 0), "--starts"), (("--alternate", "A1,A3", "64k"), "two words"),
    (("--alternate", "A1,A3", "64k", 1, "--pass", "counted"), "--pass"),
    (("--alternate", "A1,A3", "64k", 1, "--pattern", "rr"), "--answer-every"),
    (("--alternate", "A1,A1:nonsense", "64k", 1), "unknown receiver"), (("--alternate", "udp,udp:splice", "8k", 1), "recv alone"),
    (("--alternate", "A1,A1:uring-multishot", "64k", 1), "does not stop"),
    (("--alternate", "udp,udp-zc", "8k", 1, "--answer-every", 2), "may be lost"), (("A1", "64k", 1, "--answer-every", 2), "--pattern rr")])
@records.needs_root
def test_what_cannot_be_compared_is_refused_in_one_line(words, why):
    done = records.run(*words)
    assert done.code == 2 and why in done.err and done.err.count("\n") == 1


@pytest.mark.long
@records.needs_root
def test_a_beside_a_is_alike():
    """Each of ten tries is alike that other programs left alone. Of 95 % intervals one in twenty leaves out the truth: three of
    ten would once in eighty."""
    decided = 0
    for _ in range(10):
        data = alternated("A1-plain,A1-plain", "64k", 1, "--path", "lo")
        outcome = data["comparisons"][0]["processor_time"]["outcome"]
        assert outcome == ALIKE or disturbed(data)
        decided += outcome not in (ALIKE, UNDECIDED)
    assert decided <= 2


@pytest.mark.long
@records.needs_root
def test_an_answer_does_not_flip():
    """What sends eight times costs; what a start decided no other decides the other way."""
    for ways, size in (("A1-plain,A1-8send", 512), ("A1-plain,sendfile", "1M")):
        outcomes = {alternated(ways, size, 1, "--path", "lo")["comparisons"][0]["processor_time"]["outcome"]
                    for _ in range(3)}
        assert not {PAYS, COSTS} <= outcomes
