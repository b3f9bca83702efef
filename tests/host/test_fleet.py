# SPDX-License-Identifier: GPL-2.0
"""copyscope fleet tells of twenty hosts what a real Prometheus has of them, to the byte."""
from __future__ import annotations

import contextlib
import http.server
import io
import json
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from copyscope import cli
from copyscope.fleet import answer, ask, command, questions
from helpers import foreign, promql
from helpers.prometheus import backfill, prometheus, series
from helpers.schemas import faults

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "fleet"
# 23 sends of 4,093 bytes between two readings; of each 13 are copied after all, 7 of them for another cause.
SENDS, SIZE, COPIED, OTHERS = 23, 4093, 13, 7
EACH = SENDS * SIZE
STEP_S, STEPS = 120, 60
WINDOW = f"{STEP_S * STEPS // 3600}h"
HOSTS, OLD = 20, "6.1.0-44-amd64"
NAMES = [f"host-{number:02}:9100" for number in range(HOSTS)]
KERNELS = {name: OLD if number < 13 else "6.12.90+deb13-amd64" for number, name in enumerate(NAMES)}
STRANGE = '/system.slice/"a<b>\n\\é.service'
# When on host-01 a copy of most began: so many readings before the last one.
BEGAN = 20


def counted(host: str, comm: str, cgroup: str, course, since: int = STEPS + 4) -> list[tuple[str, dict, list]]:
    """What a program asked for and got: course(n) is (asked, needless, for the other cause) after n readings."""
    who = {"job": "node", "instance": host, "cgroup": cgroup, "comm": comm}
    steps = [course(each) for each in range(STEPS + 5)]
    begin = STEPS + 4 - since
    return [(series(name, **who, **labels), begin, [value(*each) for each in steps[begin:]])
            for name, labels, value in (
                ("copyscope_sent_bytes_total", {"way": "zerocopy"}, lambda asked, *_: asked),
                ("copyscope_needless_bytes_total", {}, lambda _, needless, __: needless),
                ("copyscope_cause_bytes_total", {"cause": "tun"}, lambda _, needless, other: needless - other),
                ("copyscope_cause_bytes_total", {"cause": "local delivery"}, lambda *all_: all_[2]))]


def even(n: int) -> tuple[int, int, int]:
    """Most is copied all the time."""
    return n * EACH, n * COPIED * SIZE, n * OTHERS * SIZE


def later(n: int) -> tuple[int, int, int]:
    """Nothing is copied at first, then all of it."""
    return n * EACH, max(n - (STEPS + 4 - BEGAN), 0) * EACH, 0


def fine(n: int) -> tuple[int, int, int]:
    """Nothing is copied."""
    return n * EACH, 0, 0


