# SPDX-License-Identifier: GPL-2.0
"""Four guests are a fleet: what a real Prometheus sums over all is what the ledgers' records say, to the byte, whatever is
killed and started again."""
from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from copyscope.common.tables import SITES
from guest.boots import AT_A_TIME, start
from helpers import foreign, guest_python, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.processes import wait_until
from helpers.prometheus import ask, prometheus, readings, value

pytestmark = pytest.mark.long
UNIT = records.ROOT / "packaging/copyscope.service"
IPERF3, EXPORTER = "build/programs/iperf3", "prometheus-node-exporter"
PORT, GO_PORT, PATIENCE_S = 9100, 9101, 600
# A host lives until what befalls the others has befallen them, which took 44 minutes on a machine that others kept busy.
LIFE_S = 7200


def workload(variant: str, path: str) -> str:
    """A run of the workload that counts nothing itself."""
    return f"workload {variant} {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --path {path}"


# What a host's kernel is, what it does, and what befalls it: after "restart" of the unit the host is started again, too;
# "cut" dies and loses its state.
HOSTS = {
    "plain": ("6.1", workload("A1", "lo"), "watcher"),
    "zerocopy": ("6.1", workload("A3", "veth"), "restart"),
    "file": ("6.12", workload("sendfile", "lo"), "exporter"),
    "foreign": ("6.12", f"""
iperf3() {{ {IPERF3}/iperf3 --library-path {IPERF3}/lib --argv0 iperf3 {IPERF3}/program "$@"; }}
iperf3 -s -1 >/dev/null &
until iperf3 -c 127.0.0.1 -n {PRIME_PAYLOAD} -l {PRIME_BYTES} >/dev/null; do sleep 0.2; done
wait""", "cut"),
}
# How often systemd started the unit again in each boot, and how often each works in its window.
BOOTS = {"watcher": ["1"], "exporter": ["1"], "restart": ["0", "0"], "cut": ["0", "0"]}
WORKS = {"watcher": 2, "exporter": 2, "restart": 3, "cut": 2}


def added() -> list[Path]:
    """What the unit, node_exporter and iperf3 need in a guest."""
    return [*guest_python.python_with(*guest_python.EXPORTER), foreign.PLACE / "iperf3", foreign.PLACE / EXPORTER, UNIT]


@dataclass
class Host:
    """One machine of the fleet, whichever guest it is at the time."""
    name: str
    folder: Path
    prefix: Path
    url: str = ""
    port: int = field(default_factory=foreign.free_port)
    go: int = field(default_factory=foreign.free_port)
    began: float = 0.0
    ledgers: list[dict] = field(default_factory=list)
    restarts: list[str] = field(default_factory=list)
    guest: subprocess.Popen | None = None

    def boot(self, trouble: str, *state: Path) -> None:
        """Start it, and take what it says until all that it moved is in Prometheus."""
        release, work, _ = HOSTS[self.name]
        self.guest = start(release, self.folder, ["tests/guest/fleet.sh", self.prefix, work, trouble, *state], [
            "--timeout", str(LIFE_S), "--memory", "768M", "--with", "systemd",
            "--forward", f"{self.port}:{PORT}", "--forward", f"{self.go}:{GO_PORT}",
            *(word for each in (*added(), self.prefix, *state) for word in ("--add", each))])
        for line in self.guest.stdout:
            word, _, said = line.partition(" ")
            if word == "begun":
                self.began = float(said)
                self.wait_for(self.began)
                wait_until(self.is_told, PATIENCE_S)
            elif word == "restarts":
                self.restarts.append(said.strip())
            elif word == "ledger":
                self.ledgers.append(json.loads(said))
            elif word == "settled":
                self.wait_for(float(said))
                return
        raise AssertionError(f"host {self.name} ended: {self.guest.stderr.read()}")

    def wait_for(self, reading: float) -> None:
        """Until Prometheus has a reading."""
        last = f'copyscope_last_reading_timestamp_seconds{{instance="{self.name}"}}'
        wait_until(lambda: (value(self.url, last) or 0) >= reading, PATIENCE_S)

    def is_told(self) -> bool:
        """Tell it to go on, if it listens."""
        try:
            with socket.create_connection(("127.0.0.1", self.go), timeout=5) as there:
                return there.recv(1) != b""
        except OSError:
            return False

    def live(self) -> None:
        """All that befalls it."""
        trouble = HOSTS[self.name][2]
        self.boot(trouble)
        if trouble == "restart":
            self.guest.terminate()
            assert self.guest.wait(PATIENCE_S) == 0, self.guest.stderr.read()
            self.boot("again", self.folder / "state")
        elif trouble == "cut":
            self.end()
            self.boot("again")

    def end(self) -> None:
        """As a power cut does."""
        if self.guest:
            self.guest.kill()
            self.guest.communicate()


@dataclass
class Fleet:
    """The hosts, and the Prometheus that scrapes them."""
    hosts: list[Host]
    url: str
    windows: dict[str, tuple[float, float]] = field(default_factory=dict)

    def measure(self) -> None:
        """Find each host's window: from a scrape that has the reading before it to the last scrape."""
        for host in self.hosts:
            (_, found), = readings(self.url, f'copyscope_last_reading_timestamp_seconds{{instance="{host.name}"}}[1h]')
            self.windows[host.name] = (next(when for when, read in found if read >= host.began), found[-1][0])

    def risen(self, counter: str, **chosen: str) -> str:
        """PromQL for what a counter rose by in the windows. `increase` guesses what was between a window's ends and
        the scrapes next to them: here, nothing."""
        inside = "".join(f', {label}="{text}"' for label, text in chosen.items())
        return " or ".join(f'increase({counter}{{instance="{host}", cgroup="/work"{inside}}}[{end * 1000 - begin * 1000:.0f}ms]'
                           f" @ {end:.3f})" for host, (begin, end) in self.windows.items())

    def summed(self, of) -> int:
        """A number of all ledgers."""
        return sum(of(each) for host in self.hosts for each in host.ledgers)


