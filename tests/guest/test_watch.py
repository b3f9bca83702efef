# SPDX-License-Identifier: GPL-2.0
"""`copyscope watch` with trampolines: the books of a program are its own, to the byte."""
from __future__ import annotations

import functools
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from guest.boots import ALL, GUEST, Asked, Maker, Outcome, boot, dealt
from guest.test_arm64 import BUILD, MISSING, boot as boot_arm64
from helpers import datagrams, printed, records
from helpers.books import PRIME_PAYLOAD
from helpers.guest_python import OWN, adding
from helpers.strace import of_record as sizes_of
from helpers.watch_tool import broken, record_of
from helpers.windows import check_causes

ARM64 = "6.12 arm64"
KERNELS = ("6.1", "6.12", "7.2", ARM64)
SCRIPT = "tests/guest/watch.sh"
LARGE_PAYLOAD = 23 * 65536
ISCSI, DRBD_ENDS = "127.0.0.1:3260", ("127.0.0.1:7000", "127.0.0.1:7001")
# Which limit refuses a send differs between kernels, which the first part asks; since 6.18 drops of datagrams are
# counted elsewhere.
PARTS = ("whole", "life", "detail", "kernel", "spliced", "iscsi", "drbd", "datagrams", "lost", "handed", "queued", "late", "holds", "held", "ends", "alone")
DEALT = ("life", "detail", "kernel")
makes = Maker({"whole": KERNELS, "alone": (*ALL, ARM64), "holds": ("6.12",), "held": ("6.12",), "ends": ("7.2",), **dict.fromkeys(("spliced", "iscsi", "drbd"), ("6.1", "6.12", "7.2")),
               "datagrams": ("6.12", "7.2", ARM64), **dict.fromkeys(("lost", "handed", "queued"), ("6.12", "7.2", ARM64)), "late": ("6.12",)} | dealt(DEALT, KERNELS, hands=2),
              # A watch starts in half of the time where no newer verifier and no preemption is asked for.
              soon={"whole": ("7.2",), "alone": ("6.1",), "spliced": ("6.12",), "iscsi": (), "drbd": (), "datagrams": ("6.12",),
                    "lost": ("6.12",), "handed": (), "queued": (), "held": (), "life": ("6.1",), "detail": ("6.12",), "kernel": ("6.1",)})
# Of Debian's drbd-utils.
DRBD = [Path(name) for name in ("/sbin/drbdmeta", "/lib/drbd/drbdsetup-84")]
HAS_DRBD = all(map(Path.exists, DRBD))
# What a part needs of its guest.
NEEDS = {"holds": ["--nics", "2"], "held": ["--nics", "2"], "ends": ["--with", "bpftrace"], "iscsi": adding(),
         "drbd": [word for program in DRBD for word in ("--add", program)]}


@pytest.fixture(scope="module", name="boots")
def made_when_asked_for(request, tmp_path_factory) -> Callable[[str], Outcome]:
    """What a guest of one kernel left of the parts that are its and that the chosen tests ask for."""
    asked = Asked(request)

    @functools.cache
    def made(release: str) -> Outcome:
        parts = [part for part in PARTS if makes(release, part) and asked(release, part) and (part != "drbd" or HAS_DRBD)]
        out = tmp_path_factory.mktemp("watch")
        if release != ARM64:
            return boot(release, out, ["env", f"PYTHON={OWN}", SCRIPT, *parts], [word for part in parts for word in NEEDS.get(part, ())])
        if MISSING or not (BUILD / "arm64/tests/guest/traffic").exists():
            pytest.skip(MISSING or "no tests are built for arm64: make arm64-tests")
        return boot_arm64(out, " ".join([SCRIPT, *parts]))
    return made


@pytest.fixture(name="outcome")
def one_kernel(boots, request) -> Outcome:
    """What one kernel's guest left."""
    return boots(request.param)


def in_part(part: str) -> pytest.MarkDecorator:
    """Run a test with each kernel that makes this part."""
    return pytest.mark.parametrize("outcome", [pytest.param(release, marks=makes.marks(release, part))
                                               for release in (*ALL, ARM64) if makes(release, part)], indirect=True)


