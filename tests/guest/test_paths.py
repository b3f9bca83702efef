# SPDX-License-Identifier: GPL-2.0
"""On every path and with every switch, each referenced byte is found: copied, clean or dropped."""
from __future__ import annotations

import re
import signal

import pytest

from guest.boots import Asked, Maker, dealt, run_lines, where_made
from helpers import records
from helpers.books import BY_RING, PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD, ZEROCOPY
from helpers.names import names

# One on each side of what changed between them. test_matrix.py has each switch on one path or two on every kernel.
RELEASES = ("6.12", "7.2")
LARGE_BYTES, MESSAGES, LOSSY_MESSAGES = 65536, 60, 200
PAYLOAD = LARGE_BYTES * MESSAGES
PRIMES = {f"{variant}.{path}":
          f"{variant} {PRIME_BYTES} 1 --path {path} --messages {PRIME_MESSAGES}"
          for variant, path in (("A1", "nic"), ("A2", "forward"), ("A3", "nic"), ("A3", "forward"),
                                ("uring-zc", "nic"), ("uring-zc-fixed", "nic"))}
LARGE = {f"large.{path}": f"A3 {LARGE_BYTES} 4 --path {path} --messages {MESSAGES}"
         for path in names("paths", nics=True)}


def switched(switch: str, paths: tuple[str, ...], messages: int = MESSAGES) -> dict[str, str]:
    """Runs of A3 with one switch on some paths; + stands for a space."""
    name = switch.split()[0].lstrip("-")
    return {f"{name}.{path}": f"A3 {LARGE_BYTES} 2 --path {path} --messages {messages} {switch}"
            for path in paths}


NO_SG = switched("--no-sg", ("veth", "forward"))
NO_TSO = switched("--no-tso", ("lo", "forward"))
SMALL = switched("--mtu 576", ("lo", "veth", "nic"))
IPV6 = switched("--ipv6", ("lo", "veth", "forward"))
TAPPED = switched("--tap tx", ("forward",))
# Some 300 packets of data at least: that all come through once is one run in millions.
LOSSY = switched("--netem loss+5%", ("lo", "forward"), LOSSY_MESSAGES)
COPIED_LOSSY = {"copied": f"A1 {LARGE_BYTES} 2 --messages {LOSSY_MESSAGES} --netem loss+5%"}
# How many completions say COPIED is chance: one run in ten or so has all.
TOLD = {"told": f"A3 {LARGE_BYTES} 2 --messages 40 --no-sg"}
FAULTS = {"lose-update": f"A3 {LARGE_BYTES} 2 --path nic --messages 40 --break lose-update",
           "detach.clean": f"A3 {LARGE_BYTES} 2 --path nic --messages 40 --break detach:clean",
           "detach.reshape": f"A3 {LARGE_BYTES} 2 --no-sg --messages 40 --break detach:reshape",
           "detach.taps": f"A3 {LARGE_BYTES} 2 --tap tx --messages 40 --break detach:taps"}
# On 7.2 two programs find completions, everywhere two find states of sockets; each of the two finds all.
PUTS = {f"{fault}.{path}": f"A3 {LARGE_BYTES} 2 --path {path} --messages {MESSAGES} --break {fault}"
        for fault in ("skip-put-entry", "skip-put-exit", "skip-state") for path in ("veth", "nic")}
# Short packets, which this NIC's driver moves out of their pages, are chance: one run of two has some.
TRACEPOINTS = {f"tracepoints.{turn}": f"A3 {LARGE_BYTES} 4 --path forward --messages {MESSAGES} "
                                      "--backend tracepoint --pass counted" for turn in range(3)}
