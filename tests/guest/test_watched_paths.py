# SPDX-License-Identifier: GPL-2.0
"""On every path of the matrix `copyscope watch` says what a run's books say, or that it is not known.

The run counts beside the watch, so that both see the same packets and agree to the byte, whatever chance did.
"""
from __future__ import annotations

import functools
import os
import shlex
from dataclasses import dataclass

import pytest

from copyscope.report.process_sentence import all_told
from copyscope_studies.matrix.cells import PATHS, Cell
from guest.boots import Asked, Guests, Maker, Outcome, boot, by_hooks, dealt, where_made
from helpers.watch_tool import broken, record_of

SCRIPT = "tests/guest/watched_paths.sh"
# One of each backend. COPYSCOPE_ALL_KERNELS=1 has every path on each of these and on the others.
ONE_EACH, OTHERS = ("6.12 trampoline", "6.18 tracepoint"), ("6.1 trampoline", "7.2 trampoline")
ALL_KERNELS = bool(os.environ.get("COPYSCOPE_ALL_KERNELS"))
WITNESSES = ONE_EACH + OTHERS * ALL_KERNELS
# What becomes of a page in each way that there is; the other paths come to one of these.
WAYS = ("lo", "veth", "nic", "forward", "veth, no SG", "nic, no SG", "veth, tap on sender", "veth, tap elsewhere")
MADE = {path: WITNESSES for path in PATHS} if ALL_KERNELS else \
    dealt(WAYS, ONE_EACH, hands=2) | dealt((path for path in PATHS if path not in WAYS), ONE_EACH)
# The other paths come to one of these ways: since 6.18 no capture elsewhere is shown anything.
SOON = {way: kernels for way, kernels in dealt(WAYS, ONE_EACH).items()
        if way not in ("lo", "nic, no SG", "veth, tap elsewhere")}
makes = Maker(MADE, soon=MADE if ALL_KERNELS else {path: SOON.get(path, ()) for path in PATHS})
MESSAGES, BYTES = 23, 65536
PAYLOAD = MESSAGES * BYTES
# What the books of a variant that copies say is known before. One watch sees all: by its port it tells a run.
PASSES = {"A1": "timed", "A3": "counted"}
PORTS = {(path, variant): port for port, (path, variant) in
         enumerate(((path, variant) for path in PATHS for variant in PASSES), 9001)}
COPIED_SITES = ("tx_copy", "rx_copy")
FATES = ("clean_bytes", "reshaped_referenced_bytes", "tapped_bytes")
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
        said = [told for told, each in zip(all_told(self.record), self.record["verdicts"]) if each["pid"] in pids]
        return any(phrase in told for told in said for phrase in phrases)

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
    # In the order in which programs spliced on them.
    paths: tuple[str, ...]

    @functools.cached_property
    def record(self) -> dict:
        """The watch of all paths."""
        return record_of(self.outcome.folder / "watch.json")

    def pids(self, path: str, variant: str) -> set[int]:
        """Both processes of a run, or of the program that spliced on the path."""
        if variant in PASSES:
            port = f":{PORTS[path, variant]}"
            return {each["pid"] for each in self.record["sockets"] if port in (each["local"] + " " + each["remote"])}
        found = sorted(each["pid"] for each in self.record["processes"] if each["comm"] == variant)
        assert len(found) == 2 * len(self.paths)
        first = 2 * self.paths.index(path)
        return set(found[first:first + 2])

    def watched(self, path: str, variant: str) -> Watched:
        """What the watch says of one program on a path."""
        pids = self.pids(path, variant)
        ours = [each for each in self.record["processes"] if each["pid"] in pids and each["sum"]["sockets"]]
        assert len(ours) == 2, "a sender and a receiver"
        return Watched(self.record, ours)

    def run(self, path: str, variant: str = "A3") -> dict:
        """The run on a path, which the watch saw."""
        return self.outcome.record(f"{file_of(path)}-{variant}")


