# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/sweep: plan, run what is missing, write the tables, say the answer."""
from __future__ import annotations

import argparse
import signal
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from copyscope import cli
from copyscope.cli import Parser, complain, folder, numbers, seconds, share, whole
from copyscope.common.errors import CommandError, Unusable
from copyscope.common.tables import VARIANTS
from copyscope.common.text import listed, meant, now_utc, size_text
from copyscope.common.tree import PROFILES, ROOT
from copyscope.files.output_folder import OutputFolder
from copyscope.files.record_file import make_runs_folder
from copyscope.records import documents, sizes
from copyscope.records.passes import BOTH, PASSES
from copyscope.records.run_record import NO_PROFILE
from copyscope.records.watch_record import check_watch, is_watch
from copyscope.runs import answer, hosts, launch, paths, plan as plans, profile as profiles
from copyscope.runs.guests import side_by_side
from copyscope.runs.launch import HOST, clock
from copyscope.runs.profile import DEFAULTS, Profile
from copyscope.runs.sweep import Result, conduct

# Without a profile: variants of trace_run, compared as the command line says.

# Where the words say nothing else.
SIZES, THREADS, SECONDS = [64, 4096, 65536], [1], 1.0
PATH, PATTERN = "veth", "stream"
# Sizes in a title.
MOST_NAMED = 6
# Taken from a record.
MOST_SIZES = 4


def check_variants(names: list[str]) -> None:
    """Refuse a name that trace_run has not, and one that stands twice."""
    for name in names:
        if name not in VARIANTS:
            raise Unusable(f"--variants: {name!r} is no variant: {meant(name, VARIANTS)}")
    if len(set(names)) < len(names):
        raise Unusable("--variants: a name appears twice")


def profile_of(options: argparse.Namespace) -> Profile:
    """What a profile would say of these words."""
    variants, path = options.variants, options.path or PATH
    if not variants:
        raise Unusable("what is to be run? Name --variants A1,A2,A3, or a --profile NAME; try "
                       "./tools/sweep --help")
    check_variants(variants)
    chosen = options.sizes or SIZES
    settings = {**DEFAULTS, **paths.settings_of(options, path, options.kernel),
                "note": "as the command says", "path": path, "pattern": options.pattern or PATTERN,
                "threads_are": "connections", "end": "sender"}
    of_sizes = listed([size_text(each) for each in chosen]) if len(chosen) <= MOST_NAMED \
        else f"{len(chosen)} sizes"
    title = f"{listed(variants)} at {of_sizes}"
    return Profile(NO_PROFILE, "corrected", title, "", chosen, THREADS, SECONDS, settings,
                   [{"label": each, "variant": each} for each in variants], [], [])


def new_folder() -> Path:
    """A folder of its own, named by the date, among the records of runs."""
    runs = make_runs_folder()
    stamp = now_utc().translate(str.maketrans("", "", "-:Z"))
    with OutputFolder.at(runs, advice="name a folder with --out") as there:
        names = set(there.names())
    return next(runs / name for number in count(1)
                if (name := f"{stamp}-sweep" + f"-{number}" * (number > 1)) not in names)


MOST_REPEATS = 10000
# The fewest with a 95 % interval; published experiments are longer.
REPEATS, PROFILE_REPEATS = 6, 3
EPILOG = """\
It ends in a table, and says how many times as fast or as slow each variant is as the first one.
The sweep skips runs that DIR/runs already holds. To continue an interrupted sweep, type the same
command with the same --out; it also tries failed runs again.
exit: 0 all runs are there; 1 some failed, see DIR/failed; 2 bad usage, profile, record or disk;
3 this machine refuses
examples: sudo ./tools/sweep --variants A1,A2,A3 --sizes 64,4k,64k --threads 1
          sudo ./tools/sweep --profile mt25023 --repeats 3 --out results/mt25023"""


class Stopped(CommandError):
    """A Ctrl-C; what was made can be gone on with."""

    status = 128 + signal.SIGINT


def labels(text: str) -> list[str]:
    """Read a list of names."""
    if not text.strip(","):
        raise argparse.ArgumentTypeError("the list is empty")
    return [each for each in text.split(",") if each]


def model(text: str) -> str:
    """Read the name of an emulator's counters."""
    wrong = profiles.counters(text)
    if wrong:
        raise argparse.ArgumentTypeError(wrong)
    return text


