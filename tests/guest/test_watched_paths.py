# SPDX-License-Identifier: GPL-2.0
"""On every path of the matrix `copyscope watch` says what a run's books say, or that it is not known.

A run and a watch of the same work differ by chance: in what is sent again, and in the few bytes that the
kernel moves as it merges or cuts small packets. Sites where chance has no part are compared to the byte. For
the others the law is, that explains each referenced byte that left, with what TCP itself says was sent again
in the watched run; the number of copies of each comes from the run's books.
"""
from __future__ import annotations

import functools
import os
from collections import Counter
from dataclasses import dataclass

import pytest

from copyscope.matrix.cells import PATHS, Cell
from guest.boots import Outcome, boot
from helpers.watch_tool import broken, record_of

SCRIPT = "tests/guest/watched_paths.sh"
# One of each backend; a boot takes some three minutes. The others were run by hand: COPYSCOPE_ALL_KERNELS=1.
WITNESSES = ("6.12 trampoline", "6.18 tracepoint") + (
    ("6.1 trampoline", "7.2 trampoline") if os.environ.get("COPYSCOPE_ALL_KERNELS") else ())
PAYLOAD = 23 * 65536
# A variant's server listens on a port of its own.
PORTS = {"A1": 9001, "A3": 9002}
BY_LAW = ("user_gather", "late_copy", "reshape")
CLEAN = ("handed over as pages", "without a copy", "not copied later")
# What it must say then: no word of send's own says what came after it.
COPIED_OR_UNKNOWN = ("copied after all", "not known")


@dataclass(frozen=True)
class Watched:
    """What a watch says of one of the programs that it watched: of both ends of its connections."""
    record: dict
    processes: list[dict]

    def sum(self, kind: str, name: str) -> int | None:
        """A site, a count or a fate of all processes; None if it is not known of one."""
        values = [each["sum"][kind][name] for each in self.processes]
        if kind == "sites":
            values = [each["bytes"] for each in values]
        return None if None in values else sum(values)

    @property
    def uncopied(self) -> int | None:
        """Bytes that the watch calls uncopied."""
        return self.sum("fate", "uncopied_bytes")

    def says(self, phrases: tuple[str, ...]) -> bool:
        """Is one of the phrases in a sentence of its?"""
        pids = {each["pid"] for each in self.processes}
        return any(phrase in each["sentence"] for each in self.record["verdicts"]
                   for phrase in phrases if each["pid"] in pids)

    @property
    def called_clean(self) -> bool:
        """Does it say in words that bytes left without a copy?"""
        pids = {each["pid"] for each in self.processes}
        return self.says(CLEAN) or "clean" in {each["verdict"] for each in self.record["verdicts"]
                                               if each["pid"] in pids}


@dataclass(frozen=True)
class Look:
    """What the guest of one kernel left of the watches by one backend."""
    outcome: Outcome

    @functools.cache  # noqa: B019  it lives as long as the tests
    def record(self, path: str) -> dict:
        """The watch of a path."""
        return record_of(self.outcome.folder / f"{file_of(path)}.json")

    def watched(self, path: str, variant: str) -> Watched:
        """What the watch of a path says of one program."""
        record = self.record(path)
        if variant in PORTS:
            pids = {each["pid"] for each in record["sockets"]
                    if f":{PORTS[variant]}" in each["local"] + each["remote"]}
        else:
            pids = {each["pid"] for each in record["processes"] if each["comm"] == variant}
        ours = [each for each in record["processes"] if each["pid"] in pids and each["sum"]["sockets"]]
        assert len(ours) == 2, "a sender and a receiver"
        return Watched(record, ours)

    def books(self, path: str, variant: str) -> dict:
        """The run on a path."""
        return self.outcome.record(f"{file_of(path)}-{variant}")

    def told(self, path: str, variant: str) -> dict:
        """What the workload that was watched says of itself."""
        return self.outcome.record(f"{file_of(path)}-{variant}.told")


def file_of(path: str) -> str:
    """The name of a path as part of a file's name."""
    return Cell(path, "").name


@pytest.fixture(scope="module", name="look", params=WITNESSES)
def one_kernel(tmp_path_factory, request):
    """One guest for each kernel and backend, which all paths share."""
    release, backend = request.param.split()
    out = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
    listing = out.with_suffix(".list")
    listing.write_text("".join(f"{file_of(path)} {words}\n" for path, words in PATHS.items()))
    return Look(boot(release, out, [SCRIPT, listing, backend], ["--nics", 2, "--add", listing]))


of_paths = pytest.mark.parametrize("path", PATHS)
of_variants = pytest.mark.parametrize("variant", PORTS)


def left(books: dict) -> int:
    """Referenced bytes that left the socket, those sent again included."""
    return books["sites"]["tx_reference"]["bytes"] + books["counts"]["retrans_referenced_bytes"]


def copied_of(books: dict) -> int:
    """Bytes that were sent by reference and copied later, by the run's books."""
    return books["sites"]["late_copy"]["bytes"] + books["counts"]["reshaped_referenced_bytes"]


def again_of(told: dict) -> int:
    """Bytes that TCP itself says were sent again in the watched run."""
    return told["passes"]["timed"]["tcp"]["retransmitted_bytes"]


def loses(path: str) -> bool:
    """Does this path lose packets on purpose?"""
    return "loss" in path


