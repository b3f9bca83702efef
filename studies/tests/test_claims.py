# SPDX-License-Identifier: GPL-2.0
"""Claims are judged by records: counts exactly, times by repeats without probes; bad files are refused."""
from __future__ import annotations

import io
import json
import os
import random
import tarfile
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope_studies.claims import command, files, judge, needs, sources
from copyscope_studies.claims.world import World
from helpers import baselines
from helpers.pictures import made, modelled, two_passes
from helpers.watches import moved, process, watch_record

LATE = "run(variant=A3).late_copy == run(variant=A3).tx_reference"
FAST = "run(variant=A3).throughput > 1 Mbps"
CLAIM = """[[claims]]
id = "one"
statement = "as it is"
predicate = '''{}'''
"""


def judged(tmp_path, predicate: str, *records: dict, more: str = "") -> judge.Verdict:
    """The verdict on a predicate by records in files."""
    claims, folder = tmp_path / "mine.toml", tmp_path / "records"
    folder.mkdir(parents=True, exist_ok=True)
    claims.write_text(more + CLAIM.format(predicate))
    for number, each in enumerate(records):
        (folder / f"{number}.json").write_text(json.dumps(each))
    world = World()
    found = files.read_all([claims], world)
    for each in sources.items([folder], print):
        world.add(each)
    return judge.judge(found[0], world)


def timed(number: int, gbps: float = 2.0, **changes) -> dict:
    """A record without probes."""
    data = made(number=number, backend__name="none", **changes)
    data["experiment"]["timing"]["throughput_gbps"] = gbps
    return data


def test_counts_are_judged_exactly(tmp_path):
    data = made()
    found = judged(tmp_path, LATE, data)
    assert found.word == judge.CONFIRMED and found.evidence[0].value.records == (data["id"],)
    assert any(data["id"] in line for line in judge.lines(found))
    data["sites"]["late_copy"]["bytes"] -= 1
    assert judged(tmp_path, LATE, data).word == judge.REFUTED


def test_a_site_that_was_not_measured_leaves_it_undecided(tmp_path):
    data = made()
    data["sites"]["late_copy"] = {**data["sites"]["late_copy"], "bytes": None, "how": "not_measured",
                                  "why": "no hook", "calls": None}
    found = judged(tmp_path, LATE, data)
    assert found.word == judge.UNDECIDED and "no hook" in found.why[0]


@pytest.mark.parametrize("variant, told, word", [
    ("A3", 7, judge.CONFIRMED), ("A2", 0, judge.UNDECIDED), ("A3-unset", 0, judge.UNDECIDED)])
def test_completions_that_nobody_reads_are_not_0(tmp_path, variant, told, word):
    data = made(workload__variant=variant, workload__completions=told, workload__completions_copied=told)
    found = judged(tmp_path, f"run(variant={variant}).completions == {told} calls", data)
    assert found.word == word and (word == judge.CONFIRMED or f"{variant} reads none" in found.why[0])


@pytest.mark.parametrize("setting", ["reads_completions", "readers", "cpus", "hardware_dma"])
def test_a_setting_may_say_where_a_claim_is_judged_and_not_decide_it(tmp_path, setting):
    with pytest.raises(Unusable, match=rf"mine.toml:5: predicate: {setting} is a setting"):
        judged(tmp_path, f"\nrun(variant=A3).tx_copy > 0 B or run(variant=A3).{setting} == 1", made())
    given = f"given = 'run(variant=A3).{setting} >= 0'\n"
    (tmp_path / "given.toml").write_text(CLAIM.format("run(variant=A3).messages > 0 messages") + given)
    world = World(items=sources.of_document(Path("run.json"), made(), print))
    found = judge.judge(files.read_all([tmp_path / "given.toml"], world)[0], world)
    assert found.word == judge.CONFIRMED


def test_a_connection_counts_if_its_sockets_moved_payload(tmp_path):
    data = made(workload__connections=8)
    moved = {each["connection"] for each in data["sockets"]}
    found = judged(tmp_path, f"run(variant=A3).connections == {len(moved)}", data)
    assert found.word == judge.CONFIRMED and len(moved) != 8
    for each in data["sockets"]:
        each["counts"].update(accepted_bytes=0, returned_bytes=0)
    assert judged(tmp_path, "run(variant=A3).connections == 0", data).word == judge.CONFIRMED
    data["sockets"] = []
    assert "books of the sockets" in judged(tmp_path, "run(variant=A3).connections == 0", data).why[0]


