# SPDX-License-Identifier: GPL-2.0
"""A short slice of every attack of tests/campaign, and the campaign's own promises."""
from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from attacks import attack as attacks, catalogue, conduct, networks, places, started, summary
from attacks.book import Book
from helpers import processes, records

pytestmark = records.needs_root

CAMPAIGN = records.ROOT / "tests" / "campaign"
SEED, JOBS = 1, 2
QUICK = "launcher-words"


@pytest.fixture(autouse=True)
def fixture_reaper():
    """Attacks have orphans come home to them, and nothing after them should."""
    yield
    processes.become_subreaper(False)


@pytest.mark.long
@pytest.mark.parametrize("name", [each.name for each in catalogue.ATTACKS if each.slice])
def test_the_claim_holds_for_a_slice(name):
    attack = catalogue.BY_NAME[name]
    conduct.prepare(attack)
    results, left = conduct.attempt(attack, SEED, range(attack.slice), attack.slice_seconds,
                                    attack.jobs)
    broken = [f"{conduct.command_of(attack, SEED)} --case {each.number}: {each.broken}"
              for each in results if each.broken]
    assert not broken, "\n".join(broken)
    assert not left, left
    if all(each.skipped for each in results):
        pytest.skip(results[0].skipped)


def run(*words, **options) -> subprocess.CompletedProcess:
    """The program as a person types it."""
    return subprocess.run([str(word) for word in (CAMPAIGN, *words)], capture_output=True, text=True,
                          timeout=120, check=False, **options)


def fake(name: str, try_once, **more) -> attacks.Attack:
    """An attack of a test's own."""
    return attacks.Attack(name, "it holds", "cases", more.pop("goal", 40), 1, try_once, batch=5,
                          **more)


@pytest.mark.long
def test_a_campaign_that_is_killed_goes_on_where_it_was(tmp_path):
    state = tmp_path / "campaign.json"
    process = subprocess.Popen([str(CAMPAIGN), "--only", QUICK, "--out", tmp_path],
                               stdout=subprocess.DEVNULL)
    try:
        processes.wait_until(lambda: state.exists(), 60)
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = json.loads(state.read_text())["attacks"][QUICK]
    assert 0 < before["cases"] < before["goal"]
    # A second: at least one batch of the 25 to its goal, which another test reaches.
    assert run("--only", QUICK, "--out", tmp_path, "--hours", 1 / 3600).returncode == 0
    after = json.loads(state.read_text())["attacks"][QUICK]
    assert before["cases"] < after["cases"] == after["counted"]
    assert sum(each["cases"] for each in after["commits"].values()) == after["cases"]
    assert QUICK in (tmp_path / "campaign.md").read_text()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["campaign.json", "campaign.md"]


@pytest.mark.long
def test_a_ctrl_c_ends_it_in_one_line_with_its_state_saved(tmp_path):
    state = tmp_path / "campaign.json"
    for moment_s in (0.3, 0.8):
        process = subprocess.Popen([str(CAMPAIGN), "--only", QUICK, "--out", tmp_path], text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            # The first one until a batch is whole, each other until it goes on.
            processes.wait_until(lambda: state.exists() and processes.children(process.pid), 60)  # noqa: B023
            time.sleep(moment_s)
            # As a terminal does: to all of the group, and again by who is impatient.
            os.killpg(process.pid, signal.SIGINT)
            os.killpg(process.pid, signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 128 + signal.SIGINT
        assert len(said.splitlines()) == 1 and "ended by SIGINT" in said
        entry = json.loads(state.read_text())["attacks"][QUICK]
        assert 0 < entry["cases"] < entry["goal"]
        assert f"| {QUICK} | {entry['counted']:,} |" in (tmp_path / "campaign.md").read_text()
        assert sorted(each.name for each in tmp_path.iterdir()) == ["campaign.json", "campaign.md"]


def test_what_a_killed_campaign_left_is_swept_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "PLACES", tmp_path)
    monkeypatch.setattr(places, "HELD", {})
    for name in "cases-abcdefgh", "cases-mine", "mine":
        (tmp_path / name / "in").mkdir(parents=True)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (tmp_path / "cases-linkedto").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "cases-anothers").mkdir(mode=0o755)
    os.chown(tmp_path / "cases-anothers", 65534, 65534)
    place = places.new("one")
    mine = place.parent
    places.sweep()
    assert place.is_dir() and (tmp_path / "elsewhere" / "kept").exists()
    assert {each.name for each in tmp_path.iterdir()} == {
        "cases-mine", "mine", "elsewhere", "cases-linkedto", "cases-anothers", mine.name}
    places.let_go()
    assert not mine.exists()


