# SPDX-License-Identifier: GPL-2.0
"""On each kernel three oracles count what trace_run counts, to the byte; and one-liners work.

tools/copies.bt derives the same books in another language. The kernel's own checks before a copy
and the processor's breakpoints on the copying functions see the copies themselves, and no books.
"""
from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from copyscope_studies.ways import RECV, SENDERS
from guest.boots import (
    ALL,
    EDGES,
    RELEASES,
    Asked,
    Guests,
    Maker,
    by_hooks,
    dealt,
    run_lines,
    where_made,
)
from helpers import oneliners as documented, records
from helpers.books import PRIME_BYTES, PRIME_MESSAGES, PRIME_PAYLOAD
from helpers.names import names

# Guests of these tests have no Python: tests/host/test_oneliners.py runs what needs it.
NEEDS_PYTHON = "python3"
# A quarter of a gigabyte, of which some may be sent twice, takes an emulated processor half a minute.
MANY, FEWER = "--messages 4000", "--messages 200"
# Runs that all oracles watch: gathered, copied and referenced; small and large; both patterns.
WATCHED = {f"{variant}.4093": f"{variant} 4093 4 --messages 23" for variant in ("A1", "A2", "A3")}
WATCHED |= {"A2.65536": "A2 65536 4 --messages 20",
            "A3.65536": "A3 65536 4 --messages 20",
            "A3.rr": "A3 4093 2 --messages 23 --pattern rr --path lo"}
# Every other way to send, each to a receiver that no other has as long as there are any: what the oracles alone watch.
# A NIC takes pages as they are, so that nobody copies what is sent by reference. It has not summed datagrams: their
# reader copies by another function, which sums, too.
READ_BY = {"A1-8send": "perfield", "A2-more": "recvmsg", "A3-aligned": "map", "sendfile": "peek", "splice": "trunc",
           "vmsplice": "splice", "uring": "uring", "uring-zc": "uring-multishot", "ktls": "ktls", "ktls-1.2": "ktls-1.2"}
DATAGRAMS = names("variants", datagrams=True)
WAYS = {sender: f"{sender} {PRIME_BYTES} 2 --messages {PRIME_MESSAGES} "
                f"--path {'lo' if sender in DATAGRAMS else 'nic'}" +
                (f" --receiver {READ_BY[sender]}" if sender in READ_BY else "")
        for sender in SENDERS if sender not in ("A1", "A2", "A3")}
# A slow guest compiles three oracles, and a breakpoint costs it seconds: what copies and what does not, small, and a
# page of each kind stay on one kernel: that of the one-liners, which skips no witness.
SOON_ON = "6.12"
SOON = ("A1.4093", "A2.4093", "A3.4093", "sendfile", "vmsplice", "uring-zc")
makes = Maker(dict.fromkeys(WATCHED, ALL) | dealt(WAYS, EDGES) | dict.fromkeys(set(SOON) & set(WAYS), (SOON_ON, EDGES[-1])),
              soon={run: (SOON_ON,) if run in SOON else () for run in WATCHED | WAYS})
RUNS = by_hooks(WATCHED | WAYS)
# Boots of a kernel until its witnesses are whole.
TURNS = 3
ORACLE = "build/tests/guest/oracle"
SCRIPT = "tools/copies.bt"
SITES = ("tx_copy", "tx_reference", "late_copy", "rx_copy")
COUNTS = {"accepted": "accepted_bytes", "completions": "completed_sends",
          "completions_copied": "copied_sends"}


def oneliners() -> dict[str, tuple[str, list[str]]]:
    """The one-liners that guests run."""
    return {title: (command.replace(MANY, FEWER), shown)
            for title, (command, shown) in documented.oneliners().items() if NEEDS_PYTHON not in command}


def number_of(title: str) -> str:
    """Names the output file of a one-liner."""
    return f"oneliner-{list(oneliners()).index(title)}.txt"


# A slow guest starts bpftrace for seconds each time: they are one script, on this kernel, and each as it is printed in
# the long tier. A program takes seconds, too: one of each kind of probe is of the short one.
JOINED, JOINED_ON = "joined: {}", SOON_ON
KINDS = ("tracepoint:", "kprobe:", "kretfunc:", "kfunc:__msg_zerocopy", "usdt:")
shows = Maker(dealt(oneliners(), RELEASES), soon=dict.fromkeys(oneliners(), ()))


def first_of_kinds() -> set[str]:
    """The first one-liner of each kind."""
    return {next(title for title, (command, _) in oneliners().items() if kind in command) for kind in KINDS}


