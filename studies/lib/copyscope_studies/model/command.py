# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/predict: measure or read, fit, predict, write tables and a figure."""
from __future__ import annotations

import argparse
import shlex
import signal
import sys
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, complain, folder, number, seconds, share
from copyscope.common.errors import Unusable
from copyscope.common.needs import drawing
from copyscope.common.text import csv_text, size_text, wrapped
from copyscope.files.output_folder import OutputFolder
from copyscope.model.costs import Costs
from copyscope.model.terms import FITTED, PREDICTED, TERMS, Fit, dominant
from copyscope.records.load import load_records
from copyscope.records.run_record import Record
from copyscope.runs import paths

from . import of_ways
from .evaluate import Point, fit, median_error, noise, path_of, points, why_not
from .measure import BEGUN, PAGE, PROOFS, REPEATS, TITLE, measure

MOST_ERROR = 0.25           # median over all predictions; above it the model does not hold
EPILOG = """\
With --out alone, predict first measures everything into DIR, in about 8 minutes: the baseline's
prices (baseline.json) and the runs of the sweep profile "model", over loopback or on --path. It
keeps what DIR already holds. Or give both: BASELINE is a record of tools/baseline; RECORDS are runs
of the same machine without probes, on one path, with one connection. The model is fitted to those
of A1-plain alone. A3 is predicted where this machine's kernel takes packets in.
exit: 0 written; 1 written, but the median error is above 25 % or a prediction is not above 0 ns,
or measuring failed; 2 bad usage or input, nothing written; 3 this machine refuses, or matplotlib
is missing
example: sudo ./tools/predict --out results/runs/model"""
LOOPBACK = "lo"
HEAD = ("variant", "message_bytes", "n", "measured_ns", "measured_low_ns", "measured_high_ns",
        "predicted_ns", "error", "dominant")


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/predict", EPILOG)
    add = parser.add_argument
    add("baseline", nargs="?", type=Path, metavar="BASELINE",
        help="what single operations cost here")
    add("records", nargs="*", metavar="RECORDS", help="run records, folders, or a sweep's folder")
    add("--out", type=folder, required=True, metavar="DIR", help="where the files go")
    paths.add_options(parser, LOOPBACK)
    add("--seconds", type=seconds, metavar="S", help="of each run that is made, not the profile's")
    add("--repeats", type=number, metavar="N", help=f"runs of each point ({REPEATS})")
    add("--others-at-most", type=share, metavar="SHARE",
        help="of the CPUs' time that other programs may use beside a run, as in tools/sweep")
    add("--quick", action="store_true", help="measure roughly, in under a minute")
    add("--quiet", action="store_true", help="no progress")
    return parser


def inputs(options: argparse.Namespace) -> tuple[Path, list[str]]:
    """The baseline and the records: those named, or those measured now."""
    if options.baseline is None:
        path = options.path or LOOPBACK
        return measure(options.out, options.seconds, options.repeats, options.quick, options.quiet,
                       options.others_at_most, path, paths.runnable(options, path)), \
            [str(options.out)]
    paths.refuse_beside(options, "a record")
    if not options.records:
        raise Unusable("RECORDS are missing: give runs too, or no BASELINE, to measure both")
    if options.seconds or options.repeats or options.quick or options.others_at_most is not None:
        raise Unusable("--seconds, --repeats, --others-at-most and --quick say how to measure: "
                       "leave out BASELINE and RECORDS")
    return options.baseline, options.records


def csv_of(found: list[Point]) -> str:
    """The table: a row a variant and size, a column a term."""
    def cells(each: Point) -> list[object]:
        spread = each.measured
        return [each.variant, each.size, spread.n, *(
            f"{value:.1f}" for value in (spread.middle, spread.low, spread.high, each.predicted)),
            f"{each.error:.4f}", dominant(each.terms),
            *(f"{each.terms[name]:.1f}" if name in each.terms else "" for name in TERMS)]

    return csv_text([*HEAD, *(f"{name}_ns" for name in TERMS)], map(cells, found))


def ranges(mine: list[Point]) -> str:
    """Which term takes most, from which size to which."""
    runs: list[tuple[str, list[int]]] = []
    for each in mine:
        name = dominant(each.terms)
        if not runs or runs[-1][0] != name:
            runs.append((name, []))
        runs[-1][1].append(each.size)
    return ", ".join(f"{name} from {size_text(sizes[0])} to {size_text(sizes[-1])}"
                     if len(sizes) > 1 else f"{name} at {size_text(sizes[0])}"
                     for name, sizes in runs)


def summary(found: list[Point], path: str) -> list[str]:
    """One line a variant: its error, and what dominates where; then all together."""
    lines = []
    for variant in (FITTED, *PREDICTED):
        mine = [each for each in found if each.variant == variant]
        error = median_error(found, variant)
        if error is None:
            lines.append(f"{variant:9} {'not predicted: ' * bool(why_not(variant, path))}"
                         f"{why_not(variant, path) or 'not run'}")
            continue
        worst = max(mine, key=lambda each: abs(each.error))
        told = "fitted" if variant == FITTED else \
            f"median error {error:.0%}, worst {worst.error:+.0%} at {size_text(worst.size)}"
        lines.append(f"{variant:9} {told}; most goes to {ranges(mine)}")
    scatter = "one run a point, so how far repeats lie apart is not known" \
        if max(each.measured.n for each in found) == 1 else \
        f"repeats of a point lie within {noise(found):.0%} of their median, in the median"
    return [*lines, f"predicted median error {median_error(found, *PREDICTED):.0%} over "
            f"{sum(each.variant != FITTED for each in found)} points; {scatter}"]