def file_of(path: str) -> str:
    """The name of a path as part of a file's name."""
    return Cell(path, "").name


def words_of(path: str) -> str:
    """A path's words as trace_run --runs and a shell read them; + stands for a space."""
    return shlex.join(word.replace("+", " ") for word in PATHS[path].split())


def runs_on(paths: tuple[str, ...]) -> dict[str, str]:
    """The runs of the workload by name: those that need no hooks first, as hooks are not kept for them."""
    return {name: words for variant, kind in PASSES.items() for name, words in by_hooks({
        f"{file_of(path)}-{variant}": f"{variant} {BYTES} 2 --messages {MESSAGES} {words_of(path)} "
        f"--port {PORTS[path, variant]} --pass {kind}" for path in paths}).items()}


@pytest.fixture(scope="module", name="boots")
def made_when_asked_for(request, tmp_path_factory) -> Guests:
    """One guest for each kernel and backend, which its paths share."""
    asked = Asked(request, "look")

    def made(witness: str) -> Look:
        release, backend = witness.split()
        out = tmp_path_factory.mktemp(witness.replace(" ", "-"))
        paths = tuple(path for path in PATHS if makes(witness, path) and asked(witness, path))
        lists = {out.with_suffix(".runs"): runs_on(paths),
                 out.with_suffix(".paths"): {file_of(path): words_of(path) for path in paths}}
        for file, lines in lists.items():
            file.write_text("".join(f"{name} {words}\n" for name, words in lines.items()))
        return Look(boot(release, out, [SCRIPT, *lists, backend, MESSAGES, BYTES],
                         ["--nics", 2, *(word for file in lists for word in ("--add", file))]), paths)
    return Guests(WITNESSES, made)


@pytest.fixture(name="look")
def one_kernel(boots, request) -> Look:
    """What the guest of one kernel and backend left."""
    return boots[request.param]


of_paths = where_made("path", WITNESSES, PATHS, makes, "look")


def copied_of(run: dict) -> int:
    """Bytes that were sent by reference and copied later, by the run's books."""
    return run["sites"]["late_copy"]["bytes"] + run["counts"]["reshaped_referenced_bytes"]


@pytest.mark.parametrize("look", [pytest.param(witness, marks=(
    pytest.mark.made_by(*(path for path in PATHS if makes(witness, path) and makes.marks(witness, path)[1:] == later)), *later))
    for witness in WITNESSES for later in ((), (pytest.mark.long,))], indirect=True)
def test_the_watch_ends_well_and_no_law_breaks(look):
    assert look.outcome.status("watch") == 0, look.outcome.errors("watch")
    assert not broken(look.record) and not any(look.record["losses"].values())


@of_paths
def test_a_program_that_copies_has_copied_each_byte_and_is_never_called_clean(look, path):
    watched = look.watched(path, "A1")
    sites = {site: watched.sum("sites", site) for site in look.run(path)["sites"]}
    assert {sites[site] for site in COPIED_SITES} == {PAYLOAD}
    assert {value for site, value in sites.items() if site not in COPIED_SITES} <= {0, None}
    assert watched.sum("counts", "accepted_bytes") == watched.sum("counts", "returned_bytes") == PAYLOAD
    assert not watched.uncopied and not watched.called_clean


@of_paths
def test_what_a_watch_measures_is_what_the_run_beside_it_measures(look, path):
    watched, run = look.watched(path, "A3"), look.run(path)
    sites = {site: watched.sum("sites", site) for site in run["sites"]}
    assert {site for site, value in sites.items() if value is not None} >= {
        "tx_copy", "tx_reference", "tx_splice", "rx_copy"}
    assert sites == {site: run["sites"][site]["bytes"] if value is not None else None
                     for site, value in sites.items()}
    assert watched.sum("counts", "accepted_bytes") == watched.sum("counts", "returned_bytes") == PAYLOAD
    counts = {name: watched.sum("counts", name) for name in (*FATES, "zerocopy_sends")}
    if counts["clean_bytes"] is not None and counts["reshaped_referenced_bytes"] is None:
        # Only a trampoline tells what the driver of a NIC moves out of the pages that it was handed.
        assert 0 <= counts.pop("clean_bytes") - run["counts"]["clean_bytes"] <= run["counts"]["reshaped_referenced_bytes"]
    assert counts == {name: run["counts"][name] if value is not None else None
                      for name, value in counts.items()}


