# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/claims: list, show, check, run, report, fix."""
from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

from copyscope import cli
from copyscope.cli import Parser, folder
from copyscope.common.errors import Unusable, escaped
from copyscope.common.text import wrapped
from copyscope.common.tree import ROOT, called
from copyscope.files.output_folder import OutputFolder
from copyscope.files.record_file import write_whole
from copyscope.records import documents

from . import document, files, judge, ledger, missing, needs, questions, sources
from .files import Claim
from .judge import CONFIRMED, OUT_OF_SCOPE, WORDS, Verdict
from .ledger import History
from .page import whole
from .page.front import Place
from .page.verdicts import RECORD
from .world import World

NAME = "claims"
CLAIMS = ROOT / "studies" / "claims"
EXIT_CONFIRMED, EXIT_NOT = 0, 1
RESULTS = ROOT / "results"
QUESTIONS = CLAIMS / "page"
ACTS = ("list", "show", "check", "run", "report", "fix")
EPILOG = """\
list                  every claim: id, category, what it says
show ID...            claims in full: predicate, the runs they need, what leaves them undecided
check RECORDS...      judge claims by records that exist: files and folders of run, sweep, matrix,
                      watch, baseline, crossover, facts
run [ID...]           the commands that make the runs which claims lack, for --records; with --make
                      they are carried out
report [FOLDER]       judge all claims of the reports by a folder of results, results/ if none is
                      named, and write the page that answers to --out: index.html, README.md and
                      verdicts.json
fix                   write studies/claims/fixed.toml: the commit that fixed each predicate

A verdict is CONFIRMED or REFUTED; DIFFERS HERE, of a value of the authors' machine; CONTRADICTED
BY ITS OWN NUMBERS; UNDECIDED with what is missing; or OUT OF SCOPE, about the report itself. Counts
are judged exactly; times by the 95 % interval of at least 6 repeats without probes on a machine
that is not emulated. docs/CLAIMS.md has the language of predicates.
exit: 0 judged; of --claims: every claim is confirmed; 1 of --claims: one is not; 2 bad usage, bad
claims or bad records
examples: ./tools/claims check results --report MT25064
          ./tools/claims check run.json --claims mine.toml --evidence
          ./tools/claims report --out results/claims"""


def build_parser() -> Parser:
    """Describe the options."""
    parser = Parser("./tools/claims", EPILOG)
    add = parser.add_argument
    add("act", choices=ACTS, metavar="|".join(ACTS), help="what to do; see below")
    add("words", nargs="*", metavar="WORD", help="ids of claims, or records")
    add("--claims", action="append", type=folder, metavar="FILE",
        help="claims of yours, instead of those of the reports; can be repeated")
    add("--only", type=lambda text: text.split(","), default=[], metavar="ID,...",
        help="judge these claims alone")
    add("--report", metavar="NAME", help="only claims whose id begins with it, such as MT25064")
    add("--evidence", action="store_true", help="show steps, records and intervals of each verdict")
    add("--missing", action="store_true", help="of check: what each undecided claim waits for, "
        "with the command that decides it, and the runs that may decide the most on this machine")
    add("--json", metavar="FILE", help="write the verdicts there, too; - for stdout")
    add("--records", action="append", type=folder, default=[], metavar="PATH",
        help="of run: records that exist; can be repeated")
    add("--out", type=folder, metavar="DIR", help="of run and --missing: where the runs go; of "
        "report: where the page goes")
    add("--make", action="store_true", help="of run: carry the commands out (root, long)")
    return parser


def claim_files(own: list[Path] | None) -> list[Path]:
    """The files to read: the numbers that reports published, which claims of one's own may use,
    too; then the claims, those named or the tree's."""
    found = own or sorted(CLAIMS.glob("*.toml"))
    if not found:
        raise Unusable(f"{CLAIMS}: no claims are there; name a file with --claims")
    return [*sorted((CLAIMS / "numbers").glob("*.toml")), *found]