def joined_lines(asked: Callable[[str], bool]) -> list[str]:
    """One script of the one-liners that are asked for, and what they watch."""
    script, runs = documented.joined({number: command for number, (title, (command, _)) in enumerate(oneliners().items())
                                      if asked(title)})
    return [] if not runs else [". tests/helpers/witness.sh", "cat >/run/joined.bt <<'END'", script, "END",
            "__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 bpftrace /run/joined.bt >/out/joined.txt 2>/out/joined.err &",
            "until_says PROBES_ATTACHED /out/joined.err $!", *runs, "end_witness $!"]


def script_of(release: str, asked: Asked, watched: bool, first: bool) -> str:
    """Watched runs if there are any, and in the first boot of a kernel the one-liners that are its."""
    lines = joined_lines(lambda title: first and asked(release, JOINED.format(title))) if release == JOINED_ON else []
    lines += [f"{command} >/out/{number_of(title)} 2>&1" for title, (command, _) in oneliners().items()
              if first and release in RELEASES and shows(release, title) and asked(release, title)]
    witnesses = f"{ORACLE} {SCRIPT}" if watched else ""
    # The oracle looks for what the module has.
    return "\n".join(["set -eu", "modprobe tls", f"tests/guest/matrix.sh $runs {witnesses}", *lines])


@pytest.fixture(scope="module", name="boots")
def all_kernels(request, tmp_path_factory):
    """What each boot of each kernel left, those of a kernel one after the other."""
    folder, asked = tmp_path_factory.mktemp("bpftrace"), Asked(request, "left")

    def made(release: str) -> list:
        found: list = []
        runs = {run: words for run, words in RUNS.items() if makes(release, run) and asked(release, run)}
        turns = TURNS if runs else 1
        # A witness that the kernel skipped is short, and no run of it can be made again alone.
        while len(found) < turns and not (found and not is_short(found[-1])):
            turn = folder / f"{release}-{len(found)}"
            turn.mkdir()
            script = script_of(release, asked, bool(runs), not found)
            found.append(run_lines(turn, runs, ["--with", "bpftrace", "--nics", 2], (release,), makes,
                                   script=lambda _, script=script: script)[release])
        return found
    return Guests(filter(asked, ALL), made).boot_all()


@pytest.fixture(name="left")
def one_kernel(boots, request):
    """What the boots of one kernel left."""
    return boots[request.param]


def skipped(outcome) -> int:
    """Runs of the witnesses' programs that the kernel skipped."""
    return int(re.search(r"^@skipped: (\d+)$", outcome.text("oracle.txt"), re.MULTILINE)[1])


def is_short(outcome) -> bool:
    """Whether the kernel skipped a witness, or the workload itself read completions that copies.bt did not see: of
    two processors that put the last references at once, the notification may be gone before either looks again."""
    if skipped(outcome):
        return True
    sent = [run for run in WATCHED if outcome.has_record(run) and outcome.record(run)["counts"]["zerocopy_sends"]]
    return any(counted(outcome, run, "copies", "completions") <
               outcome.record(run)["experiment"]["workload"]["completions"] for run in sent)


@pytest.fixture(name="outcome")
def last_boot(left):
    """What a kernel's last guest left."""
    outcome = left[-1]
    runs = skipped(outcome)
    if runs:
        pytest.skip(f"{outcome.release} skipped {runs} runs of the witnesses' programs in each of "
                    f"{TURNS} boots: they prove nothing")
    return outcome


def on_kernels_of(name, runs):
    """Run a test with each of these runs on the kernels that make it."""
    return where_made(name, ALL, runs, makes, "left")


def on_kernels(*runs):
    """Run a test with what the guest of each kernel left of these runs."""
    return pytest.mark.parametrize("left", [pytest.param(release, marks=(
        pytest.mark.made_by(*runs), *makes.marks(release, runs[0])[1:])) for release in ALL], indirect=True)


def processes(outcome, run: str) -> list[str]:
    """Both processes of a watched run. Records name none, but each attempt at a run started two,
    runs came one after the other, and the oracle saw both send or receive."""
    seen = sorted({int(pid) for pid in re.findall(r"\[workload, (\d+)\]",
                                                  outcome.text("oracle.txt"))})
    attempts = {name: outcome.record(name)["experiment"]["attempt"] for name in RUNS if outcome.has_record(name)}
    assert len(seen) == 2 * sum(attempts.values())
    order = list(attempts)
    end = 2 * sum(attempts[name] for name in order[:order.index(run) + 1])
    return [str(pid) for pid in seen[end - 2:end]]


