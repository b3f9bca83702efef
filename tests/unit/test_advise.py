# SPDX-License-Identifier: GPL-2.0
"""Advice follows from a record's sizes and the baseline's prices, and says when it is not known."""
from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from copyscope.advise import command, prices, route, services, sources
from copyscope.advise.advice import of_process
from copyscope.advise.route import Machine, Way
from copyscope.advise.text import is_on, lines, switch_of
from copyscope.model.changes import (
    AWAY,
    ERROR_OF_WHOLE,
    FILE,
    FILE_READ,
    LOCAL,
    MOST_ERROR,
    RING,
    RING_ROWS,
    RING_ZEROCOPY,
    ROWS,
    SEGMENT_BYTES,
    STREAM,
    TURNS,
    ZEROCOPY,
    of_send,
)
from copyscope.model.choice import LEAVE, PAYS, UNDECIDED, Route, Sends, back, choose
from copyscope.model.costs import Costs
from copyscope.runs import baseline as baseline_runs, launch, ways
from copyscope.runs.baseline import bad_rows, joined
from copyscope.sweep import sizes_from
from helpers import alternated, schemas, watches
from helpers.baselines import MACHINE, baseline, row
from helpers.records import ROOT

SIZES = (64, 4096, 65536, 1 << 20)
WITHIN_A_PACKET = (64, 4096, 65536)
# What reading a notification apart adds: all of it where a send is alone, as one of 64 KiB is.
APART = 400


def by_size(fixed: float, each: float) -> dict[float, float]:
    """A curve of so much and so much for each byte."""
    return {size: fixed + each * size for size in SIZES}


def queued(fixed: float, each: float, apart: float = 0) -> dict[float, float]:
    """The same in the queue of a socket."""
    return {size: fixed + each * size + (apart if size == 65536 else 0) for size in WITHIN_A_PACKET}


def single(fixed: float, each: float, apart: float = 0) -> dict[float, float]:
    """The same of one send of a page, and of the connection that it is alone in."""
    return {4096: 3000 + fixed + each * 4096 + apart}


def made(**changes: dict[str, Any]) -> dict[str, Any]:
    """A baseline: to a device a byte takes 0.2 ns to copy and 0.02 to refer to, which takes 1,000 a send."""
    rows = {"cpu_copy": row("cpu-copy", 1819.2, points=by_size(1000, 0.2)),
            "cpu_reference": row("cpu-reference", 4228.8, points=by_size(3000, 0.3)),
            "cpu_file": row("cpu-file", 2409.6, points=by_size(2000, 0.1)),
            "turn_copy": row("turn-copy", 6000.0, points=by_size(5000, 0.2)),
            "turn_reference": row("turn-reference", 9000.0, points=by_size(9000, 0.3)),
            "turn_file": row("turn-file", 7000.0, points=by_size(7000, 0.1)),
            "cpu_ring": row("cpu-ring", 2319.2, points=by_size(1500, 0.2)),
            "cpu_ring_reference": row("cpu-ring-reference", 4628.8, points=by_size(3400, 0.3)),
            "turn_ring": row("turn-ring", 7000.0, points=by_size(6000, 0.2)),
            "turn_ring_reference": row("turn-ring-reference", 9500.0, points=by_size(9500, 0.3)),
            "away_copy": row("away-copy", 1319.2, points=queued(500, 0.2)),
            "away_cold": row("away-cold", 1319.2, points=queued(500, 0.2)),
            "away_reference": row("away-reference", 1581.9, points=queued(1500, 0.02, APART)),
            "away_file": row("away-file", 1104.8, points=queued(900, 0.05)),
            "away_ring": row("away-ring", 1619.2, points=queued(800, 0.2)),
            "away_ring_reference": row("away-ring-reference", 1781.9, points=queued(1700, 0.02, APART)),
            "alone_copy": row("alone-copy", 4319.2, points=single(500, 0.2)),
            "alone_reference": row("alone-reference", 4981.9, points=single(1500, 0.02, APART)),
            "alone_ring_reference": row("alone-ring-reference", 5181.9, points=single(1700, 0.02, APART)),
            **changes}
    return baseline(**rows)


COSTS = Costs(made(), "made")
TO_DEVICE, HERE, ANYWHERE = Route(0, 0), Route(1, 1), Route(0, 1)


def bucket(size: int, calls: int) -> dict[str, int]:
    """Calls of one size."""
    low = 1 << size.bit_length() - 1
    return {"from_bytes": low, "below_bytes": 2 * low, "calls": calls, "bytes": size * calls}


def sent(*found: dict[str, int], way: str = "plain", direction: str = "send") -> dict[str, Any]:
    """A histogram."""
    return {"direction": direction, "way": way, "buckets": list(found)}


def process(*tables: dict[str, Any], comm: str = "server", **known: Any) -> dict[str, Any]:
    """A process with sizes, which sent what they hold."""
    size = sum(each["bytes"] for table in tables for each in table["buckets"]
               if table["direction"] == "send")
    books = watches.moved(size, 0, **(known or {"tx_copy": size}))
    return {**watches.process(812, comm, books), "pids": [812], "sizes": list(tables)}


