# SPDX-License-Identifier: GPL-2.0
"""The configuration for ebpf_exporter compiles, and counts the late copies that a run counts."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from guest.boots import boot
from helpers import records
from helpers.books import PRIME_PAYLOAD
from helpers.prometheus import samples_of

KERNEL = "6.12"
PLACE = records.ROOT / "packaging" / "ebpf_exporter"
# Compiled by whoever has it.
PROGRAM = os.environ.get("COPYSCOPE_EBPF_EXPORTER")


@pytest.fixture(name="compiled")
def fixture_compiled(tmp_path) -> list[Path]:
    """The object and its configuration in a folder."""
    include = Path("/usr/include") / subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True,
                                                    check=True).stdout.strip()
    done = subprocess.run(["clang", "-g", "-O2", "-Wall", "-Werror", "-target", "bpf", "-D__TARGET_ARCH_x86", "-I",
                           records.ROOT / "vmlinux", "-I", include, "-c", PLACE / "copyscope.bpf.c", "-o",
                           tmp_path / "copyscope.bpf.o"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.copy(PLACE / "copyscope.yaml", tmp_path)
    return [tmp_path / "copyscope.bpf.o", tmp_path / "copyscope.yaml"]


def test_the_configuration_compiles_for_ebpf_exporter(compiled):
    assert compiled[0].stat().st_size > 0


@pytest.mark.skipif(not PROGRAM, reason="COPYSCOPE_EBPF_EXPORTER names no ebpf_exporter")
def test_ebpf_exporter_counts_the_late_copies_of_a_run(compiled, tmp_path):
    program = Path(PROGRAM).resolve()
    outcome = boot(KERNEL, tmp_path / "out", ["tests/guest/ebpf_exporter.sh", program, compiled[0].parent],
                   [word for each in (program, *compiled) for word in ("--add", each)])
    name = "ebpf_exporter_copyscope_late_copied_bytes_total{"
    counted = sum(value for each, value in samples_of(outcome.text("metrics.txt")).items() if each.startswith(name))
    assert counted == records.site(outcome.record("A3"), "late_copy") >= PRIME_PAYLOAD
