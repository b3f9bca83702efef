# SPDX-License-Identifier: GPL-2.0
"""With a PMU the published columns and figures are measured: here with a fake one of P and E cores."""
from __future__ import annotations

import csv
import json
import re
import subprocess

import pytest

from helpers.records import ROOT, needs_root

CORES = {"cpu_core": 4, "cpu_atom": 10}
# Its files are those of a hybrid processor; nobody else sees them.
MACHINE = "mount -t tmpfs none /sys/bus/event_source/devices && cd /sys/bus/event_source/devices && " + " && ".join(
    f"mkdir {name} && echo 0 >{name}/cpus && echo {kind} >{name}/type" for name, kind in CORES.items()) + \
    ' && cd "$0" && export LD_PRELOAD="$1" && shift && exec "$@"'


@pytest.fixture(name="swept", scope="module")
def fixture_swept(tmp_path_factory):
    """MT25023 at one number of threads, without probes, swept beside the fake PMU and drawn."""
    place = tmp_path_factory.mktemp("pmu")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", ROOT / "tests/data/fake_pmu.c", "-o", place / "pmu.so", "-ldl"],
                   check=True)
    profile = (ROOT / "studies/profiles/mt25023.toml").read_text(encoding="utf-8")
    profile = profile.replace('"../claims', f'"{ROOT}/studies/claims')
    mine = place / "mt25023.toml"
    mine.write_text(re.sub(r"(?m)^path = ", "probes = false\npath = ", profile), encoding="utf-8")
    within = ["unshare", "--mount", "sh", "-c", MACHINE, ROOT, place / "pmu.so"]
    subprocess.run([*within, ROOT / "tools/sweep", "--profile", mine, "--mode", "as-published", "--sizes", "64,4096",
                    "--threads", "8", "--repeats", "1", "--seconds", "0.1", "--others-at-most", "1", "--quiet",
                    "--out", place / "out"], check=True, stdin=subprocess.DEVNULL)
    subprocess.run([ROOT / "tools/plot", place / "out", "--profile", mine, "--out", place / "out/figures"], check=True)
    return place / "out"


@needs_root
def test_a_sweep_fills_the_published_columns_with_what_was_measured(swept):
    with open(swept / "MT25023_Part_C_results.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 and "modelled" not in " ".join(rows[0])
    for row in rows:
        assert (row["cycles"], row["l1_misses"], row["llc_misses"]) == ("40000000", "400000", "")
        assert int(row["cs"]) > 0


@needs_root
def test_the_record_and_its_report_tell_cores_scaling_and_refusals_apart(swept):
    file = next((swept / "runs").glob("*.json"))
    found = json.loads(file.read_text(encoding="utf-8"))["experiment"]["counters"]["receiver"]
    cores = {name: {part["pmu"]: part["value"] for part in found[name]["parts"]} for name in ("cycles", "instructions")}
    assert cores["cycles"] == {"cpu_core": 30_000_000, "cpu_atom": 10_000_000} and not found["cycles"]["scaled"]
    # Counted half of the time.
    assert cores["instructions"] == cores["cycles"] and found["instructions"]["running_share"] == 0.5
    assert found["LLC-load-misses"]["value"] is None and "perf_event_paranoid" in found["LLC-load-misses"]["why"]
    said = subprocess.run([ROOT / "tools/copyscope", "show", file], capture_output=True, text=True, check=True).stdout
    lines = said.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("instructions"))
    assert lines[at].split() == ["instructions", "40,000,000*", "40,000,000*"]
    assert [line.split() for line in lines[at + 1:at + 3]] == [["cpu_atom", *2 * ["10,000,000"]], ["cpu_core", *2 * ["30,000,000"]]]
    assert "counter LLC-load-misses" in said


@needs_root
def test_the_figures_of_cycles_and_misses_are_drawn_as_measured(swept):
    index = (swept / "figures/index.md").read_text(encoding="utf-8")
    for name, said in {"MT25023_Fig4_l1_misses_by_size": "L1", "MT25023_Fig5_cycles_per_byte_by_size": "cycles"}.items():
        drawn = (swept / f"figures/{name}.svg").read_text(encoding="utf-8")
        assert said in drawn and "modelled" not in drawn and "instructions" not in drawn, index
