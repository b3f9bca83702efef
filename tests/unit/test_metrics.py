# SPDX-License-Identifier: GPL-2.0
"""Metrics of made-up lines: what counters hold, in which bounds, under which labels, after which restarts."""
from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path

import pytest
from prometheus_client.openmetrics import exposition, parser

from copyscope.common import metric_names
from copyscope.common.errors import Refused
from copyscope.dispatch import command as dispatch
from copyscope.metrics import command, kept, ledger, lines, serve, size
from copyscope.metrics.families import Published, families_of
from copyscope.services import containers, groups, here, paths
from helpers import metric_lines, promql
from helpers.metric_lines import complaints, line, process, samples, summed

UID = "0b1f2c3d-1111-2222-3333-444455556666"
ID = "ab" * 32
NOW = 1_000_000.0


def ledger_of(*all_lines: dict, most: int = 200) -> ledger.Ledger:
    """What is left of these lines."""
    made = ledger.Ledger(most)
    for at, each in enumerate(all_lines):
        made.count(each, NOW + at)
    return made


def published(made: ledger.Ledger) -> Published:
    """As it is published."""
    shown = Published()
    shown.families = families_of(made, "1", "c")
    return shown


def text_of(made: ledger.Ledger) -> str:
    """As a file has it."""
    return published(made).text().decode()


SENT = {"tx_copy": 100, "tx_reference": 40, "tx_splice": 2, "accepted_bytes": 142, "rx_copy": 60, "peeked_bytes": 10,
        "returned_bytes": 50, "needless": 40, "completed_sends": 5, "copied_sends": 3, "zerocopy_sends": 6, "enobufs": 7}


def test_counters_are_the_sums_over_lines():
    causes = [{"cause": "local delivery", "site": "late_copy", "bytes": 40, "calls": 0},
              {"cause": "SO_ZEROCOPY not set", "site": "tx_copy", "bytes": 7, "calls": 1},
              {"cause": "skb cloned", "site": "reshape", "bytes": 5, "calls": 1},
              {"cause": "no buffers", "site": "tx_reference", "bytes": None, "calls": 7}]
    text = text_of(ledger_of(*[line([process(1, SENT, causes=causes), process(2, SENT)])] * 3))
    for name, labels, value in (
            ("site_bytes", {"site": "tx_copy", "direction": "tx"}, 600), ("site_bytes", {"site": "rx_copy", "direction": "rx"}, 360),
            ("sent_bytes", {"way": "copy"}, 600), ("sent_bytes", {"way": "zerocopy"}, 240), ("sent_bytes", {}, 6 * 142),
            ("received_bytes", {"way": "copy"}, 300), ("received_bytes", {}, 300), ("needless_bytes", {}, 240),
            ("cause_bytes", {"cause": "local delivery"}, 120), ("cause_bytes", {"cause": "SO_ZEROCOPY not set"}, 21),
            ("enobufs", {}, 42), ("zerocopy_sends", {}, 36),
            ("zerocopy_completions", {"copied": "true"}, 18), ("zerocopy_completions", {"copied": "false"}, 12)):
        assert summed(text, f"copyscope_{name}_total", **labels) == value, name
    assert summed(text, "copyscope_open_sockets") == 2
    assert summed(text, "copyscope_cause_bytes_total") == 141
    assert summed(text, "copyscope_watch_cpu_seconds_total", part="reader") == 1.5
    assert not complaints(text)


def test_what_is_not_measured_is_absent_and_told():
    lacks = process(1, SENT)
    for site in ("tx_copy", "rx_splice", "user_gather"):
        lacks["sites"][site]["bytes"] = None
    lacks["counts"] |= {"copied_sends": None, "enobufs": None}
    lacks["needless_bytes"] = None
    text = text_of(ledger_of(line([lacks])))
    assert summed(text, "copyscope_site_bytes_total", site="tx_copy") is None
    assert summed(text, "copyscope_enobufs_total") is None and summed(text, "copyscope_needless_bytes_total") is None
    # What send accepted is known all the same, if not how.
    assert summed(text, "copyscope_sent_bytes_total", way="unknown") == 100
    assert summed(text, "copyscope_sent_bytes_total") == 142
    assert summed(text, "copyscope_zerocopy_completions_total", copied="unknown") == 5
    assert summed(text, "copyscope_watch_cpu_seconds_total", part="programs") is None
    assert summed(text, "copyscope_unmeasured_readings_total") is None
    text = text_of(ledger_of(line([process(1, SENT)]), line([lacks]), line([process(1, SENT)])))
    assert summed(text, "copyscope_site_bytes_total", site="tx_copy") == 200
    assert summed(text, "copyscope_unmeasured_readings_total", site="tx_copy") == 1