def build_parser() -> Parser:
    """Describe the options."""
    have = " ".join(sorted(each.stem for each in PROFILES.glob("*.toml")))
    parser = Parser("./tools/sweep", EPILOG)
    add = parser.add_argument
    add("--variants", type=labels, metavar="NAME,...",
        help="ways to send, compared with the first: any of trace_run; with --profile, its labels")
    add("--sizes", type=numbers, metavar="N,...",
        help="bytes of a message, such as 64,4k,1M (64,4k,64k, or the profile's)")
    add("--sizes-from", type=Path, metavar="RECORD",
        help=f"a record of copyscope watch --sizes: the mean sizes of the {MOST_SIZES} ranges that "
             "most bytes were sent in")
    add("--threads", type=numbers, metavar="N,...", help="connections (1, or the profile's)")
    paths.add_options(parser, PATH, "; of --profile: peer")
    add("--hosts", type=Path, metavar="FILE",
        help="of path peer: a file with a host a line; all points with each of them in turn, in "
             "DIR/HOST, and their answers side by side")
    add("--pattern", choices=("stream", "rr"), help="(stream); not with --profile")
    add("--profile", metavar="NAME",
        help=f"a published experiment: {have}, or a .toml file of yours")
    add("--mode", choices=profiles.MODES,
        help="of a profile: faults as published, or none (default corrected)")
    add("--repeats", type=whole(1, MOST_REPEATS), metavar="N",
        help=f"rounds, in which each point is run once ({REPEATS}; of a profile {PROFILE_REPEATS}; "
             "with --counters model 1, as counts repeat)")
    add("--seconds", type=seconds, metavar="S",
        help=f"of each run ({SECONDS:g}, or the profile's)")
    add("--pass", dest="passes", choices=(*PASSES, BOTH),
        help="of each run: timed without probes, counted with them, or both, which share its "
             "seconds (default both)")
    add("--others-at-most", type=share, metavar="SHARE",
        help="of the CPUs' time that other programs may use beside a timed run, 0 to 1 (default "
             f"{plans.MOST_OTHERS:g}); a run with more is made again, until the waiting has "
             "taken as long as the runs should; from then on all count")
    add("--kernel", default="host", metavar="RELEASE",
        help="runs in guests, many in each (default host)")
    add("--counters", type=model, metavar="model[:NAME]",
        help="with --kernel: instructions and misses of modelled caches, as tools/trace_run")
    add("--out", type=folder, metavar="DIR",
        help="where all files go (a new folder, named by the date, under results/runs)")
    add("--dry-run", action="store_true", help="list the runs and how long they take; no root")
    add("--quiet", action="store_true", help="no progress")
    return parser


def list_plan(plan: dict[str, Any]) -> None:
    """Print every run in its order, then the sum."""
    for run in plans.runs(plan):
        command = launch.command_of(run, ROOT / f"DIR/runs/{run.name}.json",
                                    plan["seconds"], plan["kernel"], plan["pass"])
        print(f"{run.name:30} {' '.join(command)}")
    name = plan["title"] if plan["profile"] == NO_PROFILE else f"{plan['profile']} {plan['mode']}"
    print(f"{name}: {len(plan['points'])} points, {plan['repeats']} "
          f"repeats, {len(plans.runs(plan))} runs, about {clock(plans.duration_s(plan))}")
    if plan["kernel"] != HOST:
        guests = side_by_side(len(plans.runs(plan)))
        print(f"made in {guests} guests side by side; a command above makes its run alone"
              if guests > 1 else "made in one guest; a command above makes its run alone")
    if plan.get("counters"):
        print(f"an emulator makes them: a message takes about {plans.MODEL_SLOWER:,} times as long "
              "as on this machine")


def between_hosts(profile: Profile, options: argparse.Namespace) -> Profile:
    """A profile's points over the network to another host: its addresses and devices are of the
    path that it names, and are left out."""
    own = {key: value for key, value in profile.settings.items() if key not in paths.WORDS}
    settings = {**own, **paths.settings_of(options, options.path, options.kernel),
                "path": options.path,
                "note": f"{own['note']}; on path {options.path} to {options.host}"}
    return replace(profile, settings=settings)


