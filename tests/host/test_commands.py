# SPDX-License-Identifier: GPL-2.0
"""Each command that README and docs print is run as printed, in the order of its page, or a test that runs it is named.

What stands for something of the reader's (a pid, a host, a record) is put in, and a command that takes minutes gets
words that shorten it. nginx serves in a network namespace of its own; another namespace is the second host.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import drawn_terminal, peers, records
from helpers.foreign import words
from helpers.records import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Each of their commands has a test that compares what it prints with the page.
WITH_TESTS = {"CASES.md": "tests/host/test_cases.py", "ONELINERS.md": "tests/host/test_oneliners.py"}
TYPED = re.compile(r"(?:sudo )?(?:(?:\./)?(?:tools|build|packaging)/[a-z]|make |copyscope |ip |docker |unshare |bpftrace )")
# Not run here, with the test or the script that does it.
ELSEWHERE = {
    "make run": "tests/fresh", "make test": "tests/fresh", "make install": "tests/structure/test_install.py",
    "make matrix": "tests/guest/test_matrix.py",
    "docker run": "tests/host/test_containers.py", "./tools/beside_lmbench": "tests/host/test_beside.py",
    "./tools/advise_truth": "tests/unit/test_advise.py", "--arch arm64": "tests/guest/test_arm64.py",
    "--counters model": "tests/guest/test_modelled.py", "build/baseline --quick --nics": "tests/guest/test_baseline.py",
    "--out DIR/mt25023-as-published": "tests/host/test_pmu.py", "./tools/plot DIR/mt25023-as-published": "tests/host/test_pmu.py",
    "./tools/claims check DIR": "studies/tests/test_claims.py", "--missing": "studies/tests/test_claims_missing.py",
    "./tools/published": "tests/host/test_published.py",
    "./tools/facts": "tests/host/test_facts.py", "./tools/plot DIR/modelled": "tests/guest/test_modelled.py",
    "./tools/baseline keep": "tests/host/test_baseline_rows.py",
    "--rounds 3 --json a.json": "tests/host/test_baseline_rows.py", "./tools/baseline agree": "tests/host/test_baseline_rows.py",
    "redis-": "tests/host/test_watch_subjects.py", "./tools/copyscope watch --host": "tests/host/test_watch_far.py", "./tools/copyscope fleet": "tests/host/test_fleet.py",
    "./tools/crossover A2 A3 --path peer": "tests/host/test_peer.py",
    "./tools/advise --host": "tests/host/test_advise.py", "./tools/copyscope run --host": "tests/host/test_run_far.py",
    "./tools/claims report": "studies/tests/test_claims_page.py",
    "./tools/crossover --ways": "tests/unit/test_pairs.py", "./tools/crossover --profile": "tests/unit/test_pairs.py",
}
MOST_S = 240
SEARCH = "--seconds 0.02 --repeats 6 --low 64 --high 128 --nearness 4 --others-at-most 1"
# Words that are added, by how a command begins, and the exit statuses that it may have then.
ADDED = {
    "./tools/copyscope watch --comm nginx --seconds 10": ("--seconds 1", (0,)),
    "./tools/copyscope watch --all --seconds 5": ("--seconds 1", (0,)),
    **dict.fromkeys(("./tools/copyscope advise --path", "./tools/advise --path"), ("--sizes 64 --budget 3", (0,))),
    "./tools/copyscope advise": ("--seconds 1", (0, 1, 4)), "./tools/advise": ("--seconds 1", (0, 1, 4)),
    "./tools/crossover": (SEARCH, (0,)),
    "./tools/sweep --profile mt25023": ("--seconds 0.05 --repeats 1 --sizes 64,4096 --threads 1 --others-at-most 1", (0,)),
    "./tools/sweep": ("--seconds 0.05 --repeats 1 --others-at-most 1", (0,)),
    "./tools/trace_run A3 65536 4 --path peer": ("--messages 100", (0,)),
    # Undecided on a busy machine it makes 30 starts, 12 s apart.
    "./tools/trace_run --alternate": ("--starts 6 --every 0", (0,)),
    "./tools/trace_run A3 65536 4 --kernel": ("--messages 100", (0,)),
    "./tools/trace_run A3 64k 4 --path peer": ("--messages 100", (0,)),
    "./tools/peers": ("--messages 100", (0,)),
    "./tools/predict": ("--quick", (0, 1)),
    "./tools/baseline mistakes": ("", (0, 1)), "./tools/baseline plot": ("", (0,)),
    "./tools/baseline": ("--quick --only syscall", (0,)),
    "./tools/claims check results": ("", (0, 1)),
    "build/workload client 65536 2": ("--seconds 0.2", (0,)),
}
# Until Ctrl-C.
ENDLESS = ("--interval 1", "--metrics ", "--serve ")
# What serves until its client goes, in another terminal.
SERVES = "build/workload server"
NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors; events {{ }}
http {{ sendfile on; access_log off; root {folder}; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; server {{ listen 127.0.0.1:80; }} }}
"""
# Beside what watches nginx alone: it takes a tenth of a processor. Each watch of a second sees some.
FETCHING = "while :; do curl -so /dev/null http://127.0.0.1/file; sleep 0.3; done"
FETCHED = ("copyscope watch", "copyscope advise", "tools/advise")


