# SPDX-License-Identifier: GPL-2.0
"""Holds each sentence of a record against the numbers that it claims something of."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# What a sentence says -> what must be known, and be so. `n` gives sites, counts and sums of the process.
Numbers = dict[str, int | None]


@dataclass(frozen=True)
class Claim:
    """Words, the numbers that they speak of, and when they are so."""
    words: str
    of: tuple[str, ...]
    holds: Callable[[Numbers], bool]


def more_than_nothing(*sites: str) -> Callable[[Numbers], bool]:
    """Some of these bytes were there."""
    return lambda n: all(n[site] for site in sites)


CLAIMS = [
    Claim(r"all copied by recv", ("rx_copy", "returned_bytes"), lambda n: n["rx_copy"] >= n["returned_bytes"] > 0),
    Claim(r"copied by recv", ("rx_copy",), more_than_nothing("rx_copy")),
    Claim(r"all spliced out", ("rx_splice", "returned_bytes"), lambda n: n["rx_splice"] == n["returned_bytes"] > 0),
    Claim(r"spliced out", ("rx_splice",), more_than_nothing("rx_splice")),
    Claim(r"\bmapped", ("rx_map",), more_than_nothing("rx_map")),
    Claim(r"discarded", ("rx_discard",), more_than_nothing("rx_discard")),
    Claim(r"spliced from", ("tx_splice",), more_than_nothing("tx_splice")),
    Claim(r"send copied all", ("tx_copy", "accepted_bytes"), lambda n: n["tx_copy"] == n["accepted_bytes"] > 0),
    Claim(r"copied by send", ("tx_copy",), lambda n: n["tx_copy"] is not None),
    Claim(r"not copied later", ("late_copy", "tx_reference"), lambda n: n["late_copy"] == 0),
    Claim(r"% of it was copied later|copied late\b", ("late_copy",), more_than_nothing("late_copy")),
    Claim(r"all of it was copied after all|all copied after all", ("late_copy", "tx_reference"),
          lambda n: n["late_copy"] >= n["tx_reference"] > 0),
    Claim(r"by reference", ("tx_reference",), more_than_nothing("tx_reference")),
    Claim(r"without a CPU copy", ("reshape",), lambda n: n["reshape"] == 0),
    Claim(r"for no zero copy", ("zerocopy_asked_sends",), lambda n: n["zerocopy_asked_sends"] == 0),
    Claim(r"moved no TCP payload", ("accepted_bytes", "returned_bytes"),
          lambda n: n["accepted_bytes"] == n["returned_bytes"] == 0),
]
# A sentence that says that something is not known claims nothing of it.
ADMITS = re.compile(r"(is|was|are|were) not (known|measured)|nobody saw|not known")


def numbers(of: dict) -> Numbers:
    """Sites and counts of a sum by name."""
    return {**{name: site["bytes"] for name, site in of["sites"].items()}, **of["counts"]}


def clauses(sentence: str) -> list[str]:
    """Parts of a sentence that claim something each."""
    return [each for each in re.split(r"[.;:,](?=\s|$)", sentence) if not ADMITS.search(each)]


def unbacked(sentence: str, n: Numbers) -> Iterator[str]:
    """What a sentence claims although its numbers are null, or say otherwise."""
    for clause in clauses(sentence):
        for claim in CLAIMS:
            if re.search(claim.words, clause):
                null = [name for name in claim.of if n[name] is None]
                if null:
                    yield f'"{clause.strip()}", but {", ".join(null)} is null'
                elif not claim.holds(n):
                    yield f'"{clause.strip()}", but ' + ", ".join(f"{name} {n[name]}" for name in claim.of)


def unbacked_sentences(record: dict) -> Iterator[str]:
    """The same of every verdict of a record."""
    sums = {each["pid"]: each["sum"] for each in record["processes"]}
    for verdict in record["verdicts"]:
        if verdict["pid"] in sums:
            yield from unbacked(verdict["sentence"], numbers(sums[verdict["pid"]]))