NEWEST = PUTS | TRACEPOINTS
BALANCED = PRIMES | LARGE | NO_SG | TAPPED | COPIED_LOSSY | TOLD | PUTS | NO_TSO | SMALL | IPV6 | LOSSY
# What a person would see of the NICs before and after a run that is killed.
KILLED = """
look() { for nic in eth0 eth1; do cat /sys/class/net/$nic/mtu
  ethtool -k $nic | grep -E '^(scatter-gather|tcp-segmentation-offload):'; done; }
look >/out/before.txt
build/trace_run A3 65536 1 --seconds 60 --pass counted --path nic --no-sg --mtu 1400 >/dev/null 2>&1 &
for step in $(seq 200); do [ -e /sys/class/net/eth0 ] || break; sleep 0.05; done
sleep 1
ls /sys/class/net >/out/during.txt
kill -9 $!
for step in $(seq 200); do grep -qs nic-restore /proc/[0-9]*/comm || break; sleep 0.05; done
for step in $(seq 200); do
  [ -e /sys/class/net/eth0 ] && [ -e /sys/class/net/eth1 ] && break; sleep 0.05; done
look >/out/after.txt
ls /sys/class/net >/out/left.txt
ip addr add 192.0.2.1/24 dev eth0
build/trace_run A3 64 1 --path nic >/dev/null 2>/out/refused.txt; echo $? >/out/refused.code
"""
# A run that is killed while its connection has bytes to send and no way to its peer: the kernel keeps
# the namespace for minutes.
STUCK = """
build/trace_run A3 65536 1 --seconds 60 --pass counted --path nic --mtu 1400 >/dev/null 2>&1 &
run=$!
receiver() { for process in /proc/[0-9]*; do
  grep -qsz '^client$' $process/cmdline && set -- $process/task/* && [ $# -gt 1 ] &&
  echo ${process#/proc/} && break; done; }
for step in $(seq 400); do client=$(receiver); [ "$client" ] && break; kill -0 $run || break; sleep 0.05; done
nsenter --net=/proc/$client/ns/net ip link set eth1 down
sleep 1
kill -9 $run
for step in $(seq 100); do grep -qs nic-restore /proc/[0-9]*/comm || break; sleep 0.05; done
cat /sys/class/net/eth0/mtu /sys/class/net/eth1/mtu >/out/stuck.txt
"""
# A message would take minutes here. The signal comes when both ends have threads that wait.
BITS, SLOW_BITS_PER_S = 8, 1000
SLOW = """
seconds() { cut -d' ' -f1 /proc/uptime; }
busy() { for process in /proc/[0-9]*; do name=; read -r name <$process/comm
  [ "$name" = workload ] && set -- $process/task/* && [ $# -gt 1 ] && echo busy; done 2>/dev/null; }
build/trace_run A3 65536 1 --seconds 1 --pass counted --netem "rate 1kbit" --json /out/slow.json \\
  >/out/slow.out 2>/out/slow.err &
for step in $(seq 400); do [ "$(busy | wc -l)" = 2 ] && break; sleep 0.05; done
sleep 1 # all of the time that it sends for
seconds >/out/slow.seconds
kill -TERM $!
wait $!; echo $? >/out/slow.status
seconds >>/out/slow.seconds
"""


# How many completions say COPIED is told by all of these.
BOTH = (*TOLD, "no-sg.veth")
ALONE = {"slow": SLOW, "stuck": STUCK, "killed": KILLED}
MADE = {run: RELEASES[-1:] for run in NEWEST} | dealt(BOTH, RELEASES, hands=2) | dealt(ALONE, RELEASES) | dealt(
    (run for run in BALANCED | FAULTS if run not in NEWEST and run not in BOTH), RELEASES)
# test_matrix.py has 6.12 and others like these.
SOON = ("A2.forward", "A3.nic", "uring-zc.nic", "large.nic", "no-sg.veth", "no-tso.forward", "mtu.nic", "ipv6.forward",
        "tap.forward", "netem.forward", "copied", "skip-put-entry.veth", "skip-put-exit.veth", "skip-state.veth",
        "detach.clean", "detach.taps", "killed")
makes = Maker(MADE | {run: RELEASES[-1:] for run in SOON if run != "no-sg.veth"},
              soon={run: RELEASES[-1:] if run in SOON else () for run in MADE})


