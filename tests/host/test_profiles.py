# SPDX-License-Identifier: GPL-2.0
"""The profiles say what the reports did, faults included, and the faults show in the records."""
from __future__ import annotations

import csv
import json
import subprocess

import pytest

from copyscope import sweep
from copyscope.common.errors import Unusable
from copyscope.runs import plan as plans, profile as profiles, tables
from helpers.records import ROOT, needs_root

SWEEP = ROOT / "tools" / "sweep"
REPORTS = ["mt25023", "mt25029", "mt25064", "mt25018"]
HEADERS = {
    "MT25023_Part_C_results.csv": "Impl,size,thread,throughput,latency,cycles,l1_misses,"
                                  "llc_misses,cs",
    "MT25029_Part_C_Raw.csv": "impl,msg_size,threads,latency_us,throughput_mbps,cycles,"
                              "cache_misses,l1_misses,context_switches",
    "MT25064_Part_C_results.csv": "Implementation,MessageSize,Threads,TotalBytes,Throughput_Gbps,"
                                  "Cycles,CacheMisses,ContextSwitches",
    "MT25018_Throughput_Metrics.csv": "Implementation,MessageSize,ThreadCount,Throughput_Gbps,"
                                      "TotalBytes,TotalMessages,Duration_sec",
    "MT25018_Latency_Metrics.csv": "Implementation,MessageSize,ThreadCount,Latency_us",
    "MT25018_Perf_Metrics.csv": "Implementation,MessageSize,ThreadCount,CPU_Cycles,CacheMisses,"
                                "L1_Misses,LLC_Misses,ContextSwitches",
}


def plan_of(name: str, mode: str, repeats: int = 1) -> dict:
    """The plan of a whole profile."""
    return plans.make(profiles.load(name, mode), None, None, None, None, repeats, "host")


def arguments(name: str, mode: str) -> list[list[str]]:
    """What trace_run is told, for every point."""
    return [each["arguments"] for each in plan_of(name, mode)["points"]]


def table(file) -> list[dict[str, str]]:
    """Rows of a CSV."""
    with open(file, encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source))


def record_of(out, point: str) -> dict:
    """The first record of a point."""
    return json.loads((out / "runs" / f"{point}.r1.json").read_text())


# Profiles

@pytest.mark.parametrize("mode", profiles.MODES)
@pytest.mark.parametrize("name", REPORTS)
def test_each_report_has_48_points_in_both_modes(name, mode):
    plan = plan_of(name, mode, 3)
    # MT25029's text and its code have an A1 each.
    points = 64 if (name, mode) == ("mt25029", "corrected") else 48
    assert len({each["name"] for each in plan["points"]}) == points
    assert len({each.name for each in plans.runs(plan)}) == 3 * points
    assert plan["report"] == name.upper()


@pytest.mark.parametrize("mode", profiles.MODES)
@pytest.mark.parametrize("name, transport", [
    ("mt25023", "--addresses 10.0.0.1,10.0.0.2/24 --devices veth0,veth1 --port 9000"),
    ("mt25029", "--addresses 127.0.0.1 --port 9090"),
    ("mt25064", "--addresses 127.0.0.1 --port 9000"),
    ("mt25018", "--addresses 10.1.1.1,10.1.1.2/24 --devices veth_srv,veth_cli --port 8080"),
])
def test_each_report_keeps_its_addresses(name, transport, mode):
    assert all(each[-len(transport.split()):] == transport.split()
               for each in arguments(name, mode))


def test_the_standard_profile_has_no_faults_to_publish():
    assert profiles.load("standard").mode == "corrected"
    with pytest.raises(Unusable, match="as-published"):
        profiles.load("standard", "as-published")


def test_tables_have_the_names_and_columns_of_the_reports():
    tables = {each["file"]: ",".join(header for header, _ in each["columns"])
              for name in REPORTS for each in profiles.load(name).tables}
    assert tables == HEADERS