def record(*processes: dict[str, Any], **socket: Any) -> dict[str, Any]:
    """A record of a machine with prices."""
    data = watches.watch_record(*processes)
    data["machine"].update(MACHINE)
    for each in data["sockets"]:
        each.update(socket)
    return data


def test_a_change_is_what_its_prices_add_up_to():
    change, more = of_send(COSTS, ZEROCOPY, AWAY, STREAM, 65536), 1000 + APART - 0.18 * 65536
    assert change.ns == pytest.approx(more)
    off = MOST_ERROR * -more + ERROR_OF_WHOLE * (1000 + 0.2 * 65536)
    assert (change.low, change.high) == pytest.approx((more - off, more + off))
    local = of_send(COSTS, ZEROCOPY, LOCAL, STREAM, 65536)
    assert local.ns == pytest.approx(2000 + 0.1 * 65536) and local.verdict == "costs"
    assert of_send(COSTS, FILE, LOCAL, STREAM, 65536).ns == pytest.approx(1000 - 0.1 * 65536)
    assert of_send(COSTS, FILE, AWAY, STREAM, 65536).ns == pytest.approx(400 - 0.15 * 65536)


def test_sendfile_is_held_against_the_read_that_it_spares():
    read = Costs(made(cpu_read=row("cpu-read", 2638.4, points=by_size(1500, 0.3))), "made")
    assert of_send(read, FILE_READ, LOCAL, STREAM, 65536).ns == pytest.approx(500 - 0.2 * 65536)
    # Elsewhere the read adds what it adds to a send here.
    for place, pattern in ((LOCAL, TURNS), (AWAY, STREAM)):
        alone, spared = (of_send(read, each, place, pattern, 65536) for each in (FILE, FILE_READ))
        assert alone.ns - spared.ns == pytest.approx(500 + 0.1 * 65536) and spared.high - spared.low > alone.high - alone.low
    whole = process(sent(bucket(65536, 100)))
    ways = {source: [each.way for each in of_process("server", whole, way(HERE), read, source).choices if "file" in each.way]
            for source in ("file", "memory", "")}
    assert ways == {"file": [FILE_READ], "memory": [], "": [FILE_READ, FILE]}
    said = " ".join(" ".join(lines(of_process("server", whole, way(HERE), read, ""), "")).split())
    assert "sendfile in place of read() and send(), if the bytes come from a file" in said