@pytest.mark.parametrize("on_bus, predicate", [
    (False, "run(variant=A3).dma_bytes == 0 B"), (True, "run(variant=A3).dma_bytes == run(variant=A3).on_wire"),
    (True, "run(variant=A3).dma_bytes > 0 B")])
def test_only_a_device_on_a_bus_takes_bytes_by_dma(tmp_path, on_bus, predicate):
    data = made(path__hardware_dma=on_bus)
    found = judged(tmp_path, predicate, data)
    assert found.word == judge.CONFIRMED and "derived" in judge.lines(found)[2]


def baselines_of(row: dict, numbers) -> list[dict]:
    """A baseline for each of several numbers, which are the medians of its runs."""
    return [{**baselines.baseline(row={**row, "measured": {**row["measured"], "values": [each - 1, each, each + 1]}}),
             "id": f"20261124T000000.000-{turn}"} for turn, each in enumerate(numbers)]


def test_a_baseline_is_one_number_and_the_interval_is_over_baselines(tmp_path):
    records = baselines_of(baselines.row("process", 50, "us"), (40, 50, 50, 50, 60, 70))
    found = judged(tmp_path, "baseline(row=process).time < 71 us", *records)
    assert found.word == judge.CONFIRMED and found.steps[0].left == "50 us [40 us, 70 us]"
    found = judged(tmp_path / "few", "baseline(row=process).time < 1000 us", *records[:5])
    assert found.word == judge.UNDECIDED and "missing: 1 more records of the baseline" in found.why[0]


def test_the_clock_of_a_core_is_what_additions_took_and_no_time_stamp_counter(tmp_path):
    predicate = "baseline(row=syscall).core_clock in [2.9e9 cycles / 1 s, 3.1e9 cycles / 1 s]"
    clock = baselines.row("core-clock", 3.0, "GHz")
    sessions = [{**baselines.baseline(clock=clock), "id": f"20261124T000000.000-{turn}"} for turn in range(6)]
    assert judged(tmp_path / "six", predicate, *sessions).word == judge.CONFIRMED
    assert judged(tmp_path / "older", predicate, baselines.baseline(), *sessions).word == judge.CONFIRMED
    assert "5 more" in judged(tmp_path / "one", predicate, *sessions[:1]).why[0]
    assert "before there was one" in judged(tmp_path, predicate, baselines.baseline()).why[0]
    clock.update(status="not_measured", measured=None, why="turns differ")
    assert "turns differ" in judged(tmp_path, predicate, baselines.baseline(clock=clock)).why[0]


def test_of_an_emulated_baseline_counts_alone_are_known_and_a_real_one_comes_first(tmp_path):
    host, guest = baselines.baseline(), baselines.baseline()
    guest["id"], guest["machine"] = host["id"] + "1", {**host["machine"], "emulated": True, "kernel": "6.12.1"}
    calls = "baseline(row=syscall, counter=calls{}).per_call == 1"
    assert judged(tmp_path, calls.format(""), guest).word == judge.CONFIRMED
    assert judged(tmp_path, calls.format(", kernel=6.12.1"), host, guest).evidence[0].value.records == (guest["id"],)
    assert judged(tmp_path, calls.format(""), host, guest).evidence[0].value.records == (host["id"],)
    assert "not emulated" in judged(tmp_path, "baseline(row=syscall).time < 1 s", guest).why[0]


def test_a_run_whose_laws_are_broken_is_no_evidence(tmp_path):
    data = made()
    data["laws"][0].update(status="broken", residual=1, why=None)
    found = judged(tmp_path, LATE, data)
    assert found.word == judge.UNDECIDED and "broken" in found.why[0]


@pytest.mark.parametrize("records, why", [
    ([made(number=each) for each in range(6)], "without probes"),
    ([timed(each) for each in range(5)], "1 more repeats"),
    ([timed(each, machine__emulated=True) for each in range(6)], "not emulated"),
    ([timed(each, workload__bytes=64 + each) for each in range(6)], "one point"), ([], "no record")])
def test_times_need_repeats_without_probes_on_a_real_machine(tmp_path, records, why):
    found = judged(tmp_path, FAST, *records)
    assert found.word == judge.UNDECIDED and why in found.why[0]


def test_runs_of_different_lengths_are_no_repeats_of_each_other(tmp_path):
    records = [timed(each, workload__messages_asked=None,
                     workload__seconds=10 if each > 5 else 2.5) for each in range(12)]
    assert "one point" in judged(tmp_path, FAST, *records).why[0]
    assert judged(tmp_path, FAST.replace("A3", "A3, seconds=10"), *records).word == judged(
        tmp_path, FAST, *records[6:]).word == judge.CONFIRMED