def test_published_faults_are_there_as_published_and_gone_when_corrected():
    assert {each[2] for each in arguments("mt25023", "as-published")} == {"1"}
    assert {each[2] for each in arguments("mt25023", "corrected")} == {"1", "2", "4", "8"}
    assert {each[0] for each in arguments("mt25023", "as-published")} == {"A1", "A2", "A3-unset"}
    shared = arguments("mt25029", "as-published")
    assert {(each[1], each[2]) for each in shared} == {("4096", "1")}
    assert {each[each.index("--readers") + 1] for each in shared} == {"1", "2", "4", "8"}
    assert not any("--readers" in each for each in arguments("mt25029", "corrected"))
    for name in REPORTS:
        assert not any("--behaviours" in each for each in arguments(name, "corrected"))
    assert plan_of("mt25018", "as-published")["settings"]["figures_of"] == "first"
    assert plan_of("mt25018", "corrected")["settings"]["figures_of"] == "all"


def ways(name: str, mode: str) -> dict[str, tuple[str, str, str]]:
    """By label: variant, receiver and behaviours."""
    found = {}
    for each in plan_of(name, mode)["points"]:
        words = dict(zip(each["arguments"][3::2], each["arguments"][4::2]))
        found[each["label"]] = (each["arguments"][0], words.get("--receiver", ""),
                                words.get("--behaviours", ""))
    return found


def test_published_programs_behave_as_their_code_does():
    assert ways("mt25023", "as-published") == {
        "A1": ("A1", "recv", ""), "A2": ("A2", "recv", ""), "A3": ("A3-unset", "recv", "")}
    assert ways("mt25029", "as-published") == {
        "A1": ("A1-8send", "", "fresh-message"), "A2": ("A2", "", "fresh-message"),
        "A3": ("A3-unset", "", "fresh-message")}
    assert ways("mt25064", "as-published") == {
        "A1": ("A1-8send", "recv", "client-processes"), "A2": ("A2", "recv", "client-processes"),
        "A3": ("A3-aligned-unreaped", "recv", "client-processes,reuse-at-once,end-on-enobufs")}
    assert ways("mt25018", "as-published") == {
        "TwoCopy": ("A1-8send", "perfield", "client-processes,fresh-buffer"),
        "OneCopy": ("A2", "recvmsg", "client-processes,fresh-buffer"),
        "ZeroCopy": ("A3-unreaped", "perfield",
                     "client-processes,fresh-buffer,reuse-at-once,sleep-on-enobufs")}


def test_the_manual_test_has_one_client_of_a_server_for_four():
    """As its program in mt25018.toml, but over loopback."""
    assert ways("mt25018-manual", "as-published") == ways("mt25018", "as-published")
    for each in plan_of("mt25018-manual", "as-published")["points"]:
        words = each["arguments"]
        assert words[1:5] == ["4096", "1", "--path", "lo"] and each["threads"] == 4
        assert words[-4:] == ["--addresses", "127.0.0.1", "--port", "8080"]


def test_the_copies_table_has_a_sender_that_gathers():
    assert ways("mt25029-copies", "corrected") == {
        "Standard-Buffering": ("A1", "recv", ""), "A2": ("A2", "recv", "")}
    assert [row["label"] for each in profiles.load("mt25029-copies").summaries for row in each["rows"]] == [
        "Standard-Buffering", "A2"]


def test_corrected_programs_send_as_their_text_says():
    assert ways("mt25023", "corrected") == {
        "A1": ("A1", "recv", ""), "A2": ("A2", "recv", ""), "A3": ("A3", "recv", "")}
    assert ways("mt25029", "corrected") == {
        "A1": ("A1-plain", "recv", ""), "A1-code": ("A1-8send", "recv", ""),
        "A2": ("A2", "recv", ""), "A3": ("A3", "recv", "")}
    assert ways("mt25064", "corrected") == {
        "A1": ("A1-8send", "recv", ""), "A2": ("A2", "recv", ""), "A3": ("A3-aligned", "recv", "")}
    assert ways("mt25018", "corrected") == {
        "TwoCopy": ("A1-8send", "perfield", ""), "OneCopy": ("A2", "recvmsg", ""),
        "ZeroCopy": ("A3", "recvmsg", "")}


def refused(words: list[str], capsys) -> str:
    """The one line in which the command refuses words."""
    assert sweep.main(words) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and not said.out
    return said.err