def chosen(claims: list[Claim], ids: list[str], report: str | None) -> list[Claim]:
    """The claims of these ids and of this report; all if none is named."""
    known = {each.id for each in claims}
    for each in ids:
        if each not in known:
            raise Unusable(f"{each!r} is the id of no claim; see ./tools/claims list")
    found = [each for each in claims if (not ids or each.id in ids) and
             (not report or each.id.startswith(f"{report}-"))]
    if not found:
        raise Unusable(f"--report {report!r}: no claim has such an id; see ./tools/claims list")
    return found


def show(claim: Claim) -> list[str]:
    """A claim in full."""
    way = "by measurement" if claim.measured else "from the report's own numbers" \
        if claim.predicate else "not by what is measured here" if claim.unmeasured else \
        "not: it is about the report itself"
    parts = [("says", claim.statement), ("category", claim.category), ("where", claim.where),
             ("words", claim.words), ("kind", claim.kind), ("as", claim.told), ("of", claim.of),
             ("program", claim.program), ("judged", way), ("given", " ".join(claim.given.split())),
             ("predicate", " ".join(claim.predicate.split())),
             ("here", " ".join(claim.here.split())), ("there", " ".join(claim.there.split())),
             ("unmeasured", claim.unmeasured), ("beyond", claim.beyond),
             ("runs", "; ".join(claim.runs)), ("undecided", claim.undecidable)]
    return [f"{claim.id}  ({claim.source.name}:{claim.line})",
            *(f"  {name:10} {text}" for name, text in parts if text)]


def tell(line: str) -> None:
    """Say what was left out."""
    print(f"{NAME}: {escaped(line)}", file=sys.stderr)


def judged(claims: list[Claim], world: World, records: list[Path]) -> list[Verdict]:
    """Judge claims by records."""
    for each in sources.items(records, tell):
        world.add(each)
    return [judge.judge(each, world) for each in claims]


def summary(verdicts: list[Verdict]) -> str:
    """How many of each verdict."""
    counts = Counter(each.word for each in verdicts)
    return f"{len(verdicts)} claims: " + ", ".join(
        f"{counts[word]} {word.lower()}" for word in WORDS)


def undecided(verdicts: list[Verdict], records: list[str]) -> str:
    """Why the undecided are so, if most are for one reason; and what makes the runs they lack."""
    whys = Counter(line for each in verdicts for line in judge.reason(each))
    if not whys:
        return ""
    (why, count), = whys.most_common(1)
    every = sum(whys.values())
    said = f"{count} of {every} undecided for one reason: {escaped(why)}" if 2 * count > every \
        else f"{every} undecided, each for the reason below it"
    if any(each.claim.runs for each in verdicts if each.word == judge.UNDECIDED):
        said += f"; ./tools/claims run --records {records[0]} prints what makes the runs that lack"
    return called(said)


def check(options: argparse.Namespace, claims: list[Claim], world: World) -> int:
    """Judge claims and print the verdicts."""
    if not options.words:
        raise Unusable("no records are named: give files or folders of them")
    verdicts = judged(claims, world, [folder(each) for each in options.words])
    if options.missing:
        found = missing.lines(verdicts, missing.this_machine(), options.out or Path("DIR"),
                              options.words[0])
        print(*(called(each) for each in found), sep="\n")
        return EXIT_CONFIRMED
    for each in verdicts if options.json != "-" else ():
        print(f"{each.claim.id:14} {each.word:12} {each.claim.statement}")
        for line in judge.lines(each) if options.evidence else judge.reason(each):
            print(*wrapped(f"    {escaped(line)}", "      "), sep="\n")
    if options.json:
        text = document.text(document.whole(verdicts, world))
        if options.json == "-":
            print(text, end="")
        else:
            write_whole(folder(options.json), text)
    if options.json != "-":
        print(summary(verdicts))
        for line in wrapped(undecided(verdicts, options.words)):
            print(line)
    held = all(each.word in (CONFIRMED, OUT_OF_SCOPE) for each in verdicts)
    return EXIT_CONFIRMED if held or not options.claims else EXIT_NOT


def lacking(claims: list[Claim], world: World, records: list[Path]) -> list[str]:
    """The needs of claims that records leave undecided, each once."""
    found = [need for each in judged(claims, world, records) if each.word == judge.UNDECIDED
             for need in each.claim.runs]
    return list(dict.fromkeys(found))


