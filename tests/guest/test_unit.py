# SPDX-License-Identifier: GPL-2.0
"""systemd starts the unit as it is installed, and through a restart of it counters go on."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guest.boots import boot
from helpers import records
from helpers.books import PRIME_PAYLOAD
from helpers.guest_python import EXPORTER, python_with
from helpers.prometheus import samples_of

KERNEL = "6.12"
UNIT = records.ROOT / "packaging/copyscope.service"
SYSTEMD = Path("/usr/lib/systemd/systemd")


@pytest.mark.long
@pytest.mark.skipif(not SYSTEMD.exists(), reason="systemd is missing")
def test_systemd_starts_the_unit_and_counters_go_on_through_a_restart(tmp_path):
    prefix = tmp_path / "prefix"
    subprocess.run([records.ROOT / "tools/install_tree", prefix], check=True, capture_output=True)
    added = [*python_with(*EXPORTER), UNIT, prefix]
    left = boot(KERNEL, tmp_path / "out", ["tests/guest/unit.sh", prefix],
                ["--with", "systemd", *(word for each in added for word in ("--add", each))])
    # Whatever the unit's rights lack, the watch would say.
    assert left.text("unit.err") == ""
    shown = dict(line.split("=") for line in left.text("shown").splitlines())
    assert (shown["ActiveState"], shown["SubState"], shown["NRestarts"]) == ("active", "running", "0")
    assert int(shown["MainPID"]) and shown["Result"] == "success"
    for times, name in enumerate(("first.prom", "second.prom"), start=1):
        samples = samples_of(left.text(name))
        sent = {each: value for each, value in samples.items() if each.startswith("copyscope_sent_bytes_total{")}
        assert sum(sent.values()) == times * PRIME_PAYLOAD, sent
        assert not any(value for each, value in samples.items() if each.startswith("copyscope_laws_broken_total"))
