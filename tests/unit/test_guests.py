# SPDX-License-Identifier: GPL-2.0
"""Many runs share few guests: each run comes home as it ends, and a guest that dies takes one along."""
from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from copyscope.common.errors import CommandError, Refused, Unusable
from copyscope.runs import guests, launch, plan as plans, profile as profiles, sweep
from copyscope.runs.guests import Absent, Begun, Ended, Kind, Told, script
from helpers import processes
from helpers.pictures import made, two_passes

PATIENCE_S = 600
# As tools/guest, but on this kernel: the words after -- are run, where the runs' files may lie.
GUEST = """#!/bin/sh
echo x >>boots
{before}
while [ "$1" != -- ]; do shift; done
shift
export GUEST_PID=$$
exec "$@"
"""
# As trace_run --runs DIR, of lines NAME KIND.
RUN = """#!/bin/sh
# By its own number: a guest that is killed before this starts has left it to another parent.
wait_for_guest() {
	while kill -0 $GUEST_PID 2>&-; do sleep 0.05; done
}
while read -r name kind; do
	echo "$kind" >>order
	echo "begin $name"
	: >"$2/$name.err"
	status=0
	case $kind in
	fine) echo '{"fine": 1}' >"$2/$name.json" ;;
	fails) echo why >"$2/$name.err"; status=1 ;;
	dies) kill -9 $GUEST_PID; exit ;;
	rude) : >"$2/nobody.err"; echo "end nobody 0"; wait_for_guest; exit ;;
	hangs) wait_for_guest; exit ;;
	esac
	echo "end $name $status"
done
"""


@pytest.fixture(name="place")
def fixture_place(tmp_path, monkeypatch) -> Path:
    """A folder in which guests that are none make runs that are none."""
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "run").chmod(0o755)
    boots(tmp_path)
    monkeypatch.setattr(guests, "GUEST", tmp_path / "guest")
    monkeypatch.setattr(guests, "ROOT", tmp_path)
    monkeypatch.setattr(guests, "LOOK_S", 0.05)
    monkeypatch.setattr(guests, "script", lambda kind: script(kind, place=own_folder(tmp_path)))
    return tmp_path


def own_folder(place: Path) -> str:
    """Where the runs of one guest leave their files, as it has a file system of its own."""
    number = len(list(place.glob("out*")))
    (place / f"out{number}").mkdir()
    return f"out{number}"


def boots(place: Path, before: str = "") -> None:
    """What a guest does before its runs."""
    (place / "guest").write_text(GUEST.format(before=before))
    (place / "guest").chmod(0o755)


def runs_of(*kinds: str) -> Kind:
    """Runs of these kinds, which are named by their place and kind."""
    return Kind(["--kernel", "6.12"], {f"{number}{kind}": ["./run", kind] for number, kind in enumerate(kinds)})


def asked(*kinds: str, most: int = 1) -> Generator[Begun | Ended | Told | Absent, None, None]:
    """Asks for such runs of guests of one kind."""
    with contextlib.closing(guests.make({"": runs_of(*kinds)}, PATIENCE_S, most)) as events:
        for _, each in events:
            yield each


def told(*kinds: str, most: int = 1) -> list[Begun | Ended | Told | Absent]:
    """What comes of such runs."""
    return list(asked(*kinds, most=most))


def statuses(found: list[Begun | Ended | Told | Absent]) -> dict[str, int]:
    """How each run ended."""
    return {each.name: each.status for each in found if isinstance(each, Ended)}


def count(place: Path, name: str) -> int:
    """Lines of a file."""
    return len((place / name).read_text().splitlines())


def test_one_guest_makes_all_runs_and_brings_each_home(place):
    found = told("fine", "fails", "fine")
    assert [type(each) for each in found] == [Begun, Ended] * 3
    assert statuses(found) == {"0fine": 0, "1fails": 1, "2fine": 0}
    ended = [each for each in found if isinstance(each, Ended)]
    assert [each.record and json.loads(each.record) for each in ended] == [
        {"fine": 1}, None, {"fine": 1}]
    assert ended[1].said == "why\n" and count(place, "boots") == 1


