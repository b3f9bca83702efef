# SPDX-License-Identifier: GPL-2.0
"""Writes a sweep's tables from its records: the report's own, every run, every point; and where
each file of the sweep comes from.
"""
from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from copyscope.common import spread
from copyscope.common.tables import SITES
from copyscope.common.text import csv_text, memory_text
from copyscope.common.tree import ROOT
from copyscope.files.output_folder import OutputFolder
from copyscope.records.documents import BadRecord
from copyscope.records.modelled import LEVELS, SITES as MODEL_SITES
from copyscope.records.passes import BOTH, COUNTED, PROBED, TIMED
from copyscope.records.run_record import ENDS, NO_PROFILE, Record

from . import pairs, summaries
from .launch import HOST, clock
from .paths import hidden
from .plan import duration_s
from .summaries import MODELLED_SAID
from .values import COUNTS, EVENTS, MODELLED, column, from_pass, metrics, modelled_metrics

Cell = str | float | int | None


def cell(value: Cell) -> Cell:
    """A number with six digits at most; an empty text where nothing was measured."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return "" if value is None else value


def write_csv(folder: OutputFolder, name: str, header: Sequence[str],
              rows: Iterable[Sequence[Cell]]) -> None:
    """Write one table, wholly or not at all."""
    folder.write(name, csv_text(header, ([cell(value) for value in row] for row in rows)))


def by_point(plan: dict[str, Any], records: list[Record]) -> dict[str, list[Record]]:
    """Records by the name of their point, in the order of the plan; points without any left out."""
    groups: dict[str, list[Record]] = {each["name"]: [] for each in plan["points"]}
    for record in records:
        if record.point:
            groups[record.point.name].append(record)
    return {name: group for name, group in groups.items() if group}


def middle(records: list[Record], settings: dict[str, Any], what: str,
           modelled: bool = False) -> Cell:
    """Median over repeats of a column; the words of a point are the same in all."""
    values = [value for value in (column(each, settings, what, modelled) for each in records)
              if value is not None]
    if not values or isinstance(values[0], str):
        return values[0] if values else None
    return spread.middle(values, what in COUNTS)  # type: ignore[arg-type]


def report_rows(table: dict[str, Any], plan: dict[str, Any], points: dict[str, list[Record]],
                modelled: set[str]) -> list[list[Cell]]:
    """Rows of one of the report's tables, one a point that was measured; some columns modelled."""
    return [[middle(group, plan["settings"], what, what in modelled)
             for _, what in table["columns"]] for group in points.values()]


def report_header(table: dict[str, Any], modelled: set[str]) -> list[str]:
    """Its header, which says of which columns the numbers are modelled."""
    return [f"{header} {MODELLED_SAID}" if what in modelled else header
            for header, what in table["columns"]]


TIDY_HEAD = ("run", "profile", "mode", "point", "repeat", "label", "size_bytes", "threads_setting",
             "variant", "message_bytes", "connections", "readers", "path", "pattern", "receiver",
             "kernel", "backend", "started_utc", "messages", "payload_bytes", "times_from_pass",
             "times_messages", "times_payload_bytes", "elapsed_s", "throughput_gbps",
             "latency_mean_us", "latency_p50_us", "latency_p99_us")
TIDY_COUNTS = ("pinned_pages", "zerocopy_sends", "completions", "completions_copied", "enobufs",
               "content_error_bytes", "send_calls", "recv_calls", "laws_balanced",
               "laws_not_testable", "overhead_share", "overhead_throughput_ratio", "attempts",
               "others_cpu_share", "stolen_cpu_share")


def tidy_header(modelled: bool = False) -> list[str]:
    """Every column of tidy.csv; units are in the names."""
    return [*TIDY_HEAD, *(f"{site}_bytes" for site in SITES), *TIDY_COUNTS,
            *(f"{end}_{event}" for end in ENDS for event in EVENTS),
            *(f"{end}_{event}_modelled" for end in ENDS for event in MODELLED if modelled)]


def tidy_row(record: Record, modelled: bool = False) -> list[Cell]:
    """One run: the whole run, whatever the report would have shown of it. Sites, calls and the
    messages beside them are of the counted pass; times and counters of the pass that is named."""
    at, work, point, times = record.at, record.workload, record.point, record.times
    latency = times.latency_us or {}
    statuses = [each["status"] for each in record.data["laws"]]
    head: list[Cell] = [
        record.source.stem, point and point.profile, point and point.mode, point and point.name,
        point and point.repeat, record.label, record.size, record.setting, record.variant,
        record.bytes, record.connections, record.readers, record.path, work("pattern"),
        work("receiver"), record.kernel, record.backend, at("started"), record.messages,
        record.payload_bytes, times.kind, times.messages, times.received_bytes, record.elapsed_s,
        times.throughput_gbps, *(latency.get(each) for each in ("mean", "p50", "p99"))]
    counts: list[Cell] = [
        record.pinned_pages, work("zerocopy_sends"), work("completions"),
        work("completions_copied"), work("enobufs"), work("content_errors"),
        record.calls("send"), record.calls("recv"), statuses.count("balanced"),
        statuses.count("not testable"), at("overhead.share"),
        at("overhead.throughput_ratio"), at("experiment.attempt"), times.others_share,
        times.stolen_share]
    return [*head, *(record.site_bytes(site) for site in SITES), *counts,
            *(record.counter(end, event) for end in ENDS for event in EVENTS.values()),
            *(record.modelled_counter(end, event) for end in ENDS for event in MODELLED.values()
              if modelled)]