def test_a_sum_that_lacks_its_last_reading_is_no_sum():
    """As where a capture runs: 0 before, not measured then, and nothing moves after."""
    plain, idle = process(1, {"tx_copy": 100}), process(1, {})
    unknown = process(1, SENT)
    unknown["sites"]["late_copy"]["bytes"] = unknown["needless_bytes"] = None
    made = ledger_of(line([plain]), line([unknown]), line([idle]))
    for each in (made, ledger.Ledger(200)):
        each.restore(made.state())
        text = text_of(each)
        assert summed(text, "copyscope_needless_bytes_total") is None
        assert summed(text, "copyscope_site_bytes_total", site="late_copy") is None
        assert summed(text, "copyscope_zerocopy_completions_total", copied="true") == 3
    made.count(line([process(1, SENT)]), NOW + 3)
    assert summed(text_of(made), "copyscope_needless_bytes_total") == 40


def test_histograms_of_calls_and_holds_and_cpu_seconds():
    sizes = [{"direction": "send", "way": "plain", "buckets": [
        {"from_bytes": 64, "below_bytes": 128, "calls": 3, "bytes": 300},
        {"from_bytes": 1 << 20, "below_bytes": 1 << 21, "calls": 1, "bytes": 1 << 20}]}]
    holds = {"notified": [{"from_ns": 1 << 13, "below_ns": 1 << 14, "sends": 2}], "read": None, "outstanding": 1}
    one = line([process(1, SENT, sizes=sizes, holds=holds, cpu=dict.fromkeys(metric_lines.CLASSES, 199))],
               cpu={"hz": 199, "clock": "cpu-clock", "lost_samples": 4},
               further={"sizes": sizes, "holds": None})
    shown = published(ledger_of(one))
    text = shown.text().decode()
    by = {"call": "send", "way": "plain", "comm": "one"}
    assert [summed(text, "copyscope_call_bytes_bucket", le=le, **by) for le in ("63.0", "255.0", "1.048575e+06", "+Inf")] \
        == [0, 3, 3, 4]
    assert summed(text, "copyscope_call_bytes_sum", **by) == 300 + (1 << 20)
    assert summed(text, "copyscope_call_bytes_count", comm="other") == 4
    assert summed(text, "copyscope_zerocopy_hold_seconds_bucket", le="1.6383e-05", until="notified") == 2
    assert summed(text, "copyscope_zerocopy_hold_seconds_bucket", until="read") is None
    assert summed(text, "copyscope_cpu_seconds_total", **{"class": "user"}) == 1
    assert summed(text, "copyscope_lost_samples_total") == 4
    assert summed(text, "copyscope_clock_sampled") == 1
    assert not complaints(text)
    # Its own parser of OpenMetrics is strict: types, suffixes, order of buckets.
    families = parser.text_string_to_metric_families(exposition.generate_latest(shown.registry).decode())
    assert {family.name for family in families} >= {"copyscope_call_bytes", "copyscope_sent_bytes"}


@pytest.mark.parametrize("cpu, sampled", [
    ({}, None), ({"cpu": {"hz": 199, "clock": None, "lost_samples": 0}}, 0)])
def test_a_clock_that_the_kernel_refused_is_told(cpu, sampled):
    text = published(ledger_of(line([process(1, SENT)], **cpu))).text().decode()
    assert summed(text, "copyscope_clock_sampled") == sampled


def test_every_metric_is_in_the_table_with_its_labels():
    one = line([process(1, SENT, sizes=[], holds=None, cpu=None)], cpu={"hz": 9, "clock": "x", "lost_samples": 0},
               further={"sizes": [], "holds": None})
    for family in families_of(ledger_of(one), "1", "c"):
        for sample in family.samples:
            metric = metric_names.BY_NAME[sample.name]
            own = set(sample.labels) - (set(metric_names.WHO) if metric in metric_names.SERVICE else set())
            assert own == set(metric.labels), sample
            for name in own & set(metric_names.VALUES):
                assert sample.labels[name] in metric_names.VALUES[name]


