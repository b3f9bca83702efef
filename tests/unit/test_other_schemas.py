# SPDX-License-Identifier: GPL-2.0
"""Failures, comparisons, crossovers and caches have schemas, and what tools write is by them."""
from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from copyscope.common.errors import CommandError
from copyscope.guest import libraries
from copyscope.records import documents
from copyscope.runs import launch
from copyscope.runs.folder import Folder
from copyscope_studies.beside import runs as beside
from copyscope_studies.crossover import command as crossover, runs as pairs
from helpers import alternated, baselines, damage, plans, schemas
from helpers.pictures import REAL
from helpers.records import ROOT

DOCS = ROOT / "docs"
ASKED = re.compile(r'\bat\("([\w.]+)"\)')
OTHERS = ("advice", "alternation", "failure", "beside", "crossover", "compare", "verdicts", "ways")


def faults(kind: str, document: dict) -> list[str]:
    """What both checkers have against a document; they must not differ."""
    found = schemas.faults(DOCS / f"{kind}.schema.json", document)
    try:
        documents.check_form(document, kind, "made", "mend it")
    except documents.BadRecord as error:
        assert found, error
    return found


@pytest.mark.parametrize("kind", OTHERS)
def test_every_table_says_what_it_is_and_holds_no_foreign_key(kind):
    def look(node):
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["description"]
                assert "properties" not in node or node["additionalProperties"] is False
            for value in node.values():
                look(value)
        elif isinstance(node, list):
            for value in node:
                look(value)

    schema = json.loads((DOCS / f"{kind}.schema.json").read_text())
    look(schema)
    assert faults(kind, {"foreign": 1})


def test_a_record_is_asked_for_keys_that_it_can_have():
    """What is asked for by its dotted key, as record.at("machine.kernel"), is None where no record has it."""
    described = {key.split()[0] for key in schemas.keys(DOCS / "record.schema.json")}
    asked = {key for folder in ("tools/lib", "studies/lib") for file in (ROOT / folder).rglob("*.py")
             for key in ASKED.findall(file.read_text())}
    assert len(asked) > 10 and not asked - described


def test_every_key_of_release_1_is_still_described_with_its_type():
    kept = lzma.open(ROOT / "tests/data/kept-1.0.txt.xz", "rt").read().splitlines()
    kinds = dict.fromkeys(line.partition(": ")[0] for line in kept)
    now = {f"{kind}: {key}" for kind in kinds for key in schemas.keys(DOCS / f"{kind}.schema.json")}
    assert len(kinds) == 8 and not set(kept) - now, "docs/RECORDS.md promises what stays"


def test_a_failure_of_a_sweep_is_by_its_schema(tmp_path):
    with Folder(tmp_path, plans.plan()) as folder:
        folder.set_aside("p.r1", -9, "", ["build/trace_run", "A3"])
        (folder.pending / "p.r2.json").write_text("half")
        folder.set_aside("p.r2", 1, "a law broke", ["build/trace_run", "A3"])
        for name in folder.failures():
            failure = documents.load(folder.failed / f"{name}.json", "failure", "mend it")
            assert not faults("failure", failure) and failure["run"] == name
            assert faults("failure", {**failure, "why": failure["record"]})


def test_the_committed_comparison_is_by_its_schema():
    assert not faults("beside", json.loads((ROOT / "results/baseline-lmbench/beside.json").read_text()))


def test_a_crossover_is_by_its_schema(monkeypatch, tmp_path):
    def took(name, size):
        return 9000 if name == "A2" else 5000 + 5000 * (size < 256)

    def make(run, *_):
        if run.arguments[0] == "--alternate":
            return SimpleNamespace(status=0, stderr="", said=json.dumps(alternated.record(run.arguments, took)))
        elapsed_ns = took(run.arguments[0], int(run.arguments[1]))
        # With a site of another version, which this one says nothing of.
        name = "none" if "--no-probes" in run.arguments else "tracepoint"
        data = {**REAL["A3-host"], "backend": {**REAL["A3-host"]["backend"], "name": name},
                "sites": {**REAL["A3-host"]["sites"], "new": {"x": 1}},
                "experiment": {**REAL["A3-host"]["experiment"],
                               "timing": {**REAL["A3-host"]["experiment"]["timing"], "elapsed_ns": elapsed_ns}}}
        return SimpleNamespace(status=0, stderr="", said=json.dumps(data))

    monkeypatch.setattr(launch, "make", make)
    monkeypatch.setattr(launch, "check_built", lambda _: None)
    for pattern, method in (("stream", "turns in one connection"), ("rr", "pairs of runs")):
        assert crossover.act(["A2", "A3:recvmsg", "--low", "64", "--high", "512", "--quiet", "--pattern", pattern,
                              "--json", str(tmp_path / "found.json")]) == 0
        found = documents.load(tmp_path / "found.json", "crossover", "mend it")
        assert not faults("crossover", found) and faults("crossover", {**found, "proofs": []})
        assert found["method"] == method and bool(found["why_pairs"]) == (method == "pairs of runs")
        assert found["answer"]["pays"] == [{"from_bytes": 256, "to_bytes": 512}]


def test_a_run_that_breaks_off_its_record_is_one_line_of_a_crossover(monkeypatch):
    work = pairs.Workload("veth", 1, 0.3, "stream")
    A2, A3 = (pairs.Side(each, each) for each in ("A2", "A3"))
    for each in damage.damages(REAL["A3-host"], 5, 60):
        said = each.data.decode("utf-8", "replace")
        monkeypatch.setattr(launch, "make", lambda *_, text=said: SimpleNamespace(
            status=0, stderr="", said=text))
        try:
            pairs.Pairs((A2, A3), work, 6, lambda _: None, 60.0).time_ns(A2, 64)
        except CommandError as error:
            assert "\n" not in str(error), each.what


def test_what_the_baseline_prints_is_held_to_its_schema_beside_lmbench(monkeypatch):
    document, refused = baselines.baseline(), 0
    for each in damage.damages(document, 5, 80):
        said = each.data.decode("utf-8", "replace")
        monkeypatch.setattr(beside, "call", lambda *_, text=said: (text, ""))
        suite = beside.Suite(Path("/"), Path("/"))
        try:
            suite.baseline("latency")
        except CommandError as error:
            refused += 1
            assert "\n" not in str(error) and "row latency" in str(error), each.what
    assert refused > 40


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": ["b", null]}', "[" * 100_000,
                                  '{"a": ["relative"]}', '{"a": ["/b"], "a": ["/c"]}'])
def test_a_damaged_cache_of_libraries_only_costs_time(text, tmp_path, monkeypatch):
    cache = tmp_path / "libraries.json"
    monkeypatch.setattr(libraries, "KNOWN", cache)
    cache.write_text(text)
    program = Path("/bin/true")
    asked = sorted(map(Path, libraries.ask_ldd(program)))
    assert asked and libraries.needed([program]) == asked
    monkeypatch.setattr(libraries, "ask_ldd", None)
    assert libraries.needed([program]) == asked
    assert set(json.loads(cache.read_text())) == {libraries.stamp(program)}
