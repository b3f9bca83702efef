# SPDX-License-Identifier: GPL-2.0
"""Every list of names follows from the tables of the source: what is not made from them is held here."""
from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from importlib.machinery import SourceFileLoader

import pytest

from copyscope.common import releases
from copyscope.common.tables import VARIANTS
from copyscope.dispatch import manual
from helpers import books
from helpers.names import OPTION_LAWS, PATHS, ROOT, SITES, TABLES, WATCH_LAWS, all_tables, names

NAMED = {"sites": SITES, "variants": VARIANTS, "paths": PATHS, "laws": names("laws", of_runs=True),
         "causes": [row["name"] for row in TABLES["causes"]],
         "counts": [row["name"] for row in TABLES["counts"]]}
# The kernels that tests boot, as documents have them.
SPAN = f"{releases.TESTED[0]} to {releases.TESTED[-1]}"
# `workload server --help` stays within 79 columns.
MOST_MEANING = {"variants": 56, "paths": 68, "sites": 50}


def said(*words: str) -> str:
    """What a program says, on either stream."""
    done = subprocess.run([ROOT / words[0], *words[1:]], capture_output=True, text=True,
                          check=False, timeout=60)
    return done.stdout + done.stderr


@pytest.fixture(scope="module", name="maker")
def fixture_maker():
    """tools/make_tables as a module."""
    loader = SourceFileLoader("make_tables", str(ROOT / "tools/make_tables"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_tables", loader))
    loader.exec_module(module)
    return module


def test_what_is_made_from_the_tables_is_up_to_date():
    done = subprocess.run([ROOT / "tools/make_tables", "--check"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name, gone", [
    ("docs/record.schema.json", '"A3-reuse"'), ("docs/record.schema.json", '"witness sent"'),
    ("docs/record.schema.json", '"forwarding hop"'), ("docs/record.schema.json", '"rx_map"'),
    ("docs/record.schema.json", '"mixed_bytes"'), ("docs/record.schema.json", '"send queue"'),
    ("docs/plan.schema.json", '"forward"'), ("docs/RUNNING.md", "| A2 |"), ("docs/RUNNING.md", "| veth |"),
    ("docs/RUNNING.md", "| rx_splice |"), ("docs/RUNNING.md", "| fresh-buffer |"),
    ("docs/METHOD.md", "| send |"), ("docs/METHOD.md", "| forwarding hop |"), ("docs/METHOD.md", "| optmem |"),
    ("docs/RUNNING.md", SPAN), ("docs/trace_run.8", ".B A3\\-unset"), ("docs/trace_run.8", ".B forward\nveth"),
    ("docs/copyscope-watch.8", "needless=PERCENT")])
def test_a_name_that_a_file_lacks_is_put_back(maker, name, gone):
    text = (ROOT / name).read_text()
    changed = text.replace(gone, gone.swapcase().replace(releases.TESTED[0], "5.9"))
    assert changed != text
    assert maker.MADE[name](changed, all_tables()) == text


def test_a_document_without_the_place_for_a_table_is_told(maker):
    with pytest.raises(LookupError):
        maker.MADE["README.md"]("# copyscope\n", TABLES)


@pytest.mark.parametrize("table", NAMED)
def test_names_of_a_table_differ(table):
    assert NAMED[table] and len(set(NAMED[table])) == len(NAMED[table])


@pytest.mark.parametrize("table", MOST_MEANING)
def test_meanings_fit_a_line_of_help(table):
    assert all(len(row["meaning"]) <= MOST_MEANING[table] for row in TABLES[table])


def test_both_programs_explain_each_variant():
    for words in (("build/trace_run", "--help"), ("build/workload", "server", "--help")):
        text = said(*words)
        for row in TABLES["variants"]:
            assert re.search(rf"^  {row['name']}:? +{re.escape(row['meaning'])}$", text, re.M), words


def test_the_tracer_explains_each_path_and_site():
    text = said("build/trace_run", "--help")
    for row in TABLES["paths"] + TABLES["sites"]:
        assert f"\n  {row['name']}: {row['meaning']}\n" in text


def test_the_list_has_a_line_for_each_name():
    lines = said("tools/trace_run", "--list").splitlines()
    for table in ("variants", "paths", "behaviours", "sites"):
        for row in TABLES[table]:
            assert f"  {row['name']:<20} {row['meaning']}" in lines
    assert f"  {'host':<20} this kernel (default)" in lines
    assert all(any(line.startswith(f"  {name:<20} a guest; ") for line in lines) for name in releases.TESTED)


@pytest.mark.parametrize("program", ["trace_run", "copyscope-watch"])
def test_a_manual_page_has_the_overhead_that_method_tells(program):
    told = (ROOT / "docs/METHOD.md").read_text().partition("\n## Overhead\n")[2].partition("\n\n- ")[0]
    found, known = (set(re.findall(r"\d[\d.,]*\d", text)) for text in (manual.OVERHEAD[program], told))
    assert len(found) >= 4 and found <= known


@pytest.mark.parametrize("words, names", [("A9 64 1", VARIANTS), ("A1 64 1 --path tunnel", PATHS)])
def test_the_tracer_takes_these_and_no_others(words, names):
    told = said("build/trace_run", *words.split()).split("one of ")[1].split(";")[0]
    assert tuple(told.split()) == names


@pytest.mark.parametrize("site", SITES)
def test_method_says_what_a_site_counts(site):
    assert re.search(rf"^#+ .*`{site}`", (ROOT / "docs/METHOD.md").read_text(), re.MULTILINE)


def test_method_says_what_tells_each_cause():
    text = (ROOT / "docs/METHOD.md").read_text().split("## Causes")[1].split("\n## ")[0]
    assert [cause for cause, sites, by in re.findall(r"^\| (.*) \| (`.*`) \| (.+) \|$", text, re.M) if by.strip()] \
        == NAMED["causes"]


def test_a_variant_whose_call_says_so_references_and_no_other():
    referencing = {row["name"] for row in TABLES["variants"] if row["references"]}
    assert referencing and referencing == books.ZEROCOPY
    assert not referencing & books.GATHERS and set(VARIANTS) > books.GATHERS


def test_the_schema_of_records_lists_what_the_tables_do():
    defs = json.loads((ROOT / "docs/record.schema.json").read_text())["$defs"]
    assert tuple(defs["sites"]["properties"]) == SITES
    assert list(defs["counts"]["properties"]) == NAMED["counts"]
    assert set(defs["law"]["properties"]["law"]["enum"]) == {*NAMED["laws"], *WATCH_LAWS, *OPTION_LAWS}


def test_a_name_of_a_law_means_one_equation():
    found = [row["name"] for row in TABLES["laws"]]
    assert len(set(found)) == len(found) and {*NAMED["laws"], *WATCH_LAWS, *OPTION_LAWS} == set(found)


def test_method_says_when_a_watch_cannot_test_each_law():
    table = (ROOT / "docs/METHOD.md").read_text().split("### When a watch cannot test a law")[1].split("\n#")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| ")][1:]
    assert sorted(name.strip() for row in rows for name in row.split(",")) == sorted(WATCH_LAWS + OPTION_LAWS)
