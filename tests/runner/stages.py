# SPDX-License-Identifier: GPL-2.0
"""The stages of a run, from the cheapest to the longest, and the jobs of each."""
from __future__ import annotations

import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import tiers
from .jobs import ROOT, Job, Places, run_lanes
from .progress import CPUS, Progress, processor_s, tell
from .reports import ALL_PASSED, NOTHING_COLLECTED, SOME_FAILED, USAGE

BUILD = ROOT / "build"
PYTHON = BUILD / "venv" / "bin" / "python"
# Not -q, and nothing is kept back: what was printed last names the file in which a runner died.
PYTEST = ("-u", "-m", "pytest", "--no-header", "--continue-on-collection-errors", "-rs", "--durations=3", "--durations-min=20", "--color=no",
          "-p", "no:cacheprovider", "-o", "junit_family=xunit2",
          "-o", "tmp_path_retention_policy=failed")
TESTS = ("unit", "host", "structure", "guest")
# Where a stage's tests are, if not in the folder of its name alone.
FOLDERS = {"unit": ("tests/unit", "studies/tests")}
# From the cheapest to the longest; those of a group run side by side.
GROUPS = (("lint",), ("build",), ("sanitize", "unit", "structure", "host", "guest"))
STAGES = tuple(stage for group in GROUPS for stage in group)
# What is run if nothing is named, and what "all" is: of the short tier, and of the long one.
DEFAULT = (TESTS, ("sanitize", *TESTS))
ALL = (("lint", "build", *TESTS), ("build", "sanitize", *TESTS))
# Jobs of host wait for half of their time, and tell what others on this machine left from what they did
# themselves: two at a time. These are about time, or count what there is on the whole machine.
HOST_PLACES = 2
ALONE = ("test_baseline_rows", "test_leaves_nothing")
# So many files of a folder at most share a process, as its start takes longer than most of their tests. A file of a
# guest, of ALONE or of LONGEST has one of its own.
TOGETHER = {"unit": 10, "structure": 4, "host": 5}
# All others take what processors are left.
NICE = ("nice", "-n", "3")
# What make is told in each stage. Of several targets one fills the processor while another waits for its skeletons.
MAKES = {
    "lint": ["lint"],
    "build": ["WERROR=1", "all", "unit-tests", "arm64"],
    "sanitize": ["sanitized", "strict-clang", "static", "arm64-tests"],
}
# Of the folder of reports.
PREFIX = "copyscope-tests-"
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1",
              "UBSAN_OPTIONS": "print_stacktrace=1"}
# What is started first, longest first: the last one to end should be a short one.
LONGEST = {
    "unit": ("test_claims_browser", "test_figures", "test_claims_turn", "test_records"),
    "sanitize": ("join_test",),
    "structure": ("test_install",),
    "host": ("test_campaign", "test_watch_odd", "test_model", "test_sweep", "test_recipes", "test_peer_ends",
             "test_watch_ends", "test_books"),
    "guest": ("test_watch", "test_bpftrace", "test_matrix", "test_books", "test_odd", "test_snapshots", "test_paths",
              "test_watched_paths", "test_modelled", "test_causes", "test_arm64", "test_congestion", "test_tls",
              "test_datagrams", "test_random_programs", "test_peers", "test_programs"),
}
# Guests that a file may have at a time, if more than one: one after the other, those of this one, in which
# bpftrace compiles for a minute, would end long after all others.
WIDE = {"test_bpftrace": 2}


class Stopped(Exception):
    """What comes later cannot be run."""


class BadKeyword(Exception):
    """pytest cannot read what -k says."""


@dataclass(frozen=True)
class Chosen:
    """Which tests of the stages: those that a keyword names, whichever tier they are in; else one tier."""

    keyword: str | None = None
    long: bool = False

    def words(self) -> list[str]:
        """What pytest is told."""
        tier = ["-m", "long"] if self.long else [] if self.keyword else ["-m", "not long"]
        return [*tier, *(["-k", self.keyword] if self.keyword else [])]


def programs(build: Path = BUILD) -> list[Path]:
    """List the C test programs that there are sources for: a stale one is not run."""
    sources = sorted(source for folder in FOLDERS["unit"] for source in (ROOT / folder).glob("*_test.c"))
    return [build / source.relative_to(ROOT).with_suffix("") for source in sources]


def programs_of(stage: str, folder: Path, chosen: Chosen) -> list[Job]:
    """One job for each C program of cmocka tests that a stage runs."""
    if stage not in ("unit", "sanitize") or stage == "unit" and chosen.long:
        return []
    build, environment = BUILD, {}
    if stage == "sanitize":
        build, environment = BUILD / "sanitized" / "build", SANITIZERS
    jobs = []
    for program in programs(build):
        report = folder / f"{stage}-{program.name}.xml"
        # With a file named, cmocka writes its report there and nothing to the screen. Its status is
        # the number of tests that failed.
        said = {"CMOCKA_MESSAGE_OUTPUT": "xml", "CMOCKA_XML_FILE": str(report)}
        jobs.append(Job(stage, str(program.relative_to(ROOT)), [*NICE, program], report, tuple(range(126)),
                        said | environment))
    return jobs


def longest_first(stage: str, jobs: list[Job]) -> deque[Job]:
    """Jobs in the order in which they are started."""
    rank = {name: place for place, name in enumerate(LONGEST.get(stage, ()))}
    return deque(sorted(jobs, key=lambda job: rank.get(Path(job.name).stem, len(rank))))