def test_a_case_depends_on_its_seed_and_number_alone():
    seen = {}

    def note(case):
        seen.setdefault(case.number, []).append(case.dice.random())

    for numbers in range(5), range(4, 6), [3]:
        for number in numbers:
            attacks.try_case(fake("note", note), SEED, number, 0)
    assert all(len(set(values)) == 1 for values in seen.values())
    assert len({values[0] for values in seen.values()}) == len(seen) == 6


def test_a_failure_is_kept_with_the_words_that_repeat_it(tmp_path, capsys):
    def fail_one(case):
        if case.number == 7:
            raise attacks.Broken("seven")

    attack, book = fake("sevens", fail_one), Book(tmp_path, 3)
    assert conduct.campaign([attack], book, None, JOBS) == 1
    assert book.is_done(attack)
    kept, = json.loads((tmp_path / "campaign.json").read_text())["attacks"]["sevens"]["failures"]
    assert kept["repeat"] == "tests/campaign --only sevens --seed 3 --case 7"
    assert kept["said"] == "seven" and kept["repeat"] in capsys.readouterr().out


def test_a_failure_that_passes_again_is_kept_as_mended(tmp_path, monkeypatch):
    book = Book(tmp_path, 3)
    attack = fake("sevens", lambda case: None)
    repeated = "tests/campaign --only sevens --seed 3 --case 7"
    monkeypatch.setattr("attacks.book.commit", lambda: "before")
    book.add(attack, [attacks.Result(7, broken="seven")], 1, None, repeated.rpartition(" --case")[0])
    kept, = book.of(attack)["failures"]
    assert summary.since(kept) == "open"
    assert book.add_again(repeated.replace("7", "8"), True) is None
    assert book.add_again(repeated, True) is kept
    assert summary.since(kept).startswith("open: passed when repeated on the same commit (once)")
    for made, held, said in (("after", True, "mended since: passed again on after (once)"),
                             ("after", True, "mended since: passed again on after (2 times)"),
                             ("after", False, "open: failed again on after, 1 of 3 tries")):
        monkeypatch.setattr("attacks.book.commit", lambda now=made: now)
        book.add_again(repeated, held)
        assert summary.since(kept) == said
        summary.write(book)
        assert f"on before, `{repeated}`: **{said}**. seven" in (tmp_path / "campaign.md").read_text()
    assert json.loads((tmp_path / "campaign.json").read_text())["attacks"]["sevens"]["failed"] == 1


def test_repeating_a_case_by_itself_enters_it_in_the_book(tmp_path):
    attack, book = catalogue.BY_NAME[QUICK], Book(tmp_path, SEED)
    book.add(attack, [attacks.Result(3, broken="a flaw")], 1, None, conduct.command_of(attack, SEED))
    book.data["attacks"][QUICK]["failures"][0]["commit"] = "before"
    book.write()
    book.close()
    done = run("--only", QUICK, "--case", 3, "--out", tmp_path)
    assert done.returncode == 0 and "seen on before; mended since: passed again on" in done.stdout
    assert "1 (1 mended since)" in (tmp_path / "campaign.md").read_text()