def counted(outcome, run: str, script: str, name: str) -> int:
    """What a script printed under that name for the processes of this run."""
    lines = re.findall(rf"@{name}\[workload, (\d+)\]: (\d+)", outcome.text(f"{script}.txt"))
    ours = processes(outcome, run)
    return sum(int(count) for pid, count in lines if pid in ours)


@on_kernels_of("run", WATCHED)
def test_copies_bt_agrees_to_the_byte(outcome, run):
    record = outcome.record(run)
    assert outcome.status(run) == 0
    assert {name: counted(outcome, run, "copies", name) for name in SITES} == {
        name: records.site(record, name) for name in SITES}
    assert {name: counted(outcome, run, "copies", name) for name in COUNTS} == {
        name: record["counts"][key] for name, key in COUNTS.items()}


def copied(outcome, run: str, script: str, names: tuple[str, str]) -> list[int]:
    """What a script saw being copied from user memory, and to it."""
    return [counted(outcome, run, script, name) for name in names]


def books(outcome, run: str) -> list[int]:
    """The same, as copyscope tells it."""
    return [sum(records.site(outcome.record(run), site) or 0 for site in sites)
            for sites in (("tx_copy", "tls_copy"), ("rx_copy",))]


@on_kernels_of("run", WATCHED | WAYS)
def test_kernel_checks_as_many_bytes_as_are_copied(outcome, run):
    names = ("checked_from_user", "checked_to_user")
    assert copied(outcome, run, "oracle", names) == books(outcome, run)


@on_kernels_of("run", WATCHED | WAYS)
def test_breakpoints_see_as_many_bytes_as_are_copied(outcome, run):
    names = ("copied_from_user", "copied_to_user")
    assert copied(outcome, run, "oracle", names) == books(outcome, run)


@on_kernels("A1.4093", "A2.4093", "A3.4093")
def test_each_oracle_saw_23_messages_of_4093_bytes(outcome):
    for kind in ("checked", "copied"):
        names = (f"{kind}_from_user", f"{kind}_to_user")
        assert copied(outcome, "A1.4093", "oracle", names) == [94139, 94139]
        assert copied(outcome, "A3.4093", "oracle", names) == [0, 94139]
    # One call gathers all eight fields, unless the page it copies to is full before.
    assert counted(outcome, "A2.4093", "oracle", "copies_from_user") >= 23
    assert counted(outcome, "A3.4093", "oracle", "copies_from_user") == 0


@on_kernels_of("run", [way for way in WAYS if way not in names("variants", tls=True)])
def test_breakpoints_see_each_way_copy_as_often_as_its_name_says(outcome, run):
    by_reference = names("variants", references=True) + names("variants", splices=True)
    read_by = READ_BY.get(run, RECV)
    reads = 2 if read_by in names("receivers", peeks=True) else \
        0 if read_by in names("receivers", blind=True) + names("receivers", splices=True) else 1
    assert copied(outcome, run, "oracle", ("copied_from_user", "copied_to_user")) == [
        0 if run in by_reference else PRIME_PAYLOAD, reads * PRIME_PAYLOAD]


@on_kernels("A1.4093")
@pytest.mark.parametrize("script", ["oracle", "copies"])
def test_scripts_end_without_complaint(outcome, script):
    complaints = [line for line in outcome.text(f"{script}.err").splitlines()
                  if "PROBES_ATTACHED" not in line]
    assert complaints == []


def yields(title: str, printed: list[str]) -> None:
    """What bpftrace printed has the maps that the text shows, and counts."""
    shown = oneliners()[title][1]
    assert documented.maps(printed) == documented.maps(shown) != set()
    assert documented.numbers(shown) and documented.numbers(printed), printed
    # Whether anything is retransmitted is chance; all else must be there.
    assert sum(documented.numbers(printed)) > 0 or "retransmit" in title


@where_made("title", RELEASES, oneliners(), shows, "left")
def test_oneliner_yields_what_its_text_shows(left, title):
    printed = left[0].text(number_of(title)).splitlines()
    assert "ERROR" not in "".join(printed)
    yields(title, printed)


@pytest.mark.parametrize("left, title", [pytest.param(JOINED_ON, title, marks=(
    pytest.mark.made_by(JOINED.format(title)), *(() if title in first_of_kinds() else (pytest.mark.long,))))
    for title in oneliners()], indirect=["left"])
def test_the_program_of_a_oneliner_yields_what_its_text_shows(left, title):
    assert "ERROR" not in left[0].text("joined.err")
    yields(title, documented.parted(left[0].text("joined.txt").splitlines(), list(oneliners()).index(title)))


def test_document_shows_at_least_five_oneliners():
    assert len(oneliners()) >= 5
