# SPDX-License-Identifier: GPL-2.0
"""What the emulator's plugin counts agrees with the books, which share no code with it."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guest.boots import GUEST, TIMEOUT_S, Outcome
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD

RUNS = {f"{variant}.{path}": f"{variant} {PRIME_BYTES} 1 --path {path} --messages {PRIME_MESSAGES}"
        for variant in ("A1", "A1-plain", "A1-8send", "A2", "A3") for path in ("lo", "veth")}
BIG, SAME_MESSAGES = 65536, 40
RUNS |= {f"same.{number}": f"A2 {BIG} 1 --path lo --pattern rr --messages {SAME_MESSAGES} --pass timed"
         for number in (1, 2)}
LISTS = ("6.1", "6.12", "7.2")
LEVELS = ("l1d", "l2", "llc")


def boot(release: str, folder: Path, *options: str) -> Outcome:
    """All runs in one guest under the plugin."""
    listing = folder / "runs"
    listing.write_text("".join(f"{name} {words}\n" for name, words in RUNS.items()))
    script = f"""while read -r name words; do
        build/trace_run $words --counters model --quiet --json /out/$name.json 2>/out/$name.err </dev/null
        echo $? >/out/$name.status
    done <{listing}"""
    done = subprocess.run([str(word) for word in (
        GUEST, "--kernel", release, *options, "--model", "", "--timeout", TIMEOUT_S, "--add", listing,
        "--out", folder / "out", "--", "bash", "-c", script)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Outcome(release, folder / "out")


@pytest.fixture(scope="module", name="outcome", params=[*LISTS, "arm64"])
def all_runs(request, tmp_path_factory) -> Outcome:
    """The runs on one kernel; on arm64 it is 6.12."""
    folder = tmp_path_factory.mktemp("modelled")
    if request.param != "arm64":
        return boot(request.param, folder)
    if not (records.ROOT / "build" / "arm64" / "trace_run").exists():
        pytest.skip("nothing is built for arm64: make arm64")
    return boot("6.12", folder, "--arch", "arm64")


def modelled(record: dict, which: str = "timed") -> dict:
    """What the plugin counted in a pass."""
    found = record["passes"][which]["modelled"]
    assert found["how"] == "modelled" and found["why"] is None
    return found


def total(rows: list[dict], key: str, **where: str) -> int:
    """A count, summed over the rows that have these words."""
    return sum(row[key] for row in rows if all(row[name] == word for name, word in where.items()))


@pytest.mark.parametrize("run", [run for run in RUNS if not run.startswith("same")])
def test_copied_bytes_are_those_of_the_books(outcome, run):
    assert outcome.status(run) == 0, outcome.errors(run)
    record = outcome.record(run)
    rows = modelled(record)["sites"]
    for site in ("tx_copy", "rx_copy", "late_copy"):
        # Both passes send the same; in the timed one no program of ours copies besides.
        assert total(rows, "copied_bytes", site=site) == records.site(record, site), site
    gathers = total(rows, "calls", site="user_gather")
    assert gathers == (PRIME_MESSAGES if run.startswith("A1.") else 0)
    assert record["sites"]["user_gather"]["bytes"] == (PRIME_PAYLOAD if gathers else 0)


@pytest.mark.parametrize("run", ["A1.lo", "A3.veth"])
def test_ends_do_what_ends_do(outcome, run):
    found = modelled(outcome.record(run))
    for end in ("sender", "receiver"):
        for context in ("user", "kernel"):
            assert total(found["ends"], "instructions", end=end, context=context) > 10_000
    assert total(found["sites"], "instructions", site="rx_copy", end="sender") == 0
    assert total(found["sites"], "instructions", site="tx_copy", end="receiver") == 0
    pins = total(found["sites"], "calls", site="pin", end="sender")
    assert pins >= PRIME_MESSAGES if run.startswith("A3") else not pins


def test_a_level_misses_no_more_than_the_one_above(outcome):
    for row in modelled(outcome.record("A1.lo"))["ends"]:
        misses = [row[f"{level}_misses"] for level in LEVELS]
        assert misses == sorted(misses, reverse=True)
        assert all(row[f"{level}_load_misses"] <= row[f"{level}_misses"] for level in LEVELS)


def test_a_copy_of_more_than_l1d_misses_each_of_its_lines(outcome):
    rows = modelled(outcome.record("same.1"))["sites"]
    lines = 2 * 2 * SAME_MESSAGES * BIG / 64
    for site in ("tx_copy", "rx_copy"):
        assert total(rows, "l1d_misses", site=site) == pytest.approx(lines, rel=0.02)


def test_a_second_run_counts_the_same(outcome):
    first, second = (modelled(outcome.record(f"same.{number}")) for number in (1, 2))
    for site in ("tx_copy", "rx_copy"):
        for key in ("instructions", "loads", "stores"):
            assert total(second["sites"], key, site=site) == pytest.approx(
                total(first["sites"], key, site=site), rel=0.002), (site, key)
