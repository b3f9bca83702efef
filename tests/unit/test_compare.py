# SPDX-License-Identifier: GPL-2.0
"""Two records stand side by side: what differs first, then what was counted, then times."""
from __future__ import annotations

import json
import re
import subprocess
import textwrap

import pytest

from copyscope.common import spread
from copyscope.compare import command, services, sides
from copyscope.records import documents
from copyscope.report import tables
from helpers import plans, schemas, watches
from helpers.pictures import made, modelled, two_passes, write
from helpers.records import ROOT

SCHEMA = ROOT / "docs/compare.schema.json"


def compared(capsys, *words: object) -> str:
    """What is printed; it must end well."""
    assert command.main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def document_of(capsys, *words: object) -> dict:
    """The same as JSON, by its schema for both checkers."""
    found = json.loads(compared(capsys, *words, "--json", "-"))
    assert not schemas.faults(SCHEMA, found)
    documents.check_form(found, "compare", "made", "mend it")
    return found


def records(tmp_path, *documents_) -> list[str]:
    """Files of these records."""
    folder = write(tmp_path / "in", list(documents_))
    return [str(file) for file in sorted(folder.iterdir())]


def sweep_of(folder, gbps: dict[str, tuple[float, ...]], **changes):
    """The folder of a sweep: what each label reached in its rounds."""
    (folder / "runs").mkdir(parents=True)
    for label, rounds in gbps.items():
        for number, value in enumerate(rounds, 1):
            data = two_passes(made(workload__variant=label, workload__bytes=4096, **changes))
            data["experiment"]["passes"]["timed"]["throughput_gbps"] = value
            (folder / f"runs/{label}.r{number}.json").write_text(json.dumps(data))
    (folder / "plan.json").write_text(json.dumps(plans.plan(
        [plans.point(label, label) for label in gbps], 6)))
    return folder


def test_what_differs_stands_before_what_was_counted(tmp_path, capsys):
    text = compared(capsys, *records(tmp_path, made("A1-host"), made(
        path__kind="lo", machine__kernel="6.12.9")))
    places = [text.index(word) for word in ("what differs", "variant", "kernel", "path ", "tx_copy",
                                            "why it was copied", "throughput")]
    assert places == sorted(places)
    assert "A1, send()" in text and "A3, MSG_ZEROCOPY" in text and "6.12.9" in text
    assert "\nmachine" not in text and max(map(len, text.splitlines())) <= 80 + len(str(tmp_path))


def test_the_same_record_differs_in_nothing(tmp_path, capsys):
    file, = records(tmp_path, two_passes(made()))
    text = compared(capsys, file, file)
    assert "Machine, kernel, path, pass and workload are the same." in text
    assert "not measured in both: tx_splice, reshape, rx_map, rx_splice, rx_discard: no tracepoint sees it" in \
        " ".join(text.split())
    found = document_of(capsys, file, file)
    assert not found["differs"]
    assert all(each["ratio"]["median"] == 1 for each in found["points"][0]["times"])


