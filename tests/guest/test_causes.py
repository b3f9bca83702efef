# SPDX-License-Identifier: GPL-2.0
"""On guest kernels, each cause that can be provoked is named, and its bytes are those of its site."""
from __future__ import annotations

import pytest

from guest.boots import RELEASES, Asked, Maker, dealt, run_lines, where_made
from helpers import records, run_report
from helpers.books import check_books

MESSAGES, BYTES = 200, 65536
LIMITED = {"memlock": "--memlock 256k", "optmem": "--optmem 2048"}
# On veth; test_watch.py has both limits on lo.
RUNS = {limit: f"A3 {BYTES} 2 --messages {MESSAGES} {words}" for limit, words in LIMITED.items()}
# Sent in pieces that are smaller than the room behind them, so that the receiver merges some.
RUNS["merged"] = f"A3 64 1 --messages {MESSAGES} --pattern rr"
# So short that the guests' NIC (vmxnet3) wants each whole, and asks for what is not there yet.
SHORT_BYTES = 32
RUNS["short"] = f"A3 {SHORT_BYTES} 1 --messages {MESSAGES} --path nic --pattern rr"
RUNS["unset"] = f"A3-unset {BYTES} 2 --messages {MESSAGES}"
# What published programs do otherwise; on the host other runs of the user would share the limit.
UNREAPED = f"A3-unreaped {BYTES} 2 --messages {MESSAGES} {LIMITED['memlock']}"
RUNS |= {
    "ended": f"{UNREAPED} --behaviours end-on-enobufs",
    "slept": f"{UNREAPED} --behaviours sleep-on-enobufs",
    "forked": f"A3 {BYTES} 9 --messages {MESSAGES} --behaviours client-processes,fresh-buffer"}
# In whose namespaces a capture, an XDP program or a tun device is added.
FAULTS = ("filter", "xdp", "tun", "checksum")
FAULT_BYTES = 4093
FAULT_RUN = f"A3 {FAULT_BYTES} 1 --messages 300 --pattern rr"
# These need the same hooks, which are attached once.
FAULTED = f"""
modprobe tun
coproc series {{ build/trace_run --runs /out --pass counted; }}
for how in {' '.join(FAULTS)}; do
    build/tests/guest/fault_inject $how & injector=$!
    echo "$how {FAULT_RUN}" >&${{series[1]}}
    while read -r what _ && [[ $what != end ]]; do :; done <&${{series[0]}}
    kill $injector
done
exec {{series[1]}}>&-
wait
"""
# 6.1 has one net.core.optmem_max: outside a throwaway guest no run may touch it.
REFUSED = """
. tests/helpers/saved.sh
saved refused env -u COPYSCOPE_GUEST build/trace_run A3 64 1 --messages 1 --optmem 4096
cat /proc/sys/net/core/optmem_max >/out/refused.limit
"""
SCRIPTS = {"6.1": REFUSED, "6.12": FAULTED}
SCRIPTED = "script"
# Since 6.8 each namespace has its own limit of option memory.
makes = Maker(dealt(LIMITED, RELEASES, hands=2) | dealt((run for run in RUNS if run not in LIMITED), RELEASES),
              soon={"memlock": RELEASES[1:], "slept": (), "forked": ()})


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(request, tmp_path_factory):
    """All runs of this file in one boot for each kernel."""
    asked = Asked(request)

    def script(release: str) -> str:
        return f"tests/guest/matrix.sh $runs\n{SCRIPTS[release] if asked(release, SCRIPTED) else ''}"
    return run_lines(tmp_path_factory.mktemp("causes"), RUNS, ["--nics", "2"], RELEASES, makes, script, asked)


def of_script(release):
    """Run a test with what a kernel's own script left."""
    return pytest.mark.parametrize("outcome", [pytest.param(release, marks=pytest.mark.made_by(SCRIPTED))],
                                   indirect=True)


def of_runs(name, *runs):
    """Parametrize a test by kernel and run, where that kernel makes the run."""
    return where_made(name, RELEASES, runs, makes)


def balanced(outcome, run):
    """The record of a run that ended well."""
    assert outcome.status(run) == 0, outcome.errors(run) + outcome.text(f"{run}.out")
    return outcome.record(run)


@of_runs("limit", *LIMITED)
def test_a_refused_send_is_charged_to_the_limit_that_refused_it(outcome, limit):
    record = balanced(outcome, limit)
    check_books(record | {"sites": {name: site for name, site in record["sites"].items()
                                    if name != "reshape"}}, MESSAGES)
    refused = {each["cause"]: each["calls"] for each in record["causes"]
               if each["site"] == "tx_reference"}
    assert refused == {f"ENOBUFS, {limit}": record["experiment"]["workload"]["enobufs"]}
    assert record["experiment"]["workload"]["enobufs"] == records.law(record, "refusal")["right"] > 0
    assert record["experiment"]["workload"][f"{limit}_bytes"] == {"memlock": 262144, "optmem": 2048}[limit]