def test_times_are_judged_by_the_interval_of_their_repeats(tmp_path):
    records = [timed(each, gbps) for each, gbps in enumerate((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))]
    for predicate, word in (("> 0.9 Gbps", judge.CONFIRMED), ("> 7 Gbps", judge.REFUTED),
                            ("> 2 Gbps", judge.UNDECIDED)):
        assert judged(tmp_path, f"run(variant=A3).throughput {predicate}", *records).word == word


def test_own_numbers_of_a_report_are_calculated_not_confirmed(tmp_path):
    table = """[[tables]]
name = "T"
where = "1"
keys = ["size"]
columns = { rate = "Gbps" }
rows = [[64, 1.5], [512, ""]]
"""
    found = judged(tmp_path, "published(table=T, size=64).rate == 1.5 Gbps", more=table)
    assert found.word == judge.OUT_OF_SCOPE and "agree" in found.why[0]
    found = judged(tmp_path, "published(table=T, size=64).rate < 1 Gbps", more=table)
    assert found.word == judge.CONTRADICTED and "contradict" in found.why[0]
    with pytest.raises(Unusable, match="printed none"):
        judged(tmp_path, "published(table=T, size=512).rate < 1 Gbps", more=table)


def test_a_watched_process_is_judged_by_its_sockets(tmp_path):
    own = process(812, "nginx", moved(4096, 0, tx_copy=4096))
    record = watch_record(own)
    assert judged(tmp_path, "watch(comm=nginx).tx_copy / watch(comm=nginx).sent <= 1", record).word == judge.CONFIRMED
    assert judged(tmp_path, "watch(comm=nginx).tx_copy == 0 B", record).word == judge.REFUTED
    record["losses"]["lost_events"] = 1
    assert judged(tmp_path, "watch(comm=nginx).sent > 0 B", record).word == judge.UNDECIDED


@pytest.mark.parametrize("clean, copied, words", [
    (4000, 0, "CONFIRMED CONFIRMED CONFIRMED"), (3000, 0, "CONFIRMED CONFIRMED REFUTED"),
    (4096, 4096, "REFUTED CONFIRMED CONFIRMED"), (4096, 4097, "REFUTED REFUTED CONFIRMED"),
    (None, 0, "CONFIRMED CONFIRMED UNDECIDED")])
def test_the_claims_of_the_document_judge_a_watched_process(tmp_path, clean, copied, words):
    text = (Path(__file__).resolve().parents[2] / "docs/CLAIMS.md").read_text().split("where `mine.toml` is\n")[1]
    (tmp_path / "mine.toml").write_text("\n".join(each.strip() for each in text.split("\nEach process")[0].splitlines()))
    record = watch_record(process(812, "nginx", moved(4096, 0, tx_copy=copied)))
    record["processes"][0]["sum"]["counts"].update(zerocopy_bytes=4096, clean_bytes=clean)
    (tmp_path / "nginx.json").write_text(json.dumps(record))
    status = command.act(["check", str(tmp_path / "nginx.json"), "--claims", str(tmp_path / "mine.toml"),
                          "--json", str(tmp_path / "o.json")])
    found = json.loads((tmp_path / "o.json").read_text())["verdicts"]
    assert " ".join(each["verdict"] for each in found) == words and status == (words != "CONFIRMED CONFIRMED CONFIRMED")


def checked(capsys, *words: str) -> tuple[str, str]:
    """What `claims check` prints, and what it says on stderr."""
    command.act(["check", *words])
    said = capsys.readouterr()
    return " ".join(said.out.split()), said.err