def doubts(found: list[Point]) -> list[str]:
    """Why these predictions are not to be trusted, a sentence each; none if all is well."""
    error, said = median_error(found, *PREDICTED), []
    if error is not None and error > MOST_ERROR:
        said.append(f"the median error is {error:.0%}, above {MOST_ERROR:.0%}: the model does not "
                    "hold, or the machine was not quiet")
    # A prediction adds differences of prices; prices of a busy machine can contradict each other.
    below = ", ".join(f"{each.variant} at {size_text(each.size)}"
                      for each in found if each.predicted <= 0)
    if below:
        said.append(f"predictions that are not above 0 ns ({below}): the prices contradict each "
                    "other; measure them again on a quiet machine, with another --out")
    return said


def table(found: list[Point]) -> list[str]:
    """Predicted against measured, in Markdown."""
    rows = ["| variant | bytes | measured, us | predicted, us | error | most goes to |",
            "|---|---:|---:|---:|---:|---|"]
    return rows + [f"| {each.variant} | {each.size} | {each.measured.middle / 1e3:.2f} | "
                   f"{each.predicted / 1e3:.2f} | {each.error:+.0%} | {dominant(each.terms)} |"
                   for each in found if each.variant != FITTED]


def where(records: list[Record]) -> str:
    """Where the predictions hold."""
    return paths.told(path_of(records), records[0].kernel)


def note_of(records: list[Record], costs: Costs) -> str:
    """Where, when and of what."""
    days = sorted({record.at("started")[:10] for record in records})
    first = records[0]
    return (f"{len(records)} runs without probes, path {path_of(records)}, one connection, "
            f"kernel {first.kernel}, {first.at('machine.cpu_model')}, {first.at('machine.cpus')} "
            f"CPUs, {days[0]}{'' if len(days) == 1 else f' to {days[-1]}'}; baseline {costs.id}")


def explain(found: list[Point], fitted: Fit, note: str, records: list[Record],
            words: list[str]) -> str:
    """The page beside the table and the figure."""
    return "\n".join([
        TITLE, "", f"- {note}",
        f"- command: `./tools/predict {shlex.join(words)}`",
        f"- commit: {records[0].at('tool.commit')}", "",
        f"{FITTED} is fitted. The others are predicted from it and the baseline's prices; nothing",
        "measured of them is used. A term is named by what it is spent on:", "",
        *(f"- {name}: {meaning}" for name, meaning in TERMS.items()), "",
        *(f"    {line}" for line in (*summary(found, path_of(records)), *doubts(found))), "",
        *table(found), "", *of_ways.table(fitted, [each.size for each in found],
                                          path_of(records))]) + "\n"


def write(found: list[Point], fitted: Fit, folder: Path, note: str, page: str,
          path: str) -> list[Path]:
    """Write every file; drawn first, so that what cannot be drawn leaves none."""
    from copyscope.drawing import save  # pylint: disable=import-outside-toplevel

    from .draw import draw  # pylint: disable=import-outside-toplevel

    figure = draw(found, note)
    with OutputFolder.at(folder) as place:
        # First: whatever ends this early, the folder can be told from somebody else's.
        place.write(PAGE, page)
        place.write("predictions.csv", csv_of(found))
        sizes = sorted({each.size for each in found})
        place.write(of_ways.SHEET, of_ways.sheet(fitted, sizes, path))
    return [folder / "predictions.csv", folder / of_ways.SHEET, folder / PAGE,
            *save(figure, folder / "predicted-against-measured")]


def act(words: list[str]) -> int:
    """Do what the words ask for."""
    options = build_parser().parse_args(words)
    # What was measured could not be drawn without matplotlib: refused before the work.
    drawing(f"{__package__}.draw")
    if options.out.exists():
        with OutputFolder.at(options.out) as place:
            place.claim("tools/predict", PROOFS, BEGUN)
    baseline, sources = inputs(options)
    costs, records = Costs.load(baseline), load_records(
        sources, lambda line: complain("predict", line))
    if not records:
        raise Unusable("no records found; run the sweep first")
    found = points(costs, records)
    if median_error(found, *PREDICTED) is None:
        raise Unusable(f"nothing to predict: give runs of {', '.join(PREDICTED)} at sizes from 8 "
                       f"times the smallest of {FITTED} up to its largest")
    note, fitted = note_of(records, costs), fit(costs, records)
    path = path_of(records)
    files = write(found, fitted, options.out, note,
                  explain(found, fitted, note, records, words), path)
    print(*summary(found, path), *wrapped(where(records)), *files, sep="\n")
    for doubt in (doubted := doubts(found)):
        print(f"predict: {doubt}", file=sys.stderr)
    return 1 if doubted else 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "predict", advice="; choose another --out or make room",
                   stopped="interrupted; the same command continues from here")
