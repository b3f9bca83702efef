# SPDX-License-Identifier: GPL-2.0
"""On arm64, whose emulated processor has counters: books, counters, costs, and a count from outside."""
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from guest.boots import GUEST, TIMEOUT_S, Outcome
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD, check_books

BUILD = records.ROOT / "build"
PLUGIN = BUILD / "tests" / "guest" / "tcg_copy_plugin.so"
PRIMES = {f"{variant}.{path}": f"{variant} {PRIME_BYTES} 1 --path {path} "
          f"--messages {PRIME_MESSAGES}"
          for variant in ("A1", "A2", "A3") for path in ("lo", "veth")}
SMALL, LARGE, COST_MESSAGES = 4096, 65536, 100
COSTS = {f"{variant}.{size}.{time}": f"{variant} {size} 1 --path lo --cost "
         f"--messages {COST_MESSAGES}"
         for variant in ("A1", "A3") for size in (SMALL, LARGE) for time in (1, 2)}
# Functions whose bytes are summed; code inside and outside of a send (0), of a receive (1) and of
# a late copy (2): there neither the headers of a packet count nor what our programs store.
COPIES = ("__arch_copy_from_user", "__arch_copy_to_user", "memcpy")
WINDOWS = {"enter": {0: ("tcp_sendmsg_locked",), 1: ("tcp_recvmsg_locked",),
                     2: ("skb_copy_ubufs",)},
           "leave": {0: ("tcp_sendmsg", "sk_stream_wait_memory"),
                     1: ("tcp_recvmsg", "sk_wait_data"),
                     2: ("__netif_receive_skb_core", "pskb_expand_head",
                         "__bpf_tramp_enter", "__bpf_prog_enter_recur")}}
# The workload never asks for it, so its kernel function can be a mark.
MARK, MARK_COMMAND = "__arm64_sys_sethostname", "hostname mark"

