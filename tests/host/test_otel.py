# SPDX-License-Identifier: GPL-2.0
"""The configuration for OpenTelemetry's collector: whole, and what it sends by OTLP is the watch's record."""
from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from copyscope.common.metric_names import METRICS
from helpers import foreign, records
from helpers.processes import wait_until
from helpers.watch_tool import PRIME, record_of, start

CONFIGURATION = records.ROOT / "packaging/otel/collector.yaml"
# Whoever has it: one with receiver prometheus, processor resource and exporter otlphttp.
PROGRAM = os.environ.get("COPYSCOPE_OTELCOL")
# What the collector tells of its own scrapes.
SCRAPE = re.compile(r"up|scrape_\w+")
NOT_RECORDED = 1
# 23 sends of 4,093 bytes over loopback to itself, every other time with MSG_ZEROCOPY, for each line that is read.
PRIMES = """
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
for number, word in enumerate(sys.stdin):
    one = socket.create_connection(server.getsockname())
    one.setsockopt(socket.SOL_SOCKET, 60, number % 2)
    other, _ = server.accept()
    for _ in range(23):
        one.sendall(bytes(4093), 0x4000000 * (number % 2))
        left = 4093
        while left:
            left -= len(other.recv(left))
    one.close(); other.close()
    print(word, end="", flush=True)
"""


def test_the_configuration_is_whole_and_scrapes_where_the_pages_say():
    whole = yaml.safe_load(CONFIGURATION.read_text())
    pipeline = whole["service"]["pipelines"]["metrics"]
    for part in ("receivers", "processors", "exporters"):
        assert set(pipeline[part]) == set(whole[part]), part
    job, = whole["receivers"]["prometheus"]["config"]["scrape_configs"]
    target, = job["static_configs"][0]["targets"]
    port = re.fullmatch(r"\$\{env:COPYSCOPE_TARGET:-127\.0\.0\.1:(\d+)\}", target)[1]
    assert f"--serve {port}" in (records.ROOT / "docs/METRICS.md").read_text()
    page = (records.ROOT / "docs/FLEET.md").read_text()
    for name in set(re.findall(r"env:(\w+)", CONFIGURATION.read_text())):
        assert f"`{name}`" in page, name


def plain(attributes: list[dict]) -> dict[str, str]:
    """Attributes as OTLP has them in JSON."""
    return {each["key"]: next(iter(each["value"].values())) for each in attributes}


class Received:
    """What came by OTLP: the last value of each series, and of whom it is told."""

    def __init__(self) -> None:
        self.values: dict[tuple, float] = {}
        self.resources: set[tuple] = set()
        self.kinds: dict[str, str] = {}

    def take(self, request: dict) -> None:
        """One request."""
        for resource in request["resourceMetrics"]:
            self.resources.add(tuple(sorted(plain(resource["resource"]["attributes"]).items())))
            for metric in (metric for scope in resource["scopeMetrics"] for metric in scope["metrics"]):
                kind, = metric.keys() & {"sum", "gauge", "histogram", "summary"}
                self.kinds[metric["name"]] = kind
                for point in metric[kind]["dataPoints"]:
                    if not point.get("flags", 0) & NOT_RECORDED:
                        key = metric["name"], *sorted(plain(point.get("attributes", [])).items())
                        self.values[key] = float(point.get("count", point.get("asDouble", point.get("asInt"))))

    def summed(self, name: str, **labels: str) -> float | None:
        """The sum over series; None: there is none."""
        found = [value for (metric, *own), value in self.values.items()
                 if metric == name and labels.items() <= dict(own).items()]
        return sum(found) if found else None


@contextlib.contextmanager
def receiver() -> Iterator[tuple[str, Received]]:
    """A server that takes OTLP over HTTP as JSON: its address, and what came."""
    received = Received()

    class Answer(http.server.BaseHTTPRequestHandler):
        """Takes each request."""

        def do_POST(self) -> None:  # pylint: disable=invalid-name
            """One request."""
            received.take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:  # pylint: disable=arguments-differ
            """Says nothing."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()


@contextlib.contextmanager
def collector(port: int, endpoint: str, log: Path) -> Iterator[None]:
    """The program with the configuration, which sends JSON and asks more often."""
    more = "exporters: {otlphttp: {encoding: json, compression: none}}"
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "COPYSCOPE_TARGET": f"127.0.0.1:{port}", "COPYSCOPE_HOST": "host-23",
             "COPYSCOPE_SCRAPE_INTERVAL": "1s"}
    with log.open("w") as out, subprocess.Popen([PROGRAM, f"--config={CONFIGURATION}", f"--config=yaml:{more}"], stdin=subprocess.DEVNULL,
                                                stdout=out, stderr=out, env=os.environ | where) as one:
        try:
            yield
            assert one.poll() is None, log.read_text()
        finally:
            one.terminate()
    assert one.returncode == 0, log.read_text()


@records.needs_root
@pytest.mark.skipif(not PROGRAM, reason="COPYSCOPE_OTELCOL names no OpenTelemetry collector")
def test_what_a_collector_sends_by_otlp_is_the_record(tmp_path):
    port, record = foreign.free_port(), tmp_path / "r.json"
    with contextlib.ExitStack() as stack:
        endpoint, got = stack.enter_context(receiver())
        program = stack.enter_context(subprocess.Popen([sys.executable, "-c", PRIMES], stdin=subprocess.PIPE,
                                                       stdout=subprocess.PIPE, text=True))
        stack.callback(program.kill)
        watch = stack.enter_context(start("-q", "-p", program.pid, "--interval", "0.2", "--sizes", "--serve", port, "--state",
                                          tmp_path / "state", "--json", record))
        stack.callback(watch.kill)
        wait_until(lambda: foreign.listens(port))
        stack.enter_context(collector(port, endpoint, tmp_path / "log"))
        wait_until(lambda: got.summed("copyscope_last_reading_timestamp_seconds"), 30)
        for turn in range(1, 5):
            program.stdin.write("go\n")
            program.stdin.flush()
            assert program.stdout.readline()
            wait_until(lambda turn=turn: got.summed("copyscope_received_bytes_total") == turn * PRIME, 30)
        wait_until(lambda: got.summed("copyscope_zerocopy_completions_total") == 2 * 23, 30)
        watch.terminate()
        assert watch.wait(20) == 0, watch.stderr.read()
    whole = record_of(record)
    # Where some readings of a site are not measured, the counter has the others, and the record has none.
    measured = {site: each for site, each in whole["total"]["sites"].items() if each["bytes"] is not None}
    assert measured["tx_reference"]["bytes"] == 2 * PRIME
    for site, each in measured.items():
        assert got.summed("copyscope_site_bytes_total", site=site) == each["bytes"], site
    assert got.summed("copyscope_sent_bytes_total") == whole["total"]["counts"]["accepted_bytes"] == 4 * PRIME
    calls = sum(bucket["calls"] for process in whole["processes"] for way in process["sizes"] for bucket in way["buckets"])
    assert got.summed("copyscope_call_bytes") == calls
    # It has no sum, so by the rules of OpenMetrics no count, and the collector wants one.
    assert "copyscope_zerocopy_hold_seconds" not in got.kinds
    kinds = {metric.name: {"counter": "sum"}.get(metric.kind, metric.kind) for metric in METRICS}
    mine = {name: kind for name, kind in got.kinds.items() if not SCRAPE.fullmatch(name)}
    assert mine.items() <= kinds.items() and len(mine) > 15
    for resource in map(dict, got.resources):
        assert (resource["host.name"], resource["service.name"]) == ("host-23", "copyscope")