def test_what_is_of_no_process_is_other():
    text = text_of(ledger_of(line([process(1, {"tx_copy": 10, "accepted_bytes": 10})],
                                  total={"tx_copy": 25, "accepted_bytes": 30})))
    assert summed(text, "copyscope_site_bytes_total", site="tx_copy", comm="other") == 15
    assert summed(text, "copyscope_sent_bytes_total") == 30
    assert summed(text, "copyscope_sent_bytes_total", way="unknown", comm="other") == 5


def test_a_row_of_a_service_counts_as_its_processes_do():
    moved = {"tx_copy": 10, "accepted_bytes": 10}
    each = [process(pid, moved, comm="nginx", uid=0) for pid in (1, 2, 3)]
    lacking = process(4, moved, comm="nginx", uid=0)
    lacking["sites"]["late_copy"]["bytes"] = None
    several = process(1, {name: 3 * value for name, value in moved.items()}, comm="nginx", uid=0) | \
        {"processes": 3, "open": 4}
    # The row that tells other numbers says nothing of what is open.
    folded = [several, lacking | {"processes": 1, "open": 0}]
    plain, of_rows = (ledger_of(line([process(9)]), line(rows)) for rows in ([*each, lacking], folded))
    assert samples(text_of(of_rows)) == samples(text_of(plain))
    of_rows.count(line([several | {"pid": 2, "open": 1}]), NOW + 9)
    assert summed(text_of(of_rows), "copyscope_open_sockets", comm="nginx") == 1


def test_a_counter_never_goes_back_and_is_true_again():
    shown = []
    made = ledger.Ledger(9)
    for amount in (100, -30, 20, 20):
        made.count(line([process(1, {"late_copy": amount})]), NOW)
        shown.append(summed(text_of(made), "copyscope_site_bytes_total", site="late_copy"))
        made.restore(json.loads(json.dumps(made.state())))
    assert shown == [100, 100, 100, 110]


def test_bounds_hold_and_those_outside_are_other():
    made = ledger.Ledger(3)
    made.count(line([process(pid, {"tx_copy": pid, "accepted_bytes": pid}, comm=f"c{pid}") for pid in range(1, 9)]), NOW)
    made.count(line([process(pid, {"tx_copy": 1, "accepted_bytes": 1}, comm=f"c{pid}") for pid in range(1, 9)]), NOW + 1)
    text = text_of(made)
    # Those that moved most in the reading in which they came.
    assert {dict(labels)["comm"] for name, *labels in samples(text) if name == "copyscope_sent_bytes_total"} == \
        {"c8", "c7", "c6", "other"}
    assert summed(text, "copyscope_sent_bytes_total") == sum(range(1, 9)) + 8
    assert summed(text, "copyscope_folded_services") == 5
    # A day later those that moved nothing make room.
    made.count(line([process(1, {"tx_copy": 1, "accepted_bytes": 1}, comm=f"new{pid}") for pid in range(3)]),
               NOW + 2 + ledger.IDLE_S)
    assert {who[1] for who in made.services} == {"other", "new0", "new1", "new2"}


def test_a_service_is_the_row_that_a_watch_has_of_it(monkeypatch):
    made = ledger.Ledger(200)
    made.groups.paths = {1: "/system.slice/nginx.service", 2: "/user.slice/user-0.slice/session-1.scope", 3: f"/docker/{ID}"}
    many = [process(pid, {"tx_copy": 1, "accepted_bytes": 1}, comm=f"job{pid}", cgroup=1) for pid in range(1, 51)]
    beside = [process(90, SENT, comm="redis", cgroup=2, uid=0), process(91, SENT, comm="node", uid=4_000_000_000),
              process(92, SENT, comm="app", cgroup=3), process(0, SENT, comm="")]
    for _ in range(2):
        made.count(line([*many, *beside]), NOW)
    text = text_of(made)
    # As report/rows.py names them; a unit of 50 programs is told whole, with 8 and the others.
    assert summed(text, "copyscope_sent_bytes_total", service="nginx.service") == 100
    assert len({who for who in made.services if who[4] == "nginx.service"}) == ledger.PROGRAMS + 1
    assert summed(text, "copyscope_folded_services") == 0
    for service in ("redis (root)", "node (uid 4000000000)", f"container {ID[:12]}", "the kernel, or unknown"):
        assert summed(text, "copyscope_sent_bytes_total", service=service) == 284
    # A name that a runtime has by then is learned with the next control group.
    found = {ID: containers.Container(ID, "web", "docker")}
    monkeypatch.setattr(here, "names_here", lambda: json.dumps({"containers": [each.document() for each in found.values()]}))
    made.groups.paths[4] = f"/docker/{'cd' * 32}"
    made.count(line([process(93, SENT, comm="b", cgroup=4), beside[2]]), NOW)
    assert summed(text_of(made), "copyscope_sent_bytes_total", service="web (docker)") == 142