@of_runs("run", "ended")
def test_enobufs_ends_a_connection_if_that_was_published(outcome, run):
    ended = balanced(outcome, run)["experiment"]["workload"]
    assert ended["enobufs"] in (1, 2) and 0 < ended["messages"] < MESSAGES
    assert ended["content_errors"] == 0


@of_runs("run", "slept")
def test_enobufs_is_slept_over_if_that_was_published(outcome, run):
    slept = balanced(outcome, run)["experiment"]["workload"]
    assert slept["enobufs"] > 0 and slept["messages"] == MESSAGES
    assert slept["content_errors"] == 0


@of_runs("run", "forked")
def test_clients_that_are_processes_are_watched_however_many(outcome, run):
    record = balanced(outcome, run)
    assert records.site(record, "rx_copy") == MESSAGES * BYTES
    assert sum(each["end"] == "receiver" for each in record["sockets"]) == 9


@of_runs("run", *RUNS)
def test_causes_add_up_to_their_site(outcome, run):
    record = balanced(outcome, run)
    for site in ("late_copy", "reshape"):
        law = records.law(record, f"causes of {site}")
        assert law["status"] == "balanced"
        assert law["left"] == records.site(record, site)
        assert law["right"] == sum(records.causes(record, site).values())
    assert "unknown" not in records.causes(record)


@of_runs("run", "short")
def test_a_driver_that_wants_short_packets_whole_is_the_cause(outcome, run):
    record = balanced(outcome, run)
    # Requests and replies; what is sent again is asked for again.
    assert records.causes(record, "reshape")["driver limit"] >= 2 * MESSAGES * SHORT_BYTES
    assert not records.causes(record, "late_copy")


@of_runs("run", "unset")
def test_a_flag_without_its_option_is_told_apart(outcome, run):
    record = balanced(outcome, run)
    assert records.causes(record, "tx_copy") == {"SO_ZEROCOPY not set": MESSAGES * BYTES}
    assert "SO_ZEROCOPY is not set" in records.sentence_of(record)


@of_runs("run", "memlock")
def test_the_report_shows_share_calls_and_remedy(outcome, run):
    text = run_report.printed(outcome.record(run))
    assert "why it was copied" in text and "RLIMIT_MEMLOCK" in text
    assert max(map(len, text.splitlines())) < 100


@of_script("6.12")
def test_a_reader_nobody_knows_is_unknown_and_shown_with_its_stack(outcome):
    record = balanced(outcome, "filter")
    unknown = [each for each in record["causes"] if each["cause"] == "unknown"]
    # One byte of each packet that is long enough, at either end.
    assert unknown and all(each["site"] == "reshape" for each in unknown)
    assert all(each["bytes"] == each["calls"] > 0 for each in unknown)
    # Whatever translates the filter leaves no frame that could be followed further.
    assert all("bpf_skb_load_helper" in each["stack"] for each in unknown)
    text = run_report.printed(record)
    assert "stack: " in text and "please report this stack" in text
    assert {"packet tap on tx", "packet tap on rx"} <= set(records.causes(record, "late_copy"))


@of_script("6.12")
def test_an_xdp_program_that_wants_packets_in_one_piece_is_the_cause(outcome):
    record = balanced(outcome, "xdp")
    # In one go from the user's pages into one piece: nothing is left for late_copy.
    assert records.causes(record, "reshape")["XDP"] >= FAULT_BYTES
    assert "unknown" not in records.causes(record)


@of_script("6.12")
def test_a_tun_device_is_the_cause(outcome):
    record = balanced(outcome, "tun")
    found = records.causes(record)
    # What left before the route was there was delivered.
    assert set(found) <= {"tun", "local delivery", "small packets merged"}
    assert found["tun"] >= FAULT_BYTES


@of_script("6.12")
def test_a_device_that_computes_no_checksum_is_the_cause(outcome):
    record = balanced(outcome, "checksum")
    found = records.causes(record)
    assert set(found) <= {"checksum in software", "local delivery", "small packets merged"}
    assert found["checksum in software"] >= FAULT_BYTES


@of_script("6.1")
def test_a_limit_of_the_whole_machine_is_left_alone(outcome):
    assert outcome.status("refused") == 3 and not outcome.text("refused.out")
    assert outcome.text("refused.limit") == "20480\n"
    said = outcome.errors("refused")
    assert "for the whole machine" in said and "--kernel 6.12" in said
