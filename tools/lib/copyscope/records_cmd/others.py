# SPDX-License-Identifier: GPL-2.0
"""What documents say that are records of no run and no watch, in short: baselines and the like."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.text import laid_out, short, wrapped
from copyscope.records import documents
from copyscope.report import alternation, ways

Document = dict[str, Any]
# Which command makes each kind, and prints all of it.
MAKERS = {"baseline": "baseline", "crossover": "crossover", "facts": "facts", "verdicts": "claims",
          "alternation": "trace_run", "ways": "advise", "compare": "compare",
          "beside": "beside_lmbench", "plan": "sweep", "failure": "sweep"}


def machine(data: Document) -> str:
    """Where and when it was made."""
    found = data["machine"]
    return f"kernel {found['kernel']}, {found['cpu_model']}, {found['cpus']} CPUs, " \
           f"{data['started']}"


def cost(row: Document) -> tuple[str, str]:
    """A row's number and its interval; of a curve how many points it has; else why none."""
    found = row["measured"]
    if found is None or row["status"] != "valid":
        curve = row["curve"]
        points = f"a curve of {len(curve)} points" if curve else ""
        return "-", row["why"] or points or row["status"]
    return f"{short(found['value'])} {row['unit']}", \
        f"{short(found['low'])} to {short(found['high'])}"


def of_baseline(data: Document) -> list[str]:
    """What each row costs here."""
    rows = [(row["row"], *cost(row), row["title"]) for row in data["rows"]]
    return [*wrapped(f"Baseline, {data['protocol']['mode']}: {machine(data)}"), "",
            *laid_out([("row", "measured", "interval", "what it is"), *rows], right=(1,))]


def of_crossover(data: Document) -> list[str]:
    """The answer, and the ratio at each size that was measured."""
    rows = [(f"{each['bytes']:,}", f"{short(each['ratio'])} ({short(each['ratio_low'])} to "
             f"{short(each['ratio_high'])})", str(each["pairs"])) for each in data["sizes"]]
    return [*wrapped(data["answer"]["sentence"]), "",
            *wrapped(f"Ratio: {data['interval']}; {machine(data)}"), "",
            *laid_out([("bytes", "ratio", "repeats"), *rows], right=(0, 2))]


def of_facts(data: Document) -> list[str]:
    """Each fact, or why it is not known."""
    rows = [(each["name"], each["of"],
             "-" if each["number"] is None else f"{each['number']:,}",
             each["why"] or each["means"]) for each in data["facts"]]
    return [*wrapped(f"Facts: {machine(data)}"), "",
            *laid_out([("fact", "of", "number", "what it says"), *rows], right=(2,))]


def of_verdicts(data: Document) -> list[str]:
    """How many of each verdict, by report."""
    words = list(data["words"])
    by_report: dict[str, Counter] = {}
    for each in data["verdicts"]:
        by_report.setdefault(each["report"], Counter())[each["verdict"]] += 1
    rows = [(report, str(counts[word]), word.lower()) for report, counts in by_report.items()
            for word in words if counts[word]]
    return laid_out([("report", "claims", "verdict"), *rows], right=(1,))


SHOWN: dict[str, Callable[[Document], list[str]]] = {
    "alternation": alternation.lines, "baseline": of_baseline, "crossover": of_crossover,
    "facts": of_facts, "verdicts": of_verdicts, "ways": ways.lines}


def lines(data: Any, path: Path) -> list[str] | None:
    """The document in short; None if it is of a kind that is read elsewhere, or of none."""
    schema = str(data.get("schema")) if isinstance(data, dict) else ""
    kind = schema.removeprefix("copyscope.").partition("/")[0]
    if not schema.startswith("copyscope.") or kind not in MAKERS:
        return None
    if kind not in SHOWN:
        raise Unusable(f"{path}: it is {documents.described(schema)}, which show does not know: "
                       f"see ./tools/{MAKERS[kind]} --help")
    documents.check(data, kind, path, f"make it again with ./tools/{MAKERS[kind]}")
    return SHOWN[kind](data)