def printed(page: Path) -> list[str]:
    """The commands of a page, in their order: of indented lines and of fences."""
    text = page.read_text(encoding="utf-8").replace("\\\n        ", "")
    lines = [line.strip() for line in re.findall(r"^    (\S.*)$", text, re.MULTILINE) if TYPED.match(line.strip())]
    fenced = [line for block in re.findall(r"^```sh\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
              for line in block.split("\n") if TYPED.match(line)]
    found = [re.sub(r"\s{2,}#.*$", "", line) for line in (*lines, *fenced)]
    # A synopsis is no command.
    return [line for line in dict.fromkeys(found) if "[--" not in line and "WORD" not in line]


def own(line: str) -> str:
    """A command without sudo: the test is root."""
    return re.sub(r"(^|&& )sudo ", r"\1", line)


def each_once() -> list[tuple[str, str]]:
    """Every command, and the page that has it first."""
    found: dict[str, str] = {}
    for page in PAGES:
        for line in printed(page) if page.name not in WITH_TESTS else ():
            found.setdefault(own(line), page.name)
    return [(name, line) for line, name in found.items()]


COMMANDS = each_once()


def runner_elsewhere(line: str) -> str:
    """What runs a command that is not run here; "" if it is run here."""
    return next((test for word, test in ELSEWHERE.items() if word in line), "")


def test_what_is_run_elsewhere_is_printed_and_its_test_is_there():
    for word, test in (*ELSEWHERE.items(), *WITH_TESTS.items()):
        assert (ROOT / test).exists(), (word, test)
    for word in ELSEWHERE:
        assert any(word in line for _, line in COMMANDS), word
    assert len(COMMANDS) > 60


@dataclass
class Place:
    """Where a reader types: a folder that looks like the tree, in a network namespace with nginx and a second host."""
    folder: Path
    enter: list[str]
    pair: peers.Pair
    nginx: int
    served: list[subprocess.Popen]

    def type(self, line: str, **options) -> subprocess.Popen:
        """Start a line as a shell would."""
        return subprocess.Popen([*self.enter, "bash", "-c", f"cd {self.folder} && {line}"], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "COPYSCOPE_RUNS": str(self.folder / "results/runs")}, start_new_session=True, **options)


@pytest.fixture(scope="module", name="place")
def fixture_place(tmp_path_factory) -> Iterator[Place]:
    """A place, with what the pages take for granted."""
    folder, www = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("www")
    for each in ROOT.iterdir():
        if each.name != "results":
            (folder / each.name).symlink_to(each)
    # A command of a page may write there.
    shutil.copytree(ROOT / "results", folder / "results", ignore=shutil.ignore_patterns("runs"))
    (folder / "results/runs").mkdir(exist_ok=True)
    for variant in ("A1", "A3"):
        kept = ROOT / f"tests/data/run-{variant}-host.json"
        shutil.copy(kept, folder / "results/runs" / f"{json.loads(kept.read_text())['id']}.json")
    (www / "file").write_bytes(bytes(3_000_000))
    (www / "index.html").write_text("here\n")
    (www / "conf").write_text(NGINX.format(folder=www))
    claims = re.search(r"^    \[\[claims\]\]\n(?:    .*\n)+", (ROOT / "docs/CLAIMS.md").read_text(), re.MULTILINE)
    (folder / "mine.toml").write_text(re.sub("^    ", "", claims[0], flags=re.MULTILINE))
    with peers.two_hosts() as pair:
        mounts = subprocess.Popen(["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /run && echo && exec sleep 9999"],
                                  stdout=subprocess.PIPE, start_new_session=True)
        mounts.stdout.readline()
        enter = ["nsenter", f"--net=/proc/{pair.near.holder.pid}/ns/net", f"--mount=/proc/{mounts.pid}/ns/mnt", "--"]
        started = [mounts]
        try:
            subprocess.run([*enter, "ip", "link", "set", "lo", "up"], check=True)
            started.append(subprocess.Popen([*enter, *words("nginx"), "-c", www / "conf", "-p", www], start_new_session=True))
            yield Place(folder, enter, pair, started[1].pid, started)
        finally:
            for each in started:
                end(each)