@pytest.fixture(scope="module", name="outcomes")
def both_kernels(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    asked = Asked(request)
    scripts = {release: "".join(script for run, script in ALONE.items() if makes(release, run) and asked(release, run))
               for release in RELEASES}
    return run_lines(tmp_path_factory.mktemp("paths"), BALANCED | FAULTS | TRACEPOINTS, ["--nics", 2], RELEASES,
                     makes, lambda release: f"tests/guest/matrix.sh $runs\n{scripts[release]}", asked)


def of_runs(runs):
    """Parametrize a test by kernel and run, where that kernel makes the run."""
    return where_made("run", RELEASES, runs, makes)


def count(record, name):
    """One of the counts of all sockets."""
    return record["counts"][name]


def left(record):
    """Referenced bytes that left the socket, retransmissions included."""
    return records.site(record, "tx_reference") + count(record, "retrans_referenced_bytes")


def fates(record):
    """What became of the packets' own references, without a capture's clones."""
    return {"late": records.site(record, "late_copy") - count(record, "tapped_bytes"),
            "reshaped": count(record, "reshaped_referenced_bytes"),
            "clean": count(record, "clean_bytes"),
            "dropped": count(record, "dropped_referenced_bytes")}


@of_runs(BALANCED)
def test_every_law_balances(outcome, run):
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    record = outcome.record(run)
    assert not records.laws_with(record, "broken")
    # On the way to a card io_uring alone may say COPIED, and of sends, too, that share a packet with another: if any do.
    told_by_ring = record["experiment"]["workload"]["variant"] in BY_RING and record["experiment"]["path"]["kind"] == "nic"
    assert records.laws_with(record, "not testable") <= ({"copied"} if told_by_ring else set())
    assert sum(fates(record).values()) == left(record)
    assert f"--path {record['experiment']['path']['kind']} " in BALANCED[run] or record["experiment"]["path"]["kind"] == "veth"


@of_runs(PRIMES | LARGE)
def test_only_where_the_kernel_preempts_itself_the_workload_begins_under_fifo(outcome, run):
    scheduling = outcome.record(run)["experiment"]["workload"].get("scheduling")
    assert scheduling == {"6.12": None, "7.2": "fifo"}[outcome.release]


@of_runs(PRIMES)
def test_23_messages_of_4093_bytes_are_94139(outcome, run):
    record = outcome.record(run)
    variant = run.split(".", maxsplit=1)[0]
    assert records.site(record, "rx_copy") == PRIME_PAYLOAD == 94139
    assert records.site(record, "tx_reference") == (94139 if variant in ZEROCOPY else 0)
    assert records.site(record, "tx_copy") == (0 if variant in ZEROCOPY else 94139)
    assert records.site(record, "user_gather") == (94139 if variant == "A1" else 0)


@of_runs(["A3.nic", "uring-zc.nic", "uring-zc-fixed.nic", "large.nic"])
def test_a_nic_is_handed_the_senders_pages_themselves(outcome, run):
    record = outcome.record(run)
    found = fates(record)
    assert record["experiment"]["path"]["scatter_gather"] and record["experiment"]["path"]["hardware_dma"]
    assert found["late"] == 0 and found["clean"] > 0.99 * left(record)
    if not found["reshaped"]:
        assert "copied nothing on the way out" in records.sentence_of(record)


@of_runs(["A3.forward", "large.forward", "no-tso.forward", "ipv6.forward"])
def test_a_router_on_the_way_copies_all_or_nothing(outcome, run):
    # Up to 6.16 at its first hop, since then not at all (d2527ad3a9e1).
    found = fates(outcome.record(run))
    assert not found["late"] or not found["clean"]
    assert found["late"] + found["clean"] > 0.99 * left(outcome.record(run))


@of_runs(TRACEPOINTS)
def test_what_a_router_hands_on_was_not_copied_for_tracepoints_either(outcome, run):
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    record = outcome.record(run)
    assert "reference" in records.laws_with(record, "balanced")
    assert records.site(record, "late_copy") == 0
    assert count(record, "clean_bytes") == left(record)


@of_runs(NO_SG)
def test_without_scatter_gather_every_byte_is_moved_and_none_copied_late(outcome, run):
    record = outcome.record(run)
    assert not record["experiment"]["path"]["scatter_gather"] and not record["experiment"]["path"]["tso"]
    assert fates(record) == {"late": 0, "reshaped": left(record), "clean": 0, "dropped": 0}
    assert "no scatter-gather" in records.sentence_of(record)
    assert records.site(record, "tx_copy") == 0


@pytest.mark.long
@pytest.mark.made_by(*BOTH)
def test_completions_do_not_tell_what_a_device_without_scatter_gather_costs(outcomes):
    quiet = 0
    for record in (outcome.record(run) for outcome in outcomes.values() for run in BOTH):
        work = record["experiment"]["workload"]
        silent = work["completions"] - work["completions_copied"]
        sentence = f"{silent} of {work['completions']} completions did not carry COPIED"
        assert (sentence in records.sentence_of(record)) == (silent > 0)
        assert records.site(record, "reshape") >= left(record)
        quiet += silent
    assert quiet > 0


@of_runs(NO_TSO)
def test_segments_cut_by_the_kernel_keep_their_references(outcome, run):
    record = outcome.record(run)
    assert not record["experiment"]["path"]["tso"] and record["experiment"]["path"]["scatter_gather"]
    assert fates(record)["reshaped"] < 0.01 * left(record)


@of_runs(SMALL)
def test_mtu_is_what_was_asked_for(outcome, run):
    assert outcome.record(run)["experiment"]["path"]["mtu"] == 576


@of_runs(IPV6)
def test_ipv6_is_what_the_sockets_speak(outcome, run):
    record = outcome.record(run)
    assert record["experiment"]["path"]["ipv6"]
    assert all(each["local"].startswith(("fd", "[fd")) for each in record["sockets"])


@of_runs(TAPPED)
def test_a_capture_at_the_sender_adds_a_copy_of_every_byte(outcome, run):
    record = outcome.record(run)
    assert record["experiment"]["path"]["taps"] == ["tx"]
    assert count(record, "tapped_bytes") == left(record)
    assert records.site(record, "late_copy") == 2 * left(record) or fates(record)["clean"]
    assert "packet capture copied" in records.sentence_of(record)


@of_runs(LOSSY)
def test_lost_packets_are_found_dropped_and_sent_again(outcome, run):
    record = outcome.record(run)
    assert record["experiment"]["path"]["netem"] == "loss 5%"
    assert count(record, "retrans_referenced_bytes") > 0
    assert count(record, "dropped_referenced_bytes") > 0


@of_runs(COPIED_LOSSY)
def test_copied_packets_that_are_lost_are_not_copied_from_the_user_again(outcome, run):
    record = outcome.record(run)
    assert count(record, "retrans_copied_bytes") > 0
    assert records.site(record, "tx_copy") == LOSSY_MESSAGES * LARGE_BYTES


@of_runs(["lose-update"])
def test_a_lost_reference_breaks_the_reference_law(outcome, run):
    record = outcome.record(run)
    assert outcome.status(run) == 1
    assert {"send", "reference"} <= records.laws_with(record, "broken")


@of_runs(run for run in FAULTS if run.startswith("detach"))
def test_without_its_probe_the_reference_law_is_not_testable(outcome, run):
    record = outcome.record(run)
    assert outcome.status(run) == 0
    assert "reference" in records.laws_with(record, "not testable")


@of_runs(["killed"])
def test_borrowed_nics_come_back_as_they_were_after_sigkill(outcome, run):
    assert "eth" not in outcome.text("during.txt"), "the run did not borrow them"
    assert outcome.text("after.txt") == outcome.text("before.txt")
    assert set(outcome.text("left.txt").split()) == {"lo", "eth0", "eth1"}


@of_runs(["stuck"])
def test_borrowed_nics_come_back_from_a_namespace_that_lives_on(outcome, run):
    assert outcome.text("stuck.txt") == "1500\n1500\n"


@of_runs(["killed"])
def test_a_nic_with_an_address_is_not_borrowed(outcome, run):
    assert outcome.text("refused.code") == "2\n"
    line, = outcome.text("refused.txt").splitlines()
    assert "'eth0' carries addresses" in line and "--devices" in line


@of_runs(["slow"])
def test_the_first_signal_ends_a_run_on_a_path_that_hardly_moves(outcome, run):
    assert outcome.status("slow") == 128 + signal.SIGTERM
    record = outcome.record("slow")
    assert record["experiment"]["outcome"]["status"] == "interrupted"
    on_the_way = int(re.search(r"(\d+) bytes were still on their way", record["experiment"]["outcome"]["reason"])[1])
    assert not records.laws_with(record, "broken")
    told, ended = map(float, outcome.text("slow.seconds").split())
    # Minutes before its path would have carried them.
    assert ended - told < on_the_way * BITS / SLOW_BITS_PER_S
