# SPDX-License-Identifier: GPL-2.0
"""What copyscope watch --metrics and --serve publish: sums of the record, through kills and restarts, in bounds."""
from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics import parser

from copyscope.services import groups
from helpers import foreign, prometheus, records
from helpers.metric_lines import complaints, samples, summed
from helpers.processes import wait_until
from helpers.watch_tool import PRIME, record_of, start, talk, watch

pytestmark = records.needs_root
UID, ID = "0b1f2c3d-1111-2222-3333-444455556666", "ab" * 32
POD = f"kubepods-burstable-pod{UID.replace('-', '_')}.slice"
# Sends PRIME bytes over loopback to itself by 23 sends of 4,093 bytes, whenever a line is read.
PRIMES = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
for word in sys.stdin:
    one = socket.create_connection(server.getsockname())
    other, _ = server.accept()
    for _ in range(23):
        one.sendall(bytes(4093))
        left = 4093
        while left:
            left -= len(other.recv(left))
    one.close(); other.close()
    print(word, end="", flush=True)
"""


@contextlib.contextmanager
def primes() -> Iterator:
    """A program that sends PRIME bytes each time that it is asked to."""
    with subprocess.Popen([sys.executable, "-c", PRIMES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        def send() -> None:
            one.stdin.write("go\n")
            one.stdin.flush()
            assert one.stdout.readline() == "go\n"
        yield one, send
        one.stdin.close()


@pytest.fixture(name="group")
def fixture_group() -> Iterator:
    """Makes control groups of version 2, and removes them with what is in them."""
    mount = groups.mount()
    if not mount:
        pytest.skip("no cgroup file system of version 2 is mounted")
    made: list[Path] = []

    def make(path: str, pid: int | None = None) -> None:
        folder = mount
        for name in path.strip("/").split("/"):
            folder = folder / name
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
        if pid:
            (folder / "cgroup.procs").write_text(str(pid))
    try:
        yield make
    finally:
        for folder in reversed(made):
            for pid in (folder / "cgroup.procs").read_text().split():
                (mount / "cgroup.procs").write_text(pid)
            wait_until(lambda folder=folder: not (folder / "cgroup.procs").read_text())
            folder.rmdir()


@contextlib.contextmanager
def exporting(*words: object) -> Iterator[subprocess.Popen]:
    """A watch with metrics, which is ended in any case."""
    with start("-q", *words) as one:
        try:
            yield one
        finally:
            if one.poll() is None:
                one.kill()


def ended(one: subprocess.Popen) -> str:
    """End it as systemd does; what it said."""
    one.send_signal(signal.SIGTERM)
    said = one.communicate(timeout=60)[1]
    assert one.returncode == 0, said
    return said


def text_of(file: Path) -> str:
    """What is published; "" before anything is."""
    return file.read_text(encoding="utf-8") if file.exists() else ""


def reads(file: Path, since_s: float) -> bool:
    """Whether a watch that began then has read at least once: its window is open."""
    return bool(text_of(file)) and summed(text_of(file), "copyscope_last_reading_timestamp_seconds") > since_s


def sent_in(file: Path) -> float:
    """All bytes that were sent, as they are published; 0 before anything is."""
    return summed(text_of(file), "copyscope_sent_bytes_total") or 0


def test_sums_over_series_are_the_record(tmp_path):
    file, record = tmp_path / "m.prom", tmp_path / "r.json"
    done = watch("-q", "--metrics", file, "--interval", "0.2", "--sizes", "--json", record, "--json-lines",
                 tmp_path / "lines", "--", *talk(9, 0.1))
    assert done.returncode == 0, done.stderr
    whole, text = record_of(record), text_of(file)
    assert summed(text, "copyscope_sent_bytes_total") == whole["total"]["counts"]["accepted_bytes"] == 9 * (PRIME + 7)
    assert summed(text, "copyscope_received_bytes_total") == whole["total"]["counts"]["returned_bytes"]
    for site, each in whole["total"]["sites"].items():
        assert summed(text, "copyscope_site_bytes_total", site=site) == each["bytes"], site
    calls = sum(bucket["calls"] for process in whole["processes"] for way in process["sizes"] for bucket in way["buckets"])
    assert summed(text, "copyscope_call_bytes_count") == calls
    lines = (tmp_path / "lines").read_text().splitlines()
    assert sum(json.loads(line)["total"]["counts"]["accepted_bytes"] for line in lines) == 9 * (PRIME + 7)
    assert not complaints(text) and file.stat().st_mode & 0o777 == 0o644


def test_a_killed_watch_and_a_killed_exporter_lose_and_invent_nothing(tmp_path):
    file = tmp_path / "m.prom"
    seen: list[float] = []

    def published() -> float:
        seen.append(sent_in(file))
        return seen[-1]

    with primes() as (program, send):
        words = ("--metrics", file, "--interval", "0.1", "-p", program.pid)
        sent = 0
        for kill in ("exporter", "watch", None):
            began_s = time.time()
            with exporting(*words) as one:
                wait_until(lambda began_s=began_s: reads(file, began_s))
                for _ in range(3):
                    send()
                    sent += PRIME
                    wait_until(lambda want=sent: published() == want)
                if kill == "exporter":
                    left = children(one)
                    one.kill()
                    # Its watch ends as nobody reads its lines any more.
                    wait_until(lambda left=left: not any(map(alive, left)), 20)
                elif kill == "watch":
                    for pid in children(one):
                        os.kill(pid, signal.SIGKILL)
                    assert one.wait(20) == 1 and "ended by SIGKILL" in one.stderr.read()
                else:
                    ended(one)
    assert sent == 9 * PRIME == published() and seen == sorted(seen)
    assert summed(text_of(file), "copyscope_received_bytes_total") == sent


def children(one: subprocess.Popen) -> list[int]:
    """What it has started."""
    return list(map(int, Path(f"/proc/{one.pid}/task/{one.pid}/children").read_text().split()))


def alive(pid: int) -> bool:
    """Whether it runs."""
    with contextlib.suppress(OSError):
        return not re.search(r"^State:\s+Z", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return False


@pytest.mark.parametrize("path", [
    f"kubepods.slice/kubepods-burstable.slice/{POD}/cri-containerd-{ID}.scope",
    f"kubepods.slice/kubepods-burstable.slice/{POD}/crio-{ID}.scope",
    f"kubepods/burstable/pod{UID}/{ID}"])
def test_a_pod_that_comes_later_is_told_by_its_uid_and_container(tmp_path, group, path):
    file = tmp_path / "m.prom"
    # What another test or a real kubelet has is not to be removed.
    path = f"copyscope-test-{os.getpid()}/{path}"
    with exporting("--all", "--metrics", file, "--interval", "0.1") as one, primes() as (program, send):
        wait_until(lambda: "build_info" in text_of(file))
        group(path, program.pid)
        send()
        wait_until(lambda: summed(text_of(file), "copyscope_sent_bytes_total", pod_uid=UID))
        ended(one)
    text = text_of(file)
    mine = {"pod_uid": UID, "container": ID, "comm": Path(sys.executable).name, "cgroup": "/" + path.partition("/" + POD)[0].partition("/pod")[0]}
    assert summed(text, "copyscope_sent_bytes_total", **mine) == PRIME
    assert summed(text, "copyscope_received_bytes_total", **mine) == PRIME


def test_scrapers_get_what_they_ask_for_and_no_power_is_left(tmp_path):
    port = foreign.free_port()
    with primes() as (program, send):
        with exporting("-p", program.pid, "--interval", "0.1", "--serve", port, "--state", tmp_path / "state") as one:
            def scrape(accept: str) -> tuple[str, str]:
                asks = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
                with urllib.request.urlopen(asks, timeout=60) as answer:
                    return answer.headers["Content-Type"], answer.read().decode()
            wait_until(lambda: foreign.listens(port) and "build_info" in scrape("text/plain")[1])
            send()
            wait_until(lambda: summed(scrape("text/plain")[1], "copyscope_sent_bytes_total") == PRIME)
            kind, text = scrape("text/plain")
            assert kind.startswith("text/plain") and not complaints(text)
            kind, text = scrape("application/openmetrics-text; version=1.0.0")
            assert kind.startswith("application/openmetrics-text") and text.endswith("# EOF\n")
            assert "copyscope_sent_bytes" in {family.name for family in parser.text_string_to_metric_families(text)}
            status = [Path(f"/proc/{one.pid}/task/{task}/status").read_text()
                      for task in os.listdir(f"/proc/{one.pid}/task")]
            # CAP_KILL alone is left to any thread.
            assert {re.search(r"^CapEff:\s+(\S+)", each, re.MULTILINE)[1] for each in status} == {f"{1 << 5:016x}"}
            ended(one)


def test_a_port_that_is_taken_is_refused_before_anything_is_watched():
    with foreign.socket.create_server(("127.0.0.1", 0)) as taken:
        done = watch("-q", "--serve", taken.getsockname()[1], "--", "true")
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "cannot listen" in done.stderr


def test_a_full_disk_is_one_line_and_counters_go_on(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
    try:
        file = folder / "m.prom"
        with primes() as (program, send), exporting("-p", program.pid, "--metrics", file, "--interval", "0.1") as one:
            wait_until(lambda: "build_info" in text_of(file))
            (folder / "full").write_bytes(bytes((os.statvfs(folder).f_bavail - 1) * os.statvfs(folder).f_bsize))
            send()
            time.sleep(1)
            assert not sent_in(file)
            (folder / "full").unlink()
            wait_until(lambda: sent_in(file) == PRIME)
            assert ended(one).count("No space left") == 1
    finally:
        subprocess.run(["umount", folder], check=True)


def test_node_exporter_reads_the_file(tmp_path):
    file, port = tmp_path / "m.prom", foreign.free_port()
    done = watch("-q", "--metrics", file, "--interval", "0.2", "--", *talk(3))
    assert done.returncode == 0, done.stderr
    node = foreign.words("prometheus-node-exporter")
    with foreign.serving(port, *node, "--collector.disable-defaults", "--collector.textfile",
                         f"--collector.textfile.directory={tmp_path}", f"--web.listen-address=127.0.0.1:{port}"):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
    assert summed(text, "node_textfile_scrape_error") == 0
    mine = {key: value for key, value in samples(text).items() if key[0].startswith("copyscope_")}
    assert mine == samples(text_of(file))


def test_prometheus_counts_on_through_a_kill_of_the_watch(tmp_path):
    port, state = foreign.free_port(), tmp_path / "state"
    scrapes = [{"job_name": "copyscope", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]
    with prometheus.prometheus(tmp_path / "data", scrapes, interval="1s") as url, primes() as (program, send):
        def seen(expression: str = "sum(copyscope_sent_bytes_total)") -> float | None:
            return prometheus.value(url, expression)
        for turn in range(2):
            began_s = time.time()
            with exporting("-p", program.pid, "--interval", "0.2", "--serve", port, "--state", state) as one:
                wait_until(lambda began_s=began_s: (seen("copyscope_last_reading_timestamp_seconds") or 0) > began_s, 20)
                send()
                wait_until(lambda turn=turn: seen() == (turn + 1) * PRIME, 20)
                if turn:
                    ended(one)
                else:
                    for pid in [one.pid, *children(one)]:
                        os.kill(pid, signal.SIGKILL)
        assert seen("resets(sum(copyscope_sent_bytes_total)[1m:1s])") == 0
        assert seen('sum(max_over_time(copyscope_site_bytes_total{site="tx_copy"}[1m]))') == 2 * PRIME
