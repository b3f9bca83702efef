# SPDX-License-Identifier: GPL-2.0
"""Claims see the throughput that the published tables have: over the seconds that were asked for."""
from __future__ import annotations

import csv
from pathlib import Path

import pytest

from copyscope_studies.claims import sources
from copyscope_studies.claims.language import units
from copyscope_studies.claims.world import World

RESULTS = Path(__file__).resolve().parents[2] / "results"
# Columns of label, size, threads and throughput, and Gbit/s that one of the last is.
TABLES = {"mt25064-as-published/MT25064_Part_C_results.csv":
          ("Implementation", "MessageSize", "Threads", "Throughput_Gbps", 1),
          "mt25023-as-published/MT25023_Part_C_results.csv": ("Impl", "size", "thread", "throughput", 1),
          "mt25029-as-published/MT25029_Part_C_Raw.csv":
          ("impl", "msg_size", "threads", "throughput_mbps", 1000)}


@pytest.mark.parametrize("name", TABLES)
def test_nominal_throughput_is_that_of_the_published_table(name):
    label, size, threads, column, share = TABLES[name]
    world = World(items=sources.of_folder(RESULTS / Path(name).parent, print))
    with (RESULTS / name).open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(rows) == 48
    for row in rows:
        filters = (("label", (row[label],)), ("size", (row[size],)), ("threads", (row[threads],)))
        found = world.read("run", filters, "nominal_throughput")
        assert units.float_of(found.middle / units.NAMED["Gbps"][0]) * share == pytest.approx(float(row[column]), 1e-5)
