# SPDX-License-Identifier: GPL-2.0
"""On arm64, whose emulated processor has counters: books, counters, costs."""
from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from guest.boots import GUEST, TIMEOUT_S, Asked, Outcome
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD, check_books

BUILD = records.ROOT / "build"
PRIMES = {f"{variant}.{path}": f"{variant} {PRIME_BYTES} 1 --path {path} "
          f"--messages {PRIME_MESSAGES}"
          for variant in ("A1", "A2", "A3") for path in ("lo", "veth")}
STACKS = f"build/trace_run A1-plain {PRIME_BYTES} 1 --path lo --messages {PRIME_MESSAGES} --pass timed --quiet"
SMALL, LARGE, COST_MESSAGES = 4096, 65536, 100
COSTS = {f"{variant}.{size}.{time}": f"{variant} {size} 1 --path lo --cost "
         f"--messages {COST_MESSAGES}"
         for variant in ("A1", "A3") for size in (SMALL, LARGE) for time in (1, 2)}
# What is made a second time, and by a way that copies into the same packets, waits for the long tier.
LATER = [run for run in PRIMES | COSTS if run.endswith(".2") or run.startswith("A2") or run == "A1.veth"]
# By this name a test asks for none of them.
OWN = "own"
MISSING = next((what for there, what in (
    (shutil.which("qemu-system-aarch64"), "qemu-system-aarch64 is missing: make setup-arm64"),
    ((BUILD / "arm64" / "trace_run").exists(), "nothing is built for arm64: make arm64")) if not there), "")

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def boot(out: Path, script: str, *options) -> Outcome:
    """Run a script in an arm64 guest."""
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(word) for word in (
        GUEST, "--arch", "arm64", "--kernel", "6.12", "--timeout", TIMEOUT_S, "--out", out,
        *options, "--", "bash", "-c", script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Outcome("6.12", out)


def of_runs(runs):
    """Parametrize a test by run."""
    return pytest.mark.parametrize("run", [pytest.param(run, marks=(pytest.mark.made_by(run), *(
        (pytest.mark.long,) if run in LATER else ()))) for run in runs])


@pytest.fixture(scope="module", name="outcome")
def all_runs(request, tmp_path_factory):
    """All runs that are asked for in one boot."""
    asked = Asked(request)
    folder = tmp_path_factory.mktemp("arm64")
    (folder / "runs").write_text("".join(f"{name} {words}\n"
                                         for name, words in (PRIMES | COSTS).items() if asked("arm64", name)))
    return boot(folder / "out", f"""set -e
        tests/guest/matrix.sh {folder}/runs
        # A process may end before it is read what it had mapped: this guest has one processor, which the watch gets first.
        for try in $(seq 30); do
            build/watch --stacks --json /out/stacks.json -- chrt -i 0 {STACKS} 2>/out/stacks.err
            grep -Eq '"end": ?"unread"' /out/stacks.json || break
        done
        build/tests/guest/zero_counter_check >/out/zero_counters""", "--add", folder / "runs")


@of_runs(PRIMES)
def test_23_messages_of_4093_bytes_balance_on_arm64(outcome, run):
    assert outcome.status(run) == 0, outcome.errors(run)
    record = outcome.record(run)
    assert record["machine"]["arch"] == "aarch64" and record["machine"]["instruction_clock"]
    assert not record["experiment"]["timing"]["comparable"]
    check_books(record | {"sites": {name: site for name, site in record["sites"].items()
                                    if name != "reshape"}}, PRIME_MESSAGES)


@pytest.mark.parametrize("end", ["sender", "receiver"])
@of_runs(PRIMES)
def test_both_ends_have_cycles_and_instructions(outcome, run, end):
    counters = outcome.record(run)["experiment"]["counters"][end]
    # One cycle an instruction: QEMU's clock under -icount shift=0.
    assert counters["cycles"]["value"] == counters["instructions"]["value"] > PRIME_PAYLOAD
    for name in ("L1-dcache-load-misses", "LLC-load-misses"):
        assert counters[name]["value"] is None and "no such hardware" in counters[name]["why"]


@pytest.mark.made_by(OWN)
def test_an_event_that_opens_and_never_counts_is_not_measured(outcome):
    said = dict(line.split(" ", 1) for line in outcome.text("zero_counters").splitlines())
    assert int(said["instructions"]) > 4_000_000
    for name in ("L1-dcache-load-misses", "LLC-load-misses"):
        assert said[name].startswith("null opened but counted nothing in "), said[name]


@pytest.mark.made_by(OWN)
@pytest.mark.parametrize("site, names", [("tx_copy", ["transfer_send", "sender_send", "serve"]),
                                         ("rx_copy", ["transfer_recv", "receive_fields", "receiver_receive"])])
def test_the_stack_of_a_call_is_walked_to_its_thread(outcome, site, names):
    record = json.loads(outcome.text("stacks.json"))
    found = record["stacks"]
    assert records.law(record, "stacks")["status"] == "balanced" and found["unstacked_bytes"] == 0
    stacks = [each for each in found["stacks"] if each["site"] == site]
    assert sum(each["bytes"] for each in stacks) == PRIME_PAYLOAD
    for each in stacks:
        called = [found["frames"][place] for place in each["frames"]]
        # The C library's own functions stand below and above: a thread begins there.
        assert each["end"] == "whole" and len({frame["module"] for frame in called}) == 2
        assert [frame["function"] for frame in called if frame["function"] in names] == names


def cost_of(record: dict, name: str) -> dict:
    """What the calls of one function cost."""
    return record["cost"][name] if name in record["cost"] else record["sites"][name]["cost"]


def instructions_of(record: dict, name: str) -> int:
    """Instructions of its measured calls, less what measuring takes itself."""
    cost = cost_of(record, name)
    own = record["cost"]["probes_themselves"]["instructions"]["value"]
    assert cost["calls"] > 0 < own, cost
    return cost["instructions"]["value"] - cost["calls"] * own


def of_sizes(*times):
    """Parametrize a test by what copies at which site, each size made these times."""
    return pytest.mark.parametrize("variant, name", [
        pytest.param(variant, name, marks=pytest.mark.made_by(*(
            f"{variant}.{size}.{time}" for size in (SMALL, LARGE) for time in times)))
        for variant, name in (("A1", "rx_copy"), ("A3", "late_copy"))])


def costs(outcome, variant, name, *times):
    """Instructions of a site by size, of a call and of a byte each time."""
    per_call, per_byte = {}, {}
    for size in (SMALL, LARGE):
        for time in times:
            record = outcome.record(f"{variant}.{size}.{time}")
            cost = cost_of(record, name)
            per_call[size] = instructions_of(record, name) / cost["calls"]
            per_byte[size, time] = instructions_of(record, name) / cost["bytes"]
    return per_call, per_byte


@of_sizes(1)
def test_instructions_grow_with_the_bytes(outcome, variant, name):
    per_call, per_byte = costs(outcome, variant, name, 1)
    assert per_call[LARGE] > 2 * per_call[SMALL]
    # Fixed work of a call weighs less the more bytes it moves.
    assert per_byte[LARGE, 1] < per_byte[SMALL, 1]


@pytest.mark.long
@of_sizes(1, 2)
def test_instructions_repeat(outcome, variant, name):
    per_byte = costs(outcome, variant, name, 1, 2)[1]
    for size in (SMALL, LARGE):
        assert per_byte[size, 1] == pytest.approx(per_byte[size, 2], rel=0.1)


@of_runs([run for run in COSTS if run.startswith("A3")])
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


@pytest.mark.made_by("A3.lo")
def test_no_cost_is_recorded_unless_asked_for(outcome):
    record = outcome.record("A3.lo")
    assert "cost" not in record and "cost" not in record["sites"]["late_copy"]
