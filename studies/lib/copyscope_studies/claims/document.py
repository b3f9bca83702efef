# SPDX-License-Identifier: GPL-2.0
"""Verdicts and answers as one document, copyscope.verdicts/2: the same bytes for the same input."""
from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any, cast

from copyscope.common.tables import SITES
from copyscope.records.run_record import Record

from . import needs
from .files import Claim
from .judge import WORDS, Verdict
from .world import World, evidence_line

SCHEMA = "copyscope.verdicts/2"
# As a command names the folder that its records go to.
OUT = Path("results")
# What sets one way to send apart from another.
WAY = ("profile", "mode", "label", "variant", "path", "pattern")
Machine = tuple[str, str, bool]


def verdict(of: Verdict) -> dict[str, Any]:
    """One verdict with all that it rests on."""
    claim = of.claim
    undecided = of.claim.runs if of.word == "UNDECIDED" else ()
    return {
        "id": claim.id, "report": claim.report, "statement": claim.statement,
        "category": claim.category or None, "where": claim.where or None,
        "words": claim.words or None, "kind": claim.kind or None, "as": claim.told or None,
        "of": claim.of or None, "program": claim.program or None,
        "verdict": of.word, "why": list(of.why),
        "given": " ".join(claim.given.split()) or None,
        "predicate": " ".join(claim.predicate.split()) or None,
        "here": of.here, "there": of.there, "ratio": of.ratio, "fixed": fixed(claim),
        "comparisons": of.comparisons,
        "undecidable": claim.undecidable or None,
        "commands": [shlex.join(needs.command(each, OUT)) for each in undecided],
        "steps": [{"said": each.said, "left": each.left, "right": each.right, "truth": each.truth}
                  for each in of.steps],
        "evidence": [{"said": each.said, "shown": evidence_line(each), "hows": list(each.hows),
                      "records": sorted({name.split(", ")[0] for name in each.value.records}),
                      "n": len(each.value.numbers)} for each in of.evidence]}


def fixed(claim: Claim) -> dict[str, Any] | None:
    """When the predicate of a claim was fixed."""
    found = claim.fixed
    return None if found is None else {"commit": found.commit, "date": found.date,
                                       "after_numbers": found.after_numbers}


def reports(claims: list[Claim]) -> list[dict[str, str]]:
    """The files of claims, each by the name of its report."""
    return [{"name": name, "title": title} for name, title in
            dict.fromkeys((each.report, each.title or each.report) for each in claims)]


def machine_of(data: Any) -> Machine:
    """Machine and kernel of a record, and whether it was emulated."""
    if isinstance(data, Record):
        machine = {key: data.at(f"machine.{key}")
                   for key in ("cpu_model", "cpus", "kernel", "emulated")}
    else:
        machine = data["machine"]
    return (f"{machine.get('cpu_model')}, {machine.get('cpus')} CPUs", str(machine.get("kernel")),
            bool(machine.get("emulated")))


def made_from(world: World) -> dict[str, Any]:
    """How many records of each kind there were, and of which machines."""
    kinds = {kind: len({each.name for each in found}) for kind, found in sorted(world.items.items())
             if found}
    # Rows of a baseline and processes of a watch are of one record.
    records = {(machine_of(each.data), kind, each.name) for kind in kinds
               for each in world.items[kind]}
    machines = Counter(machine for machine, _, _ in records)
    return {"records": kinds, "machines": [
        {"machine": machine, "kernel": kernel, "emulated": emulated, "records": count}
        for (machine, kernel, emulated), count in sorted(machines.items())]}


def ways(world: World) -> list[dict[str, Any]]:
    """What happened to each byte in each experiment of a sweep, by its way to send. Of a request
    and its reply it is the reply; runs without probes, or whose laws are broken, count nothing.
    Modelled runs count where there are no others."""
    found: dict[tuple[str, ...], list[Record]] = {}
    for each in world.items["run"]:
        record = cast(Record, each.data)
        key = tuple(each.words.get(name, "") for name in WAY)
        if each.words.get("mode") and record.at("backend.name") != "none" and \
                not record.broken_laws() and record.payload_bytes:
            found.setdefault(key, []).append(record)
    kept = {key: [each for each in records if not each.modelled] or records
            for key, records in found.items()}
    return [{**dict(zip(WAY, key)), "n": len(records), "sites": {
        site: shares(records, site) for site in SITES}} for key, records in sorted(kept.items())]


def shares(records: list[Record], site: str) -> dict[str, Any]:
    """Bytes of a site for each byte of payload, in all runs together."""
    numbers = [record.site_bytes(site) for record in records]
    hows = sorted({record.site_how(site) for record in records})
    if None in numbers:
        return {"share": None, "hows": hows}
    total = sum(number or 0 for number in numbers)
    return {"share": total / sum(record.payload_bytes or 0 for record in records), "hows": hows}


def causes(world: World) -> list[dict[str, Any]]:
    """Why most of the payload was copied though it was sent by reference, in each row of the
    matrix, and on which kernels."""
    found: dict[tuple[str, ...], list[str]] = {}
    for each in world.items["matrix"]:
        record = cast(Record, each.data)
        for cause in record.at("causes"):
            if 2 * (cause["bytes"] or 0) >= (record.site_bytes("tx_reference") or float("inf")):
                key = (each.words["row"], each.words["variant"], cause["cause"],
                       cause["remedy"] or "")
                found.setdefault(key, []).append(each.words["kernel"])
    return [{**dict(zip(("row", "variant", "cause", "remedy"), key)), "kernels": sorted(kernels)}
            for key, kernels in sorted(found.items())]


def whole(verdicts: list[Verdict], world: World, answers: list[dict[str, Any]] | None = None,
          spoken: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The document."""
    return {"schema": SCHEMA, "words": dict(WORDS),
            "reports": reports([each.claim for each in verdicts]),
            "made_from": made_from(world), "ways": ways(world), "causes": causes(world),
            "verdicts": [verdict(each) for each in verdicts], "answers": answers or [],
            "spoken_crossovers": spoken or []}


def text(document: dict[str, Any]) -> str:
    """The document as JSON, a verdict or an answer a line: what changed shows in a diff."""
    def lines(found: list[Any]) -> str:
        inner = ",".join("\n  " + json.dumps(each, separators=(",", ":")) for each in found)
        return f"[{inner}\n ]" if found else "[]"

    parts = [f' "{key}": {lines(value) if isinstance(value, list) else json.dumps(value)}'
             for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"