@of_paths
def test_each_watch_ends_well_and_no_law_breaks(look, path):
    record = look.record(path)
    assert look.outcome.status(file_of(path)) == 0, look.outcome.errors(file_of(path))
    assert not broken(record) and not any(record["losses"].values())


@of_variants
@of_paths
def test_where_chance_has_no_part_both_measure_the_same_bytes(look, path, variant):
    watched, books = look.watched(path, variant), look.books(path, variant)
    found = {site: watched.sum("sites", site) for site in books["sites"] if site not in BY_LAW}
    assert {site for site, value in found.items() if value is not None} >= {
        "tx_copy", "tx_reference", "tx_splice", "rx_copy"}
    assert found == {site: books["sites"][site]["bytes"] if value is not None else None
                     for site, value in found.items()}
    for count in ("accepted_bytes", "returned_bytes"):
        assert watched.sum("counts", count) == books["counts"][count] == PAYLOAD


@of_paths
def test_completions_are_those_that_the_workload_read(look, path):
    watched, work = look.watched(path, "A3"), look.told(path, "A3")["workload"]
    laws = Counter(each["laws"]["completion"]["status"] for each in watched.record["sockets"]
                   if f":{PORTS['A3']}" in each["local"])
    assert watched.sum("counts", "zerocopy_sends") == work["zerocopy_sends"]
    found = [watched.sum("counts", count) for count in ("completed_sends", "copied_sends")]
    told = [work["completions"], work["completions_copied"]]
    # Where one was read before a program saw it, the law is not tested.
    if set(laws) == {"balanced"}:
        assert found == told
    else:
        assert None in found or all(one <= other for one, other in zip(found, told))


@of_paths
def test_each_reference_is_copied_late_as_often_as_the_runs_were(look, path):
    watched, books = look.watched(path, "A3"), look.books(path, "A3")
    late = watched.sum("sites", "late_copy")
    if late is None:
        return
    again = again_of(look.told(path, "A3"))
    times, rest = divmod(books["sites"]["late_copy"]["bytes"], left(books))
    if not loses(path):
        assert not rest and late == times * (PAYLOAD + again)
    elif copied_of(books) < PAYLOAD:
        assert late == 0
    else:
        # What is lost is not copied, and comes again; a packet that carries both is copied once more.
        assert PAYLOAD <= late <= PAYLOAD + again


@of_paths
def test_every_reference_that_left_is_explained_where_all_fates_are_known(look, path):
    watched = look.watched(path, "A3")
    late = watched.sum("sites", "late_copy")
    others = [watched.sum("counts", f"{fate}_bytes") for fate in (
        "clean", "reshaped_referenced", "tapped")]
    if None in (late, *others):
        return
    clean, moved, tapped = others
    explained = late - tapped + clean + moved
    again = again_of(look.told(path, "A3"))
    if loses(path):
        assert PAYLOAD <= explained <= PAYLOAD + again
    else:
        assert explained == PAYLOAD + again


@of_paths
def test_each_byte_handed_over_as_a_page_has_one_fate(look, path):
    for program in (*PORTS, "spliced"):
        watched = look.watched(path, program)
        fates = [watched.sum("fate", f"{fate}_bytes") for fate in ("uncopied", "copied_later", "unknown")]
        handed = [watched.sum("sites", site) for site in ("tx_reference", "tx_splice")]
        assert None in fates or sum(fates) == sum(handed)
        assert watched.sum("fate", "held_bytes") in (0, None)


@of_paths
def test_with_trampolines_the_fate_of_each_reference_is_known(look, path):
    watched = look.watched(path, "A3")
    if watched.record["backend"]["name"] == "trampoline":
        # Nobody watches a queue that loses packets: these were sent again.
        lost = again_of(look.told(path, "A3")) if loses(path) else 0
        assert watched.sum("sites", "late_copy") is not None
        assert watched.sum("fate", "unknown_bytes") <= lost
        assert watched.called_clean == (watched.uncopied > 0)


@of_paths
def test_no_byte_is_called_uncopied_that_the_run_copied(look, path):
    watched, books = look.watched(path, "A3"), look.books(path, "A3")
    if copied_of(books) >= PAYLOAD:
        assert not watched.uncopied and not watched.called_clean and watched.says(COPIED_OR_UNKNOWN)
    elif watched.uncopied is not None:
        # Less than a hundredth, by chance: then the watch's own numbers bound it.
        own = [watched.sum("sites", "late_copy"),
               watched.sum("counts", "reshaped_referenced_bytes")]
        assert copied_of(books) < 0.01 * PAYLOAD
        assert watched.uncopied <= PAYLOAD - sum(value or 0 for value in own)


@of_paths
def test_no_spliced_byte_is_called_uncopied_where_the_path_copies_each(look, path):
    watched = look.watched(path, "spliced")
    assert watched.sum("sites", "tx_splice") == watched.sum("sites", "rx_copy") == PAYLOAD
    # To what lies behind the socket these are pages like those that send has filled.
    if look.books(path, "A1")["sites"]["reshape"]["bytes"] >= PAYLOAD:
        assert not watched.uncopied and not watched.called_clean and watched.says(COPIED_OR_UNKNOWN)
    else:
        assert watched.uncopied is None or watched.uncopied <= PAYLOAD


@of_paths
def test_a_program_that_copies_is_never_called_clean(look, path):
    watched = look.watched(path, "A1")
    assert not watched.uncopied and not watched.called_clean