MISSING = next((what for there, what in (
    (shutil.which("qemu-system-aarch64"), "qemu-system-aarch64 is missing: make setup-arm64"),
    ((BUILD / "arm64" / "trace_run").exists(), "nothing is built for arm64: make arm64"),
    (PLUGIN.exists(), "the plugin is not built: make unit-tests")) if not there), "")

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def boot(out: Path, script: str, *options) -> Outcome:
    """Run a script in an arm64 guest."""
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(word) for word in (
        GUEST, "--arch", "arm64", "--kernel", "6.12", "--timeout", TIMEOUT_S, "--out", out,
        *options, "--", "bash", "-c", script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Outcome("6.12", out)


@pytest.fixture(scope="module", name="outcome")
def all_runs(tmp_path_factory):
    """All runs but those under the plugin, and the kernel's symbols, in one boot."""
    folder = tmp_path_factory.mktemp("arm64")
    (folder / "runs").write_text("".join(f"{name} {words}\n"
                                         for name, words in (PRIMES | COSTS).items()))
    return boot(folder / "out", f"""set -e
        tests/guest/matrix.sh {folder}/runs
        build/tests/guest/zero_counter_check >/out/zero_counters
        grep -v '\\[' /proc/kallsyms | sort >/out/symbols""", "--add", folder / "runs")


@pytest.mark.parametrize("run", PRIMES)
def test_23_messages_of_4093_bytes_balance_on_arm64(outcome, run):
    assert outcome.status(run) == 0, outcome.errors(run)
    record = outcome.record(run)
    assert record["machine"]["arch"] == "aarch64" and record["machine"]["instruction_clock"]
    assert not record["timing"]["comparable"]
    check_books(record | {"sites": {name: site for name, site in record["sites"].items()
                                    if name != "reshape"}}, PRIME_MESSAGES)


@pytest.mark.parametrize("end", ["sender", "receiver"])
@pytest.mark.parametrize("run", PRIMES)
def test_both_ends_have_cycles_and_instructions(outcome, run, end):
    counters = outcome.record(run)["counters"][end]
    # One cycle an instruction: QEMU's clock under -icount shift=0.
    assert counters["cycles"]["value"] == counters["instructions"]["value"] > PRIME_PAYLOAD
    for name in ("L1-dcache-load-misses", "LLC-load-misses"):
        assert counters[name]["value"] is None and "no such hardware" in counters[name]["why"]


def test_an_event_that_opens_and_never_counts_is_not_measured(outcome):
    said = dict(line.split(" ", 1) for line in outcome.text("zero_counters").splitlines())
    assert int(said["instructions"]) > 4_000_000
    for name in ("L1-dcache-load-misses", "LLC-load-misses"):
        assert said[name].startswith("null opened but counted nothing in "), said[name]


def cost_of(record: dict, name: str) -> dict:
    """What the calls of one function cost."""
    return record["cost"][name] if name in record["cost"] else record["sites"][name]["cost"]


def instructions_of(record: dict, name: str) -> int:
    """Instructions of its measured calls, less what measuring takes itself."""
    cost = cost_of(record, name)
    own = record["cost"]["probes_themselves"]["instructions"]["value"]
    assert cost["calls"] > 0 < own, cost
    return cost["instructions"]["value"] - cost["calls"] * own


@pytest.mark.parametrize("variant, name", [("A1", "rx_copy"), ("A3", "late_copy")])
def test_instructions_grow_with_the_bytes_and_repeat(outcome, variant, name):
    per_call, per_byte = {}, {}
    for size in (SMALL, LARGE):
        for time in (1, 2):
            record = outcome.record(f"{variant}.{size}.{time}")
            cost = cost_of(record, name)
            per_call[size] = instructions_of(record, name) / cost["calls"]
            per_byte[size, time] = instructions_of(record, name) / cost["bytes"]
    assert per_call[LARGE] > 2 * per_call[SMALL]
    # Fixed work of a call weighs less the more bytes it moves.
    assert per_byte[LARGE, 1] < per_byte[SMALL, 1]
    for size in (SMALL, LARGE):
        assert per_byte[size, 1] == pytest.approx(per_byte[size, 2], rel=0.1)


@pytest.mark.parametrize("run", [run for run in COSTS if run.startswith("A3")])
def test_costs_cover_every_call_that_was_not_left_out(outcome, run):
    record = outcome.record(run)
    assert outcome.status(run) == 0
    for name in ("late_copy", "tx_reference", "rx_copy"):
        site, cost = record["sites"][name], cost_of(record, name)
        if not cost["slept_calls"] and not cost["moved_calls"] and name != "tx_reference":
            assert (cost["calls"], cost["bytes"]) == (site["calls"], site["bytes"])
        assert cost["cycles"]["value"] >= cost["instructions"]["value"] > 0
        assert cost["L1-dcache-load-misses"]["why"]
    sends = cost_of(record, "send_call")
    # Sends that were refused are calls, too.
    assert sends["calls"] + sends["slept_calls"] >= record["counts"]["send_calls"]


def test_no_cost_is_recorded_unless_asked_for(outcome):
    record = outcome.record("A3.lo")
    assert "cost" not in record and "cost" not in record["sites"]["late_copy"]


def ranges(symbols: str) -> dict[str, tuple[str, str]]:
    """Start and end of each function that the plugin is told, from the sorted symbols."""
    lines = [line.split()[:3] for line in symbols.splitlines()]
    wanted = {*COPIES, MARK, *(name for kind in WINDOWS.values() for names in kind.values()
                               for name in names)}
    found = {}
    for place, (start, _, symbol) in enumerate(lines):
        name = symbol.removesuffix(".constprop.0")
        if name in wanted:
            found[name] = (start, next(each[0] for each in lines[place:] if each[0] != start))
    assert set(found) == wanted
    return found


@pytest.fixture(scope="module", name="seen")
def seen_from_outside(outcome, tmp_path_factory):
    """Bytes that each copy function filled during A1 and A3: (all, in each window)."""
    folder = tmp_path_factory.mktemp("plugin")
    where = ranges(outcome.text("symbols"))
    words = [f"out={folder}/counts", f"mark={':'.join(where[MARK])}"]
    words += [f"copy={name}:{':'.join(where[name])}" for name in COPIES]
    words += [f"{kind}={window}:{':'.join(where[name])}" for kind, windows in WINDOWS.items()
              for window, names in windows.items() for name in names]
    script = "set -e\n" + "\n".join(
        f"{MARK_COMMAND}; build/trace_run {PRIMES[run]} --pass counted --json /out/{run}.json >/out/{run}.out"
        for run in ("A1.lo", "A3.lo")) + f"\n{MARK_COMMAND}"
    under = boot(folder / "out", script, "--plugin", ",".join([str(PLUGIN), *words]))
    lines = (folder / "counts").read_text().splitlines()
    marks = [{line.split()[0]: [int(n) for n in line.split()[1:]] for line in lines[at:at + len(COPIES)]}
             for at in range(0, len(lines), len(COPIES))][-3:]
    return {run: ({name: [b - a for a, b in zip(before[name], after[name])] for name in COPIES},
                  under.record(run))
            for run, before, after in zip(("A1.lo", "A3.lo"), marks, marks[1:])}


@pytest.mark.parametrize("run, sent, late", [("A1.lo", PRIME_PAYLOAD, 0),
                                             ("A3.lo", 0, PRIME_PAYLOAD)])
def test_the_emulator_sees_as_many_bytes_copied_as_the_record_says(seen, run, sent, late):
    filled, record = seen[run]
    everywhere, in_sends, in_receives, _ = filled["__arch_copy_from_user"]
    assert in_sends == records.site(record, "tx_copy") == sent
    assert in_receives == 0
    # The rest is what everything else in the guest copied: trace_run's own calls most of all.
    assert everywhere > sent
    _, in_sends, in_receives, _ = filled["__arch_copy_to_user"]
    assert in_receives == records.site(record, "rx_copy") == PRIME_PAYLOAD
    assert in_sends == 0
    assert filled["memcpy"][3] == records.site(record, "late_copy") == late