def test_what_is_undecided_says_on_the_spot_what_the_records_are_of(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(CLAIM.format("run(variant=A3, mode=as-published, threads=9).late_copy > 0 B")
                                        + CLAIM.format("matrix(row=lo).late_copy > 0 B").replace('"one"', '"two"'))
    (tmp_path / "a.json").write_text(json.dumps(made()))
    said, _ = checked(capsys, str(tmp_path / "a.json"), "--claims", str(tmp_path / "mine.toml"))
    assert "one UNDECIDED as it is missing: no record passes these filters: these are of mode unknown, and none is of " \
        "as-published two UNDECIDED" in said
    assert "there is no matrix among them" in said and said.endswith("2 undecided, each for the reason below it")
    said, _ = checked(capsys, str(tmp_path / "a.json"), "--claims", str(tmp_path / "mine.toml"), "--only", "one")
    assert "1 of 1 undecided for one reason: missing: no record passes" in said


def test_claims_read_ones_own_runs_only_if_they_are_named(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(CLAIM.format("run(variant=A3).late_copy > 0 B"))
    (tmp_path / "results/runs").mkdir(parents=True)
    (tmp_path / "results/runs/a.json").write_text(json.dumps(made()))
    claims = ("--claims", str(tmp_path / "mine.toml"))
    said, told = checked(capsys, str(tmp_path / "results"), *claims)
    assert "UNDECIDED" in said and "results/runs is left out, as it has runs of your own" in told
    said, told = checked(capsys, str(tmp_path / "results/runs"), *claims)
    assert "CONFIRMED" in said and not told


@pytest.mark.parametrize("text, line, reason", [
    ("claims = 1", 1, "must be [[claims]]"), ("x = 1", 1, "unknown key"), ("a = \n", 1, "Invalid value"),
    ("\n[[claims]]\nid = 'a'\n", 2, "no statement"), ("[[claims]]\nid='a'\nstatement='s'\n", 2, "needs one of"),
    (CLAIM.format("run().nothing == 1"), 4, "no quantity 'nothing'"),
    (CLAIM.format("run().tx_copy == 1 s"), 4, "the units differ"),
    (CLAIM.format("\n1 == 1\nand 1 / (2 - 2) == 1"), 6, "divides by zero"),
    (CLAIM.format("1 =="), 4, "the end"), (CLAIM.format("1 == 1") + "colour = 'red'\n", 5, "no key colour"),
    ("[names]\na = 'b'\nb = 'a'\n" + CLAIM.format("a == 1"), 2, "cycle"),
    ("[names]\nrun = '1'\n", 2, "a word of the language"), ("[names]\na = 'run('\n", 2, "the key"),
    (CLAIM.format("1 == 1") * 2, 6, "stands already"), (CLAIM.format("1 == 1") + "runs = ['fly']\n", 5, "none of"),
    (CLAIM.format("run(profile=p, mode=corrected).tx_copy == 0 B") + "runs = ['matrix']\n", 5, "not listed"),
    ("[[tables]]\nname = 'T'\n", 1, "has the keys"), ("a" * (1 << 21), 1, "larger than")])
def test_a_bad_file_is_refused_with_line_and_reason(tmp_path, text, line, reason):
    source = tmp_path / "mine.toml"
    source.write_text(text)
    with pytest.raises(Unusable) as caught:
        files.read_all([source], World())
    assert f"{source}:{line}: " in str(caught.value) and reason in str(caught.value), caught.value


def pack(folder: Path, records: list[dict]) -> None:
    """Write the archive of a folder."""
    with tarfile.open(folder / sources.ARCHIVE, "w:xz") as archive:
        for number, each in enumerate(records):
            member, data = tarfile.TarInfo(f"{number}.json"), json.dumps(each).encode()
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_records_of_a_folder_may_be_packed_and_those_beside_the_archive_stand_for_it(tmp_path):
    (tmp_path / "below").mkdir()
    pack(tmp_path / "below", [made(number=1), baselines.baseline(), {"schema": "of others"}])
    assert {each.kind for each in sources.items([tmp_path], print)} == {"run", "baseline"}
    (tmp_path / "below/mine.json").write_text(json.dumps(made(number=2)))
    assert [each.kind for each in sources.items([tmp_path], print)] == ["run"]


def test_the_runs_that_are_lacking_are_planned():
    assert needs.command("sweep mt25064 corrected", Path("o")) == [
        "tools/sweep", "--profile", "mt25064", "--mode", "corrected", "--repeats", "6", "--out",
        "o/mt25064-corrected"]
    for need, tool in (("matrix", "matrix"), ("baseline", "baseline"), ("crossover p", "crossover"),
                       ("run A3 64 1", "trace_run"), ("watch -p 1", "copyscope")):
        assert needs.command(need, Path("o"))[0] == f"tools/{tool}"
    assert needs.command("crossover p 2", Path("o")) == [
        "tools/crossover", "--profile", "p", "--threads", "2", "--out", "o/crossovers"]
    assert needs.form_of("crossover p 0") is None
    assert needs.command("fact layout ports", Path("o")) == [
        "tools/facts", "--only", "layout", "--only", "ports", "--json", "o/single/fact-layout-ports.json"]
    assert needs.command("run A3-reuse 64 1 --path lo", Path("o"))[-1] == "o/single/run-A3-reuse-64-1-path-lo.json"
    assert needs.command("sweep mt25064 corrected modelled", Path("o"))[-4:] == [
        "--counters", "model", "--out", "o/mt25064-corrected/modelled"]


def models(count: int) -> list[dict]:
    """Runs in modelled caches, which differ."""
    return [modelled(two_passes(made("A1-host", number=each + 1)), 500 + each) for each in range(count)]


def test_modelled_misses_are_of_modelled_runs_and_all_else_of_the_others(tmp_path):
    real, model = made("A1-host"), models(6)
    found = judged(tmp_path, "run(variant=A1).modelled_sender_l1_misses in [1500 misses, 1515 misses]", real, *model)
    assert found.word == judge.CONFIRMED and "no PMU" in found.why[0]
    assert found.evidence[0].value.records == tuple(each["id"] for each in model)
    assert found.evidence[0].hows[0].startswith("modelled")
    found = judged(tmp_path, "run(variant=A1).tx_copy > 0 B", real, *model)
    assert found.word == judge.CONFIRMED and not found.why and found.evidence[0].value.records == (real["id"],)


def test_modelled_misses_need_repeats_as_times_do(tmp_path):
    found = judged(tmp_path, "run(variant=A1).modelled_sender_l1_misses > 0 misses", *models(1))
    assert found.word == judge.UNDECIDED and "missing: 5 more modelled runs" in found.why[0]
    found = judged(tmp_path, "run(variant=A1).modelled_sender_l1_misses / run(variant=A1).modelled_messages < "
                   "9999 misses per message", *models(5))
    assert found.word == judge.UNDECIDED and "missing: 1 more modelled runs" in found.why[0]


def test_without_a_modelled_run_modelled_misses_are_missing(tmp_path):
    found = judged(tmp_path, "run(variant=A1).modelled_sender_l1_misses < 1 miss", made("A1-host"))
    assert found.word == judge.UNDECIDED and "--counters model" in found.why[0]


@pytest.mark.parametrize("predicate, status", [(LATE, 0), ("run(variant=A3).late_copy == 0 B", 1),
                                               (FAST, 1)])
def test_own_claims_give_an_exit_status(tmp_path, capsys, predicate, status):
    (tmp_path / "mine.toml").write_text(CLAIM.format(predicate))
    (tmp_path / "run.json").write_text(json.dumps(made()))
    words = ["check", "--claims", str(tmp_path / "mine.toml"), "--json", str(tmp_path / "o.json"),
             "--evidence", str(tmp_path / "run.json")]
    assert command.act(words) == status
    assert "1 claims: " in capsys.readouterr().out
    assert json.loads((tmp_path / "o.json").read_text())["verdicts"][0]["id"] == "one"


PIECES = ("run", "(", ")", "variant", "=", "A3", ".", "tx_copy", "late_copy", "throughput", "==", "<", ">=",
          "and", "or", "not", "1", "0", "B", "s", "per", "/", "*", "+", "-", "in", "[", "]", ",", "all", "max",
          "size", "64|512", ":", "a", "b", "\n", "1e9", "'", "published", "table", "é", "#", "linear_r2", "\\",
          "baseline", "row", "time", "crossover", "watch", "abs", "median", "\x00", '"')
GOOD = CLAIM.format(LATE) + "category = 'CI'\n" + "[names]\na = 'run(variant=A3)'\nb = 'a.tx_copy + 1 B'\n"
FILES = int(os.environ.get("COPYSCOPE_CLAIM_FILES", "250"))


def generated(dice: random.Random) -> str:
    """A file of claims: pieces of the language as a predicate, or a good file that was damaged."""
    if dice.random() < 0.6:
        pieces = " ".join(dice.choices(PIECES, k=dice.randint(1, 25)))
        names = f"[names]\na = '''{' '.join(dice.choices(PIECES, k=dice.randint(1, 8)))}'''\nb = 'a'\n"
        return (names if dice.random() < 0.5 else "") + CLAIM.format(pieces)
    text = list(GOOD)
    for _ in range(dice.randint(0, 4)):
        at = dice.randrange(len(text))
        text[at:at + dice.randint(0, 3)] = dice.choice(PIECES)
    return "".join(text)


def test_generated_files_are_judged_or_refused_in_one_line(tmp_path):
    dice, source, fine = random.Random(14), tmp_path / "mine.toml", 0
    items = list(sources.of_document(Path("run.json"), made(), print))
    for _ in range(FILES):
        source.write_text(generated(dice), encoding="utf-8")
        world = World(items=items)
        try:
            claims = files.read_all([source], world)
        except Unusable as error:
            assert str(error).startswith(f"{source}:") and "\n" not in str(error)
            continue
        for each in claims:
            assert judge.judge(each, world).word in judge.WORDS
            fine += 1
    # Not all of them are refused.
    assert fine > FILES / 100
