# SPDX-License-Identifier: GPL-2.0
"""What is printed of a watch: its doubts, laws and rows, the rates of an interval, by the process that prints."""
from __future__ import annotations

import json
import os
import pty

import pytest

from copyscope.dispatch import printer, straight
from copyscope.report import rows, watch
from copyscope.report.page import BAD, BOLD, View
from helpers import watches
from helpers.watches import interval


def books(sent: int, received: int, **sites: int) -> dict:
    """What moved, of which all is known."""
    made = watches.moved(sent, received, **sites)
    return {**made, "fate": {**made["fate"], "declined_bytes": 0}}


NGINX = watches.process(812, "nginx", watches.moved(9_000_000, 0, tx_copy=9_000_000))


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """What does not fold is compared more easily."""
    monkeypatch.setenv("COLUMNS", "120")


def record(*others: dict) -> dict:
    """Of nginx and others."""
    return json.loads(json.dumps(watches.watch_record(NGINX, *others)))


def text(made: dict, **view: object) -> str:
    """Its report."""
    return "\n".join(watch.lines(made, View(**view))) + "\n"


def law(made: dict, name: str) -> dict:
    """A law of all."""
    return next(each for each in made["laws"] if each["law"] == name)


def test_a_broken_law_is_told_at_once_and_with_its_sides():
    made = record()
    law(made, "receive queue").update(left_is="the one", right_is="the other", left=7, right=9, residual=-2,
                                      status="broken", why="socket 12")
    law(made, "reference queue").update(status="not testable", why="no iterator")
    said = text(made)
    assert said.startswith("Do not trust these numbers: a law is broken (below).\n")
    assert "\nreceive queue           broken                   7                 9         -2\n" \
        "    left: the one; right: the other\n    socket 12\n" in said
    assert "law reference queue: no iterator\n" in said


def test_a_broken_law_condemns_the_process_whose_socket_broke_it_and_no_other():
    made = record(watches.process(99, "fuzzer", watches.moved(7, 0)))
    made["processes"][1]["laws_broken"] = ["completion"]
    made["sockets"][1]["laws"]["completion"] = {"status": "broken", "left": 10, "right": 5, "residual": 5, "why": None}
    law(made, "completion")["status"] = "broken"
    said = " ".join(text(made).split())
    assert said.startswith(
        "Do not trust the numbers of fuzzer, pid 99: the law completion is broken at its socket 10.0.0.1:80 - "
        "[2001:db8::1]:40000 (10 on one side, 5 on the other). No law is broken at the sockets of 1 other process.")
    assert "Do not trust these numbers" not in said
    # One that is of no process condemns all.
    law(made, "probes")["status"] = "broken"
    assert "Do not trust these numbers: a law is broken (below)." in text(made)


def test_a_law_that_balances_for_some_sockets_is_not_said_to_balance_for_every_one():
    made = record()
    whole = text(made)
    law(made, "reference queue")["why"] = "not testable for 1 of 2 sockets: a reason"
    said = text(made)
    balance = len(made["laws"])
    assert f" {balance} balance to the byte, none is broken" in whole
    assert f" {balance - 1} balance to the byte, 1 does where it is testable, none is" in said
    assert "\npartly tested  reference queue\n               not testable for 1 of 2 sockets: a reason; balanced for " \
        "the others\n" in said


def test_a_row_has_its_whole_name(monkeypatch):
    made, name = record(), "10.0.0.1:80 - [2001:db8::1]:40000, nginx, pid 812"
    assert f"  9.00 MB       0 B   9.00 MB         -       0 B  {name}\n" in text(made, by="socket")
    monkeypatch.setenv("COLUMNS", "80")
    assert f"\nsockets\n     sent  received    copied avoidable   no copy\n{name}\n  9.00 MB " in text(made, by="socket")


def test_of_a_sum_with_unknown_terms_the_known_ones_are_the_least():
    made = record()
    made["processes"][0]["sum"]["fate"]["unknown_bytes"] = 5
    made["processes"][0]["sum"]["sites"]["tx_copy"]["bytes"] = 1_334_567
    assert "  9.00 MB       0 B >=1.33 MB " in text(made)


