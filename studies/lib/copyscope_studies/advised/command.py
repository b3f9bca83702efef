# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/advise_truth: advise, measure each other way, write both."""
from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, complain, folder, seconds, share, whole
from copyscope.common.errors import CommandError
from copyscope.common.tree import GUEST as GUEST_PROGRAM, ROOT
from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.model.changes import RING_ROWS, ROWS
from copyscope.model.costs import Costs
from copyscope.records.load import load_records
from copyscope.runs import baseline, launch
from copyscope.runs.plan import MOST_OTHERS

from .truth import WRONG, Row, advised, found, page, sheet, summary, table
from .workloads import GUEST, NATIVE, PLAIN, SERIES, WAYS, Series

PAGE, TITLE = "advice.md", "# Advice, and what the other way then took"
PROOFS = {PAGE: has_line(TITLE)}
REPEATS, SECONDS = 6, 0.5
KERNEL = "6.12"
# Copies and pins are the same each time; how many packets form a batch is not.
GUEST_REPEATS = 4
GUEST_SECONDS = 900
EPILOG = """\
First the prices are measured and the advice is written (advice.csv). Then each workload is run
plain and by each other way: natively in rounds, by the task clocks of both ends; in guests by the
instructions that an emulator counts, which no other load changes. Prices of guests are
instructions, too: their clock ticks once for each. DIR/runs keeps every run; what is there is not
made again.
exit: 0 no sign is wrong; 1 one is, or a run failed; 2 bad usage; 3 this machine refuses
example: sudo ./tools/advise_truth --out results/advice"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/advise_truth", EPILOG)
    add = parser.add_argument
    add("--out", type=folder, required=True, metavar="DIR", help="where the files go")
    add("--only", choices=(NATIVE, GUEST), help="these workloads alone")
    add("--repeats", type=whole(1, 100), default=REPEATS, metavar="N",
        help=f"rounds of native runs ({REPEATS}); of guests at most {GUEST_REPEATS}")
    add("--seconds", type=seconds, default=SECONDS, metavar="S",
        help=f"of each run ({SECONDS:g})")
    add("--others-at-most", type=share, default=MOST_OTHERS, metavar="SHARE",
        help="of the CPUs' time that other programs may use beside a native run, as in tools/sweep")
    add("--kernel", default=KERNEL, metavar="RELEASE", help=f"of the guests ({KERNEL})")
    return parser


def guest_prices(place: Path, kernel: str) -> None:
    """Measure the baseline's rows in a guest whose clock counts instructions."""
    words = [GUEST_PROGRAM, "--kernel", kernel, "--icount", "--timeout", str(GUEST_SECONDS),
             "--out", place, "--", "build/baseline",
             *baseline.words_of((*ROWS, *RING_ROWS), quick=True)[:-1], "/out/prices.json"]
    if subprocess.run(words, check=False, stdin=subprocess.DEVNULL).returncode:
        raise CommandError("prices of the guest: it failed, see above")


def prices(place: Path, where: str, kernel: str) -> Costs:
    """The prices of a place, measured unless they are there."""
    file = place / f"prices-{where}" / "prices.json"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        print(f"advise_truth: measuring prices, {where}", file=sys.stderr, flush=True)
        if where == GUEST:
            guest_prices(file.parent, kernel)
        else:
            file.write_bytes(baseline.measure_in_turn((*ROWS, *RING_ROWS)))
    return Costs.load(file)


def sweep_words(series: Series, options: argparse.Namespace) -> list[str]:
    """The command that makes the runs of a series."""
    words = ["./tools/sweep", "--variants", ",".join((PLAIN, *WAYS)), "--sizes",
             ",".join(map(str, series.sizes)), "--threads", "1", "--path", series.path, "--pattern",
             series.pattern, "--pass", "timed", "--seconds", f"{options.seconds:g}", "--quiet",
             "--out", str(options.out.resolve() / "runs" / series.name)]
    if series.where == GUEST:
        return [*words, "--kernel", options.kernel, "--counters", "model", "--repeats",
                str(min(options.repeats, GUEST_REPEATS))]
    return [*words, "--repeats", str(options.repeats), "--others-at-most",
            f"{options.others_at_most:g}"]


def measured(rows: list[Row], series: Series, options: argparse.Namespace) -> list[Row]:
    """Make the runs of a series."""
    words = sweep_words(series, options)
    print(f"advise_truth: {series.name}", file=sys.stderr, flush=True)
    done = subprocess.run(words, cwd=ROOT, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL)
    if done.returncode:
        raise CommandError(f"{series.name}: the sweep ended with {done.returncode}; the same "
                           "command continues from here")
    records = load_records([options.out / "runs" / series.name],
                           lambda line: complain("advise_truth", line))
    return found(rows, series, records)


def explain(rows: list[Row], costs: dict[str, Costs], words: list[str]) -> str:
    """The page."""
    machines = [f"- {where}: {each.data['machine']['cpu_model']}, kernel "
                f"{each.data['machine']['kernel']}, prices {each.id}"
                for where, each in costs.items()]
    return "\n".join([
        TITLE, "", *machines, f"- command: `./tools/advise_truth {shlex.join(words)}`", "",
        "A row is one message of that many bytes: what it takes plain, what the advice said of",
        "another way, and what that then added; both ends together. [advice.csv](advice.csv) was",
        "written before the runs, [truth.csv](truth.csv) has both.", "",
        *(f"    {line}" for line in summary(rows)), "", *page(rows)]) + "\n"


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    launch.check_built("host")
    baseline.check_built()
    chosen = [each for each in SERIES if options.only in (None, each.where)]
    with OutputFolder.at(options.out) as place:
        place.claim("tools/advise_truth", PROOFS, {})
        place.write(PAGE, TITLE + "\n")
        costs = {where: prices(options.out, where, options.kernel)
                 for where in dict.fromkeys(each.where for each in chosen)}
        rows = advised(costs, chosen)
        place.write("advice.csv", sheet(rows))
        for series in chosen:
            rows = measured(rows, series, options)
            place.write("truth.csv", table(rows))
            place.write(PAGE, explain(rows, costs, words))
    print(*summary(rows), sep="\n")
    return 1 if any(row.sign == WRONG for row in rows) else 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "advise_truth",
                   stopped="interrupted; the same command continues from here")
