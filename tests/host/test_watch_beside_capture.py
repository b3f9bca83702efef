# SPDX-License-Identifier: GPL-2.0
"""Beside a capture, which makes the kernel copy what MSG_ZEROCOPY sends: every screen says so alike, and none says 0."""
from __future__ import annotations

import contextlib
import html
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import copyscope
from helpers import prometheus, records
from helpers.metric_lines import summed
from helpers.processes import wait_until
from helpers.records import ROOT
from helpers.watch_tool import start

pytestmark = records.needs_root
SENDS, BYTES = 60, 65536
ETH_P_ALL = 3
# Sends by MSG_ZEROCOPY over loopback, and asks the kernel which sends it copied: ee_info to ee_data, and ee_code.
PROGRAM = f"""
import socket, struct, sys
server = socket.create_server(("127.0.0.1", 0))
one = socket.create_connection(server.getsockname())
other, _ = server.accept()
one.setsockopt(socket.SOL_SOCKET, 60, 1)
sys.stdin.readline()
body, done, copied = bytes({BYTES}), 0, 0
for _ in range({SENDS}):
    left = sent = one.send(body, 0x4000000)
    while left:
        left -= len(other.recv(left))
    assert sent == len(body)
while done < {SENDS}:
    try:
        told = one.recvmsg(1, 512, socket.MSG_ERRQUEUE)[1][0][2]
    except BlockingIOError:
        continue
    _, _, _, code, _, first, last = struct.unpack("=IBBBBII", told[:16])
    done += last - first + 1
    copied += (last - first + 1) * (code & 1)
print(copied, flush=True)
sys.stdin.readline()
"""


@contextlib.contextmanager
def capturing() -> Iterator[None]:
    """tcpdump on loopback; where it is not installed, the socket that it opens."""
    if not shutil.which("tcpdump"):
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as one:
            one.bind(("lo", 0))
            yield
        return
    with subprocess.Popen(["tcpdump", "-i", "lo", "-w", "/dev/null"], stderr=subprocess.PIPE, text=True) as one:
        assert any("listening" in line for line in one.stderr)
        yield
        one.terminate()


def watched(folder: Path) -> tuple[copyscope.Watch, int]:
    """A record of the program beside the capture, with its metrics; and how many sends the kernel told it were copied."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one, capturing(), \
            start("-q", "-p", one.pid, "--interval", "0.2", "--json", folder / "w.json", "--metrics", folder / "m.prom") as tool:
        wait_until((folder / "m.prom").exists, 60)
        one.stdin.write("go\n")
        one.stdin.flush()
        copied = int(one.stdout.readline())
        tool.send_signal(signal.SIGTERM)
        assert tool.wait(60) == 0
        one.stdin.close()
    return copyscope.read(folder / "w.json"), copied


def fleet_and_alert(folder: Path, text: str) -> tuple[dict, dict[str, str]]:
    """What fleet says of the service, and the alert on it, after minutes in which it did what the metrics say."""
    now, rest = int(time.time()), {"job": "node", "instance": "host"}
    samples = [(name.replace("{", '{job="node",instance="host",') if "{" in name else prometheus.series(name, **rest), when, value * (when == now))
               for name, value in prometheus.samples_of(text).items() for when in (now - 600, now - 240, now)
               if not name.startswith(("copyscope_last", "copyscope_build")) and "_bucket" not in name]
    samples += [(prometheus.series("copyscope_last_reading_timestamp_seconds", **rest), when, when) for when in (now - 600, now - 240, now)]
    samples += [(prometheus.series("copyscope_build_info", **rest, version="1", kernel="6"), when, 1) for when in (now - 600, now - 240, now)]
    prometheus.backfill(folder / "data", samples)
    with prometheus.prometheus(folder / "data", rules=True, interval="1s") as url:
        done = subprocess.run([ROOT / "tools/fleet", url, "--window", "9m", "--json", "-"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        alert, = wait_until(lambda: prometheus.result(url, 'ALERTS{alertname="CopyscopeCopiedAfterAll"}'), 60)
    moved, = [each for each in json.loads(done.stdout)["moved"] if each["sent_bytes"]]
    return moved, alert["metric"]


def shown(record: Path, *words: object) -> str:
    """What show prints of a record."""
    done = subprocess.run([ROOT / "tools/records", "show", record, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def test_every_screen_says_alike_what_the_kernel_copied_and_what_is_not_known(tmp_path):
    found, copied = watched(tmp_path)
    service, = found.services
    all_bytes = SENDS * BYTES
    assert copied == SENDS and service.sent_bytes == service.received_bytes == all_bytes
    # Where the packets of a capture are told apart all is known; else what recv copied is the least.
    known = service.copied_bytes is not None
    assert service.copied_least_bytes >= all_bytes and (service.avoidable_bytes == all_bytes) == known
    text, least = shown(tmp_path / "w.json"), f"{service.copied_least_bytes / 1e6:.3g} MB"
    said = f"notifications say of all {SENDS} sends that it copied"
    assert (said in text or known) and f"{SENDS} of them as COPIED" in text and (f">={least}" in text) != known
    shown(tmp_path / "w.json", "--html", tmp_path / "p.html")
    page = html.unescape((tmp_path / "p.html").read_text())
    assert (said in page or known) and (f">={least}" in page) != known
    # No number that is not known is 0 in metrics, and the kernel's word on sends is there.
    text = (tmp_path / "m.prom").read_text()
    told = {name: summed(text, f"copyscope_{name}_total", service=service.service)
            for name in ("copied_bytes", "copied_least_bytes", "needless_bytes")}
    assert told == {"copied_bytes": service.copied_bytes, "copied_least_bytes": service.copied_least_bytes,
                    "needless_bytes": service.avoidable_bytes}
    assert summed(text, "copyscope_zerocopy_completions_total", copied="true", service=service.service) == SENDS
    moved, alert = fleet_and_alert(tmp_path, text)
    assert (moved["sent_bytes"], moved["copied_bytes"], moved["copied_least_bytes"]) == \
        (all_bytes, service.copied_bytes, service.copied_least_bytes)
    assert alert["service"] == service.service