SITES_FILE = "modelled_sites.csv"
SITES_HEAD = ("point", "label", "size_bytes", "threads_setting", "variant", "site", "caches", "n",
              "instructions_per_byte", "l1d_misses_per_byte", "l2_misses_per_byte",
              "llc_misses_per_byte")
SITE_COUNTS = ("instructions", *(f"{level}_misses" for level in LEVELS))


def site_rows(points: dict[str, list[Record]]) -> list[list[Cell]]:
    """A row for each point and site that anything passed in a model."""
    rows: list[list[Cell]] = []
    for name, group in points.items():
        known = [each for each in group if each.modelled and each.times.received_bytes]
        for site in MODEL_SITES:
            values = [[each.modelled.site(site, count) / each.times.received_bytes
                       for count in SITE_COUNTS] for each in known]  # type: ignore[union-attr]
            if not any(value[0] for value in values):
                continue
            first = known[0]
            rows.append([name, first.label, first.size, first.setting, first.variant, site,
                         first.modelled and first.modelled.caches, len(values),
                         *(spread.middle(column_, False) for column_ in zip(*values))])
    return rows


POINTS_HEAD = ("point", "label", "size_bytes", "threads_setting", "variant", "metric", "from_pass",
               "n", "median", "low", "high", "interval")


def point_rows(plan: dict[str, Any], points: dict[str, list[Record]],
               modelled: bool = False) -> list[list[Cell]]:
    """A row for each point and metric; empty numbers where no repeat measured it."""
    rows: list[list[Cell]] = []
    for name, group in points.items():
        first = group[0]
        repeats = [metrics(each, plan["settings"]) |
                   (modelled_metrics(each) if modelled else {}) for each in group]
        for metric in repeats[0]:
            known = [each[metric] for each in repeats if each.get(metric) is not None]
            head: list[Cell] = [name, first.label, first.size, first.setting, first.variant, metric,
                                from_pass(first, metric)]
            if not known:
                rows.append([*head, 0, None, None, None, None])
                continue
            found = spread.spread(known, metric in COUNTS)  # type: ignore[arg-type]
            bar = [found.low, found.high] if found.n > 1 else [None, None]
            rows.append([*head, found.n, found.middle, *bar, spread.kind(found.n) or None])
    return rows


def check_alike(records: list[Record], source: object) -> None:
    """Refuse times of both kinds: a table that mixed them would compare probes with variants."""
    probed = sum(record.times.probed for record in records)
    if 0 < probed < len(records):
        raise BadRecord(source, "runs", f"{probed} of {len(records)} were timed with probes "
                        "attached, the others without", "move those of one kind away")


def write_all(folder: OutputFolder, plan: dict[str, Any], records: list[Record],
              compared: list[pairs.Pair]) -> dict[str, str]:
    """Write every table; return what each file is."""
    check_alike(records, folder.path)
    points = by_point(plan, records)
    written = {}
    notes = "; of counts the lower of the two in the middle, so that they stay whole"
    if any(record.times.probed for record in records):
        notes += f". {PROBED}"
    if any(record.at("machine.emulated") for record in records):
        notes += ". Times are empty, as an emulated machine has none"
    if plan.get("counters"):
        notes += ". Each run has a number of messages, which its size decides (tidy.csv)"
    found = summaries.Found(plan, points)
    if found.durations:
        notes += ". Counts are of runs of {:g} s, not of {:g} s as in the report".format(
            *found.durations)
    for table in plan["tables"]:
        write_csv(folder, table["file"], report_header(table, found.modelled),
                  report_rows(table, plan, points, found.modelled))
        written[table["file"]] = f"the table of {plan['report'] or plan['profile']}: " \
                                 f"medians over the repeats of each point{notes}"
    for summary in plan.get("summaries", []):
        write_csv(folder, summary["file"],
                  summaries.header(summary, found.modelled, found.durations),
                  summaries.rows(summary, found))
        written[summary["file"]] = f"{summary['note']}{notes}"
    modelled = any(record.modelled for record in records)
    write_csv(folder, "tidy.csv", tidy_header(modelled),
              (tidy_row(record, modelled) for record in records))
    written["tidy.csv"] = "one row a run, empty where not measured"
    write_csv(folder, "points.csv", POINTS_HEAD, point_rows(plan, points, modelled))
    written["points.csv"] = "one row a point and metric: the median of its repeats and its 95 % " \
                            f"interval, or their range below 6 repeats{notes}"
    if of_pairs := pairs.rows(compared):
        write_csv(folder, pairs.FILE, pairs.HEAD, of_pairs)
        written[pairs.FILE] = "throughput of each label over that of the first one, in the same " \
                              "round: the median of these ratios, and its 95 % interval or range"
    if modelled:
        write_csv(folder, SITES_FILE, SITES_HEAD, site_rows(points))
        written[SITES_FILE] = "one row a point and copying function: what it executes and misses " \
                              "for a byte of payload, modelled by an emulator; medians"
    return written