def watched(outcome: Outcome, run: str) -> tuple[dict, dict]:
    """The record of a watch that ended well, and what the program itself counted."""
    assert outcome.status(run) == 0, outcome.errors(run)
    record = record_of(outcome.folder / f"{run}.json")
    assert record["backend"]["name"] == "trampoline" and not broken(record)
    assert not any(record["losses"].values()), record["losses"]
    return record, json.loads(outcome.text(f"{run}.told").splitlines()[1])


def of_processes(record: dict, comm: str) -> dict[str, int]:
    """Bytes by site, and counts, of all processes of that name."""
    sums = [each["sum"] for each in record["processes"] if each["comm"] == comm]
    sites = {site: sum(each["sites"][site]["bytes"] for each in sums) for site in sums[0]["sites"]
             if site not in ("user_gather", "reshape")}
    return sites | {name: sum(each["counts"][name] for each in sums) for name in (
        "accepted_bytes", "returned_bytes", "zerocopy_sends", "completed_sends", "enobufs")}


def agrees(found: dict[str, int], told: dict[str, int]) -> None:
    """A program's own counts are those of the record."""
    spliced = told["tx_sendfile"] + told["tx_splice"]
    assert found["tx_copy"] == told["tx_copy"]
    assert found["tx_reference"] == told["tx_reference"]
    assert found["tx_splice"] == spliced
    assert found["accepted_bytes"] == told["tx_copy"] + told["tx_reference"] + spliced
    taken = ("rx_copy", "rx_discard", "rx_splice")
    assert {site: found[site] for site in taken} == {site: told[site] for site in taken}
    assert found["returned_bytes"] == sum(told[site] for site in taken)
    assert found["zerocopy_sends"] == found["completed_sends"] == told["zerocopy_sends"]
    assert found["late_copy"] >= told["tx_reference"] and found["enobufs"] == 0


def refusals(record: dict, comm: str) -> dict[str, int]:
    """Refused sends of all processes of that name, by cause."""
    found: Counter = Counter()
    for process in record["processes"]:
        for cause in process["causes"] if process["comm"] == comm else ():
            if cause["site"] == "tx_reference":
                found[cause["cause"]] += cause["calls"]
    return dict(found)


@in_part("whole")
def test_a_program_from_beginning_to_end_is_counted_to_the_byte(outcome):
    record, told = watched(outcome, "whole")
    agrees(of_processes(record, "traffic"),
           {name: told["before"][name] + told["window"][name] for name in told["window"]})
    laws = {law["law"]: law["status"] for law in record["laws"]}
    assert {name for name, status in laws.items() if status == "balanced"} >= \
        {"send queue", "completion", "probes"}
    # Copies to the reader are what is left when all else is counted, so nothing tests them here.
    assert record["sites"]["rx_copy"]["how"] == "derived" and laws["receive queue"] == "not testable"
    # The window closes as the last program ends: on a busy machine its last packets may be on their way.
    assert all(each["born"] and (each["died"] or each["comm"] == "traffic") for each in record["sockets"])


@in_part("alone")
def test_one_file_in_a_root_with_nothing_else_counts_to_the_byte(outcome):
    assert outcome.status("alone") == 0, outcome.errors("alone")
    record = record_of(outcome.folder / "alone.json")
    assert record["backend"]["name"] == "trampoline" and not broken(record)
    found = of_processes(record, "workload")
    assert (found["tx_copy"], found["rx_copy"]) == (PRIME_PAYLOAD, PRIME_PAYLOAD)
    # The workload is all that moves in a guest.
    table = outcome.text("alone.out")
    assert re.search(rf"^ +{PRIME_PAYLOAD}  tx_copy$", table, re.M) and re.search(r"^ +-  user_gather$", table, re.M)
    assert re.search(rf"^ +{PRIME_PAYLOAD} .* workload, pid \d+$", table, re.M)


@in_part("whole")
def test_the_workloads_bytes_are_its_own(outcome):
    record, _ = watched(outcome, "whole")
    found = of_processes(record, "workload")
    assert (found["tx_copy"], found["tx_reference"]) == (PRIME_PAYLOAD, 3 * LARGE_PAYLOAD)
    told = [outcome.record(run)["experiment"]["workload"] for run in ("A1", "A3", "limited", "starved")]
    assert found["accepted_bytes"] == sum(each["accepted_bytes"] for each in told)
    assert found["returned_bytes"] == found["rx_copy"] == sum(each["received_bytes"] for each in told)
    assert found["zerocopy_sends"] == sum(each["zerocopy_sends"] for each in told)