def run(options: argparse.Namespace, claims: list[Claim], world: World) -> int:
    """Print the commands that make what is lacking; carry them out if that is asked for."""
    if options.make and not options.out:
        raise Unusable("--out DIR is missing: say where the runs go")
    if options.make:
        with OutputFolder.at(options.out) as out, out.subfolder(needs.SINGLE):
            pass
    commands = [needs.command(each, options.out or Path("DIR"))
                for each in lacking(claims, world, options.records)]
    for each in commands:
        print(shlex.join(each), flush=True)
        if options.make:
            done = subprocess.run([ROOT / each[0], *each[1:]], check=False,
                                  stdin=subprocess.DEVNULL)
            if done.returncode:
                raise Unusable(f"{each[0]} ended with status {done.returncode}: the same command "
                               "goes on")
    if not commands:
        print("no claim lacks a run")
    return EXIT_CONFIRMED


def page(options: argparse.Namespace, claims: list[Claim], world: World) -> int:
    """Judge all claims by a folder of results, and write the page and the record."""
    if len(options.words) > 1:
        raise Unusable("report reads one folder of results; name one, or none")
    if not options.out:
        raise Unusable("--out DIR is missing: say where the page goes, such as results/claims")
    results = folder(options.words[0]) if options.words else RESULTS
    if not results.is_dir():
        raise Unusable(f"{results}: no such folder: name a folder of results")
    place = Place(results.resolve(), options.out.resolve())
    found, spoken = questions.read_all(sorted(QUESTIONS.glob("*.toml")), world,
                                       {each.id for each in claims})
    with OutputFolder.at(options.out) as out:
        out.claim("tools/claims", {RECORD: documents.has_schema(document.SCHEMA)})
        verdicts = judged(claims, world, [each for each in place.folders() if each != place.out])
        made = document.whole(verdicts, world, [questions.answer(each, world) for each in found],
                              spoken)
        # Drawn before anything is written, and the record first: it marks the folder as ours.
        pages = whole.pages(made, place)
        for name, text in {RECORD: document.text(made), **pages}.items():
            out.write(name, text)
    print(summary(verdicts))
    print(f"{place.out / 'index.html'}: the page; README.md and {RECORD} are beside it")
    return EXIT_CONFIRMED


def fix(claims: list[Claim]) -> int:
    """Write the ledger by the history of the claims."""
    history = History(ROOT)
    if not history.whole():
        raise Unusable(f"{ROOT}: git's whole history is not here: clone the repository, not a part")
    entries = history.entries()
    for each in claims:
        if each.predicate and (each.id not in entries or entries[each.id].text != each.hash):
            raise Unusable(f"{each.source}:{each.line}: the predicate of {each.id} is in no "
                           "commit: commit it first")
    write_whole(ledger.FILE, ledger.text(entries.items()))
    after = sum(each.after_numbers for each in entries.values())
    print(f"{ledger.FILE}: {len(entries)} predicates, {after} of them fixed after results had been "
          "judged")
    return EXIT_CONFIRMED


def act(arguments: list[str]) -> int:
    """Do what the arguments ask for."""
    # Options may stand between the words, too.
    options = build_parser().parse_intermixed_args(arguments)
    if options.missing and (options.act != "check" or options.json):
        raise Unusable("--missing prints a list of its own: use it with check, without --json")
    world = World()
    if options.act == "report" and (options.claims or options.only or options.report):
        raise Unusable("report judges all claims of the reports: leave out --claims, --only and "
                       "--report, or use check")
    found = files.read_all(claim_files(options.claims), world)
    ids = options.words if options.act in ("show", "run") else options.only
    if options.act == "show" and not ids:
        raise Unusable("show needs the id of a claim; see ./tools/claims list")
    if options.act == "fix":
        return fix(found)
    claims = chosen(found, ids, options.report)
    if options.act == "check":
        return check(options, claims, world)
    if options.act == "run":
        return run(options, claims, world)
    if options.act == "report":
        return page(options, claims, world)
    for each in claims:
        rows = show(each) if options.act == "show" else \
            [f"{each.id:14} {each.category:6} {each.statement}"]
        print(*rows, sep="\n")
    return EXIT_CONFIRMED


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    return cli.run(act, words, NAME)
