# SPDX-License-Identifier: GPL-2.0
"""Kernel TLS of foreign programs: plaintext at TLS, records at TCP, and both books balance; where nothing counts it,
it is told apart."""
from __future__ import annotations

import contextlib
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from copyscope.report.process_sentence import all_told
from helpers import kernel_tls
from helpers.foreign import free_port, serving, words
from helpers.kernel_tls import OVERHEAD
from helpers.names import names
from helpers.records import needs_root
from helpers.watch_tool import PRIME
from helpers.windows import Watching, laws_of, unbalanced

pytestmark = [needs_root, pytest.mark.skipif(
    not kernel_tls.is_here(), reason="the kernel has no kernel TLS, or has not loaded its module tls: guests have")]
TLS_LAWS = names("laws", of_sockets=True, of_tls=True)
SENDS, RECORD = 23, 4093
BODY = 3_000_001
# A change of keys, tickets and an alert are records, too: their plaintext is no data, and the type is one byte.
HANDSHAKE, DATA, HEAD = 22, 23, 5


class Program:
    """The program of kernel_tls.py."""

    def __init__(self) -> None:
        self.port = free_port()
        self.process = subprocess.Popen([sys.executable, kernel_tls.__file__, str(self.port)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, *told: str) -> None:
        """Has it obey these words."""
        print(*told, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n"


@contextlib.contextmanager
def program(*told: str) -> Iterator[Program]:
    """The program, after these words."""
    one = Program()
    try:
        one.tell(*told)
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


def watched(one: Program, *told: str, options: tuple[str, ...] = (), statuses: tuple[int, ...] = (0,)) -> dict:
    """The record of a window in which the program obeys these words."""
    watching = Watching("-p", one.process.pid, *options)
    one.tell(*told)
    return watching.close(statuses)


def numbers(record: dict) -> dict[str, int | None]:
    """Sites and counts of all sockets that are in the sums."""
    total = record["total"]
    return {name: each["bytes"] for name, each in total["sites"].items()} | total["counts"]


def sender(record: dict) -> dict:
    """Laws of the socket that sends."""
    return max(record["sockets"], key=lambda each: each["counts"]["accepted_bytes"])["laws"]


def is_covered(record: dict) -> bool:
    """Trampolines count it; without them it is told apart, and why."""
    if record["backend"]["name"] == "trampoline":
        assert not record["total"]["other"] and "kernel TLS" not in str(record["not_covered"])
        return True
    assert {each["layer"] for each in record["total"]["other"]} == {"ktls"}
    assert "no tracepoint" in next(each["why"] for each in record["not_covered"] if each["what"] == "kernel TLS")
    assert "encrypted" not in " ".join(all_told(record))
    return False


WAYS = {  # version, words, where the plaintext came from, where it went
    "1.3": ("1.3", SENDS * [f"send:{RECORD}", f"read:{RECORD}"], "tls_reference", "rx_copy"),
    "1.2": ("1.2", SENDS * [f"send:{RECORD}", f"read:{RECORD}"], "tls_reference", "rx_direct"),
    "sendfile": ("1.3", SENDS * [f"file:{RECORD}", f"read:{RECORD}"], "tls_splice", "rx_copy"),
}


@pytest.mark.parametrize("way, keys", [("1.3", "before the window"), ("1.2", "in the window"),
                                       ("sendfile", "in the window")])
def test_23_records_of_4093_bytes_balance_to_the_byte(way, keys):
    version, told, came, went = WAYS[way]
    before = "before" in keys
    plain = [] if before else ["plain:529"]
    with program(*[f"keys:{version}"] if before else ["plain:7"]) as one:
        record = watched(one, *plain, *[] if before else [f"keys:{version}"], *told, "close")
    if not is_covered(record):
        return
    n, overhead, handshake = numbers(record), SENDS * OVERHEAD[version], 0 if before else 529
    assert n["tls_accepted_bytes"] == n["tls_encrypt"] == n[came] == PRIME
    assert n["tls_copy"] + n["tls_reference"] + n["tls_splice"] == PRIME
    assert n["tls_carried_bytes"] == n["tx_splice"] == PRIME + overhead
    assert n["accepted_bytes"] == handshake + PRIME + overhead and n["tx_copy"] == handshake
    assert n["tls_sent_records"] == n["tls_received_records"] == SENDS
    assert n["tls_sent_overhead_bytes"] == n["tls_received_overhead_bytes"] == overhead
    assert n["tls_received_bytes"] == n["tls_decrypt"] == PRIME
    assert n["returned_bytes"] == n["rx_copy"] + n["rx_direct"] == PRIME + handshake
    assert n["rx_direct"] == (PRIME if went == "rx_direct" else 0)
    assert not any(record["total"]["fate"].values())
    assert not unbalanced(record)
    assert {laws_of(record)[law] for law in TLS_LAWS} == {"balanced"}
    said, = all_told(record)
    assert record["verdicts"][0]["verdict"] == "encrypted"
    assert "not copied by send" not in said and "kernel tls encrypted" in said.lower()


def test_what_lay_in_tls_when_the_window_opened_and_closed_is_a_balance():
    with program("keys:1.3", "send:5000", "read:1000", "more:300") as one:
        # 300 wait for their record, and 4,000 are decrypted and unread.
        record = watched(one, "send:700", "read:4500", "more:11")
    if not is_covered(record):
        return
    n = numbers(record)
    assert n["tls_accepted_bytes"] == 711 and n["tls_encrypt"] == 1000
    assert n["tls_carried_bytes"] == n["accepted_bytes"] == 1000 + OVERHEAD["1.3"]
    assert n["returned_bytes"] == 4500 and n["tls_received_bytes"] == 1000
    assert not unbalanced(record)
    laws = sender(record)
    assert (laws["TLS encryption"]["left"], laws["TLS encryption"]["right"]) == (300 + 711, 1000 + 11)
    assert {laws[law]["status"] for law in TLS_LAWS} == {"balanced"}


def test_calls_are_a_witness_of_what_was_received_and_peeked():
    with program("plain:7", "keys:1.3") as one:
        record = watched(one, "send:5000", "peek:100", "read:5000", "send:4093", "read:4093", "close",
                         options=("--books", "calls"))
    if not is_covered(record):
        return
    n = numbers(record)
    assert n["rx_copy"] == 9193 and n["returned_bytes"] == 9093 and n["peeked_bytes"] == 100
    assert not unbalanced(record) and laws_of(record)["receive queue"] == "balanced"


@pytest.mark.parametrize("fault, laws", [("skip-encryption", {"TLS encryption", "TLS records sent"}),
                                         ("skip-decryption", {"TLS records received"})])
def test_a_record_that_no_program_counts_breaks_its_laws(fault, laws):
    with program("keys:1.3") as one:
        watching = Watching("-p", one.process.pid, "--break", fault)
        one.tell(*WAYS["1.3"][1])
        record = watching.close((0, 1))
    if is_covered(record):
        broken = {law for law, status in laws_of(record).items() if status == "broken"}
        assert broken and broken <= laws and "TLS records" in str(broken)


NGINX = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
events {{ }}
http {{
  log_format bytes "$bytes_sent"; access_log {folder}/log bytes; sendfile on; root {folder};
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/cert; ssl_certificate_key {folder}/key;
            ssl_protocols TLSv1.3; ssl_conf_command Options KTLS; }}
}}
"""


def certificate(folder: Path) -> None:
    """A key and its certificate."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=x", "-keyout", folder / "key", "-out", folder / "cert"], check=True,
                   capture_output=True)