def test_a_record_may_be_named_by_its_id(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COPYSCOPE_RUNS", str(tmp_path / "in"))
    records(tmp_path, made("A1-host"), made("A3-host"))
    found = document_of(capsys, "0000", "last")
    assert [found["points"][0][side]["variant"] for side in ("first", "second")] == ["A1", "A3"]


def test_sites_and_causes_are_told_of_both_sides(tmp_path, capsys):
    found = document_of(capsys, *records(tmp_path, made("A1-host"), made("A3-host")))
    sites = {each["site"]: each for each in found["points"][0]["sites"]}
    assert sites["late_copy"]["first"]["bytes_per_payload_byte"] == 0
    assert sites["late_copy"]["second"]["bytes_per_payload_byte"] == 1
    assert sites["reshape"]["second"]["bytes_per_payload_byte"] is None
    assert "trampoline" in sites["reshape"]["second"]["why"]
    cause, = found["points"][0]["causes"]
    assert (cause["cause"], cause["first_share"], cause["second_share"]) == ("local delivery", None, 1)


def test_times_with_probes_or_of_an_emulator_get_no_ratio(tmp_path, capsys):
    files = records(tmp_path, made("A1-host"), two_passes(made("A1-host")), made("A3-guest"))
    found = document_of(capsys, files[0], files[1])
    assert [each["what"] for each in found["differs"]] == ["pass"]
    assert all(each["ratio"] is None and "probes" in each["why"]
               for each in found["points"][0]["times"])
    assert "No ratio is given" in compared(capsys, files[0], files[1])
    found = document_of(capsys, files[1], files[2])
    assert all(each["second"] is None and "why" in each for each in found["points"][0]["times"])


def test_what_a_model_counted_is_compared_where_both_have_it_for_the_same_caches(tmp_path, capsys):
    first, second, other = (modelled(two_passes(made("A1-host")), misses) for misses in (200, 300, 300))
    other["experiment"]["passes"]["timed"]["modelled"]["caches"]["name"] = "others"
    names = records(tmp_path, first, second, other, two_passes(made("A1-host")))
    row, = [each for each in document_of(capsys, *names[:2])["points"][0]["times"] if each["what"].startswith("modelled L1d")]
    assert row["ratio"]["median"] == pytest.approx(1.5) and "modelled L1d load misses a message  " in compared(capsys, *names[:2])
    row, = [each for each in document_of(capsys, names[0], names[2])["points"][0]["times"] if each["what"].startswith("modelled L1d")]
    assert row["ratio"] is None and "other caches of " in row["why"]
    assert "modelled" not in compared(capsys, names[0], names[3])


def test_sweeps_are_compared_point_by_point_with_intervals(tmp_path, capsys):
    before = sweep_of(tmp_path / "a", {"A1": (1.0, 1.1, 1.2, 1.1, 1.0, 1.1), "A2": (2.0,) * 6,
                                       "A3": (1.0,) * 6})
    after = sweep_of(tmp_path / "b", {"A1": (1.1, 1.0, 1.2, 1.0, 1.1, 1.1), "A2": (3.0,) * 6},
                     machine__kernel="7.2.1")
    text = compared(capsys, before, after)
    rows = {line.split()[0]: line for line in text.splitlines() if line[:2] in ("A1", "A2")}
    assert "undecided, 1.00 (0.909" in rows["A1"]
    assert rows["A2"].endswith("1.50 (1.50 to 1.50)") and "n = 6" in text
    assert "Only in the first: A3, 4 KiB, 1 thread." in text and "7.2.1" in text
    found = document_of(capsys, before, after)
    assert [each["first"]["label"] for each in found["points"]] == ["A1", "A2"]
    assert found["first"]["alone"] == ["A3, 4 KiB, 1 thread"]


def test_a_ratio_of_few_runs_is_a_range_that_says_so(tmp_path, capsys):
    three = sweep_of(tmp_path / "a", {"A1": (1.0, 1.1, 1.2)}), sweep_of(tmp_path / "b", {"A1": (2.0, 2.2, 2.4)})
    text = " ".join(compared(capsys, *three).split())
    assert "2.00 (1.67 to 2.40)" in text
    assert "too few for 95%, it holds the true ratio with 90%" in text
    four = sweep_of(tmp_path / "c", {"A1": (1.0, 1.1, 1.2, 1.1)}), sweep_of(tmp_path / "d", {"A1": (2.0,) * 4})
    ratio = document_of(capsys, *four)["points"][0]["times"][0]["ratio"]
    assert (ratio["n"], ratio["interval"], ratio["in_turns"]) == (16, "95 % interval of the ratio", False)


def test_runs_that_were_made_in_turns_are_compared_in_couples(tmp_path, capsys):
    drift = (1.0, 0.7, 1.4, 0.9, 2.0, 1.1)
    sides = [sweep_of(tmp_path / name, {"A1": tuple(each * factor for each in drift)})
             for name, factor in (("a", 1.0), ("b", 1.1))]
    whole = document_of(capsys, *sides)["points"][0]["times"][0]["ratio"]
    for late, side in enumerate(sides):
        for number in range(1, 7):
            file = side / f"runs/A1.r{number}.json"
            data = json.loads(file.read_text())
            file.write_text(json.dumps({**data, "started": f"2026-11-22T10:{number:02}:{late}0Z"}))
    ratio = document_of(capsys, *sides)["points"][0]["times"][0]["ratio"]
    assert ratio["in_turns"] and ratio["n"] == 6 and [ratio[key] for key in ("low", "high")] == \
        pytest.approx([1.1, 1.1])
    assert not whole["in_turns"] and whole["low"] < 1 < whole["high"]
    assert "in turns" in " ".join(compared(capsys, *sides).split())


@pytest.mark.parametrize("n, m, cut", [(3, 3, None), (4, 4, 0), (5, 5, 2), (5, 8, 6), (10, 10, 23), (20, 20, 127)])
def test_ranks_of_ratios_are_those_of_published_tables(n, m, cut):
    assert spread.rank_of_ratios(n, m) == spread.rank_of_ratios(m, n) == cut


def test_watches_are_compared_by_what_they_moved(tmp_path, capsys):
    files = []
    for pid, seconds, known in ((7, 5.0, {"tx_copy": 1000}), (8, 10.0, {"tx_splice": 1000, "tx_copy": 0})):
        data = watches.watch_record(watches.process(pid, "nginx", watches.moved(1000, 1000, rx_copy=1000, **known)))
        data["window"]["seconds"] = seconds
        files.append(tmp_path / f"{pid}.json")
        files[-1].write_text(json.dumps(data))
    text = compared(capsys, *files)
    assert "nginx, pid 7" in text and "Bytes per byte sent or received" in text
    found = document_of(capsys, *files)
    point, = found["points"]
    sites = {each["site"]: [each[side]["bytes_per_payload_byte"] for side in ("first", "second")]
             for each in point["sites"]}
    assert sites["tx_copy"] == [0.5, 0] and sites["tx_splice"] == [0, 0.5]
    assert [each["ratio"]["median"] for each in point["times"]] == [0.5, 0.5]
    run, = records(tmp_path, made())
    assert command.main([run, str(files[0])]) == 2 and "two of a kind" in capsys.readouterr().err


def test_a_cause_names_the_commit_that_changed_it_and_the_claims_of_the_recipe_tell_both_sides(tmp_path, capsys):
    before, after = made(), made()
    before["causes"][0]["cause"] = "forwarding hop"
    after["causes"] = []
    after["sites"]["late_copy"]["bytes"] = 0
    files = records(tmp_path, before, after)
    said = " ".join(compared(capsys, *files).split())
    assert 'forwarding hop: kernel commit d2527ad3a9e1 ("net: preserve MSG_ZEROCOPY with forwarding"), in Linux 6.17: ' in said
    assert "kernel: d2527ad3a9e1" in "\n".join(tables.causes(before)) and "d2527ad3a9e1" not in "\n".join(tables.causes(after))
    page = (ROOT / "docs/CLAIMS.md").read_text(encoding="utf-8")
    head = page.partition("`copied.toml` is\n\n")[2].partition("\n\nand")[0]
    copied = tmp_path / "copied.toml"
    copied.write_text(textwrap.dedent(head))
    kept = tmp_path / "kept.toml"
    kept.write_text(re.sub('predicate = ".*"', 'predicate = "run(variant=A3).late_copy == 0 B"', copied.read_text()))
    claims = [[subprocess.run([ROOT / "tools/claims", "check", file, "--claims", each], capture_output=True, check=False).returncode
               for each in (copied, kept)] for file in files]
    assert claims == [[0, 1], [1, 0]]


def sampled_watch(seconds: float, sent: int, samples: int, copies: int) -> dict:
    """A watch of two workers of one service and a service of its own, under the clock."""
    kinds = {"softirq_samples": 0, "share": 0.5, "share_low": 0.4, "share_high": 0.6}
    parts = [watches.process(pid, name, watches.moved(sent, 0, tx_copy=sent)) for pid, name in ((7, "web"), (8, "web"), (9, "db"))]
    for each in parts:
        each["cgroup"] = f"/system.slice/{each['comm']}.service"
        each["cpu"] = {"samples": samples, "copies": {"samples": copies, **kinds}, "threads": 1, "sampled_seconds": 1.0,
                       "clock_seconds": 1.0, "clock_law": "balanced", "classes": {}}
        each["sizes"] = [{"direction": "send", "way": "plain", "buckets": [
            {"from_bytes": 512, "below_bytes": 1024, "calls": sent // 1000, "bytes": sent}]}]
        each["causes"] = [{"cause": "tun", "site": "late_copy", "bytes": sent // 4, "calls": 1, "remedy": None}]
    data = watches.watch_record(*parts)
    data["cpu"] = {"hz": 100, "lost_samples": 0, "clock": "cpu-clock", "why": None}
    data["window"]["seconds"] = seconds
    return data


def test_services_of_watches_are_compared_by_name_with_intervals(tmp_path, monkeypatch):
    monkeypatch.setattr(sides, "check_watch", lambda *_: None)

    def side(name: str, *watched: dict) -> list:
        files = [tmp_path / f"{name}{at}.json" for at, _ in enumerate(watched)]
        for file, each in zip(files, watched):
            file.write_text(json.dumps(each))
        return sides.load(",".join(map(str, files)), pytest.fail).records

    before, after = sampled_watch(2.0, 10 ** 9, 400, 100), sampled_watch(2.0, 10 ** 9, 100, 25)
    (web, db), alone = services.compared(side("a", before), side("b", after))
    assert (web.name, db.name, alone) == ("web.service", "db.service", [[], []])
    found = {each.row.what: each for each in web.quantities}
    # 800 samples of 10 ms over 2 GB, and 200; a ratio of counts that come by chance.
    cpu = found["CPU time"].row
    assert (cpu.first.middle, cpu.second.middle, cpu.ratio.middle) == (4.0, 1.0, 0.25) and found["CPU time"].sampled
    assert 3.7 < cpu.first.low < 4 < cpu.first.high < 4.3 and cpu.ratio.low == pytest.approx(0.214, abs=0.001)
    share = found["CPU share of copying"].row
    assert share.first.middle == 25 and 22 < share.first.low < 25 < share.first.high < 29 and found["mean send"].row.first.middle == 1000
    assert found["tun, late_copy"].row.first.middle == 0.25 and found["copied"].row.first.middle == 1
    # Several watches of each side give intervals of repeats; 400 samples and fewer, never together with one watch's.
    (web, _), _ = services.compared(side("c", before, before, sampled_watch(2.0, 10 ** 9, 420, 90)), side("d", after, after))
    cpu = next(each for each in web.quantities if each.row.what == "CPU time")
    assert (cpu.row.first.n, cpu.row.second.n, cpu.sampled) == (3, 2, False) and cpu.row.first.high == 4.2
    assert cpu.row.interval == "range of all ratios"


def test_no_sample_has_an_upper_end_and_no_ratio():
    none, some = services.Sampled(0, 1.0), services.Sampled(9, 1.0)
    assert none.interval.low == 0 and 2 < none.interval.high < 4 and services.ratio_of_samples(none, some) is None


@pytest.mark.parametrize("words, said", [
    (["gone.json", "gone.json"], "gone.json"), (["."], "required"), ([".", "."], "no record"),
    (["sweep", "other"], "no variant, size and number of threads"), (["watch.json", "watch.json"], "watch")])
def test_what_cannot_be_compared_is_one_line(tmp_path, monkeypatch, capsys, words, said):
    sweep_of(tmp_path / "sweep", {"A1": (1.0,), "A2": (1.0,)})
    sweep_of(tmp_path / "other", {"A3": (1.0,), "A3-unset": (1.0,)})
    (tmp_path / "here").mkdir()
    (tmp_path / "here/watch.json").write_text(json.dumps({"schema": "copyscope.watch/1"}))
    if words[0] != "watch.json":
        (tmp_path / "here/watch.json").unlink()
    for name in ("sweep", "other"):
        (tmp_path / "here" / name).symlink_to(tmp_path / name)
    monkeypatch.chdir(tmp_path / "here")
    assert command.main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith("compare: ") and err.count("\n") == 1 and said in err