def end(process: subprocess.Popen) -> None:
    """End a process, and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def as_of_here(line: str, place: Place) -> str:
    """A command with what is the reader's put in."""
    # Nothing is left on this machine.
    line = line.replace("/var/lib/copyscope/", "")
    line = line.replace("-p 1234", f"-p {place.nginx}")
    image = next(iter(sorted((ROOT / "build/kernels").glob("6.1.*/boot/vmlinuz*"))), None)
    line = line.replace("/boot/vmlinuz-6.8.0-45-generic", str(image))
    kept = sorted(each.name[:-5] for each in (place.folder / "results/runs").glob("*.json"))
    for name, which in (("20261122T100144", 0), ("20261122T100145", 1), ("BEFORE", 0), ("AFTER", 1)):
        line = line.replace(name, kept[which] if len(kept) > which else name)
    # A baseline has no rows of a run; the run before it has.
    runs = [name for name in kept if not name.endswith(".baseline")]
    line = line.replace("show last --csv", f"show {runs[-1]} --csv" if runs else "show last --csv")
    # The folder of the sweep before.
    line = re.sub(r"results/(before|after)", "results/mine", line)
    baseline = str(ROOT / "tests/data/baseline-host.json")
    line = re.sub(r"results/runs/ID\.baseline\.json|(?<=mistakes )RECORD|(?<=plot )RECORD", baseline, line)
    line = re.sub(r"\bDIR\b", "made", line)
    if "--path peer" in line:
        fake = shlex.join([str(peers.FAKE_SSH), str(place.pair.far.holder.pid), *peers.ADDRESSES])
        line = re.sub(r' --ssh "[^"]*"| --far "[^"]*"', "", line).replace("10.0.0.1,10.0.0.2", ",".join(peers.ADDRESSES))
        line += f" --ssh {shlex.quote(fake)} --far {records.TRACE_RUN}"
    return line


def marked(page: str, line: str):
    """A command; one that boots guests waits for the long tier, but for README's run in one, which no other test makes.
    So does one that measures prices, reads all records of results/, or does on another page than README what README
    does or a file of tests is about. studies/tests/test_baseline.py draws what the figures of a baseline show,
    tests/unit/test_advise_path.py asks for a path's answer, of made-up turns, and test_alternation.py makes turns."""
    waits = "tools/baseline plot" in line or "advise --path" in line or "--kernel " in line and (page, line.split()[0]) != ("README.md", "./tools/trace_run") or \
        "claims check results" in line or "tools/predict" in line or page == "SWEEPS.md" or page != "README.md" and any(
            word in line for word in ("tools/crossover", "tools/advise", "copyscope advise", "--path peer", "--alternate", "--html", "unshare "))
    return pytest.param(page, line, marks=pytest.mark.long if waits else ())


@records.needs_root
@pytest.mark.parametrize("page, line", [marked(*each) for each in COMMANDS if not runner_elsewhere(each[1])],
                         ids=lambda each: each[:60])
def test_a_printed_command_works(page, line, place):
    added, statuses = next((how for word, how in ADDED.items() if line.startswith(word)), ("", (0,)))
    typed = f"{as_of_here(line, place)} {added}".strip()
    if any(word in line for word in ENDLESS):
        # It has shown an interval by then.
        typed, statuses = f"timeout -s INT 3 {typed}", (0, 124, 130)
    fetching = [place.type(FETCHING)] if any(word in line for word in FETCHED) else []
    started = place.type(typed)
    if SERVES in line:
        place.served.append(started)
        return
    try:
        out, err = started.communicate(timeout=MOST_S)
    finally:
        for each in (started, *fetching):
            end(each)
    # Beside load the kernel may run no program for an end, of any process: what was watched then is undecided.
    if "missing: a watch whose programs saw every socket end" in out:
        statuses = (1,)
    assert started.returncode in statuses, f"{page}: {typed}\n{out[-1500:]}\n{err[-1500:]}"
    assert out or err or "ip " in line or " > " in line or " -q " in line
    if (page, "--kernel " in line) == ("README.md", True):
        picture = ROOT / "docs/terminal-light.svg"
        assert drawn_terminal.row_names(picture) <= {row.partition("  ")[0] for row in out.split("\n")} | {f"$ {line}"}