class Client:
    """A client whose TLS never sees the socket: it counts each byte and each record that comes."""

    def __init__(self, port: int) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.came, self.goes = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.came, self.goes)
        self.wire, self.sent = b"", 0

    def flush(self) -> None:
        """Sends what TLS has to send."""
        data = self.goes.read()
        self.sent += len(data)
        self.sock.sendall(data)

    def fetch(self, request: bytes) -> int:
        """How many bytes the answer has."""
        steps, got = [self.tls.do_handshake, lambda: self.tls.write(request)], 0
        while True:
            try:
                if steps:
                    steps[0]()
                    del steps[0]
                    continue
                part = len(self.tls.read(1 << 20))
            except ssl.SSLWantReadError:
                part = None
            self.flush()
            if part == 0:
                return got
            got += part or 0
            if part is None:
                data = self.sock.recv(1 << 16)
                if not data:
                    return got
                self.wire += data
                self.came.write(data)

    def records(self) -> Iterator[int]:
        """The length of each encrypted record that came."""
        at = 0
        while at < len(self.wire):
            kind, size = self.wire[at], int.from_bytes(self.wire[at + 3:at + HEAD], "big")
            if kind == DATA:
                yield size
            at += HEAD + size


def test_nginx_encrypts_the_page_cache_in_the_kernel(tmp_path):
    port = free_port()
    certificate(tmp_path)
    (tmp_path / "file").write_bytes(bytes(BODY))
    (tmp_path / "conf").write_text(NGINX.format(folder=tmp_path, port=port))
    with serving(port, *words("nginx"), "-c", tmp_path / "conf", "-p", tmp_path) as server:
        watching = Watching("-p", server.pid)
        client = Client(port)
        got = client.fetch(b"GET /file HTTP/1.0\r\n\r\n")
        client.sock.close()
        time.sleep(0.2)
        record = watching.close()
    if not is_covered(record):
        return
    n = numbers(record)
    sent = int(re.findall(r"\d+", (tmp_path / "log").read_text())[0])
    assert got == sent > BODY
    # The head of the answer is encrypted from nginx' memory, the body from the page cache.
    assert n["tls_splice"] == BODY
    assert n["tls_encrypt"] == n["tls_accepted_bytes"] == n["tls_splice"] + n["tls_reference"] + n["tls_copy"] >= sent
    assert n["accepted_bytes"] == len(client.wire)
    # The last records of those that the client got are the kernel's; the handshake was nginx' own.
    mine = list(client.records())[-n["tls_sent_records"]:]
    assert n["tls_carried_bytes"] == sum(mine) + HEAD * len(mine)
    assert n["tls_encrypt"] == sum(mine) - (OVERHEAD["1.3"] - HEAD) * len(mine)
    assert n["tls_sent_overhead_bytes"] == OVERHEAD["1.3"] * len(mine)
    assert n["tx_copy"] == n["accepted_bytes"] - n["tls_carried_bytes"] > 0
    assert n["returned_bytes"] > 0 and not unbalanced(record)
    assert {laws_of(record)[law] for law in TLS_LAWS} == {"balanced"}
    assert record["verdicts"][0]["verdict"] == "encrypted"
    assert re.search(r"3\.00 MB of it straight from pages of a file", all_told(record)[0])


