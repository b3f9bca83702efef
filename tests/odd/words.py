# SPDX-License-Identifier: GPL-2.0
"""Holds each sentence of a record against the numbers that it claims something of."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from copyscope.report.process_sentence import all_told

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


def handed(n: Numbers) -> int:
    """What send took by reference or spliced; what kernel TLS splices is records."""
    return (n["tx_reference"] or 0) + spliced(n)


def spliced(n: Numbers) -> int:
    """What the program spliced itself."""
    return (n["tx_splice"] or 0) - (n["tls_carried_bytes"] or 0)


FATE = ("tx_reference", "tx_splice", "tls_carried_bytes", "copied_later_bytes", "uncopied_bytes")
CLAIMS = [
    Claim(r"all copied by recv", ("rx_copy", "rx_discard", "passed_on_bytes", "returned_bytes"),
          lambda n: n["rx_copy"] >= n["returned_bytes"] > n["rx_discard"] + n["passed_on_bytes"]
          and not n["rx_discard"] + n["passed_on_bytes"]),
    Claim(r"peeks copied", ("rx_copy", "passed_on_bytes", "rx_discard"), more_than_nothing("rx_copy")),
    Claim(r"recv copied", ("rx_copy",), more_than_nothing("rx_copy")),
    Claim(r"spliced out or mapped", ("passed_on_bytes",), more_than_nothing("passed_on_bytes")),
    Claim(r"spliced out(?! or)", ("rx_splice",), more_than_nothing("rx_splice")),
    Claim(r"was mapped", ("rx_map",), more_than_nothing("rx_map")),
    Claim(r"and mapped none", ("rx_map", "map_calls"), lambda n: n["rx_map"] == 0 < n["map_calls"]),
    Claim(r"discarded", ("rx_discard",), more_than_nothing("rx_discard")),
    Claim(r"spliced from", ("tx_splice", "tls_carried_bytes"), lambda n: spliced(n) > 0),
    Claim(r"TLS encrypted", ("tls_encrypt", "tls_accepted_bytes"), more_than_nothing("tls_encrypt", "tls_accepted_bytes")),
    Claim(r"TLS decrypted", ("tls_decrypt", "tls_received_bytes"), more_than_nothing("tls_decrypt", "tls_received_bytes")),
    Claim(r"straight from buffers", ("tls_reference",), more_than_nothing("tls_reference")),
    Claim(r"straight from pages", ("tls_splice",), more_than_nothing("tls_splice")),
    Claim(r"copied into records", ("tls_copy",), more_than_nothing("tls_copy")),
    Claim(r"straight into buffers", ("rx_direct",), more_than_nothing("rx_direct")),
    Claim(r"send copied all", ("tx_copy", "accepted_bytes"), lambda n: n["tx_copy"] == n["accepted_bytes"] > 0),
    Claim(r"was copied by send", ("tx_copy",), more_than_nothing("tx_copy")),
    Claim(r"all of it was copied after all", FATE, lambda n: n["copied_later_bytes"] == handed(n) > 0),
    Claim(r"% of it was copied after all", FATE, lambda n: 0 < n["copied_later_bytes"] < handed(n)),
    Claim(r"all of it was handed over as pages", FATE,
          lambda n: n["uncopied_bytes"] == handed(n) > 0),
    Claim(r"% of it was handed over as pages", FATE, lambda n: 0 < n["uncopied_bytes"] < handed(n)),
    Claim(r"late_copy is", ("late_copy", "tx_reference"), lambda n: n["late_copy"] > n["tx_reference"] > 0),
    Claim(r"(?<!no byte) by reference", ("tx_reference",), more_than_nothing("tx_reference")),
    Claim(r"no byte by reference", ("tx_reference",), lambda n: n["tx_reference"] == 0),
    Claim(r"for no zero copy", ("zerocopy_asked_sends", "unset_sends", "tx_reference"),
          lambda n: n["zerocopy_asked_sends"] == n["unset_sends"] == n["tx_reference"] == 0),
    Claim(r"moved no payload", ("accepted_bytes", "returned_bytes"),
          lambda n: n["accepted_bytes"] == n["returned_bytes"] == 0),
]
# A sentence that says that something is not known claims nothing of it.
ADMITS = re.compile(r"(is|was|are|were) not (known|measured)|nobody saw|not known")


def numbers(of: dict) -> Numbers:
    """Sites, counts and fates of a sum by name."""
    return {**{name: site["bytes"] for name, site in of["sites"].items()}, **of["counts"],
            **of["fate"]}


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
    for verdict, said in zip(record["verdicts"], all_told(record)):
        if verdict["pid"] in sums:
            yield from unbacked(said, numbers(sums[verdict["pid"]]))
