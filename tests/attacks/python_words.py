# SPDX-License-Identifier: GPL-2.0
"""Command lines of every Python tool."""
from __future__ import annotations

import shutil

from attacks import judge, scripts, started
from attacks.attack import Attack, Case
from attacks.words import damage
from helpers.records import ROOT

GOOD = {
    "advise": ["--record record.json", "--record record.json --baseline baseline.json --source file --json o.json",
               "-p 1 --seconds 0.1 --path nic --quiet", "--comm x"],
    "advise_truth": ["--out o", "--only native --repeats 1 --seconds 0.1 --out o"],
    "sweep": ["--profile standard --dry-run", "--variants A1,A2 --sizes 64,4k --path lo --dry-run", "--profile mt25023 --mode corrected --out o --quiet",
              "--profile model --sizes 64,4k --threads 1,2 --repeats 2 --dry-run --seconds 0.3",
              "--profile mine.toml --variants A1,A2 --kernel 6.12 --out o"],
    "plot": ["record.json --out o", "record.json --profile standard --out o", "folder --out o"],
    "crossover": ["A2 A3 --path veth", "A1 A2 --low 64 --high 4k --nearness 1.5 --repeats 6",
                  "A2 A3 --baseline baseline.json --seconds 0.1 --threads 2 --json o.json --quiet",
                  "A1-plain A1-plain:trunc --path lo", "--ways --path lo --out o"],
    "predict": ["--out o", "baseline.json record.json --out o", "--quick --seconds 0.2 --out o"],
    "matrix": ["--out o --kernels 6.12 --paths veth --variants A3", "--jobs 2 --messages 20 --quiet",
               "--ways --resume --kernels 6.12 --out o"],
    "peers": ["--kernel 6.12 A3 64 1", "--json o.json --memory 512M A1 64 1 --messages 5"],
    "guest": ["--list", "--kernel 6.12 -- true", "--kernel 6.1 --cpus 1 --memory 512M -- uname -r",
              "--kernel 6.12 --nics 2 --out o --timeout 20 -- true", "--kernel 9.9 --fetch"],
    "beside_lmbench": ["--bin folder", "--bin folder --rounds 1 --only x --out o"],
    "beside_iperf3": ["--bin folder", "--bin mine.toml --pairs 1 --seconds 1 --connections 2"],
    "baseline": ["mistakes baseline.json", "agree baseline.json baseline.json",
                 "keep baseline.json --out o", "plot baseline.json --out o"],
    "copyscope": ["--help", "--version", "help run", "completion bash", "run A3 64 1",
                  "plot record.json --out o", "guest --list"],
    "claims": ["list", "show MT25064-C6", "check record.json", "check folder --claims mine.toml",
               "check record.json --only MT25064-C6 --evidence --json o.json", "check record.json --missing", "run MT25064-C6",
               "report folder --out page"],
    "facts": ["--only layout", "--only layout --json o.json", "--only locks --only layout --quiet"],
    "published": ["MT25023 --no-books --json o.json", "MT25024 ls", "--help"],
    "records": ["list", "list --in folder", "show record.json", "show ./record.json --laws",
                "show record.json --csv", "show last", "show 2026 --in ."],
    "compare": ["record.json record.json", "record.json folder --json o.json", "o record.json",
                "record.json record.json --json -"],
}
OPTIONS = {
    "advise": ["--pid", "--comm", "--record", "--seconds", "--source", "--path", "--sizes", "--threads", "--out", "--against", "--baseline",
               "--json", "--quiet"],
    "advise_truth": ["--only", "--repeats", "--seconds", "--others-at-most", "--kernel", "--out"],
    "sweep": ["--profile", "--mode", "--path", "--pattern", "--sizes", "--threads", "--variants", "--repeats", "--seconds",
              "--kernel", "--out", "--dry-run", "--quiet"],
    "plot": ["--out", "--profile"],
    "crossover": ["--path", "--pattern", "--low", "--high", "--nearness", "--threads", "--seconds",
                  "--repeats", "--baseline", "--json", "--ways", "--out", "--quiet"],
    "predict": ["--out", "--seconds", "--repeats", "--quick", "--quiet"],
    "matrix": ["--kernels", "--paths", "--variants", "--bytes", "--messages", "--jobs", "--out",
               "--ways", "--resume"],
    "peers": ["--kernel", "--memory", "--timeout", "--json"],
    "guest": ["--kernel", "--modules", "--arch", "--cpus", "--memory", "--timeout", "--nics",
              "--net", "--forward", "--out", "--with", "--add", "--plugin", "--no-snapshot", "--list", "--fetch"],
    "beside_lmbench": ["--bin", "--version-is", "--rounds", "--only", "--dir", "--out", "--quiet"],
    "beside_iperf3": ["--bin", "--connections", "--bytes", "--pairs", "--seconds", "--quiet"],
    "baseline": ["--out", "--quiet", "--json"],
    "copyscope": ["--help", "--version"],
    "compare": ["--json"],
    "facts": ["--only", "--json", "--quiet"],
    "published": ["--json", "--no-books"],
    "records": ["--in", "--laws", "--csv"],
    "claims": ["--claims", "--only", "--report", "--evidence", "--missing", "--json", "--records", "--out"],
}
# Whatever these would do as root, they would do to the shared folder of guest kernels.
AS_NOBODY = ("guest", "peers", "matrix")
REAL_SHARE = 0.02


def provide(case: Case) -> None:
    """Files that good words name."""
    shutil.copy(ROOT / "tests/data/run-A3-host.json", case.place / "record.json")
    shutil.copy(ROOT / "tests/data/baseline-host.json", case.place / "baseline.json")
    shutil.copy(ROOT / "studies/profiles/standard.toml", case.place / "mine.toml")
    (case.place / "folder").mkdir()
    for each in case.place.iterdir():
        each.chmod(0o777 if each.is_dir() else 0o666)


def try_words(case: Case) -> None:
    """Words of one tool, that cannot start another program: what it can do wrong, it does itself."""
    provide(case)
    tool = case.dice.choice(sorted(GOOD))
    words = damage(case.dice.choice(GOOD[tool]).split(), OPTIONS[tool], case.dice)
    if tool == "baseline" and (not words or words[0] not in ("mistakes", "agree", "keep", "plot")):
        words.insert(0, "mistakes")
    steps = []
    real = tool not in AS_NOBODY and case.dice.random() < REAL_SHARE
    if real:
        # Nothing keeps it from starting a run, so such words are damaged for certain.
        words.append("--no-such-option")
    elif tool in AS_NOBODY or case.dice.random() < 0.5:
        shutil.chown(case.place, started.NOBODY)
        steps.append(started.become_nobody)
    done = scripts.run(tool, words, case.place, *steps, real=real)
    judge.ended_soundly(done)
    judge.refusal_is_one_line(done)


ATTACKS = [Attack(
    "python-words", "No command line of sweep, plot, crossover, predict, matrix, peers, guest, "
    "beside_lmbench or baseline's readers ends in a traceback, prints a control character or more "
    "than one line of refusal.", "command lines", 2500, 60, try_words, batch=250,
    needs_root=True, prepare=scripts.load)]