def test_where_send_copies_next_to_nothing_it_is_left_and_no_switch_is_named(advise, capsys):
    mine = process(sent(bucket(256, 10)), comm="nginx", tx_copy=2560, tx_splice=9_997_440)
    mine["sum"]["counts"]["accepted_bytes"] = 10_000_000
    assert advise(record(mine, remote="127.0.0.1:80")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "leave it as it is: only 0.03% of what it sent was copied by send" in said
    assert "switch" not in said and "MSG_ZEROCOPY" not in said


def test_to_a_device_neither_a_call_nor_a_notification_grows_beyond_a_packet():
    for pattern in (STREAM, TURNS):
        assert of_send(COSTS, ZEROCOPY, AWAY, pattern, 1 << 20).ns == pytest.approx(1000 + APART - 0.18 * (1 << 20))
        assert of_send(COSTS, RING, AWAY, pattern, 1 << 20).ns == pytest.approx(300)
        assert of_send(COSTS, FILE, AWAY, pattern, 1 << 20).ns == pytest.approx(400 - 0.15 * (1 << 20))


def test_where_memory_is_far_the_copy_saves_more():
    far = Costs(made(away_cold=row("away-cold", 1728.8, points=queued(500, 0.3))), "made")
    near, other = (of_send(each, ZEROCOPY, AWAY, STREAM, 1 << 20) for each in (COSTS, far))
    assert other.ns == near.ns and other.high == near.high
    assert near.low - other.low == pytest.approx(0.1 * (1 << 20))
    assert of_send(far, RING, AWAY, STREAM, 65536) == of_send(COSTS, RING, AWAY, STREAM, 65536)


def test_a_short_send_by_reference_takes_a_packet_of_its_own_in_a_stream():
    # The shortest adds 7,006.4 ns to a stream here, and 4,006.4 where each has a packet anyway.
    costs = Costs(made(cpu_reference=row("cpu-reference", 9228.8, points=by_size(8000, 0.3))), "made")
    change = 1000 - 0.18 * 64
    assert of_send(costs, ZEROCOPY, AWAY, STREAM, 64).ns == pytest.approx(change + 3000 * (1 - 64 / SEGMENT_BYTES))
    assert of_send(costs, ZEROCOPY, AWAY, TURNS, 64).ns == pytest.approx(change)
    assert of_send(costs, ZEROCOPY, AWAY, STREAM, 4096).ns == pytest.approx(1000 - 0.18 * 4096)
    assert of_send(costs, RING, AWAY, STREAM, 64).ns == pytest.approx(300)


def test_a_send_with_an_answer_has_prices_of_its_own_here():
    assert of_send(COSTS, ZEROCOPY, LOCAL, TURNS, 65536).ns == pytest.approx(4000 + 0.1 * 65536)


def test_a_ring_is_priced_by_rows_of_its_own():
    for pattern, here in ((STREAM, 500), (TURNS, 1000)):
        assert of_send(COSTS, RING, LOCAL, pattern, 65536).ns == pytest.approx(here)
        assert of_send(COSTS, RING, AWAY, pattern, 65536).ns == pytest.approx(300)
    assert of_send(COSTS, RING_ZEROCOPY, LOCAL, STREAM, 65536).ns == pytest.approx(2400 + 0.1 * 65536)
    assert of_send(COSTS, RING_ZEROCOPY, AWAY, STREAM, 65536).ns == \
        pytest.approx(1200 + APART - 0.18 * 65536)


def test_beyond_the_longest_measured_send_each_byte_takes_as_much():
    assert of_send(COSTS, FILE, LOCAL, STREAM, 4 << 20).ns == pytest.approx(4 * (1000 - 0.1 * (1 << 20)))


def test_what_repeats_lie_apart_widens_the_interval():
    wide = made()
    points, = [each["curve"]["points"] for each in wide["rows"] if each["row"] == "cpu-file"]
    points[2].update(low=0.9 * points[2]["value"], high=1.1 * points[2]["value"])
    narrow, other = (of_send(Costs(each, "made"), FILE, LOCAL, STREAM, 65536) for each in (made(), wide))
    assert other.ns == narrow.ns and other.high - other.low > narrow.high - narrow.low


def test_prices_of_several_turns_have_ends_that_hold_all():
    def turn(value: float) -> bytes:
        return json.dumps({"rows": [row("cpu-copy", value, points={64: value})]}).encode()
    found, = json.loads(joined([turn(each) for each in (10.0, 30.0, 11.0)]))["rows"]
    assert found["curve"]["points"] == [{"x": 64, "value": 11.0, "low": 10.0, "high": 30.0, "n": 3,
                                         "disk_bytes": None}]


@pytest.mark.parametrize("seconds, turns", [(1, 3), (6.5, 3), (7, 2), (60, 2)])
def test_prices_are_measured_so_often_as_time_allows(monkeypatch, seconds, turns):
    clock = [0.0]

    def measure(*_words: object, **_more: object) -> bytes:
        clock[0] += seconds
        return json.dumps({"rows": [row("cpu-copy", 10.0, points={64: 10.0})]}).encode()
    monkeypatch.setattr(baseline_runs, "measure", measure)
    monkeypatch.setattr(baseline_runs.time, "monotonic", lambda: clock[0])
    found, = json.loads(baseline_runs.measure_in_turn(("cpu-copy",)))["rows"]
    assert found["curve"]["points"][0]["n"] == turns


SENDS = [Sends(64, 64.0, 1000), Sends(4096, 4093.0, 23), Sends(65536, 65536.0, 100)]


def test_the_threshold_leaves_out_the_sizes_that_would_lose():
    found = choose(COSTS, ZEROCOPY, TO_DEVICE, STREAM, SENDS)
    assert (found.verdict, found.best.from_bytes) == (PAYS, 65536)
    assert [option.from_bytes for option in found.options] == [64, 4096, 65536]
    gb = (64 * 1000 + 94139 + 6553600) / 1e9
    one = of_send(COSTS, ZEROCOPY, AWAY, STREAM, 65536)
    assert found.best.per_gb.ns == pytest.approx(100 * one.ns / gb)


def test_where_pages_are_copied_on_arrival_nothing_pays():
    assert choose(COSTS, ZEROCOPY, HERE, STREAM, SENDS).verdict == LEAVE


def test_where_the_route_is_not_known_both_ends_count():
    found = choose(COSTS, ZEROCOPY, ANYWHERE, STREAM, SENDS)
    assert found.verdict == UNDECIDED and found.best.change.low < 0 < found.best.change.high


def test_prices_that_nearly_cancel_out_decide_nothing():
    # 64 bytes: a notification, and next to no copy is saved. About 5,500 both are alike.
    assert choose(COSTS, ZEROCOPY, TO_DEVICE, STREAM, SENDS[:1]).verdict == LEAVE
    assert choose(COSTS, ZEROCOPY, TO_DEVICE, STREAM, [Sends(4096, 5500.0, 5)]).verdict == UNDECIDED


def test_sends_that_go_by_reference_in_vain_are_sent_plain_again():
    found = back(COSTS, HERE, STREAM, SENDS)
    assert (found.verdict, found.best.from_bytes) == (PAYS, 0)
    away = back(COSTS, TO_DEVICE, STREAM, SENDS)
    assert (away.verdict, away.best.from_bytes) == (PAYS, 65536)


def test_what_goes_by_a_rings_reference_is_held_against_a_copy_by_the_ring():
    plain, ring = (back(COSTS, HERE, STREAM, SENDS, by_ring) for by_ring in (False, True))
    assert (ring.verdict, ring.best.from_bytes) == (PAYS, 0)
    # 100 ns less to save for each send than back to send().
    assert ring.best.change.ns - plain.best.change.ns == pytest.approx(100 * (1000 + 23 + 100), rel=1e-5)


def without_rings() -> Costs:
    """Prices of a kernel that refuses a ring."""
    data = made()
    for each in data["rows"]:
        if each["row"] in RING_ROWS:
            each.update(status="not_measured", measured=None, why="it needs io_uring")
    return Costs(data, "made")


def test_where_the_kernel_refuses_a_ring_the_reason_is_told():
    found = of_process("server", process(sent(bucket(65536, 100))), way(HERE), without_rings(), "")
    assert [each.way for each in found.choices] == [ZEROCOPY, FILE]
    said = " ".join(" ".join(lines(found, "")).split())
    assert "io_uring: not predicted: row cpu-ring of the baseline: it is not measured (it needs io_uring)" in said
    held = process(sent(bucket(65536, 100), way="zerocopy")) | {"holds": {"by_ring": 100}}
    assert not of_process("server", held, way(HERE), without_rings(), "").choices


def test_a_ring_that_might_pay_leaves_no_advice_open():
    found = of_process("server", process(sent(bucket(1 << 20, 100))), way(HERE), COSTS, "")
    ring, = (each for each in found.choices if each.way == RING)
    assert ring.verdict == UNDECIDED and found.verdict == LEAVE
    assert "uring" not in " ".join(lines(found, "")[-2:])


def test_a_row_that_a_kernel_refuses_is_no_failure_if_it_is_optional():
    rows = [row("cpu-copy", 1.0), row("cpu-ring", 1.0) | {"status": "not_measured"}]
    assert bad_rows(json.dumps({"rows": rows}).encode(), RING_ROWS) == []
    rows[0]["status"] = "invalid"
    assert bad_rows(json.dumps({"rows": rows}).encode(), RING_ROWS) == ["cpu-copy"]
    assert bad_rows(b"", RING_ROWS) is None


def test_rows_that_were_disturbed_are_measured_again_alone(monkeypatch):
    asked = []

    def run(command: list[str], **_more: object) -> SimpleNamespace:
        names = [word for before, word in zip(command, command[1:]) if before == "--only"]
        asked.append(names)
        status = "invalid" if len(asked) == 1 else "valid"
        rows = [row(name, len(asked)) | {"status": status if name == "cpu-file" else "valid"} for name in names]
        return SimpleNamespace(returncode=int(status == "invalid"), stdout=json.dumps({"rows": rows}).encode())
    monkeypatch.setattr(baseline_runs.subprocess, "run", run)
    found = json.loads(baseline_runs.measure(("cpu-copy", "cpu-file"), quick=True))["rows"]
    assert asked == [["cpu-copy", "cpu-file"], ["cpu-file"]]
    assert [(each["row"], each["measured"]["value"]) for each in found] == [("cpu-copy", 1), ("cpu-file", 2)]


def way(found: Route, path: str = "nic") -> Way:
    """Where bytes go."""
    return Way(found, "to a test", (), path)


def test_a_file_decides_only_if_the_source_is_one():
    whole = process(sent(bucket(65536, 100)))
    assert of_process("server", whole, way(HERE), COSTS, "").verdict == LEAVE
    assert of_process("server", whole, way(HERE), COSTS, "file").verdict == PAYS
    assert [each.way for each in of_process("server", whole, way(HERE), COSTS, "memory").choices] == \
        [ZEROCOPY, RING, RING_ZEROCOPY]


@pytest.mark.parametrize("receives, pattern", [(100, "rr"), (0, "stream"), (5, "stream")])
def test_the_pattern_follows_from_how_many_answers_there_are(receives, pattern):
    answers = sent(bucket(64, receives), direction="recv") if receives else sent(direction="recv")
    found = of_process("server", process(sent(bucket(65536, 100)), answers), way(HERE), COSTS, "")
    assert found.pattern == pattern


MACHINE_ELSEWHERE = Machine("6.12.0", False)


@pytest.mark.parametrize("socket, expected", [
    ({"remote": "127.0.0.1:80"}, HERE), ({"remote": "[::ffff:127.0.0.1]:80"}, HERE),
    ({"remote": "[::1]:80"}, HERE), ({"local": "10.0.0.1:1", "remote": "10.0.0.1:2"}, HERE),
    ({"remote": "198.51.100.7:80"}, ANYWHERE)])
def test_the_route_follows_from_addresses(socket, expected):
    data = record(process(sent(bucket(65536, 100))), **socket)
    assert route.find(data, data["processes"][0], MACHINE_ELSEWHERE, None).route == expected


def test_what_became_of_bytes_by_reference_tells_more_than_addresses():
    mine = process(sent(bucket(65536, 100), way="zerocopy"), tx_reference=6553600)
    mine["sum"]["fate"].update(uncopied_bytes=75, copied_later_bytes=25)
    data = record(mine, remote="198.51.100.7:80")
    assert route.find(data, mine, MACHINE_ELSEWHERE, None).route == Route(0.25, 0.25)


def test_the_command_to_verify_it_names_who_gets_most():
    data = record(process(sent(bucket(65536, 100))), remote="[2001:db8::7]:80")
    found = route.find(data, data["processes"][0], MACHINE_ELSEWHERE, None)
    assert (found.path, found.host) == ("peer", "2001:db8::7")
    advice = of_process("server", data["processes"][0], found, COSTS, "")
    said = " ".join(lines(advice, ""))
    assert "--path peer --host 2001:db8::7 --pattern stream" in " ".join(said.split())
    there = " ".join(" ".join(lines(advice, "", host="root@db1")).split())
    assert "verify type on root@db1: sudo" in there


def test_processes_of_one_service_are_advised_on_together():
    """As one process that sent and took what all of them did, to the byte and to the sample."""
    def worker(pid: int, size: int, samples: int) -> dict[str, Any]:
        cpu = {"samples": samples, "clock_seconds": samples / 100, "copies": {"samples": samples // 2}}
        return {**process(sent(bucket(size, 10))), "pid": pid, "cpu": cpu}
    mine = [worker(1, 65536, 100), worker(2, 65536, 300), worker(3, 4096, 0)]
    data = record(*mine, remote="127.0.0.1:80")
    (name, one), = services.services(data)
    alone = process(sent(bucket(4096, 10), bucket(65536, 20)))
    assert name.endswith(", 3 processes") and one["pids"] == [1, 2, 3] and one["pid"] is None
    assert one["sizes"] == alone["sizes"] and one["sum"]["sockets"] == 3
    assert one["sum"]["sites"]["tx_copy"] == alone["sum"]["sites"]["tx_copy"]
    assert (one["cpu"]["clock_seconds"], one["cpu"]["copies"]["share"]) == (4, 0.5)
    went, _ = route.of_sockets(data, one["pids"], MACHINE_ELSEWHERE)
    assert sum(went.values()) == sum(each["sum"]["counts"]["accepted_bytes"] for each in mine)


def test_a_cause_is_told_with_its_remedy():
    mine = process(sent(bucket(65536, 100)))
    mine["causes"] = [{"cause": "no scatter-gather", "site": "late_copy", "bytes": 94139, "calls": 23,
                       "remedy": "", "stack": None, "why": None}]
    found = route.find(record(mine), mine, MACHINE_ELSEWHERE, None)
    said = "\n".join(lines(of_process("server", mine, found, COSTS, ""), ""))
    assert "no scatter-gather (94,139" in " ".join(said.split()) and "ethtool -K" in said


def test_the_user_knows_the_path_better():
    data = record(process(sent(bucket(65536, 100))), remote="127.0.0.1:80")
    for path, kernel, share in (("nic", "6.12.0", 0), ("veth", "6.12.0", 1), ("forward", "6.12.0", 1),
                                ("forward", "6.17.1", 0), ("peer", "6.12.0", 0)):
        data["machine"]["kernel"] = kernel
        found = route.find(data, data["processes"][0], Machine(kernel, False), path)
        assert found.route == Route(share, share) and found.path == path


def test_a_switch_that_is_on_is_not_advised():
    def sites(spliced: int | None, copied: int) -> dict:
        return {"tx_splice": {"bytes": spliced}, "tx_copy": {"bytes": copied}}

    assert is_on("splice", sites(99, 1)) and is_on(FILE, sites(99, 1))
    assert not is_on("splice", sites(1, 99)) and not is_on("splice", sites(None, 0)) and not is_on(ZEROCOPY, sites(99, 1))


def test_a_program_with_a_switch_is_told_it():
    assert switch_of("nginx", [FILE])["set"] == "sendfile on;"
    assert "no release" in switch_of("redis-server", [ZEROCOPY])["set"]
    assert switch_of("nginx", [ZEROCOPY]) is None and switch_of("other", [FILE]) is None


@pytest.fixture(name="advise")
def fixture_advise(tmp_path, monkeypatch):
    """Writes a record and prices; runs the command on them."""
    monkeypatch.setattr(prices, "PLACE", tmp_path / "kept")

    def run(data: dict[str, Any], *more: str) -> int:
        (tmp_path / "watch.json").write_text(json.dumps(data))
        (tmp_path / "baseline.json").write_text(json.dumps(made()))
        return command.main(["--record", str(tmp_path / "watch.json"), "--baseline",
                             str(tmp_path / "baseline.json"), *more])
    return run


@pytest.mark.parametrize("words, remote, status, said", [
    (["--path", "nic"], "198.51.100.7:80", 1, "send by MSG_ZEROCOPY from 64 KiB on"),
    ([], "127.0.0.1:80", 0, "leave it as it is"),
    ([], "198.51.100.7:80", 4, "undecided: measure it"),
    (["--source", "file"], "127.0.0.1:80", 1, "send by sendfile from 64 KiB on")])
def test_the_command_says_it_and_exits_so(advise, capsys, words, remote, status, said):
    data = record(process(sent(bucket(65536, 100))), remote=remote)
    assert advise(data, *words) == status
    shown = capsys.readouterr()
    assert said in shown.out and not shown.err and len(shown.out.splitlines()) <= 24
    # What it prints runs as it stands: cards that nobody named are those of a guest.
    verify = " ".join(shown.out.split()).partition("verify ")[2]
    assert verify.startswith({0: "sudo ./tools/advise --path lo --sizes 65536 --threads 1",
                              1: "sudo ./tools/", 4: "sudo ./tools/sweep"}[status])
    assert ("--kernel 6.12 --counters model" in verify) == ("nic" in words)


@pytest.fixture(name="turned")
def fixture_turned(monkeypatch):
    """Makes up turns: of a variant they take so many ns, else 1000. Returns the words of each run that is asked for."""
    def take(**takes: int) -> list[tuple[str, ...]]:
        asked: list[tuple[str, ...]] = []

        def make(run, *_):
            asked.append(run.arguments)
            return SimpleNamespace(status=0, stderr="", said=json.dumps(
                alternated.record(run.arguments, lambda name, _size: takes.get(name, 1000))))
        monkeypatch.setattr(launch, "make", make)
        monkeypatch.setattr(launch, "check_built", lambda _: None)
        monkeypatch.setattr(ways, "EVERY_S", 0)
        return asked
    return take


def test_turns_settle_an_advice_and_say_if_it_held(turned, capsys, tmp_path):
    """At 64 KiB MSG_ZEROCOPY pays by the turns, which the prices of that machine had denied; sendfile pays besides."""
    asked = turned(**{"A3-whole": 700, "A1-file": 1500, "sendfile": 1200, "uring-zc": 2000})
    mine = process(sent(bucket(65536, 100)))
    watch, prices = tmp_path / "watch.json", tmp_path / "prices.json"
    watch.write_text(json.dumps(record(mine, remote="127.0.0.1:80")))
    prices.write_text(json.dumps(made(cpu_read=row("cpu-read", 2638.4, points=by_size(1500, 0.3)))))
    words = ["--record", str(watch), "--baseline", str(prices), "--quiet", "--json", "-", "--verify"]
    assert command.main([*words, "--source", "file"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert not schemas.faults(ROOT / "docs/advice.schema.json", data)
    told = {each["way"]: (each["outcome"], each["held"]) for each in data["processes"][0]["verified"]}
    assert told == {ZEROCOPY: ("pays", False), FILE_READ: ("pays", True), RING: ("alike", None), RING_ZEROCOPY: ("costs", True)}
    assert {run[2:5] for run in asked} == {("--block", block, "65536") for block in "13"}
    command.main([each for each in words if each not in ("--quiet", "--json", "-")])
    said = " ".join(capsys.readouterr().out.split())
    assert "advice send by MSG_ZEROCOPY: by turns -30 % of processor time verified MSG_ZEROCOPY: pays, -30 %" in said
    assert "the advice did not hold" in said and "verify " not in said


@pytest.mark.parametrize("received, waits", [([], ()), ([bucket(32, 25)], ("--answer-every", "4")), ([bucket(32, 100)], ("--answer-every", "1"))])
def test_turns_wait_for_answers_as_often_as_the_program_does(turned, capsys, tmp_path, received, waits):
    """A program that answers requests has an answer on its way, not what the buffers of both sockets hold. Sizes that
    carry next to nothing take no turns."""
    asked = turned()
    mine = process(sent(bucket(65536, 100), bucket(48, len(received) * 25)), *([sent(*received, direction="recv")] if received else []))
    (tmp_path / "watch.json").write_text(json.dumps(record(mine, remote="127.0.0.1:80")))
    (tmp_path / "prices.json").write_text(json.dumps(made()))
    words = ["--record", str(tmp_path / "watch.json"), "--baseline", str(tmp_path / "prices.json")]
    command.main([*words, "--verify", "--quiet"])
    assert {run[4] for run in asked} == {"65536"} and {run[1] for run in asked} == {"A1-plain,A3-whole", "A1-plain,uring,uring-zc"}
    for run in asked:
        at = run.index("--answer-every") if "--answer-every" in run else len(run)
        assert run[at:at + 2] == waits
    capsys.readouterr()
    command.main(words)
    verify = " ".join(capsys.readouterr().out.split()).partition("verify ")[2]
    assert ("--answer" in verify) == bool(waits)


def test_udp_is_not_priced_by_rows_of_tcp_but_by_its_own_turns(advise, turned, capsys):
    asked = turned(**{"udp-zc": 700})
    data = record(process(sent(bucket(56000, 100)), sent(bucket(32, 100), direction="recv")), remote="127.0.0.1:80", protocol="udp")
    assert advise(data) == 4
    said = " ".join(capsys.readouterr().out.split())
    assert "MSG_ZEROCOPY: not predicted" in said and "sendfile" not in said and "io_uring" not in said
    assert said.endswith("verify sudo ./tools/trace_run --alternate udp,udp-zc 56000 1 --path lo")
    assert advise(data, "--verify", "--quiet", "--json", "-") == 1
    verified, = json.loads(capsys.readouterr().out)["processes"][0]["verified"]
    assert (verified["way"], verified["outcome"]) == (ZEROCOPY, "pays") and {run[1] for run in asked} == {"udp,udp-zc"}
    assert not any("--answer-every" in run for run in asked)


@pytest.mark.parametrize("received, size, count", [(10, 1400, 40), (0, 1400, 46), (400, 1400, 0), (10, 8000, 0)])
def test_datagrams_that_are_ready_at_once_are_held_against_one_send_of_all(advise, turned, capsys, received, size, count):
    """As many as it sends for each that it receives, or a send can carry; none of an answer of one, nor of what is cut anyway."""
    asked = turned(**{"udp-each": 2000})
    got = [sent(bucket(32, received), direction="recv")] if received else []
    data = record(process(sent(bucket(size, 400)), *got), remote="127.0.0.1:80", protocol="udp")
    assert advise(data) == 4
    said = " ".join(capsys.readouterr().out.split())
    alone = f"--piece {size} --behaviours no-gro"
    assert said.endswith(f"--alternate udp-each,udp {size * count} 1 --path lo {alone}" if count else "--path lo")
    assert ("UDP_SEGMENT: not predicted" in said) == bool(count)
    advise(data, "--verify")
    said = " ".join(capsys.readouterr().out.split())
    assert (f"UDP_SEGMENT ({count} datagrams of {size} B in a send): pays, -50 %" in said) == bool(count)
    turns = [" ".join(map(str, run)) for run in asked if run[1] == "udp-each,udp"]
    assert bool(turns) == bool(count) and all(f"{size * count} 1 --path lo {alone}" in each for each in turns)


@pytest.mark.parametrize("requests, whole", [(10, 1 << 20), (320, 0), (0, 0)])
def test_a_file_that_is_read_in_pieces_is_held_against_one_sendfile_of_an_answer(
        advise, turned, capsys, tmp_path, requests, whole):
    asked, priced = turned(sendfile=600), tmp_path / "with-read.json"
    priced.write_text(json.dumps(made(cpu_read=row("cpu-read", 2638.4, points=by_size(1500, 0.3)))))
    got = [sent(bucket(32, requests), direction="recv")] if requests else []
    data = record(process(sent(bucket(32768, 320)), *got), remote="127.0.0.1:80")
    advise(data, "--source", "file", "--verify", "--baseline", str(priced))
    said = " ".join(capsys.readouterr().out.split())
    assert ("sendfile for read() of 1 MiB at once: pays, -40 %" in said) == bool(whole)
    assert ("sendfile for read(): pays, -40 %" in said) != bool(whole)
    of_files = [" ".join(each) for each in asked if "A1-file" in each[1]]
    assert all((f"{whole} 1 --path lo --piece 32768 --answer-every 1" in each) == bool(whole) for each in of_files) and of_files


@pytest.mark.parametrize("got_bytes, relays", [(0, False), (6553600, True), (5900000, True), (5890000, False)])
def test_who_receives_what_it_sends_may_splice(advise, turned, capsys, got_bytes, relays):
    """A splice at either end saves 30 and 10 % of a send with its receive: a relay has both, and saves the sum. Nothing
    tells that it passes bytes on unread, so that no advice follows."""
    turned(**{"A1-plain:splice": 700, "vmsplice": 900, "A3-whole": 1200, "uring": 1200, "uring-zc": 1200})
    mine = process(sent(bucket(65536, 100)), *([sent(bucket(65536, 100), direction="recv")] if got_bytes else []))
    mine["sum"]["counts"]["returned_bytes"] = got_bytes
    data = record(mine, remote="127.0.0.1:80")
    advise(data, "--source", "memory")
    assert ("splice: not predicted: turns (--verify) tell it" in " ".join(capsys.readouterr().out.split())) == relays
    advise(data, "--source", "memory", "--verify")
    said = " ".join(capsys.readouterr().out.split())
    assert ("splice of 64 KiB, of what is passed on unread: pays, -40 %" in said) == relays
    assert f"leave it as it is: {'splice would pay, on the condition told here' if relays else 'no way pays'}" in said


@pytest.mark.parametrize("size, sends", [(65536, False), (65536, True), (4088, False)])
def test_what_receives_whole_pages_may_map_them(advise, turned, capsys, size, sends):
    """A program that only receives has an answer, too. Nothing tells how much its peer sends at once, so that no advice follows."""
    asked = turned(**{"A1-plain:map": 600, "A3-whole": 1200, "uring": 1200, "uring-zc": 1200})
    mine, maps = process(*([sent(bucket(64, 100))] if sends else []), sent(bucket(size, 100), direction="recv")), size >= 4096
    mine["sum"]["counts"]["returned_bytes"] = 100 * size
    data = record(mine, remote="127.0.0.1:80")
    assert advise(data, "--source", "memory") == (0 if sends or not maps else 4)
    said = " ".join(capsys.readouterr().out.split())
    assert ("TCP_ZEROCOPY_RECEIVE: not predicted: turns (--verify) tell it" in said) == maps
    assert said.endswith("--alternate A1-plain,A1-plain:map 65536 1 --path lo") == (maps and not sends)
    assert ("nothing to advise on" in said) != maps
    assert advise(data, "--source", "memory", "--verify") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ("leave it as it is: TCP_ZEROCOPY_RECEIVE would pay, on the condition told here" in said) == maps
    assert ("TCP_ZEROCOPY_RECEIVE, if 64 KiB are sent at once: pays, -40 %" in said) == maps
    assert any("A1-plain,A1-plain:map" in run for run in asked) == maps


def test_prices_of_another_host_are_measured_there_though_it_be_like_this_one(monkeypatch, tmp_path):
    watched, asked = SimpleNamespace(data=record(process(sent(bucket(65536, 100)))), source="lab2"), []
    watched.at = lambda key: watched.data["machine"][key.removeprefix("machine.")]
    monkeypatch.setattr(prices, "PLACE", tmp_path)
    monkeypatch.setattr(prices, "OPTIONAL_ROWS", ())
    monkeypatch.setattr(prices.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(baseline_runs, "measure", lambda *_, more, program, **__: asked.append((more, program)) or
                        json.dumps(made()).encode())
    (tmp_path / f"{prices.key_of(MACHINE, '')}.json").write_text(json.dumps(made()))
    assert prices.of_machine(watched, None, False, "lab2", "ssh -p 2222").rows.keys() >= set(ROWS)
    assert set(asked) == {(("--runs", "2", "--host=lab2", "--ssh=ssh -p 2222"), baseline_runs.FAR)}
    asked.clear()
    prices.of_machine(watched, None, False, "lab2")
    assert not asked and len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize("read, received, spliced, source", [
    (6553600, 0, 0, "file"), (9_000_000, 0, 0, "file"), (6553600, 6553600, 0, ""), (6553600, 0, 6553600, ""), (100, 0, 0, ""),
    (60_000_000, 0, 0, "")])
def test_a_program_that_reads_as_much_as_it_sends_has_it_from_files(monkeypatch, read, received, spliced, source):
    now = iter((1000, 1000 + read))
    monkeypatch.setattr(sources, "read_bytes", lambda _: next(now))
    reading = sources.Reading("812", None)
    mine = process(sent(bucket(65536, 100)), tx_copy=6553600, tx_splice=spliced)
    mine["sum"]["counts"]["returned_bytes"] = received
    assert bool(reading.told(mine, 5.0)) == bool(source)
    # Of a watch that took twice as long as its window half is of the window.
    now = iter((1000, 1000 + 2 * read))
    monkeypatch.setattr(sources.time, "monotonic", iter((10.0, 20.0)).__next__)
    assert bool(sources.Reading("812", None).told(mine, 5.0)) == bool(source)


def test_a_process_that_is_gone_or_was_not_watched_from_the_first_tells_no_source():
    assert sources.read_bytes(1 << 30) is None
    assert not sources.Reading("1", None).told(process(sent(bucket(65536, 100))), 5.0)


def test_every_number_of_the_document_is_a_quantity(advise, tmp_path):
    file = tmp_path / "advice.json"
    data = record(process(sent(bucket(65536, 100))), remote="127.0.0.1:80")
    assert advise(data, "--json", str(file), "--quiet") == 0
    found = json.loads(file.read_text())
    assert not schemas.faults(ROOT / "docs/advice.schema.json", found)
    named = {each["name"]: each for each in found["processes"][0]["quantities"]}
    assert named["copied.tx_copy"]["value"] == 6553600 and named["copied.tx_copy.per_gb"]["value"] == 1e9
    change = named["MSG_ZEROCOPY.from_65536.change"]
    assert change["low"] < change["value"] < change["high"] and change["how"] == "modelled"


def test_a_record_without_sizes_is_one_line_and_status_2(advise, capsys):
    data = record(watches.process(812, "server", watches.moved(900, 0, tx_copy=900)))
    assert advise(data) == 2
    said = capsys.readouterr().err
    assert "--sizes" in said and said.count("\n") == 1


def test_prices_of_another_machine_are_refused(advise, capsys):
    data = record(process(sent(bucket(65536, 100))))
    data["machine"]["kernel"] = "5.10"
    assert advise(data) == 2 and "machine.kernel" in capsys.readouterr().err


@pytest.mark.parametrize("word, meant", [("nginx", "--comm before it"), ("1234", "-p before it")])
def test_a_name_or_a_number_alone_gets_its_option(capsys, word, meant):
    assert command.main([word]) == 2
    assert f"'{word}' is no option: {meant}" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-p", "1", "--comm", "x"], ["--seconds", "1"], ["--against", "x"], ["--path", "lo,veth"], ["--path", "peer"],
                                   ["--path", "nic"], ["--sizes", "4"], ["-p", "1", "--out", "x"], ["-p", "1", "--path", "lo,veth"], ["--record", "x", "--seconds", "1"],
                                   ["--path", "moon", "-p", "1"], ["--record", "/nonexistent"],
                                   ["--host", "x"], ["--ssh", "x", "-p", "1"], ["--host", "x", "--", "true"], ["--host", "x", "-p", "1", "--verify"]])
def test_bad_words_are_one_line_and_status_2(capsys, words):
    assert command.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_process_without_sends_gets_no_advice(advise, capsys):
    data = record({**watches.process(812, "server", watches.moved(0, 0)), "sizes": []})
    assert advise(data) == 0 and "nothing to advise on" in capsys.readouterr().out


def test_a_sweep_takes_the_sizes_that_moved_most(tmp_path):
    file = tmp_path / "watch.json"
    file.write_text(json.dumps(record(process(sent(bucket(4093, 23), bucket(65536, 10),
                                                   bucket(102, 3), bucket(70, 2), bucket(20, 1))))))
    assert sizes_from(file) == [72, 104, 4096, 65536]


def test_the_rows_that_are_measured_are_all_that_is_used():
    assert {"cpu-copy", "cpu-reference", "cpu-file", "turn-copy", "turn-reference", "turn-file", "away-copy",
            "away-cold", "away-reference", "away-file", "alone-copy", "alone-reference"} == set(ROWS)
    assert {f"{each}-{kind}" for each in ("cpu", "turn", "away") for kind in ("ring", "ring-reference")} | \
        {"alone-ring-reference"} == set(RING_ROWS)
