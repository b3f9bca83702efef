# SPDX-License-Identifier: GPL-2.0
"""Three services of a host: who copies most, what it costs, what to change, and whether it helped; by metrics and fleet alike."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import copyscope
from helpers import prometheus, promql
from helpers.foreign import free_port, serving, words
from helpers.metric_lines import summed
from helpers.processes import wait_until
from helpers.records import ROOT, needs_root
from host.test_watch_servers import NGINX, fetched

# Long: six servers and two watches; test_metrics.py and test_compare.py hold the same numbers of made-up lines.
pytestmark = [needs_root, pytest.mark.long]
BODY = 3_000_001
GET = b"GET /file HTTP/1.0\r\n\r\n"
NODE = """
const body = Buffer.alloc(+process.argv[2]);
require("net").createServer(socket => socket.once("data", () => socket.end(body))).listen(+process.argv[1], "127.0.0.1");
"""
PYTHON = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    one, _ = server.accept()
    if one.recv(1 << 16):
        one.sendall(bytes(int(sys.argv[2])))
    one.close()
"""


def application(port: int) -> list[str]:
    """A service of its own that answers with half a body."""
    node = shutil.which("node")
    return [node, "-e", NODE, str(port), str(BODY // 2)] if node else [sys.executable, "-c", PYTHON, str(port), str(BODY // 2)]


@contextlib.contextmanager
def services(folder: Path, sendfile: str):
    """nginx with three workers, redis and an application; their processes, and what asks each once."""
    ports = [free_port() for _ in range(3)]
    (folder / "file").write_bytes(bytes(BODY))
    (folder / "conf").write_text(NGINX.format(folder=folder, sendfile=sendfile, port=ports[0])
                                 .replace("worker_processes 2", "worker_processes 3"))
    value = b"$500000\r\n" + bytes(500_000) + b"\r\n"
    redis = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n" + value + b"*1\r\n$4\r\nQUIT\r\n"
    with serving(ports[0], *words("nginx"), "-c", folder / "conf", "-p", folder) as web, \
            serving(ports[1], *words("redis-server"), "--port", ports[1], "--bind", "127.0.0.1", "--save", "", "--dir", folder) as store, \
            serving(ports[2], *application(ports[2])) as app:
        def load() -> None:
            for _ in range(4):
                assert fetched(ports[0], GET) > BODY and fetched(ports[2], GET) == BODY // 2 and fetched(ports[1], redis)
        yield [web.pid, store.pid, app.pid], load


def watched(pids: list[int], load, file: Path, *more: object) -> copyscope.Watch:
    """A watch under load; its record."""
    whose = [word for pid in pids for word in ("-p", str(pid))]
    begun = file.with_suffix(".prom")
    with subprocess.Popen([ROOT / "tools/copyscope", "watch", "-q", *whose, "--cpu", "--interval", "0.3", "--json", file,
                           "--metrics", begun, *map(str, more)]) as one:
        wait_until(begun.exists, 60)
        load()
        time.sleep(0.5)
        one.send_signal(signal.SIGTERM)
        assert one.wait(60) == 0
    found = copyscope.read(file)
    assert not found.laws_broken
    return found


def told(*command: object, statuses: tuple[int, ...] = (0,)) -> str:
    """What a command prints."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})
    assert done.returncode in statuses, done.stderr
    return done.stdout


def advised(record: Path, before: copyscope.Watch) -> None:
    """The advice on each process is of the bytes of its service, and nginx has a switch."""
    # A change pays, or prices of a busy machine leave it undecided.
    command = [ROOT / "tools/advise", "--record", record, "--source", "file"]
    said = told(*command, "--json", record.with_suffix(".advice"), statuses=(0, 1, 4))
    processes = json.loads(record.with_suffix(".advice").read_text())["processes"]
    copied = {comm: sum(number["value"] for each in processes if each["comm"] == comm for number in each["quantities"]
                        if number["name"] in ("copied.tx_copy", "copied.rx_copy")) for comm in ("nginx", "redis-server")}
    assert copied == {each.service.partition(" ")[0]: each.copied_bytes for each in before.services
                      if each.service.partition(" ")[0] in copied}
    assert said.count("sendfile on;") == sum(each["comm"] == "nginx" for each in processes) > 0
    assert all(any(number["name"].startswith("sendfile for read().") for number in each["quantities"])
               for each in processes if each["comm"] == "nginx")


def answers_of_panels(place: Path, text: str, now: int) -> None:
    """Each query of the dashboard answers with data of what was scraped; where it shows what is above 0, without that."""
    dashboard = json.loads((promql.PLACE / "grafana.json").read_text(encoding="utf-8"))
    samples = [(name.replace("{", '{job="node",instance="host",') if "{" in name else prometheus.series(name, job="node", instance="host"),
                when, value if when == now or not name.partition("{")[0].endswith("_total") else 0)
               for name, value in prometheus.samples_of(text).items() for when in (now - 120, now)]
    recorded = {rule["record"]: rule["expr"] for rule in promql.rules() if "record" in rule}
    answered: list[bool] = []
    prometheus.backfill(place, samples)
    with prometheus.prometheus(place) as url:
        for panel in dashboard["panels"]:
            assert panel["title"] and panel["fieldConfig"]["defaults"]["unit"], panel
            for target in panel["targets"]:
                expression = target["expr"].replace("$__range", "1h")
                # Rules are made of rules.
                while names := [each for each in recorded if each in expression]:
                    for name in names:
                        expression = re.sub(re.escape(name) + r"(\{[^}]*\})?", lambda _, name=name: f"({recorded[name]})", expression)
                found = prometheus.result(url, expression.replace("$instance", ".*").replace(" > 0", ""), time=now)
                # No send was by reference, so that some were not written; and this Prometheus has no rules.
                assert found or not all(f"\n{each}" in text for each in promql.metrics(expression)), (panel["title"], expression)
                answered.append(bool(found))
    assert sum(answered) > len(answered) / 2


def test_records_metrics_and_fleet_say_the_same_of_three_services(tmp_path):
    with services(tmp_path, "off") as (pids, load):
        before = watched(pids, load, tmp_path / "before.json", "--sizes")
    with services(tmp_path, "on") as (pids, load):
        after = watched(pids, load, tmp_path / "after.json")
    # Who copies most, and what it costs.
    first, *_ = before.services
    assert first.service.startswith("nginx") and len(before.services) == 3 and first.copied_bytes > 4 * BODY
    assert all(each.cpu_seconds is not None for each in before.services)
    said = told(ROOT / "tools/records", "show", tmp_path / "before.json")
    assert said.index("nginx") < said.index("redis-server")
    advised(tmp_path / "before.json", before)
    # Did a change help?
    found = json.loads(told(ROOT / "tools/compare", tmp_path / "before.json", tmp_path / "after.json", "--json", "-"))
    rows = {each["service"]: {one["what"]: one for one in each["quantities"]} for each in found["points"][0]["services"]}
    assert rows.keys() == {each.service for each in before.services} == {each.service for each in after.services}
    # What becomes of pages behind the socket may not be known.
    copied = rows[first.service].get("copied at least", rows[first.service]["copied"])
    assert copied["first"]["median"] > 0.99 and copied["second"]["median"] < 0.01
    assert "CPU time" in rows[first.service]
    # Metrics are the record, service by service.
    text = (tmp_path / "after.prom").read_text()
    for each in after.services:
        sums = [summed(text, f"copyscope_{name}_total", service=each.service)
                for name in ("sent_bytes", "received_bytes", "copied_bytes", "copied_least_bytes", "needless_bytes")]
        assert sums == [each.sent_bytes, each.received_bytes, each.copied_bytes, each.copied_least_bytes, each.avoidable_bytes]
        assert summed(text, "copyscope_cpu_seconds_total", service=each.service) == pytest.approx(each.cpu_seconds or None)
    # And so is what Prometheus has of them.
    now, rest = int(time.time()), {"job": "node", "instance": "host"}
    samples = [(name.replace("{", '{job="node",instance="host",') if "{" in name else prometheus.series(name, **rest), when, value * (when == now))
               for name, value in prometheus.samples_of(text).items() for when in (now - 600, now)
               if not name.startswith(("copyscope_last", "copyscope_build")) and "_bucket" not in name]
    samples += [(prometheus.series("copyscope_last_reading_timestamp_seconds", **rest), when, when) for when in (now - 600, now)]
    samples += [(prometheus.series("copyscope_build_info", **rest, version="1", kernel=after.kernel), when, 1) for when in (now - 600, now)]
    prometheus.backfill(tmp_path / "data", samples)
    answers_of_panels(tmp_path / "panels", text, now)
    with prometheus.prometheus(tmp_path / "data") as url:
        fleet = json.loads(told(ROOT / "tools/fleet", url, "--window", "9m", "--json", "-"))
    assert [(each["labels"]["service"], each["sent_bytes"], each["received_bytes"], each["copied_bytes"]) for each in fleet["moved"]] == \
        [(each.service, each.sent_bytes, each.received_bytes, each.copied_bytes) for each in after.services]