@pytest.mark.parametrize("old, new, key", [
    ('pattern = "stream"', 'pattern = "stream"\nbehaviours = ["hurry"]', "corrected.behaviours"),
    ('label = "A2", ', 'label = "A2", behaviours = [], ', "corrected.variants[3].behaviours"),
    ('threads_are = "connections"', 'threads_are = "readers"\nbehaviours = ["fresh-buffer"]',
     "corrected.behaviours"),
    ("seconds = 2.0", "seconds = 2.0\nthreds = [1]", "threds"),
    ('path = "veth"', 'path = "veth"\nmtu = 9000', "corrected.mtu"),
    ("sizes = [64,", "sizes = [4,", "sizes"),
    ("threads = [1, 2, 4]", "threads = [1, 1]", "threads"),
    ('label = "A2", variant', 'label = "A1", variant', "corrected.variants[3].label"),
    ('label = "A2", ', 'label = "A2", reciever = "recv", ', "corrected.variants[3].reciever"),
    ('label = "A2", variant = "A2"', 'label = "A2", variant = "A9"', "corrected.variants[3].variant"),
    ('["cycles", "cycles"]', '["cycles", "ticks"]', "tables[1].columns"),
    ('y = "throughput_gbps"', 'y = "throughput_gbps"\ncolour = "red"', "figures[1].colour"),
    ('title = "Where', 'titel = "Where', "titel"),
    ("sizes = [64", "sizes = 64", "TOML"),
    ('file = "standard_results.csv"', 'file = "plan.json"', "tables[1].file"),
    ('file = "standard_results.csv"', 'file = "tidy.csv"', "tables[1].file"),
])
def test_a_slip_in_a_profile_is_one_line_with_its_key(tmp_path, capsys, old, new, key):
    text = (profiles.PROFILES / "standard.toml").read_text()
    assert old in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(old, new, 1))
    said = refused(["--profile", str(file), "--dry-run"], capsys)
    assert f"mine.toml: {key}" in said


@pytest.mark.parametrize("words", [
    "--profile nobody --dry-run", "--profile mt25023 --path lo --dry-run", "--profile mt25023 --dry-run --sizes 1",
    "--profile mt25023 --dry-run --variants A9", "--profile mt25023 --dry-run --seconds 0",
    "--profile mt25023 --dry-run --repeats 0", "--profile mt25023 --dry-run --threads 2,2",
    "--profile mt25023 --mode faulty --dry-run", "--profile mt25023 --dry-run extra", "",
    "--profile mt25023 --out=", "--profile mt25023 --dry-run --variants=,",
    "--profile mt25023 --dry-run --repeats 1000000000",
    "--profile mt25023 --dry-run --seconds 86401", "--variants A9 --dry-run",
    "--variants a3 --dry-run", "--variants A1,A1 --dry-run", "--sizes 64 --dry-run",
    "--variants A1 --mode corrected --dry-run", "--variants A1 --sizes 64KX --dry-run"])
def test_bad_words_are_one_line(words, capsys):
    refused(words.split(), capsys)


def test_a_dry_run_lists_every_run_and_the_time_and_makes_nothing(tmp_path):
    done = subprocess.run([SWEEP, "--profile", "mt25064", "--seconds", "0.3", "--repeats", "3",
                           "--dry-run", "--out", tmp_path / "out"], capture_output=True, text=True,
                          timeout=60, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 145 and "48 points, 3 repeats, 144 runs, about 1 min" in lines[-1]
    assert not (tmp_path / "out").exists()


def test_variants_take_turns_within_each_repeat():
    runs = [each.name for each in plans.runs(plan_of("mt25023", "corrected", 2))]
    assert runs == [each.name for each in plans.runs(plan_of("mt25023", "corrected", 2))]
    assert all(name.endswith(".r1") for name in runs[:48])
    for at in range(0, 96, 3):
        labels = {name.split("_")[0] for name in runs[at:at + 3]}
        cells = {name.split("_", 1)[1] for name in runs[at:at + 3]}
        assert labels == {"A1", "A2", "A3"} and len(cells) == 1
    assert [name[:-3] for name in runs[:48]] != [name[:-3] for name in runs[48:]]


# Provenance

def test_provenance_names_files_as_seen_from_the_tree(tmp_path, monkeypatch):
    (tmp_path / "x").mkdir()
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path / "x")
    said = tables.command_line(["--profile", "mine.toml", "--out", "a b", "--sizes", "64"])
    assert said == "./tools/sweep --profile x/mine.toml --out 'x/a b' --sizes 64"
    assert tables.command_line(["--profile=model", "--out=../y"]) == \
        "./tools/sweep --profile=model --out=y"