@of_paths
def test_completions_are_those_that_the_workload_read(look, path):
    watched, work = look.watched(path, "A3"), look.run(path)["experiment"]["workload"]
    sockets = [each for each in watched.record["sockets"] if each["local"].endswith(f":{PORTS[path, 'A3']}")]
    laws = {each["laws"]["completion"]["status"] for each in sockets}
    # TCP may close a socket before its program reads what is left: a book ends there.
    left = sum(each["closing"]["zerocopy_sends"] or 0 for each in sockets)
    assert watched.sum("counts", "zerocopy_sends") == work["zerocopy_sends"]
    found = [watched.sum("counts", count) for count in ("completed_sends", "copied_sends")]
    told = [work["completions"], work["completions_copied"]]
    # Where one was read before a program saw it, the law is not tested.
    if laws == {"balanced"}:
        assert all(each <= all_told <= each + left for each, all_told in zip(found, told))
        assert found[0] + left == told[0]
    else:
        assert None in found or all(one <= other for one, other in zip(found, told))


@of_paths
def test_each_byte_handed_over_as_a_page_has_one_fate(look, path):
    for program in (*PASSES, "spliced"):
        watched = look.watched(path, program)
        fates = [watched.sum("fate", f"{fate}_bytes") for fate in ("uncopied", "copied_later", "unknown")]
        handed = [watched.sum("sites", site) for site in ("tx_reference", "tx_splice")]
        assert None in fates or sum(fates) == sum(handed)
        assert watched.sum("fate", "held_bytes") in (0, None)


@of_paths
def test_with_trampolines_the_fate_of_each_reference_is_known(look, path):
    watched = look.watched(path, "A3")
    if watched.record["backend"]["name"] == "trampoline":
        # Nobody watches a queue that loses packets.
        assert watched.sum("sites", "late_copy") is not None
        assert watched.sum("fate", "unknown_bytes") <= look.run(path)["counts"]["dropped_referenced_bytes"]
        assert watched.called_clean == (watched.uncopied > 0)


@of_paths
def test_no_byte_is_called_uncopied_that_the_run_copied(look, path):
    watched, copied = look.watched(path, "A3"), copied_of(look.run(path))
    if copied >= PAYLOAD:
        assert not watched.uncopied and not watched.called_clean and watched.says(COPIED_OR_UNKNOWN)
    elif watched.record["backend"]["name"] == "tracepoint" and path.startswith(("nic", "forward")):
        # Only a trampoline tells what the driver of a NIC moves out of the pages that it was handed.
        moved = look.run(path)["counts"]["reshaped_referenced_bytes"]
        assert watched.uncopied is None or watched.uncopied <= PAYLOAD - copied + moved
    else:
        assert watched.uncopied is None or watched.uncopied <= PAYLOAD - copied


@of_paths
def test_no_spliced_byte_is_called_uncopied_where_the_path_copies_each(look, path):
    watched = look.watched(path, "spliced")
    assert watched.sum("sites", "tx_splice") == watched.sum("sites", "rx_copy") == PAYLOAD
    # To what lies behind the socket these are pages like those of a zero-copy send.
    if look.run(path)["sites"]["reshape"]["bytes"] >= PAYLOAD:
        assert not watched.uncopied and not watched.called_clean and watched.says(COPIED_OR_UNKNOWN)
    else:
        assert watched.uncopied is None or watched.uncopied <= PAYLOAD