# Where every file of a sweep comes from: command, commit, kernel, machine, date.

PASSES = {TIMED: "each run was timed without probes; nothing was counted by them",
          COUNTED: "each run had one pass, and probes were attached while it was timed",
          BOTH: "each run was timed without probes and counted with them; times and counters are "
                "from the timed pass, bytes copied from the counted one"}
GUESTS = "each made many runs, one after the other; modelled caches are empty when a window opens"
# What is not made from the records and the plan alone.
SOURCES = {"plan.json": "the profile and the options",
           "runs/*.json": "the commands in the records", "failed/*": "the commands in the records",
           "figures/*": "runs/*.json, plan.json and the profile"}


def each_once(values: Iterable[Any]) -> str:
    """Each different value once."""
    return "; ".join(dict.fromkeys(str(value) for value in values)) or "none: no run succeeded"


def command_line(arguments: list[str]) -> str:
    """The command as typed in the tree: names of files, wherever typed, made relative to it."""
    words: list[str] = []
    for word in hidden(arguments):
        option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
        of = option or (words[-1] if words else "")
        if of == "--out" or of == "--profile" and value.endswith(".toml"):
            value = os.path.relpath(value, ROOT)
        words.append(f"{option}{equals}{value}")
    return shlex.join(["./tools/sweep", *words])


def machine_text(record: Record) -> str:
    """One machine in words."""
    at = record.at
    return (f"{at('machine.cpu_model')}, {at('machine.cpus')} CPUs, "
            f"{memory_text(at('machine.memory_bytes'))}, {at('machine.arch')}, virtualised: "
            f"{at('machine.virt')}")


def others_text(plan: dict[str, Any], records: list[Record]) -> str:
    """Who else used the CPUs while the runs were timed."""
    shares = {what: sorted(each for each in known if each is not None) for what, known in (
        ("other programs used", [record.times.others_share for record in records]),
        ("the hypervisor took", [record.times.stolen_share for record in records]))}
    words = [f"{what} {spread.median(known):.1%} of the CPUs' time beside the run in the middle, "
             f"{known[-1]:.1%} at most" for what, known in shares.items() if known]
    if "most_others" in plan:
        beyond = sum(each > plan["most_others"] for each in shares["other programs used"])
        words.append(f"runs with more than {plan['most_others']:.0%} by others were made again" + (
            f"; {beyond} of them count, as the machine did not get quiet" if beyond else ""))
    return "; ".join(words) or "not recorded"


def write_provenance(folder: OutputFolder, plan: dict[str, Any], records: list[Record],
                     files: dict[str, str], arguments: list[str], failures: list[str]) -> None:
    """Write PROVENANCE.md: what holds for all files, then one line for each."""
    started = sorted(record.at("started") for record in records)
    own = plan["profile"] == NO_PROFILE
    facts = {
        "command": f"`{command_line(arguments)}`",
        "commit": each_once(record.at("tool.commit") for record in records),
        "kernel": each_once(record.kernel for record in records),
        "backend": each_once(record.backend for record in records),
        "machine": each_once(map(machine_text, records)),
        "date": f"{started[0]} to {started[-1]}" if started else "none: no run succeeded",
        "profile": "none" if own else
                   f"{plan['profile']}, {plan['mode']}: {plan['settings']['note']}",
        "plan": f"{len(plan['points'])} points, {plan['repeats']} repeats of {plan['seconds']:g} s,"
                f" about {clock(duration_s(plan))}",
        "passes": PASSES[plan["pass"]],
        **({"guests": GUESTS} if plan["kernel"] != HOST else {}),
        "load": others_text(plan, records),
        "order": f"{plan['order']}; SHUFFLED_BY is \"{plan['shuffled_by']}\"",
        "runs": f"{len(records)} succeeded, {len(failures)} failed",
    }
    files = {"plan.json": "what was to be run, in which order",
             "runs/*.json": "the run records: POINT.rREPEAT; each names its own command, commit, "
                            "kernel, backend and machine",
             "failed/*": "runs that failed: exit status, what was said, and the record if any",
             **files,
             "figures/*": "what `./tools/plot` draws of this folder, with the same --profile if it "
                          "had one; each says at its foot what it is of"}
    lines = [f"# {plan['title']}" if own else f"# {plan['title']}, {plan['mode']}", "",
             "Every number below is computed from the records in runs/ and from nothing else.", "",
             *(f"- {key}: {value}" for key, value in facts.items()), "",
             "| file | what it is | made from |", "|---|---|---|"]
    for name, what in files.items():
        source = SOURCES.get(name, "runs/*.json and plan.json")
        lines.append(f"| {name} | {what} | {source} |")
    folder.write("PROVENANCE.md", "\n".join(lines) + "\n")