def test_provenance_names_no_place_of_this_machine():
    said = tables.command_line(["--profile", "x", "--out", f"{ROOT}/results/x",
                                f"--profile={ROOT}/a.toml"])
    assert said == "./tools/sweep --profile x --out results/x --profile=a.toml"


# What the faults do

def published(name: str, out, *words: str) -> None:
    """A few points of a report as published. Runs that a busy machine had no time for fail, and
    the same command tries them again."""
    for _ in range(10):
        done = subprocess.run([SWEEP, "--profile", name, "--mode", "as-published", "--repeats", "1",
                               "--others-at-most", "1",
                               "--seconds", "0.2", "--quiet", "--out", out, *words], timeout=300,
                              capture_output=True, text=True, check=False)
        if done.returncode != 1 or "no byte was sent" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr


@needs_root
def test_mt25023_has_one_connection_whatever_its_thread_axis_says(tmp_path):
    published("mt25023", tmp_path, "--sizes", "4096", "--variants", "A3")
    rows = table(tmp_path / "tidy.csv")
    assert [row["threads_setting"] for row in rows] == ["1", "2", "4", "8"]
    assert {row["connections"] for row in rows} == {"1"}
    assert {row["tx_reference_bytes"] for row in rows} == {"0"}


@needs_root
def test_mt25029_shares_a_socket_sends_4096_and_completes_nothing(tmp_path):
    published("mt25029", tmp_path, "--sizes", "64,65536", "--threads", "2", "--variants", "A3")
    for row in table(tmp_path / "tidy.csv"):
        assert (row["connections"], row["readers"], row["message_bytes"]) == ("1", "2", "4096")
        assert row["completions"] == row["tx_reference_bytes"] == "0"
        assert row["content_error_bytes"] == row["latency_mean_us"] == ""
    for row in table(tmp_path / "MT25029_Part_C_Raw.csv"):
        # The published latency is the throughput once more.
        assert float(row["latency_us"]) * float(row["throughput_mbps"]) == \
            pytest.approx(8 * int(row["msg_size"]), rel=1e-4)


@needs_root
def test_mt25064_a1_makes_8_sends_a_message(tmp_path):
    published("mt25064", tmp_path, "--sizes", "4096", "--threads", "1")
    # A send that waits for room longer than SO_SNDTIMEO returns a part, and another call sends the rest: one in
    # hundreds on a busy machine.
    calls = {row["label"]: round(float(row["median"]), 1) for row in table(tmp_path / "points.csv")
             if row["metric"] == "send_calls_per_message"}
    assert calls == {"A1": 8, "A2": 1, "A3": 1}
    assert record_of(tmp_path, "A3_4096B_1T")["experiment"]["workload"]["completions"] is None


@needs_root
def test_mt25018_shows_the_figures_of_client_1_only(tmp_path):
    # Long enough for the second client to get something, too.
    published("mt25018", tmp_path, "--sizes", "4096", "--threads", "2", "--variants", "OneCopy",
              "--seconds", "2")
    record = record_of(tmp_path, "OneCopy_4096B_2T")
    timed = record["experiment"]["passes"]["timed"]
    first = timed["first_client"]
    row, = table(tmp_path / "MT25018_Throughput_Metrics.csv")
    assert int(row["TotalBytes"]) == first["received_bytes"] < timed["received_bytes"]
    latency, = table(tmp_path / "MT25018_Latency_Metrics.csv")
    assert float(latency["Latency_us"]) == pytest.approx(first["latency_mean_us"], rel=1e-4)