def forgotten(n: int) -> tuple[int, int, int]:
    """The counter begins again in the middle of the window."""
    return even(n if n < STEPS // 2 else n - STEPS // 2)


def all_at_once(n: int) -> tuple[int, int, int]:
    """A program that is new and has ended when it is read first."""
    return EACH, COPIED * SIZE, 0


def history() -> list[tuple[str, int, list]]:
    """Every series: its name, its first reading, its values."""
    found = counted(NAMES[0], "sends", STRANGE, even) + counted(NAMES[1], "later", "/later.service", later) + \
        counted(NAMES[2], "fine", "/fine.service", fine) + counted(NAMES[13], "sends", "/new.service", even) + \
        counted(NAMES[3], "brief", "/brief.service", all_at_once, since=5) + \
        counted(NAMES[4], "forgets", "/forgets.service", forgotten)
    found += counted(NAMES[5], "before", "/before.service", lambda n: (10 ** 12 + n * EACH, 10 ** 12, 0), since=9)
    for number, host in enumerate(NAMES):
        who = {"job": "node", "instance": host}
        begin = STEPS + 4 - 9 if number == 5 else 0
        # The watch of the last one stopped.
        read = [when if number < HOSTS - 1 else 1000 for when in range(STEPS + 5 - begin)]
        found += [(series("copyscope_build_info", **who, version="0.1", commit="x", kernel=KERNELS[host], backend="trampoline"),
                   begin, [1] * len(read)),
                  (series("copyscope_last_reading_timestamp_seconds", **who), begin, read),
                  (series("copyscope_laws_broken_total", **who, law="send queue"), begin,
                   [int(number in (16, 17) and each > 30) for each in range(len(read))]),
                  (series("copyscope_service_laws_broken_total", **who, cgroup="/fuzzer.service", comm="fuzzes"), begin,
                   [int(number == 16 and each > 30) for each in range(len(read))]),
                  (series("copyscope_cpu_seconds_total", **who, cgroup="/cpu.service", comm="burns",
                          **{"class": "send_copy"}), begin, [each * 1.5 for each in range(len(read))])]
    return found


@pytest.fixture(name="place", scope="module")
def fixture_place(tmp_path_factory):
    """The folder with history and answers."""
    return tmp_path_factory.mktemp("fleet")


@pytest.fixture(name="said", scope="module")
def fixture_said(place):
    """What the command printed and wrote; and the address that it asked."""
    end = int(time.time())
    samples = []
    for name, begin, values in history():
        for number, value in enumerate(values, begin):
            when = end - (STEPS + 4 - number) * STEP_S
            if name.startswith("copyscope_last_reading"):
                value = end - 3600 if value == 1000 or f'instance="{NAMES[-1]}"' in name else when
            samples.append((name, when, value))
    backfill(place / "data", samples)
    with prometheus(place / "data") as url:
        done = subprocess.run([TOOL, url, "--window", WINDOW, "--html", place / "page.html", "--json", place / "fleet.json"],
                              capture_output=True, text=True, check=False, timeout=60)
        assert time.time() - end < STEP_S, "too late: the window has moved on by a reading"
        assert done.returncode == 0, done.stderr
        yield done.stdout, json.loads((place / "fleet.json").read_text()), (place / "page.html").read_text(), url


@pytest.fixture(name="services", scope="module")
def fixture_services(said):
    """What is told of each, by host and program."""
    return {(each["labels"]["instance"], each["labels"]["comm"]): each for each in said[1]["services"]}


def test_sums_are_what_was_counted_to_the_byte(services):
    for key in ((NAMES[0], "sends"), (NAMES[13], "sends")):
        each = services[key]
        assert (each["asked_bytes"], each["copied_after_all_bytes"]) == (STEPS * EACH, STEPS * COPIED * SIZE)
        assert each["causes"] == {"tun": STEPS * (COPIED - OTHERS) * SIZE, "local delivery": STEPS * OTHERS * SIZE}
        assert each["kernel"] == KERNELS[key[0]]
    assert services[NAMES[2], "fine"]["copied_after_all_bytes"] == 0
    assert services[NAMES[0], "sends"]["labels"]["cgroup"] == STRANGE


def test_a_program_that_is_new_counts_whole_and_a_host_that_is_new_does_not(services):
    brief, before = services[NAMES[3], "brief"], services[NAMES[5], "before"]
    assert (brief["asked_bytes"], brief["copied_after_all_bytes"]) == (EACH, COPIED * SIZE)
    assert before["copied_after_all_bytes"] == 0
    # Prometheus' own estimate, from nine readings.
    assert before["asked_bytes"] == pytest.approx(9 * EACH, rel=0.15)


def test_a_counter_that_begins_again_neither_loses_nor_invents_much(services):
    # One reading's bytes at the reset are not known to anybody.
    assert services[NAMES[4], "forgets"]["asked_bytes"] == pytest.approx((STEPS - 1) * EACH, rel=0.03)


def test_since_when_is_told(services, said):
    end = time.strptime(said[1]["end"], "%Y-%m-%dT%H:%M:%SZ")
    later_, even_ = services[NAMES[1], "later"], services[NAMES[0], "sends"]
    began = time.mktime(end) - time.mktime(time.strptime(later_["since"], "%Y-%m-%dT%H:%M:%SZ"))
    # A rate over two steps is more than half once one of them is.
    assert later_["still"] and not later_["since_before_window"]
    assert abs(began - BEGAN * STEP_S) <= 3 * STEP_S
    assert even_["still"] and even_["since_before_window"]
    assert services[NAMES[2], "fine"]["since"] is None
    assert services[NAMES[5], "before"]["since"] is None


def test_cpu_time_is_summed_and_not_invented(services, said):
    cpu = {each["instance"]: each["copying_cpu_s"] for each in said[1]["hosts"]}
    assert cpu[NAMES[9]] == pytest.approx(STEPS * 1.5, rel=0.02) and (NAMES[9], "burns") not in services
    assert services[NAMES[0], "sends"]["copying_cpu_s"] is None
    assert "Copying payload took" in said[0]


def test_the_text_answers_which_services_hosts_and_kernels(said):
    text = said[0]
    first = text.splitlines()[0]
    assert first.startswith("20 hosts on 2 kernels, ")
    assert "by 5 services on 5 hosts" in re.sub(r"\s+", " ", text)
    # A window over midnight tells the day, too.
    since = r"(?:\d\d-\d\d )?\d\d:\d\d"
    assert re.search(rf"^{NAMES[1]} +later in later.service +5.65 MB +1.88 MB +33.3 % +{since} +tun$", text, re.MULTILINE)
    assert re.search(rf"^{OLD} +13 ", text, re.MULTILINE)
    assert f"The watch is read no more on {NAMES[-1]}" in text
    told = re.sub(r"\s+", " ", text)
    assert f"Do not trust numbers of {NAMES[17]}: a law broke (send queue)." in told
    assert f"Do not trust numbers of fuzzes in fuzzer.service on {NAMES[16]}: a law broke (send queue)." in told
    assert "".join(text.splitlines()).isprintable()


def test_the_page_has_the_same_and_fetches_nothing(said):
    page = said[2]
    assert "&#34;a&lt;b&gt;" in page and "<b>" not in page
    assert not re.search(r'(?:src|href)="(?!data:,)', page) and page.count("<script") == 1
    assert page.count("<svg") == 2 and "prefers-color-scheme: dark" in page
    for sentence in said[0].splitlines()[:1]:
        assert sentence in page


def test_the_record_keeps_its_schema(said):
    assert not faults(ROOT / "docs/fleet.schema.json", said[1])


def test_json_alone_goes_to_stdout(said):
    done = subprocess.run([TOOL, said[3] + "/", "--window", WINDOW, "--json", "-"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["schema"] == said[1]["schema"]


def test_every_question_names_what_is_written():
    counters = [questions.CAUSES, questions.LAWS, *(counter for _, counter in answer.SUMS)]
    asked = [*questions.rates(3600, ["a"]), questions.hosts(3600), questions.seen(3600), questions.cpu(3600),
             *(ask(each, 3600) for each in counters
               for ask in (questions.last, questions.before, questions.begun_again, questions.estimated))]
    for each in asked:
        assert not promql.unknown(each, promql.known()), each


# Whom nobody can ask.

class Strange(http.server.BaseHTTPRequestHandler):
    """Answers as no Prometheus does."""

    body, status, type = b"<html>hello</html>", 200, "text/html"

    def do_POST(self) -> None:  # noqa: N802  pylint: disable=invalid-name
        """Answer a question."""
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_words) -> None:  # pylint: disable=arguments-differ
        """Say nothing."""


@contextlib.contextmanager
def answering(**how):
    """A server with such an answer."""
    handler = type("Handler", (Strange,), how)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def told(*words: str) -> tuple[int, str]:
    """The status and the only line of a command that cannot answer, in this process."""
    with contextlib.redirect_stdout(io.StringIO()) as answered, contextlib.redirect_stderr(io.StringIO()) as line:
        status = cli.run(command.act, [*words], command.NAME)
    assert not answered.getvalue() and line.getvalue().count("\n") == 1, line.getvalue()
    return status, line.getvalue()


@pytest.mark.parametrize("url", ["", "host", "ftp://127.0.0.1", "file:///etc/passwd", "http://", "http://[", "http://a:x", "http://a?b",
                                 "http://user:word@127.0.0.1", "http://127.0.0.1/\n", f"http://{'a' * 64}", "http://a..b"])
def test_a_bad_address_is_bad_usage(url):
    assert told(url)[0] == 2


@pytest.mark.parametrize("words", [["--window", "1"], ["--window", "0h"], ["--window", "9000w"], ["--top", "0"], ["--html", "/none/x"], ["x"]])
def test_bad_words_are_refused_before_anything_is_asked(words):
    assert told("http://127.0.0.1:9", *words)[0] == 2


@pytest.mark.parametrize("how, status, says", [
    ({}, 2, "does not answer as a Prometheus"), ({"status": 500}, 2, "does not answer as a Prometheus"),
    ({"body": b'{"status": "success", "data": {"result": [[]]}}'}, 2, "does not tell its time"),
    ({"body": b"[" * 100_000}, 2, "does not answer as a Prometheus"),
    ({"status": 422, "body": b'{"status": "error", "errorType": "execution", "error": "too\\nmany"}'}, 3, "execution: too\\nmany"),
    ({"status": 302}, 2, "does not answer as a Prometheus"),
])
def test_a_server_that_is_no_prometheus_is_one_line(how, status, says):
    with answering(**how) as url:
        found, line = told(url)
        assert found == status and says in line


def test_nobody_there_is_one_line():
    status, line = told(f"http://127.0.0.1:{foreign.free_port()}")
    assert status == 3 and "Connection refused" in line


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"], ids=["silent", "in the middle"])
def test_a_prometheus_that_hangs_is_one_line(begin, monkeypatch, capfd):
    monkeypatch.setattr(ask, "PATIENCE_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve() -> None:
            one, _ = server.accept()
            with one:
                one.sendall(begin)
                # Until the command has had enough.
                while one.recv(1 << 16):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        assert command.main([f"http://127.0.0.1:{server.getsockname()[1]}"]) == 3
        thread.join()
    said = capfd.readouterr()
    assert not said.out and re.fullmatch(r"fleet: .*: no (whole )?answer within 1 s\n", said.err)


@pytest.mark.parametrize("begin, drop", [
    (b"", b"H"), (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")],
    ids=["status line", "headers", "told to go on", "chunks"])
def test_a_prometheus_that_drips_is_one_line_in_time(begin, drop, monkeypatch, capfd):
    monkeypatch.setattr(ask, "PATIENCE_S", 1)
    enough = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve() -> None:
            one, _ = server.accept()
            with one, contextlib.suppress(OSError):
                one.sendall(begin)
                # Often enough for each read, and for long.
                for _ in range(200):
                    one.sendall(drop)
                    if enough.wait(0.1):
                        break

        thread = threading.Thread(target=serve)
        thread.start()
        since = time.monotonic()
        assert command.main([f"http://127.0.0.1:{server.getsockname()[1]}"]) == 3
        took = time.monotonic() - since
        enough.set()
        thread.join()
    said = capfd.readouterr()
    assert took < 5 and not said.out and re.fullmatch(r"fleet: .*: no whole answer within 1 s\n", said.err)


def test_a_prometheus_without_metrics_of_ours_is_one_line(tmp_path):
    with prometheus(tmp_path / "data") as url:
        status, line = told(url)
        assert status == 3 and "no metrics of copyscope" in line