@pytest.mark.parametrize("kind", ["dies", "rude"])
def test_a_guest_that_ends_early_takes_one_run_along(place, kind):
    found = told("fine", kind, "fine", "fine")
    assert statuses(found).pop(f"1{kind}") != 0
    assert list(statuses(found)) == ["0fine", f"1{kind}", "2fine", "3fine"]
    assert sum(statuses(found).values()) == statuses(found)[f"1{kind}"]
    assert count(place, "boots") == 2 and count(place, "order") == 4


@pytest.mark.usefixtures("place")
def test_a_run_that_hangs_is_killed_and_the_others_are_made(monkeypatch):
    runs, found = asked("fine", "hangs", "fine"), []
    while Begun("1hangs") not in found:
        found.append(next(runs))
    plain = time.monotonic
    monkeypatch.setattr(guests.time, "monotonic", lambda: plain() + 2 * PATIENCE_S)
    found += list(runs)
    assert statuses(found) == {"0fine": 0, "1hangs": guests.STATUS_TIME, "2fine": 0}
    assert f"it had not ended after {PATIENCE_S} s" in found[3].said


@pytest.mark.parametrize("status, error", [(1, CommandError), (2, Unusable), (3, Refused)])
def test_a_guest_that_never_came_up_is_told_in_its_own_line(place, status, error):
    boots(place, f"echo 'guest: no such thing' >&2; exit {status}")
    absent, = told("fine", "fine")
    assert type(absent.error) is error and str(absent.error) == "guest: no such thing"
    assert count(place, "boots") == 1


def test_kinds_are_made_each_with_what_comes_before_and_one_that_is_absent_hinders_none(place):
    boots(place, 'case $* in *absent*) exit 3 ;; esac')
    kinds = {"absent": Kind(["--kernel", "absent"], {"x": ["./run", "fine"]}),
             "there": Kind(["--kernel", "6.12"], {"x": ["./run", "fine"]}, "echo before >>order")}
    found = list(guests.make(kinds, PATIENCE_S, 1))
    assert [(kind, type(each)) for kind, each in found] == [("absent", Absent), ("there", Begun), ("there", Ended)]
    assert (place / "order").read_text().split() == ["before", "fine"]


def test_a_fault_of_the_kernel_fails_the_run_that_it_came_with(place):
    # The file of the kernel's faults is one of ours here, which the second run changes.
    (place / "tainted").write_text("0\n")
    (place / "guest").write_text((place / "guest").read_text().replace(
        'exec "$@"', 'exec sh -c "$(echo "$3" | sed s,/proc/sys/kernel/tainted,tainted,)"'))
    (place / "run").write_text(RUN.replace("fails) ", "fails) echo 512 >tainted; "))
    found = told("fine", "fails", "fine")
    assert statuses(found) == {"0fine": 0, "1fails": 1, "2fine": 0}
    ended, = (each for each in found if isinstance(each, Ended) and each.name == "1fails")
    assert "kernel reported a fault" in ended.said and count(place, "boots") == 2
    assert any(isinstance(each, Told) and "ended with 1" in each.line for each in found)


def test_guests_run_side_by_side_and_each_run_is_made_once(place):
    found = told(*["fine"] * 9, most=2)
    assert sorted(statuses(found)) == [f"{number}fine" for number in range(9)]
    assert count(place, "boots") == 2 and count(place, "order") == 9


def test_no_guest_outlives_who_asked_for_it(place):
    runs = asked("fine", "hangs")
    while next(runs) != Begun("1hangs"):
        pass
    assert working_in(place)
    runs.close()
    processes.wait_until(lambda: not working_in(place), timeout_s=60)


