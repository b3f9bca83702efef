# SPDX-License-Identifier: GPL-2.0
"""Servers and proxies that know nothing of copyscope: where their bytes pass, and how many."""
from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest

from helpers.foreign import free_port, serving, words
from helpers.records import ROOT, needs_root
from helpers.windows import Watching, unbalanced

pytestmark = needs_root
BODY = 3_000_001


def lacks_cx16() -> bool:
    """Is this a processor of the x86 family without that instruction? Guests are (architectures.py)."""
    flags = [line.split() for line in Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("flags")]
    return bool(flags) and "cx16" not in flags[0]


def all_of(sock: socket.socket) -> int:
    """Reads to the end; how many bytes came."""
    count = 0
    while got := sock.recv(1 << 20):
        count += len(got)
    return count


def fetched(port: int, request: bytes, wrap=lambda sock: sock) -> int:
    """Bytes of the answer to one request, after which the server closes."""
    with wrap(socket.create_connection(("127.0.0.1", port))) as client:
        client.sendall(request)
        return all_of(client)


def closed(watching: Watching) -> dict:
    """The record, all laws of which balance."""
    time.sleep(0.1)
    record = watching.close()
    assert not unbalanced(record), unbalanced(record)
    return record


def bytes_of(record: dict, pid: int) -> dict[str, int]:
    """What one process moved, by site, and by sequence numbers."""
    one, = (each["sum"] for each in record["processes"] if each["pid"] == pid)
    return flat(one)


def flat(one: dict) -> dict[str, int]:
    """Sums of the record, by name."""
    return {site: value["bytes"] for site, value in one["sites"].items()} | one["fate"] | {
        name: one["counts"][name] for name in ("accepted_bytes", "returned_bytes")}


NGINX = """
daemon off; user root; worker_processes 2; pid {folder}/pid; error_log {folder}/errors;
events {{ }}
http {{
  log_format bytes "$bytes_sent $request_length"; access_log {folder}/log bytes;
  sendfile {sendfile}; root {folder};
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port}; }}
}}
"""


@pytest.mark.parametrize("sendfile", ["on", "off"])
def test_nginx_splices_the_body_with_sendfile_alone(tmp_path, sendfile):
    port = free_port()
    (tmp_path / "file").write_bytes(bytes(BODY))
    (tmp_path / "conf").write_text(NGINX.format(folder=tmp_path, sendfile=sendfile, port=port))
    with serving(port, *words("nginx"), "-c", tmp_path / "conf", "-p", tmp_path) as server:
        watching = Watching("-p", server.pid)
        got = fetched(port, b"GET /file HTTP/1.0\r\n\r\n")
        record = closed(watching)
    # The master forked the workers before, and moved nothing itself.
    assert bytes_of(record, server.pid)["accepted_bytes"] == 0 and len(record["processes"]) == 3
    found = flat(record["total"])
    sent, received = map(int, (tmp_path / "log").read_text().split())
    assert found["accepted_bytes"] == sent == got and found["returned_bytes"] == received
    assert found["tx_splice"] == (BODY if sendfile == "on" else 0)
    assert found["tx_copy"] == sent - found["tx_splice"] and found["rx_copy"] == received
    # Guests carry no documents.
    if (ROOT / "docs/CLAIMS.md").is_file():
        assert claimed(record, tmp_path) == ((0, "CONFIRMED") if sendfile == "on" else (1, "REFUTED"))


def claimed(record: dict, folder: Path) -> tuple[int, str]:
    """What the first claim of docs/CLAIMS.md comes to, as it is printed there: by any backend it is decided."""
    text = (ROOT / "docs/CLAIMS.md").read_text()
    claim = re.search(r"^    \[\[claims\]\]\n(?:    .+\n)+", text, re.M)[0]
    (folder / "mine.toml").write_text(claim.replace("\n    ", "\n").strip() + "\n")
    (folder / "nginx.json").write_text(json.dumps(record))
    done = subprocess.run([ROOT / "tools/claims", "check", folder / "nginx.json", "--claims", folder / "mine.toml"],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.split()[1]


HAPROXY = """
global
  maxconn 64
defaults
  mode tcp
  timeout connect 5s
  timeout client 30s
  timeout server 30s
{option}
frontend front
  bind 127.0.0.1:{port}
  default_backend back
backend back
  server one 127.0.0.1:{behind}
"""


@contextlib.contextmanager
def answering():
    """A server that answers whatever it is asked with the body; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            with one, contextlib.suppress(OSError):
                if one.recv(100):
                    one.sendall(bytes(BODY))

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        # Wakes the thread, and no connection comes after.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.skipif(lacks_cx16(), reason="this processor lacks cmpxchg16b, which haproxy executes")
@pytest.mark.parametrize("option", ["", "  option splice-response"])
def test_haproxy_splices_if_it_is_told_to(tmp_path, option):
    port = free_port()
    with answering() as behind:
        (tmp_path / "conf").write_text(HAPROXY.format(option=option, port=port, behind=behind))
        with serving(port, *words("haproxy"), "-f", tmp_path / "conf", "-db") as server:
            watching = Watching("-p", server.pid)
            assert fetched(port, b"please") == BODY
            found = bytes_of(closed(watching), server.pid)
    passed = BODY + len(b"please")
    assert found["accepted_bytes"] == found["returned_bytes"] == passed
    assert found["tx_copy"] + found["tx_splice"] == passed
    # No tracepoint tells splices from mapped bytes.
    assert found["rx_copy"] + found["passed_on_bytes"] == passed
    assert found["tx_splice"] == found["passed_on_bytes"]
    assert found["tx_splice"] > 0.9 * BODY if option else found["tx_splice"] == 0


def test_redis_copies_what_it_is_sent_and_asked_for(tmp_path):
    port = free_port()
    value = b"$500000\r\n" + bytes(500_000) + b"\r\n"
    request = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n" + value + b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n" + \
        b"*1\r\n$4\r\nQUIT\r\n"
    with serving(port, *words("redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "",
                 "--dir", tmp_path) as server:
        watching = Watching("-p", server.pid)
        answer = fetched(port, request)
        found = bytes_of(closed(watching), server.pid)
    assert answer == len(b"+OK\r\n" + value + b"+OK\r\n")
    assert found["accepted_bytes"] == found["tx_copy"] == answer
    assert found["returned_bytes"] == found["rx_copy"] == len(request)


def test_openssl_s_server_copies_what_it_has_encrypted(tmp_path):
    port, name = free_port(), tmp_path / "file"
    name.write_bytes(bytes(300_001))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=x", "-keyout",
                    tmp_path / "key", "-out", tmp_path / "cert"], check=True, capture_output=True)
    trusting = ssl.create_default_context(cafile=tmp_path / "cert")
    trusting.check_hostname = False
    with serving(port, "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", tmp_path / "cert",
                 "-key", tmp_path / "key", "-WWW", cwd=tmp_path) as server:
        watching = Watching("--port", port)
        with contextlib.suppress(ssl.SSLEOFError):
            fetched(port, b"GET /file HTTP/1.0\r\n\r\n", trusting.wrap_socket)
        record = closed(watching)
    served, asked = bytes_of(record, server.pid), bytes_of(record, os.getpid())
    assert served["tx_copy"] == served["accepted_bytes"] == asked["returned_bytes"] > 300_001
    assert asked["tx_copy"] == asked["accepted_bytes"] == served["returned_bytes"]