@pytest.fixture(name="fleet", scope="module")
def fixture_fleet(tmp_path_factory):
    """All four, up and idle, when everything has befallen them and is in Prometheus."""
    folder = tmp_path_factory.mktemp("fleet")
    prefix = folder / "prefix"
    subprocess.run([records.ROOT / "tools/install_tree", prefix], check=True, capture_output=True)
    hosts = [Host(name, folder / name, prefix) for name in HOSTS]
    scrapes = [{"job_name": "node", "static_configs": [
        {"targets": [f"127.0.0.1:{each.port}"], "labels": {"instance": each.name}} for each in hosts]}]
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(prometheus(folder / "prometheus", scrapes, interval="1s"))
        for each in hosts:
            each.url = url
            stack.callback(each.end)
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            list(pool.map(Host.live, hosts))
        fleet = Fleet(hosts, url)
        # One that answers in more than a second is not up then.
        wait_until(lambda: value(url, "sum(max_over_time(up[1m]))") == len(HOSTS), 60)
        fleet.measure()
        yield fleet


def test_systemd_starts_the_unit_again_and_no_law_broke(fleet):
    for host in fleet.hosts:
        assert host.restarts == BOOTS[HOSTS[host.name][2]] and len(host.ledgers) == len(host.restarts), host.name
        for ledger in host.ledgers:
            assert not records.laws_with(ledger, "broken")
    assert value(fleet.url, "sum(copyscope_laws_broken_total)") == 0


def test_sites_over_hosts_are_those_of_the_ledgers(fleet):
    found = {dict(labels)["site"]: each for labels, each in ask(
        fleet.url, f"sum by (site) ({fleet.risen('copyscope_site_bytes_total')})").items()}
    known = 0
    for site in SITES:
        wanted = [each["sites"][site]["bytes"] for host in fleet.hosts for each in host.ledgers]
        if None not in wanted:
            assert found.get(site, 0) == sum(wanted), site
            known += sum(wanted) > 0
    assert known >= 5


# A server of iperf3 ends with its test, and may leave what came last.
@pytest.mark.parametrize("counter, count, read", [
    ("sent", "accepted_bytes", sum(WORKS.values())), ("received", "returned_bytes", sum(WORKS.values()) - WORKS["cut"])])
def test_sent_and_received_over_hosts_are_those_of_the_ledgers(fleet, counter, count, read):
    said = value(fleet.url, f"sum({fleet.risen(f'copyscope_{counter}_bytes_total')})")
    assert said == fleet.summed(lambda ledger: ledger["counts"][count]) >= read * PRIME_PAYLOAD


def test_causes_over_hosts_are_those_of_the_ledgers(fleet):
    found = {dict(labels)["cause"]: each for labels, each in ask(
        fleet.url, f"sum by (cause) ({fleet.risen('copyscope_cause_bytes_total')})").items()}
    wanted: dict[str, int] = {}
    for ledger in (each for host in fleet.hosts for each in host.ledgers):
        for each in ledger["causes"]:
            if each["site"] in ("late_copy", "tx_copy") and each["bytes"]:
                wanted[each["cause"]] = wanted.get(each["cause"], 0) + each["bytes"]
    assert {cause: each for cause, each in found.items() if each} == wanted
    # A packet that is sent again is copied again.
    assert sum(wanted.values()) >= WORKS["restart"] * PRIME_PAYLOAD


def test_what_each_kernel_moved_is_what_its_programs_say(fleet):
    def moved(**chosen):
        kernel = " * on (instance) group_left (kernel) copyscope_build_info"
        return {dict(labels)["kernel"].rpartition(".")[0][:4].rstrip("."): each for labels, each in ask(
            fleet.url, f"sum by (kernel) (({fleet.risen('copyscope_sent_bytes_total', **chosen)}){kernel})").items()}
    assert moved(way="zerocopy").items() >= {("6.1", WORKS["restart"] * PRIME_PAYLOAD)}
    assert moved(way="splice").items() >= {("6.12", WORKS["exporter"] * PRIME_PAYLOAD)}
    assert value(fleet.url, f"sum({fleet.risen('copyscope_needless_bytes_total')})") == WORKS["restart"] * PRIME_PAYLOAD
    assert moved(way="copy", comm="iperf3")["6.12"] >= WORKS["cut"] * PRIME_PAYLOAD


def test_a_counter_goes_on_unless_its_state_is_lost(fleet):
    for host, (begin, end) in fleet.windows.items():
        chosen = f'{{instance="{host}", cgroup="/work", way="copy"}}[{end * 1000 - begin * 1000:.0f}ms] @ {end:.3f}'
        again = value(fleet.url, f"max(resets(copyscope_received_bytes_total{chosen}))")
        assert again == (HOSTS[host][2] == "cut"), host


def test_the_answer_names_all_hosts_and_both_kernels(fleet):
    done = subprocess.run([records.ROOT / "tools" / "fleet", fleet.url], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("4 hosts on 2 kernels"), done.stdout + done.stderr
