# SPDX-License-Identifier: GPL-2.0
"""A copy that make install left boots guests: from a cache of its own, and beside no source tree."""
from __future__ import annotations

import os
import subprocess

import pytest

from copyscope.guest import architectures, kernels
from guest.boots import TIMEOUT_S
from helpers import records

RELEASE = "6.12"
# Nothing is fetched: whoever tries to is refused at once.
DEAD_PROXY = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "ALL_PROXY")}


@pytest.fixture(name="prefix", scope="module")
def fixture_prefix(tmp_path_factory):
    """A whole install in a folder of its own."""
    prefix = tmp_path_factory.mktemp("install") / "usr"
    subprocess.run([records.ROOT / "tools/install_tree", prefix], check=True, capture_output=True)
    return prefix


@pytest.fixture(name="home")
def fixture_home(tmp_path):
    """A home whose cache has a kernel."""
    kernel = kernels.get(RELEASE, architectures.get(None))
    cached = tmp_path / "cache/kernels"
    cached.mkdir(parents=True)
    (cached / kernel.release).symlink_to(kernels.KERNELS / kernel.release)
    return tmp_path


def test_an_installed_copy_runs_the_main_job_in_a_guest(prefix, home):
    before = sorted(prefix.rglob("*"))
    done = subprocess.run(
        [prefix / "bin/copyscope", "run", "A3", "4093", "2", "--messages", "23", "--kernel", RELEASE],
        cwd=home, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
        env={**os.environ, **DEAD_PROXY, "COPYSCOPE_CACHE": str(home / "cache"),
             "COPYSCOPE_RUNS": str(home / "runs")})
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"copyscope guest: booting kernel {RELEASE}.")
    assert "balance to the byte" in done.stdout and "tools/" not in done.stdout
    record, = (home / "runs").iterdir()
    assert f"record          {record}\n" in done.stdout
    assert records.load(record)["machine"]["kernel"].startswith(RELEASE)
    assert {"guest-images", "guest-logs"} <= {path.name for path in (home / "cache").iterdir()}
    assert sorted(prefix.rglob("*")) == before


def test_programs_for_arm64_are_refused_in_one_line(prefix, home):
    if os.uname().machine == "aarch64":
        pytest.skip("these are this machine's own")
    done = subprocess.run(
        [prefix / "bin/trace_run", "A3", "64", "1", "--kernel", RELEASE, "--arch", "arm64"], cwd=home,
        capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        env={**os.environ, "COPYSCOPE_RUNS": str(home / "runs")})
    assert done.returncode == 2 and "in the source tree alone" in done.stderr
    assert done.stderr.count("\n") == 1
