# SPDX-License-Identifier: GPL-2.0
"""What the emulator's plugin counts agrees with the books, which share no code with it."""
from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from guest.boots import GUEST, TIMEOUT_S, Asked, Maker, Outcome, dealt, where_made
from helpers import records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD

VARIANTS = ("A1", "A1-plain", "A1-8send", "A2", "A3")
# A model slows a guest down: each variant on one path here and on the other there.
WHOLE = "6.12"
FIRST_PATH = {"6.1": "veth", "7.2": "veth", WHOLE: "lo", "arm64": "lo"}
BIG, SAME_MESSAGES = 65536, 40
SAME = {f"same.{number}": f"A2 {BIG} 1 --path lo --pattern rr --messages {SAME_MESSAGES} --pass timed"
        for number in (1, 2)}
SAME_AGAIN = "same.2"
# Between namespaces over emulated network cards, on that kernel.
CARDS = {f"{variant}.{path}": f"{variant} {PRIME_BYTES} 1 --path {path} --messages {PRIME_MESSAGES}"
         for variant in ("A1", "A3") for path in ("nic", "forward")}
LEVELS = ("l1d", "l2", "llc")


def path_of(kernel: str, variant: str) -> str:
    """The path of a variant's run on that kernel: by turns one and the other."""
    paths = ("lo", "veth")
    return paths[(paths.index(FIRST_PATH[kernel]) + VARIANTS.index(variant)) % 2]


# Between them these pass each site that the model knows.
EACH = ("A1", "A3")
KERNELS = tuple(FIRST_PATH)
MADE = dict.fromkeys(EACH, KERNELS) | dealt((each for each in VARIANTS if each not in EACH), KERNELS, hands=2) | \
    dict.fromkeys(SAME | CARDS, (WHOLE,))
# The functions that copy are those of 7.2 there, too.
makes = Maker(MADE, soon=dict.fromkeys(EACH, (WHOLE,)) |
              dict.fromkeys((*(each for each in VARIANTS if each not in EACH), *CARDS, SAME_AGAIN), ()))


def runs_on(kernel: str, asked: Asked) -> dict[str, str]:
    """What is run on a kernel, by name, as far as it is asked for."""
    runs = {variant: f"{variant} {PRIME_BYTES} 1 --path {path_of(kernel, variant)} "
                     f"--messages {PRIME_MESSAGES}" for variant in VARIANTS} | SAME | CARDS
    return {name: words for name, words in runs.items() if makes(kernel, name) and asked(kernel, name)}