@in_part("life")
def test_a_program_in_mid_life_is_counted_to_the_byte(outcome):
    record, told = watched(outcome, "life")
    agrees(of_processes(record, "traffic"), told["window"])
    assert not any(each["whole"] for each in record["sockets"])


@in_part("life")
def test_calls_say_what_sequence_numbers_say(outcome):
    record, told = watched(outcome, "life")
    laws = {law["law"]: law for law in record["laws"]}
    assert laws["sends"]["status"] == laws["receives"]["status"] == "balanced"
    assert laws["receive queue"]["status"] == "balanced" and record["sites"]["rx_copy"]["how"] == "measured"
    assert laws["sends"]["left"] == sum(told["window"][site] for site in (
        "tx_copy", "tx_reference", "tx_sendfile", "tx_splice"))


@in_part("life")
def test_the_sizes_of_calls_add_up_by_way(outcome):
    record, told = watched(outcome, "life")
    moved = {way: sum(count for (_, what), count in counts.items() if what == "bytes")
             for way, counts in sizes_of(record).items()}
    assert record["sizes"]["receives_by_pages"] and record["sizes"]["unsized_calls"] == 0
    window = told["window"]
    assert {way: bytes for way, bytes in moved.items() if bytes and way != ("recv", "peek")} == {
        way: bytes for way, bytes in {
            ("send", "plain"): window["tx_copy"], ("send", "zerocopy"): window["tx_reference"],
            ("send", "splice"): window["tx_sendfile"] + window["tx_splice"],
            ("recv", "plain"): window["rx_copy"], ("recv", "discard"): window["rx_discard"],
            ("recv", "splice"): window["rx_splice"]}.items() if bytes}
    assert records.law(record, "sizes")["status"] == "balanced"


@in_part("life")
def test_the_stacks_of_calls_add_up_by_site(outcome):
    record, _ = watched(outcome, "life")
    found, moved = record["stacks"], Counter()
    for stack in found["stacks"]:
        moved[stack["site"]] += stack["bytes"]
        assert found["frames"][stack["frames"][0]]["function"], stack
    assert records.law(record, "stacks")["status"] == "balanced" and found["unstacked_bytes"] == 0
    assert moved == {site: each["bytes"] for site, each in record["total"]["sites"].items() if site in moved}
    assert {"tx_copy", "tx_reference", "tx_splice", "rx_copy", "rx_discard", "rx_splice"} <= set(moved)


def held(outcome: Outcome, run: str) -> dict:
    """How long the pages of the run's only sender were held."""
    assert outcome.status(run) == 0, outcome.errors(run)
    record = record_of(outcome.folder / f"{run}.json")
    found, = (each["holds"] for each in record["processes"] if each["holds"])
    workload = outcome.record(f"{run}_run")["experiment"]["workload"]
    assert found["notified"]["sends"] == workload["zerocopy_sends"] and found["outstanding"] == 0
    return found


@in_part("holds")
def test_pages_are_held_as_long_as_the_wire_delays_them(outcome):
    found = held(outcome, "holds")
    # Before a driver that wants fewer pieces the kernel may copy some packets, which ends nothing early.
    ended = found["ended_by"]
    assert ended["acknowledgment"] + ended["copy"] == found["notified"]["sends"] and ended["acknowledgment"]
    assert found["notified"]["shortest_ns"] >= 20_000_000
    assert found["read"]["sends"] and found["read"]["shortest_ns"] >= 20_000_000


@in_part("held")
def test_pages_are_held_until_a_ring_is_notified_or_they_are_copied(outcome):
    ring = held(outcome, "held")
    assert ring["by_ring"] == ring["notified"]["sends"] and ring["notified"]["shortest_ns"] >= 20_000_000
    assert ring["read"]["sends"] == ring["ended_by"]["untold"] == 0
    copied = held(outcome, "held.veth")
    assert copied["ended_by"]["copy"] == copied["notified"]["sends"]