@pytest.mark.parametrize("summed", [False, True])
def test_what_was_lost_with_a_socket_is_not_to_be_sent_yet(summed):
    made = record()
    made["total"]["closing"]["unsent_bytes"] = 1100
    made["sockets"][0]["closing"]["unsent_bytes"] = 100
    if summed:
        made |= {"sockets": [], "socket_sums": {"lost": dict.fromkeys(
            ("unsent_bytes", "unacked_bytes", "unread_bytes"), 1000), "least": {}, "datagrams_sent_bytes": 0}}
    assert "accepted, and not sent yet; 1,000 of these were dropped when" in " ".join(text(made).split())


def test_completions_that_no_program_saw_and_sends_that_failed_are_told():
    made = record()
    made["total"]["counts"] |= {"zerocopy_sends": 20, "completed_sends": 19, "copied_sends": 0}
    made["total"]["failed_sends"] = {"EIO": 10}
    assert "20 made, 19 completed" in (said := text(made)) and "no tracepoint tells" in said
    made["total"] |= {"unseen_completions": 1, "failed_bytes": 120_000}
    assert "20 made, at least 19 completed" in (said := text(made))
    assert "10 with EIO" in said and "120 kB were copied for nothing" in said


def test_an_interval_is_a_rate(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert rows.interval(interval()) == [
        "5.0 s", "   sent/s    recv/s  copied/s  avoid./s   sockets no copy/s  processes",
        "  18.0 MB       0 B >=18.0 MB         -         1       0 B  nginx, pid 812", ""]
    # A longer name takes the room of what matters less, and never that of what was copied.
    assert "  18.0 MB       0 B >=18.0 MB         -         1  nginx-of-others, pid 812" in \
        rows.interval(interval("nginx-of-others, pid 812"))
    assert "  18.0 MB       0 B >=18.0 MB         -  a-service-of-39-letters-as-the-least-ones" not in \
        "".join(rows.interval(interval("a-service-of-39-letters-as-the-least-one")))


def service(number: int, sent: int, **more: object) -> dict:
    """A row of an interval by service, as a watch tells it."""
    row = {key: value for key, value in interval()["rows"][0].items() if key != "name"}
    return {**row, "pid": 7, "comm": "nginx", "uid": number, "cgroup": "/", "sent_bytes": sent, "copied_bytes": sent,
            "copied_least_bytes": sent, "needless_bytes": 0, **more}


def test_rows_of_one_service_are_one_in_an_interval():
    unit = {"cgroup": "/system.slice/web.service"}
    said = rows.interval(interval(by="service", order="copied", names={"users": {"33": "www"}, "containers": []}, top=2, rows=[
        service(33, 1_000_000), service(0, 2_000_000, **unit), service(34, 500_000), service(34, 3_000_000, **unit)]))
    assert [line.split("  ")[-1] for line in said[1:4]] == ["services", "web.service", "nginx (www)"]
    assert said[2].startswith("  10.0 MB ") and said[4].endswith(" 1 more")


def test_processes_of_a_service_fold_under_it_and_a_listener_is_no_process():
    more = [watches.process(pid, "nginx", books(1_000_000, 0, tx_copy=1_000_000)) for pid in (813, 814, 816)]
    listens = {**watches.process(815, "nginx", books(7, 0, tx_copy=7)), "pid": None, "listener_pid": 812}
    made = record(*more, listens)
    made["processes"], made["verdicts"] = made["processes"][1:], made["verdicts"][1:]
    for each in made["processes"]:
        each["uid"] = 1000
    made["names"] = {"users": {"1000": "ann"}, "containers": []}
    said = text(made)
    assert "nginx (ann), 3 processes: sent 3.00 MB, received 0 B; 3.00 MB was copied." in said
    assert "  nginx (ann), 3 processes\n" in said
    assert rows.rows_of(made, "service")[0].sockets == 4 and len(rows.rows_of(made, "process")) == 4


@pytest.mark.parametrize("order, first", [("copied", "b"), ("sent", "c"), ("received", "a"), ("avoidable", "a"), ("cpu", "c"),
                                          ("name", "a")])
def test_rows_are_sorted_as_asked(order, first):
    made = record()
    made["processes"] = [watches.process(1, "a", books(5, 900, tx_reference=5, late_copy=5)),
                         watches.process(2, "b", books(600, 500, tx_copy=600, rx_copy=500)),
                         watches.process(3, "c", books(700, 0, tx_copy=700))]
    made["verdicts"] = [{"process": each["comm"], "sentence": "copied."} for each in made["processes"]]
    made["processes"][2]["cpu"] = {"samples": 9}
    made["cpu"] = {"hz": 100, "clock": "cpu-clock"}
    assert rows.rows_of(made, "process", order)[0].name == first


def test_an_interval_says_that_sums_are_short_and_how_many_rows_it_leaves_out():
    said = rows.interval(interval(sums_short="3 sockets were not counted", further=7))
    assert said[1] == "Sums may be short: 3 sockets were not counted" and said[-2].endswith("  7 more")


def printed(*documents: dict, out: int) -> int:
    """The status of a child that prints these."""
    reader, writer = os.pipe()
    with open(writer, "w", encoding="utf-8") as told:
        told.write("".join(f"{json.dumps(each)}\n" for each in documents))
    child = os.fork()
    if not child:
        os._exit(printer.shown(reader, out, {}))
    os.close(reader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def read(fd: int) -> str:
    """What can be read of a file that nobody writes any more."""
    parts = []
    try:
        while part := os.read(fd, 65536):
            parts.append(part)
    except OSError:  # a terminal whose other side is closed
        pass
    os.close(fd)
    return b"".join(parts).decode()


def test_each_document_is_printed_as_its_report_is_shown(tmp_path):
    file = tmp_path / "out"
    out = os.open(file, os.O_WRONLY | os.O_CREAT)
    assert printed({"open": True}, {"interval": interval()}, {"record": record(), "file": "r.json"}, out=out) == 0
    block = "\n".join(rows.interval(interval()))
    assert file.read_text() == f"{block}\n{text(record())}\nrecord          r.json\n"


@pytest.mark.parametrize("refused, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_has_colours_unless_it_wants_none(monkeypatch, refused, coloured):
    for name, value in ({"TERM": "xterm", "NO_COLOR": ""} | refused).items():
        monkeypatch.setenv(name, value)
    made = record()
    law(made, "probes")["status"] = "broken"
    master, slave = pty.openpty()
    assert printed({"record": made, "file": None}, out=slave) == 0
    os.close(slave)
    said = read(master)
    assert (f"{BAD}Do not trust these numbers" in said) == coloured == (f"{BOLD}nginx, pid 812: copied." in said)
    assert ("\x1b" in said) == coloured


def test_a_reader_that_left_is_no_failure_and_a_full_disk_is_one(capfd):
    reader, writer = os.pipe()
    os.close(reader)
    assert printed({"record": record(), "file": None}, out=writer) == 0
    assert printed({"record": record(), "file": None}, out=os.open("/dev/full", os.O_WRONLY)) == 1
    assert capfd.readouterr().err == "copyscope watch: the report was not printed: No space left on device\n"


def test_signals_are_for_the_watch():
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(writer)
        straight.print_what_is_told(reader, 1, {})
    try:
        os.close(reader)
        # It reads no sooner than it ignores them.
        os.write(writer, b'{"open": true}\n')
        while not all(signals_ignored(child) >> number - 1 & 1 for number in straight.FOR_THE_WATCH):
            pass
        for number in straight.FOR_THE_WATCH:
            os.kill(child, number)
    finally:
        os.close(writer)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def signals_ignored(pid: int) -> int:
    """A bit for each."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith("SigIgn"))