def test_what_was_copied_is_a_sum_or_a_bound_and_never_0():
    known, beside = process(1, SENT, comm="worker") | {"copied_bytes": 160, "copied_least_bytes": 160}, \
        process(2, SENT, comm="worker") | {"copied_bytes": None, "copied_least_bytes": 160}
    text = text_of(ledger_of(line([known, beside])))
    assert summed(text, "copyscope_copied_least_bytes_total") == 320
    # One of two processes hides the sum of both, whichever is read first.
    assert all(summed(text_of(ledger_of(line(each))), "copyscope_copied_bytes_total") is None
               for each in ([known, beside], [beside, known]))
    # What is of no process is other's.
    text = text_of(ledger_of(line([known]) | {"total": line([known])["total"] | {"copied_bytes": 200, "copied_least_bytes": 200}}))
    assert summed(text, "copyscope_copied_bytes_total") == 200
    assert summed(text, "copyscope_copied_bytes_total", service="worker") == 160


def test_a_state_of_1_0_goes_on_without_services():
    state = json.loads(json.dumps(ledger_of(line([process(1, SENT)])).state()))
    for each in state["services"]:
        del each["who"][4]
    made = ledger.Ledger(9)
    made.restore(state | {"schema": ledger.OLDER})
    assert summed(text_of(made), "copyscope_sent_bytes_total") == 142
    made.count(line([process(1, SENT)], watch="b"), NOW + 60)
    assert summed(text_of(made), "copyscope_sent_bytes_total", comm="one") == 284
    assert summed(text_of(made), "copyscope_sent_bytes_total", service="one") == 142


def everything(pid: int, comm: str) -> dict:
    """A process that has every series, with the largest numbers."""
    large = dict.fromkeys([*SENT, *metric_names.DIRECTIONS], (1 << 63) - 1)
    below = [1 << power for power in range(31)]
    sizes = [{"direction": call, "way": way, "buckets": [{"from_bytes": 0, "below_bytes": each, "calls": 1 << 60,
                                                           "bytes": 1 << 60} for each in below]}
             for call, ways in metric_names.CALLS.items() for way in ways]
    hold = [{"from_ns": 0, "below_ns": 1 << power, "sends": 1 << 60} for power in range(40)]
    longest = sorted(metric_names.CAUSES, key=len)[-5:]
    return process(pid, large, comm=comm, sizes=sizes, holds={"notified": hold, "read": hold, "outstanding": 1},
                   cpu=dict.fromkeys(metric_names.CLASSES, 1 << 50), cgroup=pid, copied_bytes=1 << 62, copied_least_bytes=1 << 62,
                   causes=[{"cause": cause, "site": "late_copy", "bytes": 1 << 62, "calls": 1} for cause in longest])


@pytest.mark.parametrize("path", ["/" + "x" * 500, "/" + '"\\\n' * 60, "/short"])
@pytest.mark.parametrize("asked", [{}, {"cpu": {"hz": 99, "clock": "c", "lost_samples": 0},
                                        "further": {"sizes": [], "holds": None}}])
def test_a_scrape_stays_below_its_bound(path, asked):
    made = ledger.Ledger(10_000)
    made.groups.paths = {pid: f"{path}{pid}" for pid in range(1, 1201)}
    processes = [everything(pid, f"comm{pid:09}") for pid in range(1, 1201)]
    if not asked:
        for each in processes:
            del each["sizes"], each["holds"], each["cpu"]
    made.count(line(processes, **asked), NOW)
    shown = published(made)
    for text in (shown.text(), exposition.generate_latest(shown.registry)):
        # The bound is not far off either: room is used.
        assert size.MOST * 0.4 < len(text) < size.MOST, len(made.services)
    assert summed(text_of(made), "copyscope_folded_services") > 0