@in_part("whole")
def test_a_refused_send_is_charged_to_the_limit_that_refused_it(outcome):
    record, _ = watched(outcome, "whole")
    refused = {cause: outcome.record(run)["experiment"]["workload"]["enobufs"]
               for cause, run in (("ENOBUFS, memlock", "limited"), ("ENOBUFS, optmem", "starved"))}
    assert all(refused.values())
    assert of_processes(record, "workload")["enobufs"] == sum(refused.values())
    assert refusals(record, "workload") == refused


@in_part("whole")
def test_a_send_that_needs_no_notification_is_refused_by_the_limit_of_pins(outcome):
    record, _ = watched(outcome, "whole")
    told = {how: int(outcome.text(f"{how}.told")) for how in ("extend", "both")
            if (outcome.folder / f"{how}.told").exists()}
    found = refusals(record, "refusals")
    # 6.1 has one limit of option memory for all namespaces.
    assert told == {"extend": 5} | ({"both": 6} if outcome.release != "6.1" else {})
    assert found.pop("ENOBUFS, memlock") == told.pop("extend")
    # Where both limits are reached, nothing tells which of the two refused.
    assert list(found.values()) == list(told.values())


@in_part("kernel")
def test_sockets_of_the_kernel_are_counted_to_the_byte(outcome):
    record, told = watched(outcome, "kernel")
    ours = [each for each in record["sockets"] if each["remote"] == "127.0.0.1:2049"]
    assert told and sum(each["counts"]["accepted_bytes"] for each in ours) == told, \
        outcome.text("kernel.mount")
    assert sum(each["sites"]["tx_copy"]["bytes"] for each in ours) == told
    assert not {each["comm"] for each in ours} & {"sink", "watch"}


def added(record: dict, *ends: str) -> Counter:
    """What sockets with one of these ends sent: bytes accepted, and by site, where that is known."""
    found: Counter = Counter()
    for each in record["sockets"]:
        if {each["local"], each["remote"]} & set(ends):
            found.update(accepted=each["counts"]["accepted_bytes"], **{
                site: each["sites"][site]["bytes"] for site in ("tx_copy", "tx_splice") if each["sites"][site]["bytes"] is not None})
    return found


def splices(outcome: Outcome, part: str) -> tuple[dict, Counter]:
    """The record of a part with trampolines, and how many bytes each name spliced, as the kernel's histogram tells."""
    assert outcome.status(part) == 0, outcome.errors(part)
    record = record_of(outcome.folder / f"{part}.json")
    assert record["backend"]["name"] == "trampoline" and not broken(record)
    histogram = outcome.text(f"{part}.told")
    # Hits of the probe, and those that it missed.
    assert re.search(r"^\s*spliced +\d+ +0$", histogram, re.M) and re.search(r"^\s*Dropped: 0$", histogram, re.M), histogram
    told: Counter = Counter()
    for who, size in re.findall(r"common_pid: (\S+).* bytes: +(\d+)$", histogram, re.M):
        told[who] += int(size)
    assert record["total"]["sites"]["tx_splice"]["bytes"] == sum(told.values())
    return record, told


@in_part("spliced")
def test_what_the_kernel_itself_splices_is_counted_to_the_byte(outcome):
    record, told = splices(outcome, "spliced")
    # What was read of a disk in 23 messages and written in 29, and headers.
    disk = added(record, "127.0.0.1:4420")
    assert disk["tx_splice"] == sum(told.values()) - told["nfsd"] > (23 + 29) * 65536
    # Of both connections: two greetings, and the data of a request to connect, whose memory is no page of its own.
    assert disk["tx_copy"] == 2 * (128 + 128 + 1024) == disk["accepted"] - disk["tx_splice"]
    # The file, of which nfsd copied no byte; its client copies what it asks.
    file = added(record, "127.0.0.1:2049")
    assert file["tx_splice"] == told["nfsd"] > 1_500_000
    assert file["tx_copy"] == file["accepted"] - told["nfsd"] < 20_000


def by_tracepoints(outcome: Outcome, part: str, *ends: str) -> dict:
    """The record of a part without trampolines, which has of these ends what the other one has, or says why not."""
    assert outcome.status(f"{part}.tracepoint") == 0, outcome.errors(f"{part}.tracepoint")
    counted, record = (record_of(outcome.folder / f"{name}.json") for name in (part, f"{part}.tracepoint"))
    assert record["backend"]["name"] == "tracepoint" and not broken(record)
    for end in ends:
        known, found = added(counted, end), added(record, end)
        assert found == {name: known[name] for name in found}
    for site in ("tx_copy", "tx_splice", "rx_copy"):
        assert record["total"]["sites"][site]["bytes"] is not None or record["sites"][site]["why"]
    return record


