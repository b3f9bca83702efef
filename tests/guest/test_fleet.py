# SPDX-License-Identifier: GPL-2.0
"""Two guests are a fleet: what a real Prometheus sums over both is what the ledgers' records say, to the byte."""
from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

from copyscope.common.tables import SITES
from guest.boots import Guests, Outcome, boot
from helpers import foreign, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.processes import wait_until
from helpers.prometheus import ask, prometheus, value

# What each does: two runs over veth, and a file and a foreign program over loopback.
PYTHON = Path("/usr/bin/python3")
MODULES = ("prometheus_client", "decorator")
IPERF3 = "build/programs/iperf3"
WORK = {
    "6.1": f"""workload A1 A1 {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --path veth
workload A3 A3 {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --path veth
""",
    "6.12": f"""workload sendfile sendfile {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} --path lo
iperf3() {{ {IPERF3}/iperf3 --library-path {IPERF3}/lib --argv0 iperf3 {IPERF3}/program "$@"; }}
iperf3 -s -1 >/out/iperf3.server &
server=$!
until iperf3 -c 127.0.0.1 -n {PRIME_PAYLOAD} -l {PRIME_BYTES} >/out/iperf3.client; do sleep 0.2; done
wait "$server"
""",
}


@pytest.fixture(name="guests", scope="module")
def fixture_guests(tmp_path_factory) -> Guests:
    """What both guests left."""
    folder = tmp_path_factory.mktemp("fleet")

    def run(release: str) -> Outcome:
        script = folder / f"{release}.work"
        script.write_text(WORK[release])
        added = [PYTHON, PYTHON.resolve(), Path(sysconfig.get_path("stdlib")), foreign.PLACE / "iperf3", script]
        for name in MODULES:
            file = Path(importlib.util.find_spec(name).origin)
            added.append(file.parent if file.name == "__init__.py" else file)
        return boot(release, folder / release, ["tests/guest/fleet.sh", PYTHON, script],
                    [word for each in added for word in ("--add", each)])
    return Guests(WORK, run).boot_all()


@contextlib.contextmanager
def serving(folder: Path):
    """node_exporter with a host's folder of metrics; its address."""
    port = foreign.free_port()
    with foreign.serving(port, *foreign.words("prometheus-node-exporter"), "--collector.disable-defaults",
                         "--collector.textfile", f"--collector.textfile.directory={folder}",
                         f"--web.listen-address=127.0.0.1:{port}"):
        yield f"127.0.0.1:{port}"


@pytest.fixture(name="fleet", scope="module")
def fixture_fleet(guests, tmp_path_factory):
    """The address of a Prometheus that has scraped both, and the ledgers' records."""
    with contextlib.ExitStack() as stack:
        targets = [{"targets": [stack.enter_context(serving(guests[release].folder / "metrics"))],
                    "labels": {"instance": release}} for release in WORK]
        url = stack.enter_context(prometheus(tmp_path_factory.mktemp("prometheus") / "data", [
            {"job_name": "node", "static_configs": targets}], interval="1s"))
        wait_until(lambda: len(ask(url, "copyscope_build_info")) == len(WORK), 60)
        yield url, {release: json.loads(guests[release].text("ledger.json")) for release in WORK}


def summed(ledgers: dict[str, dict], of) -> int:
    """A number of all ledgers."""
    return sum(of(each) for each in ledgers.values())


def test_sites_over_hosts_are_those_of_the_ledgers(fleet):
    url, ledgers = fleet
    found = {dict(labels)["site"]: each for labels, each in ask(url, "sum by (site) (copyscope_site_bytes_total)").items()}
    known = 0
    for site in SITES:
        wanted = [each["sites"][site]["bytes"] for each in ledgers.values()]
        if None not in wanted:
            assert found.get(site, 0) == sum(wanted), site
            known += sum(wanted) > 0
    assert known >= 5


def test_sent_and_received_over_hosts_are_those_of_the_ledgers(fleet):
    url, ledgers = fleet
    assert value(url, "sum(copyscope_sent_bytes_total)") == summed(ledgers, lambda all_: all_["counts"]["accepted_bytes"])
    assert value(url, "sum(copyscope_received_bytes_total)") == summed(ledgers, lambda all_: all_["counts"]["returned_bytes"])


def test_causes_over_hosts_are_those_of_the_ledgers(fleet):
    url, ledgers = fleet
    found = {dict(labels)["cause"]: each for labels, each in ask(url, "sum by (cause) (copyscope_cause_bytes_total)").items()}
    wanted: dict[str, int] = {}
    for ledger in ledgers.values():
        for each in ledger["causes"]:
            if each["site"] in ("late_copy", "tx_copy") and each["bytes"]:
                wanted[each["cause"]] = wanted.get(each["cause"], 0) + each["bytes"]
    assert {cause: each for cause, each in found.items() if each} == wanted
    # A packet that is sent again is copied again.
    assert sum(wanted.values()) >= PRIME_PAYLOAD


def test_what_each_kernel_moved_is_what_its_programs_say(fleet):
    url, _ = fleet
    kernel = ' * on (instance) group_left (kernel) copyscope_build_info'
    by = {dict(labels)["kernel"].rpartition(".")[0][:4].rstrip("."): each for labels, each in ask(
        url, f'sum by (kernel) (copyscope_sent_bytes_total{{way="zerocopy"}}{kernel})').items()}
    assert by == {"6.1": PRIME_PAYLOAD, "6.12": 0}
    assert value(url, 'sum(copyscope_sent_bytes_total{way="splice", instance="6.12"})') == PRIME_PAYLOAD
    assert value(url, "sum(copyscope_needless_bytes_total)") == PRIME_PAYLOAD
    assert value(url, 'copyscope_sent_bytes_total{way="copy", instance="6.12", comm="iperf3"}') >= PRIME_PAYLOAD


def test_no_law_broke_and_nothing_is_short(fleet):
    url, ledgers = fleet
    assert value(url, "sum(copyscope_laws_broken_total)") == 0
    for ledger in ledgers.values():
        assert not records.laws_with(ledger, "broken")


def test_the_answer_names_both_kernels(fleet):
    done = subprocess.run([records.ROOT / "tools" / "fleet", fleet[0]], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("2 hosts on 2 kernels"), done.stdout + done.stderr