def working_in(place: Path) -> list[str]:
    """Processes whose folder it is."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and link(f"/proc/{pid}/cwd") == str(place)]


def link(name: str) -> str:
    """Where a link leads; "" if its process is gone."""
    try:
        return os.readlink(name)
    except OSError:
        return ""


@pytest.mark.parametrize("sent", [b"what\n", b"x" * 2000, b"end a 0 0 -1 0\n", b"end a 0 0 1\n"])
def test_what_is_no_reply_is_refused(sent):
    with pytest.raises(guests.Damaged):
        guests.Reader().feed(sent)


def test_a_reply_may_come_in_pieces_of_any_length():
    sent = b"begin a\nend a 0 0 8 4\n{\n\"end\"}why\nbegin b\nend b 1 0 0 3\nno\n"
    for size in range(1, 30):
        reader, found = guests.Reader(), []
        for place in range(0, len(sent), size):
            found += reader.feed(sent[place:place + size])
        assert found == [Begun("a"), Ended("a", 0, "why\n", b'{\n"end"}'), Begun("b"),
                         Ended("b", 1, "no\n", None)]


def test_runs_are_dealt_by_turns_and_no_guest_gets_too_many():
    kind = Kind([], {str(number): ["x"] for number in range(200)})
    shares = [each.runs for each in guests.dealt(kind, 2)]
    assert len(shares) == 4 and list(shares[0])[:2] == ["0", "4"]
    assert sorted(name for share in shares for name in share) == sorted(kind.runs)
    assert not guests.dealt(Kind([], {}), 2)


# A sweep

def planned(**more) -> dict:
    """A plan of four runs in guests."""
    return plans.make(profiles.load("standard"), [64, 512], [1], ["A1", "A2"], 0.1, 1, "6.12", **more)


def test_a_guest_is_told_what_tools_trace_run_would_tell_it():
    run = plans.runs(planned(counters="model:zen2"))[0]
    assert launch.guest_options(run, "6.12") == ["--kernel", "6.12", "--model", "zen2"]
    words = launch.command_in_guest(run, 0.1, "timed")
    assert words[0] == "build/trace_run" and "--json" not in words
    assert words[words.index("--counters") + 1] == "model" and words[words.index("--pass") + 1] == "timed"
    plain = launch.Run("x", ("A3", "64", "1", "--path", "nic"))
    assert launch.guest_options(plain, "6.1") == ["--kernel", "6.1", "--nics", "2"]


def test_a_sweep_keeps_each_run_of_a_guest_and_sets_failed_ones_aside(tmp_path, monkeypatch):
    def in_guests(kinds, _patience_s, _most):
        for name, command in kinds[""].runs.items():
            yield "", Begun(name)
            data = two_passes(made("A1-host"))
            data["experiment"]["workload"].update(variant=command[1], bytes=int(command[2]), threads=1)
            failed = name == failing
            yield "", Ended(name, int(failed), "why\n" * failed, None if failed else json.dumps(data).encode())
        yield "", Told("a guest ended with 1: oh")
    monkeypatch.setattr(launch, "check_built", lambda _: None)
    monkeypatch.setattr(guests, "make", in_guests)
    plan = planned()
    failing = plans.runs(plan)[1].name
    result = sweep.conduct(tmp_path / "out", plan, [], quiet=True)
    kept = {file.stem for file in (tmp_path / "out/runs").iterdir()}
    assert result.failures and kept == {run.name for run in plans.runs(plan)} - {failing}
    failure = json.loads((tmp_path / f"out/failed/{failing}.json").read_text())
    assert failure["stderr"] == "why\n" and failure["command"][:3] == ["tools/trace_run", "--kernel", "6.12"]
    assert "many runs, one after the other" in (tmp_path / "out/PROVENANCE.md").read_text()
    # The same command makes that one alone.
    again, failing = failing, ""
    result = sweep.conduct(tmp_path / "out", plan, [], quiet=True)
    assert not result.failures and (tmp_path / f"out/runs/{again}.json").exists()
