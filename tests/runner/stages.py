# SPDX-License-Identifier: GPL-2.0
"""The stages of a run, from the cheapest to the longest, and the jobs of each."""
from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections import Counter, deque
from pathlib import Path

from .jobs import ROOT, Job, Places, run_lanes, tell
from .reports import ALL_PASSED, NOTHING_COLLECTED, SOME_FAILED, sentence

BUILD = ROOT / "build"
PYTHON = BUILD / "venv" / "bin" / "python"
PYTEST = ("-m", "pytest", "-q", "-rs", "--durations=3", "--durations-min=20", "--color=no",
          "-p", "no:cacheprovider", "-o", "junit_family=xunit2",
          # Each file is a session: what a failed one left outlives those that follow.
          "-o", "tmp_path_retention_policy=failed", "-o", "tmp_path_retention_count=100")
TESTS = ("unit", "host", "structure", "guest")
# Where a stage's tests are, if not in the folder of its name alone.
FOLDERS = {"unit": ("tests/unit", "studies/tests")}
# From the cheapest to the longest; those of a group run side by side.
GROUPS = (("lint",), ("build",), ("sanitize", "unit", "structure", "host", "guest"))
STAGES = tuple(stage for group in GROUPS for stage in group)
# Jobs of host wait for half of their time, and tell what others on this machine left from what they did
# themselves: two at a time. These are about time, or count what there is on the whole machine.
HOST_PLACES = 2
ALONE = ("test_baseline", "test_leaves_nothing")
# All others take what processors are left.
NICE = ("nice", "-n", "3")
CPUS = os.cpu_count() or 1
# What make is told in each stage; one after the other.
MAKES = {
    "lint": (["lint"],),
    "build": (["WERROR=1", "all", "unit-tests", "arm64"], ["strict-clang"]),
    "sanitize": (["sanitized"],),
}
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1",
              "UBSAN_OPTIONS": "print_stacktrace=1"}
# What is started first, longest first: the last one to end should be a short one.
LONGEST = {
    "unit": ("test_claims_browser", "test_figures", "test_claims_turn", "test_records", "watch_words_test"),
    "sanitize": ("watch_words_test", "join_test"),
    "structure": ("test_install",),
    "host": ("test_campaign", "test_watch_odd", "test_model", "test_sweep", "test_recipes", "test_peer_ends",
             "test_watch_ends", "test_books"),
    "guest": ("test_bpftrace", "test_matrix", "test_watched_paths", "test_modelled", "test_paths", "test_books",
              "test_odd", "test_watch", "test_congestion", "test_causes", "test_programs", "test_arm64"),
}
# Guests that a file may have at a time, if more than one: one after the other, those of this one, in which
# bpftrace compiles for a minute, would end long after all others.
WIDE = {"test_bpftrace": 2}


class Stopped(Exception):
    """What comes later cannot be run."""


class Clock:
    """Time since it was made, and how many processors were busy in it."""

    def __init__(self) -> None:
        self.started, self.used = time.monotonic(), self.processor_s()

    @staticmethod
    def processor_s() -> float:
        """Processor time of all that this process started and has waited for."""
        times = os.times()
        return times.children_user + times.children_system

    def __str__(self) -> str:
        took = max(time.monotonic() - self.started, 0.001)
        busy = (self.processor_s() - self.used) / took
        return f"{took:.1f} s, {busy:.1f} of {CPUS} processors busy"


def programs(build: Path = BUILD) -> list[Path]:
    """List the C test programs that there are sources for: a stale one is not run."""
    sources = sorted(source for folder in FOLDERS["unit"] for source in (ROOT / folder).glob("*_test.c"))
    return [build / source.relative_to(ROOT).with_suffix("") for source in sources]


def programs_of(stage: str, folder: Path) -> list[Job]:
    """One job for each C program of cmocka tests that a stage runs."""
    if stage not in ("unit", "sanitize"):
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
        jobs.append(Job(str(program.relative_to(ROOT)), [*NICE, program], report, tuple(range(126)),
                        said | environment))
    return jobs


def longest_first(stage: str, jobs: list[Job]) -> deque[Job]:
    """Jobs in the order in which they are started."""
    rank = {name: place for place, name in enumerate(LONGEST.get(stage, ()))}
    return deque(sorted(jobs, key=lambda job: rank.get(Path(job.name).stem, len(rank))))