def named(files: list[Path]) -> str:
    """What a job of these files is called."""
    names = [str(file.relative_to(ROOT)) for file in files]
    return names[0] if len(names) == 1 else f"{names[0]} {' '.join(file.stem.removeprefix('test_') for file in files[1:])}"


def pytest_job(stage: str, files: list[Path], folder: Path, chosen: Chosen, environment: dict[str, str],
               places: int = 0) -> Job:
    """One job that runs pytest over files of a folder."""
    names = [str(file.relative_to(ROOT)) for file in files]
    report = folder / f"{names[0].replace('/', '-')}.xml"
    # Sessions that share a folder may both find the same dead link in it, and the second one ends with a traceback.
    scratch = folder.with_name(f"pytest-{folder.name[len(PREFIX):]}-{names[0].replace('/', '-').removesuffix('.py')}")
    return Job(stage, named(files),
               [*(() if places else NICE), PYTHON, *PYTEST, f"--basetemp={scratch}", f"--junitxml={report}",
                *chosen.words(), *names],
               report, (ALL_PASSED, SOME_FAILED, NOTHING_COLLECTED),
               {"PYTHONDONTWRITEBYTECODE": "1"} | environment, places, scratch, tuple(names))


def files_of(group: str, chosen: Chosen) -> list[Path]:
    """The group's test files; with a keyword, those that have a test of that name."""
    folders = [each for each in FOLDERS.get(group, (f"tests/{group}",)) if (ROOT / each).is_dir()]
    files = sorted(file for folder in folders for file in (ROOT / folder).glob("**/test_*.py"))
    if chosen.long:
        files = [file for file in files if tiers.has_long(file)]
    if not chosen.keyword or not files:
        return files
    done = subprocess.run([PYTHON, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider",
                           *chosen.words(), *files], cwd=ROOT, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode == USAGE:
        raise BadKeyword((done.stderr.splitlines() or ["pytest cannot read -k"])[0])
    return [file for file in files if f"{file.relative_to(ROOT)}" in done.stdout]


def batches(group: str, files: list[Path]) -> Iterator[list[Path]]:
    """Files that share a process: neighbours of one folder, as two of one name cannot."""
    single = {*ALONE, *LONGEST.get(group, ())}
    for folder in dict.fromkeys(file.parent for file in files):
        those = [file for file in files if file.parent == folder]
        yield from ([file] for file in those if file.stem in single)
        shared = [file for file in those if file.stem not in single]
        count = min(TOGETHER.get(group, 1), -(-len(shared) // max(CPUS, HOST_PLACES))) or 1
        yield from (shared[first:first + count] for first in range(0, len(shared), count))


def file_jobs(group: str, folder: Path, chosen: Chosen) -> list[Job]:
    """The jobs of a group's files."""
    together = list(batches(group, files_of(group, chosen)))
    share = max(1, CPUS // max(1, len(together)))
    jobs = []
    for files in together:
        first = files[0].stem
        # A guest keeps one processor busy.
        environment = {"TEST_GUESTS": str(max(share, WIDE.get(first, 1)))} if group == "guest" else {}
        places = 0 if group != "host" else HOST_PLACES if first in ALONE else 1
        jobs.append(pytest_job(group, files, folder, chosen, environment, places))
    return jobs


def run_make(stage: str, progress: Progress) -> None:
    """Make what a stage names; a failure ends the run, as what follows needs it."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    told, used = progress.stages[stage], processor_s()
    command = ["make", "-s", "--no-print-directory", f"-j{CPUS}", *MAKES[stage]]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, check=False)
    told.processor_s = processor_s() - used
    if done.returncode:
        tell(f"{stage}: {' '.join(command)} ended with {done.returncode}")
        told.sums["failed"] += 1
        if stage != "lint":
            told.end()
            raise Stopped
    if not told.jobs:
        told.end()


def jobs_of(stage: str, folder: Path, chosen: Chosen) -> deque[Job]:
    """All jobs of a stage."""
    jobs = [job for job in programs_of(stage, folder, chosen)
            if not chosen.keyword or chosen.keyword in job.name]
    return longest_first(stage, jobs + (file_jobs(stage, folder, chosen) if stage in TESTS else []))


def lanes_of(jobs: dict[str, deque[Job]]) -> list[list[deque[Job]]]:
    """The lanes of stages that run at once: those of host, and one more than processors for guests, as a guest waits for
    half of its time until its kernel has detached probes. What keeps a processor busy by itself, unit tests and those of
    the tree, comes last in each: it fills what the last guests leave idle. But for one, lanes of host help with no
    guests: with more than four at a time on two processors, clocks inside run out."""
    host, guests = jobs.get("host", deque()), [jobs["guest"]] if jobs.get("guest") else []
    steady = [due for name, due in jobs.items() if due and name not in ("host", "guest")]
    beside, alone = (deque(job for job in host if (job.places == HOST_PLACES) == one) for one in (False, True))
    lanes = [[beside, alone, *guests, *steady], *[[beside, *steady]] * (HOST_PLACES - 1)] if host else []
    return lanes + [[*guests, *steady]] * (CPUS + len(guests) if guests or steady else 0)


def run_stages(names: tuple[str, ...], chosen: Chosen, progress: Progress) -> None:
    """Run one stage, or several side by side, and tell of each as it ends."""
    progress.begin(*names)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        jobs = {name: jobs_of(name, Path(folder), chosen) for name in names}
        for name, due in jobs.items():
            progress.expect(name, len(due))
            # Sanitized programs are for the tests of them alone.
            if name in MAKES and (due or name != "sanitize"):
                run_make(name, progress)
        if lanes := lanes_of(jobs):
            run_lanes(lanes, Places(HOST_PLACES), progress.tell)
