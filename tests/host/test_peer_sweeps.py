# SPDX-License-Identifier: GPL-2.0
"""A published experiment over two hosts loses no run, whatever becomes of the other one."""
from __future__ import annotations

import csv
import shlex
import subprocess

import pytest

from helpers import peers, records

pytestmark = records.needs_root

SWEEP, MATRIX = (records.ROOT / "tools" / name for name in ("sweep", "matrix"))
REFUSED = 3
POINTS = ("mt25064", "--variants", "A1,A3", "--sizes", "512,4096", "--threads", 1, "--repeats", 1, "--seconds", 1)
RUNS = {f"{label}_{size}B_1T.r1.json" for label in ("A1", "A3") for size in (512, 4096)}
OTHER_BUILD = """echo '{"hello": {"version": "9", "commit": "other", "connection": ""}}'; cat >/dev/null"""


@pytest.fixture(scope="module", name="hosts")
def fixture_hosts():
    """Two namespaces of this machine."""
    with peers.two_hosts() as pair:
        yield pair


class Sweep:
    """A sweep whose far half is a script, which may change between one command and the next."""

    def __init__(self, hosts: peers.Pair, folder) -> None:
        self.hosts, self.folder, self.script = hosts, folder, folder / "far"
        self.out = folder / "out"

    def make(self, far: str) -> subprocess.CompletedProcess:
        """The same command again, with this on the far host."""
        self.script.write_text(f"#!/bin/sh\n{far}\n")
        self.script.chmod(0o755)
        ssh = shlex.join([str(peers.FAKE_SSH), str(self.hosts.far.holder.pid), self.hosts.near.address,
                          self.hosts.far.address])
        return subprocess.run(self.hosts.near.inside(
            SWEEP, "--profile", *POINTS, "--path", "peer", "--host", peers.HOST, "--ssh", ssh, "--far", self.script,
            "--others-at-most", 1, "--quiet", "--out", self.out), capture_output=True, text=True, check=False, timeout=120)

    def kept(self) -> dict[str, int]:
        """Runs that are there, and when each was written."""
        return {each.name: each.stat().st_mtime_ns for each in (self.out / "runs").glob("*.json")}


def test_another_build_and_a_lost_host_are_a_line_each_and_the_same_command_goes_on(hosts, tmp_path):
    sweep, whole = Sweep(hosts, tmp_path), f'exec {records.TRACE_RUN} "$@"'
    refused = sweep.make(OTHER_BUILD)
    line, = refused.stderr.splitlines()
    assert refused.returncode == REFUSED and "it is another build: version 9, commit other there" in line
    assert not sweep.kept() and not list(sweep.out.glob("failed/*"))
    # The far half of the second run dies in the middle of it.
    cut = f'''echo >>{tmp_path}/begun
[ "$(wc -l <{tmp_path}/begun)" != 2 ] || exec timeout -s KILL 0.7 {records.TRACE_RUN} "$@"
{whole}'''
    lost = sweep.make(cut)
    assert lost.returncode == 1 and len(sweep.kept()) == 3, lost.stderr
    failed, told = lost.stderr.splitlines()[-2:]
    assert failed.startswith("sweep: ") and " failed: " in failed and "1 of 4 runs failed" in told, lost.stderr
    before = sweep.kept()
    done = sweep.make(whole)
    assert done.returncode == 0, done.stderr
    assert set(sweep.kept()) == RUNS and not before.items() - sweep.kept().items()
    assert "the other end is on another host" in done.stdout
    for name in RUNS:
        record = records.load(sweep.out / "runs" / name)
        assert record["machine"]["kernel"] == record["experiment"]["peer"]["machine"]["kernel"]
        assert record["experiment"]["path"]["kind"] == "peer"


def test_several_hosts_are_told_side_by_side_and_a_lost_one_costs_the_others_nothing(hosts, tmp_path):
    ssh, names, out = tmp_path / "ssh", tmp_path / "hosts", tmp_path / "out"
    reached = shlex.join([str(peers.FAKE_SSH), str(hosts.far.holder.pid), hosts.near.address, hosts.far.address])
    ssh.write_text(f"""#!/bin/sh
for word; do [ "$word" != lab9 ] || {{ echo no such host >&2; exit 255; }}; done
exec {reached} "$@"
""")
    ssh.chmod(0o755)
    names.write_text(f"lab9 # is switched off\n\n{peers.HOST}\n")
    command = hosts.near.inside(
        SWEEP, "--variants", "A1,A3", "--sizes", "4k", "--repeats", 2, "--seconds", 0.3, "--pass", "timed", "--path", "peer",
        "--hosts", names, "--ssh", ssh, "--far", records.TRACE_RUN, "--others-at-most", 1, "--quiet", "--out", out)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    line, = done.stderr.splitlines()
    assert done.returncode == 1 and line.startswith("sweep: lab9: ") and "the same command with --out" in line, done.stderr
    kept = sorted((out / peers.HOST / "runs").glob("*.json"))
    assert len(kept) == 4 and not list((out / "lab9" / "runs").glob("*.json"))
    far = records.load(kept[0])["experiment"]["peer"]
    row = next(each.split() for each in done.stdout.splitlines() if each.startswith(f"{peers.HOST} "))
    assert row[1:3] == [far["machine"]["kernel"], far["path"]["rx_dev"]] and "A3," in row
    assert done.stdout.splitlines()[-1].startswith("lab9: ")


def test_the_matrix_of_another_host_has_its_variants_to_the_byte(hosts, tmp_path):
    ssh = shlex.join([str(peers.FAKE_SSH), str(hosts.far.holder.pid), hosts.near.address, hosts.far.address])
    words = hosts.near.inside(MATRIX, "--path", "peer", "--host", peers.HOST, "--ssh", ssh, "--far", records.TRACE_RUN,
                              "--variants", "A1;A3", "--bytes", 4093, "--messages", 23, "--quiet", "--out", tmp_path / "out")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = {row["variant"]: row for row in csv.DictReader((tmp_path / "out" / "matrix.csv").open())}
    assert {row["path"] for row in rows.values()} == {"peer"} and set(rows) == {"A1", "A3"}
    assert rows["A1"]["tx_copy_bytes"] == rows["A1"]["rx_copy_bytes"] == rows["A3"]["rx_copy_bytes"] == "94139"
    assert {row["largest_residual"] for row in rows.values()} == {"0"} and "ran on lab2" in done.stdout