def pytest_job(file: Path, folder: Path, keyword: str | None, environment: dict[str, str],
               places: int = 0) -> Job:
    """One job that runs pytest over a file."""
    name = str(file.relative_to(ROOT))
    report = folder / f"{name.replace('/', '-')}.xml"
    chosen = ["-k", keyword] if keyword else []
    return Job(name, [*(() if places else NICE), PYTHON, *PYTEST, f"--junitxml={report}", *chosen, name],
               report, (ALL_PASSED, SOME_FAILED, NOTHING_COLLECTED),
               {"PYTHONDONTWRITEBYTECODE": "1"} | environment, places)


def files_of(group: str, keyword: str | None) -> list[Path]:
    """The group's test files; with a keyword, those that have a test of that name."""
    folders = [each for each in FOLDERS.get(group, (f"tests/{group}",)) if (ROOT / each).is_dir()]
    files = sorted(file for folder in folders for file in (ROOT / folder).glob("**/test_*.py"))
    if not keyword or not files:
        return files
    done = subprocess.run([PYTHON, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider",
                           "-k", keyword, *folders], cwd=ROOT, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return [file for file in files if f"{file.relative_to(ROOT)}" in done.stdout]


def file_jobs(group: str, folder: Path, keyword: str | None) -> list[Job]:
    """One job for each file of a group."""
    files = files_of(group, keyword)
    share = max(1, CPUS // max(1, len(files)))
    jobs = []
    for file in files:
        # A guest keeps one processor busy.
        environment = {"TEST_GUESTS": str(max(share, WIDE.get(file.stem, 1)))} if group == "guest" else {}
        places = 0 if group != "host" else HOST_PLACES if file.stem in ALONE else 1
        jobs.append(pytest_job(file, folder, keyword, environment, places))
    return jobs


def run_make(stage: str) -> Counter:
    """Make what a stage names; a failure ends the run, as what follows needs it."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    for words in MAKES[stage]:
        command = ["make", "-s", "--no-print-directory", f"-j{CPUS}", *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                              check=False)
        if done.returncode:
            tell(f"{stage}: {' '.join(command)} ended with {done.returncode}")
            if stage != "lint":
                raise Stopped
            return Counter(failed=1)
    return Counter()


def jobs_of(stage: str, folder: Path, keyword: str | None) -> deque[Job]:
    """All jobs of a stage."""
    jobs = [job for job in programs_of(stage, folder) if not keyword or keyword in job.name]
    return longest_first(stage, jobs + (file_jobs(stage, folder, keyword) if stage in TESTS else []))


def lanes_of(jobs: dict[str, deque[Job]]) -> list[list[deque[Job]]]:
    """The lanes of stages that run at once: those of host, which then help the others, one of which begins with
    the cheapest jobs. Guests alone have one lane more than processors, because for half of its time a guest
    waits until its kernel has detached probes; with more than four at a time, clocks inside run out."""
    host, others = jobs.get("host", deque()), [jobs[each] for each in jobs if jobs[each] and each != "host"]
    beside, alone = (deque(job for job in host if (job.places == HOST_PLACES) == one) for one in (False, True))
    lanes = [[beside, alone, *others], *[[beside, *others]] * (HOST_PLACES - 1)] if host else []
    count = CPUS + (not host and bool(jobs.get("guest"))) if others else 0
    return lanes + [others if number == 0 else others[::-1] for number in range(count)]


def run_tests(stages: tuple[str, ...], folder: Path, keyword: str | None) -> Counter:
    """Run the tests of a stage, or of several that run at once."""
    lanes = lanes_of({stage: jobs_of(stage, folder, keyword) for stage in stages})
    sums, failed = run_lanes(lanes, Places(HOST_PLACES)) if lanes else (Counter(), [])
    # Each was told where its file ended; once more where a reader looks first.
    for each in failed:
        tell(f"FAILED {each}")
    return sums


def run_stage(stages: tuple[str, ...], keyword: str | None) -> Counter:
    """Run one stage, or several side by side, and say how long they took."""
    name, clock, sums = ", ".join(stages), Clock(), Counter()
    tell(f"== {name}")
    try:
        for stage in stages:
            if stage in MAKES:
                sums += run_make(stage)
        if stages not in (("lint",), ("build",)):
            with tempfile.TemporaryDirectory(prefix="copyscope-tests-") as folder:
                sums += run_tests(stages, Path(folder), keyword)
    except Stopped:
        sums["failed"] += 1
        raise
    finally:
        counted = f"{sentence(sums)} in " if sums else ""
        tell(f"== {name}: {counted}{clock}")
    return sums