def test_the_page_says_how_many_services_fit():
    page = (Path(__file__).resolve().parents[2] / "docs/METRICS.md").read_text(encoding="utf-8")
    rows = [[int(cell) for cell in row.split("|")[2:6]] for row in page.rpartition("|---|---|---|---|---|\n")[2].splitlines()]
    nginx, pod = ("/system.slice/nginx.service", "nginx", "", "", "nginx.service"), \
        ("/kubepods.slice/kubepods-burstable.slice", "nginx", UID, ID, "shop/web-7f9c6/app")
    assert rows == [[size.ROOM // size.most_of(who, size.Features(cpu, sizes)) for cpu, sizes in
                     ((False, False), (True, False), (False, True), (True, True))] for who in (nginx, pod, ("/" + "x" * 239, *nginx[1:]))]


@pytest.mark.parametrize("path, said", [
    (f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice/"
     f"cri-containerd-{ID}.scope", ("/kubepods.slice/kubepods-burstable.slice", UID, ID)),
    (f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/crio-{ID}.scope/container",
     ("/kubepods.slice", UID, ID)),
    (f"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{ID}.scope",
     ("/kubelet.slice/kubelet-kubepods.slice", UID, ID)),
    (f"/kubepods/besteffort/pod{UID}/{ID}", ("/kubepods/besteffort", UID, ID)),
    (f"/kubepods/pod{UID}/crio-{ID}", ("/kubepods", UID, ID)),
    (f"/kubepods/pod{'0f' * 16}/{ID}", ("/kubepods", "0f" * 16, ID)),
    (f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/crio-conmon-{ID}.scope", ("/kubepods.slice", UID, "")),
    (f"/docker/{ID}/kubelet/kubepods/burstable/pod{UID}/{'cd' * 32}", (f"/docker/{ID}/kubelet/kubepods/burstable", UID, "cd" * 32)),
    *((path, (path, "", "")) for path in (
        f"/pod{UID}", f"/pod{UID}/{ID}", f"/system.slice/pod{UID}/{ID}", f"/mine/pod{UID}/{ID}", f"/kubepods/x/pod{UID}/{ID}",
        f"/kubepods/x-pod{UID}/{ID}", f"/mykubepods/pod{UID}/{ID}", f"/kubepods.slice/pod{UID}/{ID}",
        f"/mine.slice/kubepods-pod{UID.replace('-', '_')}.slice", f"/kubepods.slice/mine-pod{UID.replace('-', '_')}.slice/crio-{ID}.scope",
        f"/kubepods.slice/kubepods-besteffort.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice",
        f"/user.slice/user-1000.slice/user@1000.service/app.slice/kubepods/pod{UID}/{ID}", "", "/", "//", "/kubepods", "/kubepods/")),
    ("/system.slice/podman.service", ("/system.slice/podman.service", "", "")),
    (f"/system.slice/docker-{ID}.scope", (f"/system.slice/docker-{ID}.scope", "", ""))])
def test_pods_are_found_in_paths_of_kubelet_alone(path, said):
    assert paths.pod_of(path) == said


def test_labels_are_escaped_and_cut():
    made = ledger.Ledger(9)
    names = ['/a"b', "/line\nfeed", "/back\\slash", "/ütf-8 ✓", "/" + "é" * 2048, "/" + "é" * 2047 + "f"]
    made.groups.paths = dict(enumerate((groups.readable(name) for name in [*names, "/\x1b[31m", "/raw\udcff"]), 1))
    made.count(line([process(pid, {"tx_copy": pid}, cgroup=pid) for pid in made.groups.paths]), NOW)
    text = text_of(made)
    found = {dict(labels)["cgroup"]: value for (name, *labels), value in samples(text).items()
             if name == "copyscope_site_bytes_total" and dict(labels)["site"] == "tx_copy"}
    assert [found[name] for name in names[:4]] == [1, 2, 3, 4]
    assert found["/\\x1b[31m"] == 7 and found["/raw\\xff"] == 8
    # Two that begin alike stay two.
    assert len(found) == 8 and max(len(name.encode()) for name in found) <= ledger.LABEL_BYTES
    assert summed(text, "copyscope_cut_labels") == 2
    assert "\x1b" not in text and not complaints(text)


def test_a_restart_goes_on_and_laws_count_once_a_watch():
    first = ledger_of(*[line([process(1, SENT)], laws_broken=["completion"])] * 2)
    state = json.loads(json.dumps(first.state()))
    second = ledger.Ledger(200)
    second.restore(state)
    assert summed(text_of(second), "copyscope_sent_bytes_total") == 284
    second.count(line([process(1, SENT)], laws_broken=["completion"], watch="b"), NOW + 61)
    text = text_of(second)
    assert summed(text, "copyscope_sent_bytes_total") == 426
    assert summed(text, "copyscope_laws_broken_total", law="completion") == 2
    assert summed(text, "copyscope_laws_broken_total", law="sends") == 0
    # Less is asked for: those that moved last stay.
    third = ledger.Ledger(1)
    third.restore(ledger_of(line([process(1, SENT, comm="old")]), line([process(2, SENT, comm="new")])).state())
    third.count(line([]), NOW + 3)
    assert {who[1] for who in third.services} == {"new", "other"}


def test_a_broken_law_is_of_the_service_whose_socket_broke_it():
    good, bad = process(1, SENT, comm="nginx"), process(2, SENT, comm="fuzzer")
    text = text_of(ledger_of(line([good, bad]), line([good, bad | {"laws_broken": ["completion"]}], laws_broken=["completion"])))
    assert summed(text, "copyscope_service_laws_broken_total", comm="fuzzer") == 1
    assert summed(text, "copyscope_service_laws_broken_total", comm="nginx") == 0
    assert summed(text, "copyscope_laws_broken_total", law="completion") == 1


def test_who_was_idle_for_long_goes_on_after_a_restart_while_there_is_room():
    made = ledger_of(*[line([process(pid, SENT, comm=f"c{pid}") for pid in range(1, 4)])] * 2)
    second, later = ledger.Ledger(4), NOW + 3 * ledger.IDLE_S
    second.restore(json.loads(json.dumps(made.state())))
    assert summed(text_of(second), "copyscope_sent_bytes_total", comm="c1") == 284
    second.count(line([process(1, SENT, comm="c1")], watch="b"), later)
    assert summed(text_of(second), "copyscope_sent_bytes_total", comm="c1") == 426
    assert summed(text_of(second), "copyscope_sent_bytes_total", comm="c2") == 284
    # Two come, and there is one place: one of those that are idle makes room, and not both.
    second.count(line([process(pid, SENT, comm=f"c{pid}") for pid in (4, 5)], watch="b"), later + 1)
    assert {who[1] for who in second.services} == {"c1", "c3", "c4", "c5", "other"}


@pytest.mark.parametrize("damage", [
    "", "{", "[]", "{}", "null", '{"schema":"copyscope.metrics-state/9"}', "\x00" * 50, "[" * 100_000,
    *(f"cut {share}" for share in (3, 30, 60, 90)), "numbers", "services", "who"])
def test_a_damaged_state_is_one_line_and_set_aside(tmp_path, capsys, damage):
    state = ledger_of(line([process(1, SENT)])).state()
    file = tmp_path / "m.prom.state"
    text = json.dumps(state)
    if damage.startswith("cut "):
        damage = text[:len(text) * int(damage[4:]) // 100]
    elif damage == "numbers":
        damage = text.replace("100, 100", '"x", 100')
    elif damage == "services":
        damage = json.dumps(state | {"services": []})
    elif damage == "who":
        damage = json.dumps(state | {"services": [{"who": ["a"], "cut": False, "last": 1, "numbers": []}]})
    file.write_text(damage)
    exporter = command.Exporter(command.Asked.of(["--metrics", str(tmp_path / "m.prom")]))
    exporter.restore()
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "is damaged" in said and "all counters begin at 0" in said
    assert (tmp_path / "m.prom.state.damaged").read_text() == damage and not file.exists()
    exporter.take(json.dumps(line([process(1, SENT)])).encode())
    assert summed((tmp_path / "m.prom").read_text(), "copyscope_sent_bytes_total") == 142


def test_trouble_is_a_line_a_minute_and_no_counter_is_lost(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "there"
    folder.mkdir()
    exporter = command.Exporter(command.Asked.of(["--metrics", str(folder / "m.prom")]))
    clock = itertools.count(0, 15)
    monkeypatch.setattr(kept.time, "monotonic", lambda: float(next(clock)))
    one = json.dumps(line([process(1, SENT)])).encode()
    exporter.take(one)
    folder.rename(tmp_path / "away")
    for _ in range(9):
        exporter.take(one)
    said = capsys.readouterr().err.splitlines()
    # Nine in 135 s, of one file: the other is not written before that.
    assert len(said) == 3 and all("No such file" in each and "counters go on" in each for each in said)
    (tmp_path / "away").rename(folder)
    exporter.take(one)
    assert summed((folder / "m.prom").read_text(), "copyscope_sent_bytes_total") == 11 * 142


def test_a_state_that_is_not_written_publishes_nothing(tmp_path, capsys):
    state = tmp_path / "state"
    exporter = command.Exporter(command.Asked.of(["--metrics", str(tmp_path / "m.prom"), "--state", str(state)]))
    one = json.dumps(line([process(1, SENT)])).encode()
    exporter.take(one)
    state.unlink()
    state.mkdir()
    exporter.take(one)
    assert capsys.readouterr().err.count("\n") == 1
    assert summed((tmp_path / "m.prom").read_text(), "copyscope_sent_bytes_total") == 142


def test_lines_rotate_by_whole_lines_and_lose_none(tmp_path):
    file = tmp_path / "lines"
    taken = lines.Lines(str(file), lines.Rotation.of("1k,3"), kept.Complaints())
    said = [f"{number} {'x' * 90}\n".encode() for number in range(40)]
    for each in said:
        taken.write(each)
    names = [f"{file}.3", f"{file}.2", f"{file}.1", str(file)]
    whole = b"".join(open(name, "rb").read() for name in names)
    assert whole == b"".join(said[-len(whole.splitlines()):]) and len(whole.splitlines()) > 33
    assert all(len(open(name, "rb").read()) <= 1024 for name in names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines", "lines.1", "lines.2", "lines.3"]


@pytest.mark.parametrize("words, said", [
    (["--metrics"], "needs a value"), (["--metrics="], "is given nothing"), (["--serve", "x:"], "is no [ADDRESS:]PORT"),
    (["--serve", "70000"], "is no [ADDRESS:]PORT"), (["--services", "0", "--metrics", "{}/m"], "1 to 10000"),
    (["--services", "9"], "is for --metrics"), (["--state", "x"], "is for --metrics"), (["--rotate", "1M"], "is for --json-lines"),
    (["--rotate", "1T", "--json-lines", "{}/l"], "is no size"), (["--rotate", "1M", "--json-lines", "-"], "is for a file"),
    (["--metrics", "/nowhere/m.prom"], "No such file"), (["--metrics", "{}"], "it is a folder"),
    (["--metrics", "{}/m", "--html", "x"], "is made of a record")])
def test_bad_words_are_refused_before_anything_starts(tmp_path, words, said):
    with pytest.raises(command.Unusable, match=".*") as caught:
        command.Exporter(command.Asked.of([word.replace("{}", str(tmp_path)) for word in words]))
    assert said in str(caught.value)


def test_places_to_listen():
    assert serve.place_of("9435") == ("127.0.0.1", 9435)
    assert serve.place_of("[::1]:9435") == ("::1", 9435) and serve.place_of("0.0.0.0:1") == ("0.0.0.0", 1)


def test_questions_of_the_guide_ask_for_what_is_written():
    page = (promql.PLACE.parents[1] / "docs/FLEET.md").read_text(encoding="utf-8")
    questions = re.findall(r"^```promql\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(questions) > 5
    for question in questions:
        assert not promql.unknown(question, promql.known()), question


def test_a_client_library_that_is_missing_is_one_line(monkeypatch):
    for name in [each for each in sys.modules if each.startswith(("copyscope.metrics", "prometheus_client"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(Refused, match="install the package python3-prometheus-client"):
        dispatch.export(["--metrics", "x"])
