# SPDX-License-Identifier: GPL-2.0
"""bpftrace and the kernel's own checks count what trace_run counts, and the one-liners work."""
from __future__ import annotations

import re

import pytest

from guest.boots import ALL, boot_all
from helpers import records

ONELINERS = records.ROOT / "docs" / "ONELINERS.md"
# Runs that both witnesses watch: gathered, copied and referenced; small and large; both patterns.
WATCHED = {f"{variant}.{size}": f"{variant} {size} 4 --messages {messages}"
           for variant in ("A1", "A2", "A3") for size, messages in ((4093, 23), (65536, 200))}
WATCHED |= {"A3.rr": "A3 4093 2 --messages 23 --pattern rr --path lo",
            "A3-aligned.lo": "A3-aligned 65536 1 --messages 100 --path lo"}
# bpftrace 0.17 asks 5.10 for the BTF of modules, which came with 5.11, and finds no function.
NO_KFUNC = "bpftrace 0.17 has no kfunc on 5.10: it wants the BTF of modules, new in 5.11"
WITH_KFUNC = tuple(release for release in ALL if release != "5.10")
SITES = ("tx_copy", "tx_reference", "late_copy", "rx_copy")
COUNTS = {"accepted": "accepted_bytes", "completions": "completed_sends",
          "completions_copied": "copied_sends"}


def oneliners() -> dict[str, tuple[str, list[str]]]:
    """By heading: the command of each console block in the document, and the output it shows."""
    found = {}
    for section in ONELINERS.read_text().split("\n## ")[1:]:
        if "```console\n# " not in section:
            continue
        lines = section.split("```console\n# ")[1].split("\n```")[0].split("\n")
        first = next(i for i, line in enumerate(lines) if line.startswith("Attaching"))
        found[section.split("\n")[0]] = ("\n".join(lines[:first]), lines[first:])
    return found


def number_of(title: str) -> str:
    """Names the output file of a one-liner."""
    return f"oneliner-{list(oneliners()).index(title)}.txt"


@pytest.fixture(scope="module", name="outcomes")
def all_kernels(tmp_path_factory):
    """Watched runs and one-liners in one boot for each kernel."""
    folder = tmp_path_factory.mktemp("bpftrace")
    listing, script = folder / "runs", folder / "script"
    listing.write_text("".join(f"{name} {words}\n" for name, words in WATCHED.items()))
    script.write_text("\n".join([
        "set -eu", f"tests/guest/matrix.sh {listing} tools/copies.bt tests/guest/oracle.bt",
        *(f"{command} >/out/{number_of(title)} 2>&1"
          for title, (command, _) in oneliners().items()), ""]))
    return boot_all(folder, ["bash", script],
                    ["--with", "bpftrace", "--add", listing, "--add", script], WITH_KFUNC)


@pytest.fixture(scope="module", name="outcome", params=ALL)
def one_kernel(outcomes, request):
    """What one kernel's guest left."""
    if request.param not in outcomes:
        pytest.skip(NO_KFUNC)
    return outcomes[request.param]


def processes(outcome, run: str) -> list[str]:
    """Both processes of a watched run. Records name none, but each attempt at a run started two,
    runs came one after the other, and copies.bt saw both send or receive."""
    seen = sorted({int(pid) for pid in re.findall(r"\[workload, (\d+)\]",
                                                  outcome.text("copies.txt"))})
    attempts = {name: outcome.record(name)["backend"]["attempt"] for name in WATCHED}
    assert len(seen) == 2 * sum(attempts.values())
    names = list(WATCHED)
    end = 2 * sum(attempts[name] for name in names[:names.index(run) + 1])
    return [str(pid) for pid in seen[end - 2:end]]


def counted(outcome, run: str, script: str, name: str) -> int:
    """What a script printed under that name for the processes of this run."""
    lines = re.findall(rf"@{name}\[workload, (\d+)\]: (\d+)", outcome.text(f"{script}.txt"))
    ours = processes(outcome, run)
    return sum(int(count) for pid, count in lines if pid in ours)


@pytest.mark.parametrize("run", WATCHED)
def test_copies_bt_agrees_to_the_byte(outcome, run):
    record = outcome.record(run)
    assert outcome.status(run) == 0
    assert {name: counted(outcome, run, "copies", name) for name in SITES} == {
        name: records.site(record, name) for name in SITES}
    assert {name: counted(outcome, run, "copies", name) for name in COUNTS} == {
        name: record["counts"][key] for name, key in COUNTS.items()}


@pytest.mark.parametrize("run", WATCHED)
def test_kernel_checks_as_many_bytes_as_are_copied(outcome, run):
    record = outcome.record(run)
    for name, site in (("user_to_kernel", "tx_copy"), ("kernel_to_user", "rx_copy")):
        assert counted(outcome, run, "oracle", name) == records.site(record, site)


@pytest.mark.parametrize("script", ["copies", "oracle"])
def test_scripts_end_without_complaint(outcome, script):
    complaints = [line for line in outcome.text(f"{script}.err").splitlines()
                  if "PROBES_ATTACHED" not in line]
    assert complaints == []


def maps(lines: list[str]) -> set[str]:
    """Names of the maps that bpftrace printed."""
    return {found[1] for found in (re.match(r"@(\w+)", line) for line in lines) if found}


def numbers(lines: list[str]) -> list[int]:
    """Counts in bpftrace's output: of a map, of its statistics, or of a line of a histogram."""
    return [int(n) for line in lines
            for n in re.findall(r"(?:^@.*: |^\]: |total |[\])] +)(\d+)(?= \||$)", line)]


@pytest.mark.parametrize("title", oneliners())
def test_oneliner_yields_what_its_text_shows(outcome, title):
    shown, printed = oneliners()[title][1], outcome.text(number_of(title)).splitlines()
    assert "ERROR" not in "".join(printed)
    assert maps(printed) == maps(shown) != set()
    assert numbers(shown) and numbers(printed), printed
    # Whether anything is retransmitted is chance; all else must be there.
    assert sum(numbers(printed)) > 0 or "retransmit" in title


def test_document_shows_at_least_five_oneliners():
    assert len(oneliners()) >= 5