def boot(release: str, folder: Path, runs: dict[str, str], *options: str) -> Outcome:
    """These runs in one guest under the plugin."""
    listing = folder / "runs"
    listing.write_text("".join(f"{name} {words}\n" for name, words in runs.items()))
    script = f""". tests/helpers/saved.sh; while read -r name words; do
        saved $name build/trace_run $words --counters model --quiet --json /out/$name.json
    done <{listing}"""
    done = subprocess.run([str(word) for word in (
        GUEST, "--kernel", release, *options, "--model", "", "--timeout", TIMEOUT_S, "--add", listing,
        "--out", folder / "out", "--", "bash", "-c", script)],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Outcome(release, folder / "out")


@pytest.fixture(scope="module", name="booted")
def boots(request, tmp_path_factory) -> Callable[[str], Outcome]:
    """The runs on one kernel, made when they are asked for first; on arm64 it is 6.12."""
    asked = Asked(request)

    @functools.cache
    def made(kernel: str) -> Outcome:
        folder = tmp_path_factory.mktemp("modelled")
        runs = runs_on(kernel, asked)
        if kernel != "arm64":
            return boot(kernel, folder, runs, *("--nics", 2) * bool(runs.keys() & CARDS))
        if not (records.ROOT / "build" / "arm64" / "trace_run").exists():
            pytest.skip("nothing is built for arm64: make arm64")
        return boot(WHOLE, folder, runs, "--arch", "arm64")
    return made


@pytest.fixture(name="outcome")
def on_one_kernel(request, booted) -> Outcome:
    """The runs on a kernel."""
    return booted(request.param)


@pytest.fixture(name="whole")
def on_whole_kernel(booted) -> Outcome:
    """The kernel that makes one run twice."""
    return booted(WHOLE)


def modelled(record: dict, which: str = "timed") -> dict:
    """What the plugin counted in a pass."""
    found = record["experiment"]["passes"][which]["modelled"]
    assert found["how"] == "modelled" and found["why"] is None
    return found


def total(rows: list[dict], key: str, **where: str) -> int:
    """A count, summed over the rows that have these words."""
    return sum(row[key] for row in rows if all(row[name] == word for name, word in where.items()))


def once(record: dict, which: str, site: str, copied_bytes: int) -> int:
    """Bytes of a pass less those that TCP sent again. Where references are copied late, each of these is
    copied late once more; elsewhere none is."""
    again = record["experiment"]["passes"][which]["tcp"]["retransmitted_bytes"]
    return copied_bytes - (again if site == "late_copy" and copied_bytes else 0)


def check_copied(outcome: Outcome, name: str) -> None:
    """The plugin saw as many bytes copied at each site as the books have."""
    assert outcome.status(name) == 0, outcome.errors(name)
    record = outcome.record(name)
    rows = modelled(record)["sites"]
    for site in ("tx_copy", "rx_copy", "late_copy", "user_gather"):
        # Both passes send the same; in the timed one no program of ours copies besides.
        seen = total(rows, "copied_bytes", site=site)
        assert once(record, "timed", site, seen) == \
            once(record, "counted", site, records.site(record, site)), site
    gathers = record["experiment"]["workload"]["variant"] == "A1"
    assert total(rows, "calls", site="user_gather") == (PRIME_MESSAGES if gathers else 0)
    assert records.site(record, "user_gather") == (PRIME_PAYLOAD if gathers else 0)


@where_made("variant", KERNELS, VARIANTS, makes)
def test_copied_bytes_are_those_of_the_books(outcome, variant):
    check_copied(outcome, variant)


@where_made("name", KERNELS, CARDS, makes)
def test_copied_bytes_are_those_of_the_books_beyond_a_card(outcome, name):
    check_copied(outcome, name)


def test_every_variant_runs_on_both_paths():
    runs = {(variant, path_of(kernel, variant)) for kernel in KERNELS for variant in VARIANTS
            if makes(kernel, variant)}
    assert len(runs) == 2 * len(VARIANTS)


@where_made("variant", KERNELS, EACH, makes)
def test_ends_do_what_ends_do(outcome, variant):
    found = modelled(outcome.record(variant))
    for end in ("sender", "receiver"):
        for context in ("user", "kernel"):
            assert total(found["ends"], "instructions", end=end, context=context) > 10_000
    assert total(found["sites"], "instructions", site="rx_copy", end="sender") == 0
    assert total(found["sites"], "instructions", site="tx_copy", end="receiver") == 0
    pins = total(found["sites"], "calls", site="pin", end="sender")
    assert pins >= PRIME_MESSAGES if variant == "A3" else not pins


@where_made("variant", KERNELS, ["A1"], makes)
def test_a_level_misses_no_more_than_the_one_above(outcome, variant):
    for row in modelled(outcome.record(variant))["ends"]:
        misses = [row[f"{level}_misses"] for level in LEVELS]
        assert misses == sorted(misses, reverse=True)
        assert all(row[f"{level}_load_misses"] <= row[f"{level}_misses"] for level in LEVELS)


@pytest.mark.made_by("same.1")
def test_a_copy_of_more_than_l1d_misses_each_of_its_lines(whole):
    rows = modelled(whole.record("same.1"))["sites"]
    lines = 2 * 2 * SAME_MESSAGES * BIG / 64
    for site in ("tx_copy", "rx_copy"):
        assert total(rows, "l1d_misses", site=site) == pytest.approx(lines, rel=0.02)


@pytest.mark.long
@pytest.mark.made_by(*SAME)
def test_a_second_run_counts_the_same(whole):
    first, second = (modelled(whole.record(f"same.{number}")) for number in (1, 2))
    for site in ("tx_copy", "rx_copy"):
        for key in ("instructions", "loads", "stores"):
            assert total(second["sites"], key, site=site) == pytest.approx(
                total(first["sites"], key, site=site), rel=0.002), (site, key)