def test_what_is_said_names_files_from_the_root_of_the_tree(tmp_path):
    file = records.ROOT / "tools" / "trace_run"
    said = str(started.run(["sh", "-c", f"echo {file}; echo {file} >&2"], tmp_path))
    assert "tools/trace_run" in said and str(records.ROOT) not in said
    # Cut where the root would have been cut in two.
    long = started.Done([], 1, b"", os.fsencode(file) + b"x" * (1200 - len("oot/tools/trace_run")), 0)
    assert "'tools/trace_run" in str(long)

    def fail(case):
        raise OSError(f"{file} is not there")

    assert str(records.ROOT) not in attacks.try_case(fake("fails", fail), SEED, 0, 0).broken


@pytest.mark.parametrize("status, outcome, verdict", [(1, "failed", attacks.Broken),
                                                      (0, "complete", attacks.Skipped)])
def test_only_a_run_that_holds_is_skipped_for_an_earlier_blind_try(tmp_path, monkeypatch, status,
                                                                   outcome, verdict):
    record = {"experiment": {"attempt": 2, "outcome": {"status": outcome}}, "laws": []}
    with subprocess.Popen(["true"]) as process:
        ends = {"server": process.pid, "client": process.pid}
        monkeypatch.setattr(networks, "begin", lambda case, *words: (process, ends))
        monkeypatch.setattr(networks, "devices", lambda pid, path: [])
        monkeypatch.setattr(networks, "end", lambda case, process: (
            started.Done([], status, b"", b"", 0), record))
        with pytest.raises(verdict):
            networks.try_queue(attacks.Case(0, random.Random(0), tmp_path))


@pytest.mark.parametrize("words, verdict", [(["false"], attacks.Broken), (["true"], attacks.Skipped)])
def test_a_run_that_is_over_too_soon_says_how_it_ended(tmp_path, monkeypatch, words, verdict):
    start = started.start
    monkeypatch.setattr(started, "start", lambda _, place: start(words, place))
    monkeypatch.setattr(networks.runs, "read", lambda file, done: {})
    monkeypatch.setattr(networks.runs, "agree", lambda done, record: None)
    with pytest.raises(verdict, match="status 1" if verdict is attacks.Broken else "held"):
        networks.begin(attacks.Case(0, random.Random(0), tmp_path))


def test_a_wait_leaves_out_the_time_in_which_the_waiting_one_was_not_run(tmp_path):
    words = ["sh", "-c", "sleep 20; echo awake"]
    with pytest.raises(attacks.Broken, match="did not end within 0.2 s"):
        started.run(words, tmp_path, timeout_s=0.2)
    # A process that stops us stands for a machine that does not run us.
    stops = (f"import os, signal, time; time.sleep(0.1); os.kill({os.getpid()}, signal.SIGSTOP); "
             f"time.sleep(1.5); os.kill({os.getpid()}, signal.SIGCONT)")
    with subprocess.Popen([sys.executable, "-c", stops]):
        assert started.run(["sleep", "1.2"], tmp_path, timeout_s=0.5).status == 0


def test_what_an_attack_leaves_behind_is_its_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("helpers.machine.GRACE_S", 0.5)
    left = []

    def leave(case):
        if case.number == 0:
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                             start_new_session=True)

    try:
        conduct.prepare(fake("leaves", leave))
        _, left = conduct.attempt(fake("leaves", leave), SEED, range(2), 0, JOBS)
    finally:
        for pid in processes.children(os.getpid()):
            if "time.sleep(60)" in " ".join(processes.command_line(pid)):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    assert left and "time.sleep(60)" in left


def test_a_campaign_of_another_seed_is_not_mixed_in(tmp_path):
    book = Book(tmp_path, 3)
    book.write()
    done = run("--only", QUICK, "--out", tmp_path)
    assert done.returncode != 0 and "another campaign is at work" in done.stderr
    book.close()
    done = run("--only", QUICK, "--seed", 4, "--out", tmp_path)
    assert done.returncode != 0 and "--seed 3" in done.stderr and len(done.stderr.splitlines()) == 1


def test_every_attack_is_listed_with_its_claim():
    done = run("--list")
    assert done.returncode == 0
    assert all(each.name in done.stdout and each.claim in done.stdout for each in catalogue.ATTACKS)
