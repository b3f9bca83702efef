# SPDX-License-Identifier: GPL-2.0
"""The report of a run keeps to its page, is for people or exact, and says all that its record knows."""
from __future__ import annotations

import copy
import json
import re
import subprocess
import sys

import pytest

from copyscope.compare import rows
from copyscope.dispatch import run as dispatch
from copyscope.report import run, run_sentence
from copyscope.report.look import asked, look_of
from helpers.pictures import ROOT, as_records, made, two_passes
from helpers.run_report import printed

BAD, BOLD, GOOD = "\x1b[1;31m", "\x1b[1m", "\x1b[32m"
LONG = "a_function_that_nobody_knows < another_one < a_third_one < a_fourth"


def busy() -> dict:
    """A run with times and a late copy, of which a law is broken."""
    data = copy.deepcopy(two_passes(made()))
    told = data["experiment"]["verdict"]
    data["experiment"]["verdict"] = {"sentence": told, "passed": False, "referenced_bytes": 1310720}
    data["causes"][0]["stack"] = LONG
    data["laws"][0].update(status="broken", left=36839, right=36837, residual=2, left_is="what came", right_is="what left",
                           why="a byte is lost")
    return data


def test_a_run_of_replies_counts_them_alone_as_compare_does():
    data = made(workload__pattern="rr")
    for each in (data, *data["sockets"]):
        for site in each["sites"].values():
            site.update(bytes=0, how="measured")
    senders = [each for each in data["sockets"] if each["end"] == "sender"]
    for each in senders:
        each["counts"]["accepted_bytes"] = 600
        each["sites"]["tx_reference"]["bytes"] = 600
    # Requests as large, which the receiver's sockets copy.
    data["counts"]["accepted_bytes"] = 1200 * len(senders)
    data["sites"]["tx_reference"]["bytes"] = data["sites"]["tx_copy"]["bytes"] = 600 * len(senders)
    record, = as_records([data])
    said = run.sites(record, look_of([]))
    assert any(re.match(r"tx_reference +[\d.]+ k?B +1\.000 ", line) for line in said), said
    assert not any(re.match(r"tx_copy +\S+ \S?B ", line) for line in said) and "replies alone" in " ".join(said)
    assert run.share_of(record, 600 * len(senders)) == "1.000"
    data["causes"][0].update(bytes=600 * len(senders))
    assert [*rows.shares(as_records([data])).values()] == [1.0]


def refused() -> dict:
    """One with sends that got ENOBUFS, and pages that left twice."""
    data = busy()
    data["causes"].append({"cause": "ENOBUFS, memlock", "site": "tx_reference", "bytes": None, "calls": 1204,
                           "remedy": "too many pages are in flight", "stack": None, "why": None})
    data["counts"]["retrans_referenced_bytes"] = 4093
    data["pins"].update(pages=18, released_pages=18, peak_pages=5, how="measured", why=None)
    return data


def costly() -> dict:
    """One whose calls were measured."""
    data = busy()
    event = {"value": 3000, "scaled": False, "why": None}
    none = {"value": None, "scaled": False, "why": "no such counter"}
    call = {"calls": 20, "bytes": 1500, "time_ns": 110, "moved_calls": 1, "slept_calls": 3, "cycles": none,
            "instructions": event, "why": None}
    own = {"calls": 9, "least_ns": 41, "mean_ns": 50.0, "cycles": none, "instructions": {**event, "value": 170}, "why": None}
    data["cost"] = {"why": None, "time_note": None, "probes_themselves": own, "send_call": call,
                    "recv_call": {**call, "calls": None, "bytes": None, "time_ns": None, "why": "each call slept"}}
    return data


def counted_by_a_model() -> dict:
    """One under an emulator's plugin."""
    data = busy()
    numbers = {"instructions": 4000, "l1d_misses": 200, "l2_misses": 40, "llc_misses": 5}
    data["experiment"]["passes"]["timed"]["modelled"] = {
        "how": "modelled", "why": None, "caches": {"name": "skylake", "emulator": "QEMU 7.2"},
        "ends": [{"end": "other", "context": "user", **numbers}, {"end": "sender", "context": "kernel", **numbers}],
        "sites": [{"end": end, "context": "kernel", "site": "tx_copy", **numbers} for end in ("sender", "receiver")]}
    return data


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("record", [busy, refused, costly, counted_by_a_model])
def test_it_keeps_to_the_width_of_the_page(record, columns):
    for exact in (False, True):
        for laws in (False, True):
            text = printed(record(), columns, exact=exact, laws=laws)
            assert max(map(len, text.splitlines())) <= columns, text


def test_numbers_are_for_people_unless_they_are_to_be_exact():
    text = printed(busy())
    assert "\nthroughput     7.64 Gbit/s: 3.93 MB, 60 messages, in " in text and "1,310,720" not in text.split("\nlaw ")[0]
    assert re.search(r"^tx_reference +1.31 MB +1.000 +\w+ +sent from your own pages", text, re.M)
    assert "\nnothing at " in text
    text = printed(busy(), exact=True)
    assert re.search(r"^throughput +7.6\d{5} Gbit/s: 3,932,160 bytes, 60 messages, in 0.\d{9} s$", text, re.M)
    assert re.search(r"^tx_copy +0 +0.000 +\w+ +copied from your buffer", text, re.M)
    assert re.search(r"p99 [0-9.]+\.\d{3} us", text) and "nothing at" not in text and "MB" not in text