def chosen(options: argparse.Namespace) -> profiles.Profile:
    """The profile that was named, or what the words say without one."""
    if options.profile:
        if not paths.two_hosts(options.path or PATH):
            paths.refuse_beside(options, "the profile")
        if options.pattern:
            raise Unusable(f"--pattern {options.pattern}: the profile says that; leave it out")
        profile = profiles.load(options.profile, options.mode)
        return profile if options.path is None else between_hosts(profile, options)
    if options.mode:
        raise Unusable(f"--mode {options.mode} is of a profile: name one with --profile")
    return profile_of(options)


def planned(options: argparse.Namespace, profile: profiles.Profile) -> dict[str, Any]:
    """The plan of a sweep."""
    repeats = options.repeats or (1 if options.counters or profile.counters else
                                  PROFILE_REPEATS if options.profile else REPEATS)
    return plans.make(profile, options.sizes, options.threads, options.variants, options.seconds,
                      repeats, options.kernel, options.passes, options.others_at_most,
                      options.counters)


def chosen_of(options: argparse.Namespace) -> list[tuple[str, Profile]]:
    """What is chosen for each host; for a sweep without several hosts, once."""
    if not options.hosts:
        return [("", chosen(options))]
    if options.host:
        raise Unusable(f"--host {options.host} and --hosts both name the other end: leave out one")
    return [(each, chosen(argparse.Namespace(**vars(options) | {"host": each})))
            for each in hosts.read(options.hosts)]


def sizes_from(source: Path) -> list[int]:
    """The sizes that the processes of a watch sent most bytes in."""
    data = documents.read_json(source)
    if not is_watch(data):
        raise Unusable(f"{source}: it is no record of a watch")
    check_watch(data, source)
    sizes.refuse_without(data["processes"], source)
    found = sizes.chief_sizes([each for process in data["processes"] for way in sizes.WAYS
                               for each in sizes.buckets(process, sizes.SEND, way)], MOST_SIZES)
    if not found:
        raise Unusable(f"{source}: nothing was sent in that window")
    return found


def sweep(out: Path, plan: dict[str, Any], arguments: list[str], quiet: bool, figures_of: str,
          again: str) -> Result:
    """Make the runs that a folder lacks, and print what follows from them."""
    try:
        result = conduct(out, plan, arguments, quiet)
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; {again} continues from here") from None
    print(*result.files, *answer.lines(plan, result.records, result.compared, out,
                                           figures_of), sep="\n")
    if result.failures:
        complain("sweep", f"{result.failures}; {again} tries them again")
    return result


def sweep_all(folder: Path, asked: list[tuple[str, dict[str, Any]]], arguments: list[str],
              quiet: bool, figures_of: str, again: str) -> int:
    """The same with each host in turn. One that is not there, or refuses, costs the others
    nothing."""
    answers, lost, failed = {}, {}, False
    for host, plan in asked:
        print(f"{host}:")
        try:
            result = sweep(folder / host, plan, arguments, quiet, figures_of, again)
        except Stopped:
            raise
        except CommandError as error:
            lost[host] = str(error)
            complain("sweep", f"{host}: {error}; {again} tries it again")
            continue
        answers[host] = result.records, result.compared
        failed |= bool(result.failures)
    print(*hosts.table(answers, lost), sep="\n")
    return 1 if failed or lost else 0


def act(arguments: list[str]) -> int:
    """Do what the arguments ask for."""
    options = build_parser().parse_args(arguments)
    if options.sizes_from:
        if options.sizes:
            raise Unusable("--sizes and --sizes-from both name sizes: leave out one")
        options.sizes = sizes_from(options.sizes_from)
    found = chosen_of(options)
    asked = [(host, planned(options, profile)) for host, profile in found]
    if options.dry_run:
        for _, plan in asked:
            list_plan(plan)
        return 0
    launch.check_built(asked[0][1]["kernel"])
    figures_of = options.profile if found[0][1].figures else ""
    out = options.out or new_folder()
    again = f"the same command with --out {answer.shown(out)}"
    if options.hosts:
        return sweep_all(out, asked, arguments, options.quiet, figures_of, again)
    done = sweep(out, asked[0][1], arguments, options.quiet, figures_of, again)
    return 1 if done.failures else 0


def main(words: list[str]) -> int:
    """Run the command line; any failure is one line and its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return cli.run(act, words, "sweep", stopped="interrupted; nothing was begun")