@in_part("spliced")
def test_without_trampolines_what_the_kernel_itself_splices_is_told_as_no_copy(outcome):
    record = by_tracepoints(outcome, "spliced", "127.0.0.1:4420", "127.0.0.1:2049")
    # NVMe takes headers by skb_copy_bits().
    for each in record["sockets"]:
        assert each["sites"]["rx_copy"]["bytes"] in (None, each["counts"]["returned_bytes"])


@in_part("iscsi")
def test_what_an_iscsi_target_sends_and_receives_is_counted_to_the_byte(outcome):
    record, told = splices(outcome, "iscsi")
    ours = json.loads(outcome.text("iscsi.ours"))
    # What it reads of its disk; headers, and what is said at the login, it copies.
    assert told == {"iscsi_ttx": ours["data"]}
    (target,) = (each for each in record["sockets"] if each["local"] == ISCSI)
    assert added({"sockets": [target]}, ISCSI) == {
        "accepted": ours["received"], "tx_splice": ours["data"], "tx_copy": ours["received"] - ours["data"]}
    assert record["total"]["spliced_in_kernel_bytes"] == ours["data"]
    assert target["sites"]["rx_copy"]["bytes"] == target["counts"]["returned_bytes"] == ours["sent"]
    without = by_tracepoints(outcome, "iscsi", ISCSI)
    for each in without["sockets"]:
        assert each["sites"]["rx_copy"]["bytes"] in (None, each["counts"]["returned_bytes"])


@in_part("drbd")
@pytest.mark.skipif(not HAS_DRBD, reason="drbd-utils is not here: apt-get install drbd-utils")
def test_what_drbd_sends_is_counted_to_the_byte(outcome):
    record, told = splices(outcome, "drbd")
    sent_kib = int(re.search(r"ns:(\d+)", outcome.text("drbd.ours"))[1])
    assert told == {"drbd_w_r0": sent_kib * 1024} and sent_kib > 4000 + 29 * 64
    assert added(record, *DRBD_ENDS)["tx_splice"] == sent_kib * 1024
    # What is asked first is only peeked at.
    for each in by_tracepoints(outcome, "drbd")["sockets"]:
        assert each["sites"]["rx_copy"]["bytes"] in (None, each["counts"]["returned_bytes"] + (each["counts"]["peeked_bytes"] or 0))


@in_part("detail")
def test_details_are_those_of_a_run_that_counts_beside_them(outcome):
    assert outcome.status("detail") == 0, outcome.errors("detail")
    record, run = record_of(outcome.folder / "detail.json"), json.loads(outcome.text("detail_run.json"))
    assert not broken(record)
    assert record["detail"] and record["sites"]["reshape"]["how"] == "measured"
    assert record["sites"]["reshape"]["bytes"] == run["sites"]["reshape"]["bytes"] >= LARGE_PAYLOAD

    def causes(of: dict) -> dict[tuple[str, str], int]:
        return {(each["cause"], each["site"]): each["bytes"] for each in of["causes"]}

    assert causes(record) == causes(run)
    differ = {name for name, count in run["counts"].items() if record["counts"][name] != count}
    # A run asks each notification as it ends if it was copied, a watch the range that it was joined to.
    assert differ <= {"copied_sends"} and record["counts"]["pinned_pages"] > 0
    assert causes(record)["no scatter-gather", "reshape"] >= LARGE_PAYLOAD


@in_part("detail")
def test_samples_of_the_clock_have_stacks_with_names(outcome):
    record = record_of(outcome.folder / "detail.json")
    assert record["cpu"]["clock"] in ("cycles", "cpu-clock") and record["cpu"]["lost_samples"] == 0
    found = [each["cpu"] for each in record["processes"] if each["cpu"]]
    assert found and all(sum(each["samples"] for each in use["classes"].values()) == use["samples"] for use in found)
    # The entry of a program has no name.
    assert sum(use["classes"]["hidden"]["samples"] for use in found) < 0.1 * sum(use["samples"] for use in found)
    # Times of an emulated processor mean nothing.
    assert {use["clock_law"] for use in found} == {"not testable"}