def test_the_throughput_is_of_what_the_receiver_received():
    data = busy()
    data["experiment"]["passes"]["timed"]["receiver_bytes"] = 4093
    assert "Gbit/s: 4.09 kB, 60 messages, in" in printed(data)


def test_a_wide_page_has_bytes_of_each_message():
    assert "bytes/message" not in printed(busy(), 99)
    assert re.search(r"^tx_reference +1.31 MB +65536.0 +1.000 ", printed(busy(), 100), re.M)


def test_refused_sends_and_pages_that_left_twice_are_told():
    text = printed(refused(), 120)
    assert "\npins           18 page references in all, 0.9 a send, 5 at once at most; all were released\n" in text
    assert "\nsent again     4.09 kB of your pages left twice (retransmissions): what is copied" in text
    assert "\nENOBUFS        1,204 sends were refused and repeated (ENOBUFS, memlock): too many pages are in" in text
    assert "\nENOBUFS, memlock" not in text and "sent again" not in printed(busy())


def test_what_calls_cost_has_a_row_each():
    text = printed(costly(), 120)
    assert re.search(r"^send_call +20 +4 +6 +- +150 +2.000$", text, re.M)
    assert re.search(r"^recv_call +0 +4\n  not measured: each call slept$", text, re.M)
    assert "about 41 ns, 170 instructions a call" in text
    assert "\n  left out: 6 calls that slept, 2 that changed the CPU\n" in text
    unmeasured = costly()
    unmeasured["cost"]["why"] = "needs the trampoline backend"
    assert "\n\ncost of calls  not measured: needs the trampoline backend\n" in printed(unmeasured)


def test_modelled_misses_are_of_a_message():
    text = printed(counted_by_a_model(), 120)
    assert "\nmodelled       caches of skylake by an emulator, not measured; instructions are exact\n" in text
    assert re.search(r"^sender +kernel +66.7 +3.33 +0.67 +0.08$", text, re.M)
    assert re.search(r"^tx_copy +site +133.3 +6.67 +1.33 +0.17$", text, re.M) and "\nother " not in text


def test_a_broken_law_is_coloured_and_so_is_all_that_depends_on_it():
    assert "\x1b" not in printed(busy())
    text = printed(busy(), colours=True)
    assert f"{BAD}laws " in text and f"\n{BAD}{busy()['laws'][0]['law']} " in text and f"\n{BOLD}site " in text
    assert "\n    left: what came; right: what left\n    a byte is lost\n" in text
    assert f"\n{GOOD}laws " in printed(two_passes(made()), colours=True)
    assert "residual" not in printed(two_passes(made()))


@pytest.mark.parametrize("exact, short", [
    ("copied all 65,536,000 bytes.", "copied all 65.5 MB."), ("0 of 36,837 bytes were", "0 of 36.8 kB were"),
    ("36,000 of 36,837 bytes", "36.0 kB of 36.8 kB"), ("36,836 of 36,837 bytes", "36,836 of 36,837 bytes"),
    ("36,837 of 36,837 bytes", "36.8 kB of 36.8 kB"), ("949 of 950 bytes", "949 B of 950 B"), ("1 byte left", "1 B left"),
    ("packets of MTU 1500 carry 1448 bytes, or carry 948 bytes", "packets of MTU 1500 carry 1448 bytes, or carry 948 bytes"),
    ("1,204 of 1,205 completions", "1,204 of 1,205 completions")])
def test_the_sentence_is_short_for_people(exact, short):
    data = made()
    for verdict, said in (({"sentence": exact, "passed": True, "copies_per_byte": 1.0}, short),
                          ({"sentence": exact, "passed": False}, exact), (exact, exact)):
        data["experiment"]["verdict"] = verdict
        record, = as_records([data])
        assert run_sentence.of(record, False) == said and run_sentence.of(record, True) == exact


@pytest.mark.parametrize("told, kept", [
    ("record         /tmp/a.json", "\n\nrecord         /tmp/a.json\n"), ("record          b.json", "\n\nrecord          b.json\n"),
    ("record", "")])
def test_a_record_that_is_told_becomes_a_report(told, kept, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = dispatch.report(f"{json.dumps(busy(), indent=2)}\n{told}\n", ["build/trace_run", "--laws"])
    assert said == printed(busy(), laws=True).removesuffix("\n") + (kept or "\n")


@pytest.mark.parametrize("said", ["", "Usage: trace_run\n", "record         /tmp/a.json\n", '{\n  "schema": 1\n}\n', '{\n  "sch'])
def test_what_tells_no_record_is_printed_as_it_is(said):
    assert dispatch.report(said, []) == said


@pytest.mark.parametrize("ends, status", [("exit 3", 3), ("kill -KILL $$", -9), ("kill -INT $$", -2)])
def test_it_ends_as_what_measures_ended(ends, status):
    done = subprocess.run([sys.executable, ROOT / "tools/lib/launch.py", "copyscope.dispatch.run", "/bin/sh", "-c",
                           f"echo said; {ends}"], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (status, "said\n")


@pytest.mark.parametrize("words, looks", [
    ((), (False, False, None)), (("--laws", "--exact"), (True, True, None)), (("--la", "--ex"), (True, True, None)),
    (("--color", "always"), (False, False, "always")), (("--color=always",), (False, False, "always")),
    (("--colo", "never", "-q"), (False, False, "never")), (("--json", "--"), (False, False, None))])
def test_words_ask_for_a_look(words, looks):
    words = ["build/trace_run", "A3", "64", "1", *words]
    assert (look_of(words).laws, look_of(words).exact, asked(words, "--color")) == looks