KTLS = """
openssl_conf = all
[all]
ssl_conf = modules
[modules]
system_default = options
[options]
Options = KTLS
"""


def test_openssl_owns_the_handshake_of_both_ends(tmp_path, monkeypatch):
    port = free_port()
    certificate(tmp_path)
    (tmp_path / "conf").write_text(KTLS)
    monkeypatch.setenv("OPENSSL_CONF", str(tmp_path / "conf"))
    (tmp_path / "file").write_bytes(bytes(BODY))
    # With TLS 1.2 OpenSSL 3.0 has the kernel decrypt, too.
    with serving(port, "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", tmp_path / "cert", "-key",
                 tmp_path / "key", "-WWW", "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256", cwd=tmp_path):
        watching = Watching("--port", port)
        done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-quiet", "-ign_eof"],
                              input=b"GET /file HTTP/1.0\r\n\r\n", capture_output=True, check=False, timeout=60)
        time.sleep(0.2)
        record = watching.close()
    if not is_covered(record):
        return
    n = numbers(record)
    assert len(done.stdout) > BODY
    assert n["tls_received_bytes"] >= len(done.stdout)
    # Both ends are watched: what one encrypts the other decrypts, and records are 29 bytes longer each.
    assert n["tls_accepted_bytes"] >= n["tls_received_bytes"]
    assert n["tls_sent_overhead_bytes"] == OVERHEAD["1.2"] * n["tls_sent_records"]
    assert n["tls_carried_bytes"] == n["tls_accepted_bytes"] + n["tls_sent_overhead_bytes"]
    assert n["accepted_bytes"] == n["tls_carried_bytes"] + n["tx_copy"]
    assert not unbalanced(record)
    assert {laws_of(record)[law] for law in TLS_LAWS} == {"balanced"}