@in_part("whole")
def test_late_copies_are_measured(outcome):
    record, _ = watched(outcome, "whole")
    check_causes(record)
    assert record["sites"]["late_copy"]["how"] == "measured"
    assert record["sites"]["tx_copy"]["how"] == "derived"


@pytest.mark.long
def test_where_a_kernel_gives_no_memory_for_books_the_reason_is_told(tmp_path):
    # In place of what tools/guest has this kernel do by itself.
    words = ["build/watch", "--json", "/out/unbooked.json", "--", "build/trace_run", "A1", "4093", "1",
             "--messages", "3", "--pass", "timed", "--path", "lo", "--quiet"]
    subprocess.run([GUEST, "--kernel", "7.2", "--line", "slab_debug=F,none", "--out", tmp_path, "--", *words],
                   capture_output=True, check=True)
    record = record_of(tmp_path / "unbooked.json")
    told = " ".join(printed.shown(record).split())
    why = "the kernel gave no memory for books of sockets. This processor lacks cmpxchg16b"
    assert record["losses"]["unbooked_sockets"] and told.count(why) == 2, told
    assert "no room" not in told


@in_part("datagrams")
def test_each_datagram_is_at_its_site(outcome):
    record, told = watched(outcome, "datagrams")
    datagrams.agrees(record, told, sum(datagrams.BEFORE.values()))


@in_part("late")
def test_hooks_of_udp_wait_for_a_socket_of_the_subject(outcome):
    assert outcome.status("late.foreign") == outcome.status("late") == 0, outcome.errors("late")
    foreign, record = (record_of(outcome.folder / f"{name}.json") for name in ("late.foreign", "late"))
    hooked = {probe["status"] for probe in foreign["backend"]["probes"] if "udp" in probe["hook"]}
    assert hooked == {"absent"} and not any(foreign["losses"].values())
    short, told = record["losses"], json.loads(outcome.text("late.told").splitlines()[1])
    assert short["unopened_sockets"] and "before their hooks were attached" in short["sums_short"]
    last = max((each for each in record["processes"] if each["comm"] == "datagrams"), key=lambda each: each["pid"])["sum"]
    assert last["counts"]["accepted_bytes"] == told["accepted"] + sum(datagrams.BEFORE.values())
    assert last["counts"]["returned_bytes"] == told["returned"]
    assert last["sites"]["rx_copy"]["bytes"] == told["returned"] + told["peeked"] and not broken(record)


def broken_by(outcome: Outcome, run: str) -> set[str]:
    """The laws that a watch with a fault found broken."""
    assert outcome.status(run) == 0, outcome.errors(run)
    return {law["law"] for law in record_of(outcome.folder / f"{run}.json")["laws"] if law["status"] == "broken"}


@in_part("lost")
def test_a_lost_datagram_breaks_the_laws_that_count_it(outcome):
    assert broken_by(outcome, "lost.lose-taken") == {"receive queue", "receives"}


@in_part("handed")
def test_a_datagram_that_nobody_saw_handed_to_ip_breaks_the_law_of_sends(outcome):
    assert broken_by(outcome, "handed.lose-handed") == {"send queue"}


@in_part("queued")
def test_a_datagram_that_nobody_saw_queued_breaks_the_law_of_its_queue(outcome):
    assert broken_by(outcome, "queued.lose-queued") == {"receive queue"}


@in_part("ends")
def test_the_kernel_frees_no_book_that_a_walk_may_read(outcome):
    assert outcome.status("ends") == 0, outcome.errors("ends")
    record = record_of(outcome.folder / "ends.json")
    told = dict(line.split(": ") for line in outcome.text("ends.told").splitlines() if line.startswith("@"))
    protocols = Counter(each["protocol"] for each in record["sockets"])
    assert protocols["tcp"] >= 4 and protocols["udp"] and not any(record["losses"].values())
    assert told.get("@freed", "0") == "0" and int(told["@dropped"]) >= len(record["sockets"])


@in_part("ends")
def test_udp_is_not_watched_where_nothing_drops_its_books(outcome):
    record = record_of(outcome.folder / "ends.tracepoint.json")
    assert "a kernel that accepts trampolines" in next(
        each["why"] for each in record["not_covered"] if each["what"] == "UDP")
