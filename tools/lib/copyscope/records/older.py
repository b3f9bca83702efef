# SPDX-License-Identifier: GPL-2.0
"""Makes records of today, version 4, out of older ones: runs (1 and 2), watches (1) and version 3,
which had sentences, and laws of options apart; and with every site and count.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from copyscope.common.tables import COUNTS, SITES, TLS_SITES, column, names

SCHEMA = "copyscope.record/4"
WITH_SENTENCES = "copyscope.record/3"
RUNS = ("copyscope.run/1", "copyscope.run/2")
WATCH = "copyscope.watch/1"
# What older records of runs have beside what every record has.
OF_EXPERIMENT = ("verdict", "outcome", "path", "workload", "passes", "counters", "timing", "peer")
# What laws of sockets were called when laws of runs had the same names.
LAWS = {"send": "send queue", "receive": "receive queue", "reference": "reference queue",
        "events": "probes"}
SOCKET_LAWS = names("laws", of_sockets=True)
OPTION_LAWS = names("laws", of_sockets=False, of_runs=False)
SIDES = [(side, column("laws", side)) for side in ("left_is", "right_is")]


def is_older(data: Any) -> bool:
    """True if it says that it is a record of an older version."""
    return isinstance(data, dict) and data.get("schema") in (*RUNS, WATCH, WITH_SENTENCES)


def table(value: Any) -> dict[str, Any]:
    """A table; an empty one in place of what a damaged record has there."""
    return value if isinstance(value, dict) else {}


def backend_of(old: Any) -> tuple[Any, Any]:
    """The backend without the number of the attempt, which is the experiment's; and that number."""
    if not isinstance(old, dict):
        return old, 1
    return {key: each for key, each in old.items() if key != "attempt"}, old.get("attempt", 1)


def peer_of(old: dict[str, Any]) -> dict[str, Any]:
    """The other host of a run."""
    if "backend" not in old:
        return old
    backend, attempt = backend_of(old["backend"])
    return {**old, "backend": backend, "attempt": attempt}


def run_of(old: dict[str, Any]) -> dict[str, Any]:
    """A run: what was arranged stands apart from what was measured."""
    experiment = {key: old[key] for key in OF_EXPERIMENT if key in old}
    backend, experiment["attempt"] = backend_of(old.get("backend"))
    if isinstance(old.get("peer"), dict):
        experiment["peer"] = peer_of(old["peer"])
    interrupted = table(old.get("outcome")).get("status") == "interrupted"
    window_ns = table(old.get("timing")).get("window_ns")
    return {
        **{key: each for key, each in old.items() if key not in (*OF_EXPERIMENT, "interrupted")},
        "schema": SCHEMA,
        "subject": {"kind": "experiment", "asked": None, "words": None, "exit_status": None},
        "window": {"seconds": window_ns / 1e9 if isinstance(window_ns, int) else 0,
                   "ended_by": "interrupted" if interrupted else "subject ended"},
        "books": "calls", "detail": True, "count_whys": {}, "experiment": experiment,
        **({"backend": backend} if "backend" in old else {})}


def renamed_law(law: Any) -> Any:
    """A law of a watch by its name of today."""
    if not isinstance(law, dict):
        return law
    name = law.get("law")
    return {**law, "law": LAWS.get(name, name) if isinstance(name, str) else name}


def renamed_laws(socket: Any) -> Any:
    """The laws of one socket by their names of today."""
    if not isinstance(socket, dict) or not isinstance(socket.get("laws"), dict):
        return socket
    return {**socket, "laws": {LAWS.get(name, name): each for name, each in socket["laws"].items()}}


def each_of(value: Any, change: Callable[[Any], Any]) -> Any:
    """A list with each element changed; what is no list as it is."""
    return [change(each) for each in value] if isinstance(value, list) else value


def counted_site(site: Any) -> Any:
    """A site of a watch, of which nobody counted calls."""
    return {"calls": None, **site} if isinstance(site, dict) else site


def law_beside(name: str, part: dict[str, Any]) -> list[Any]:
    """The law that stood in the part of the record that it is of."""
    if "law" not in part:
        return []
    return [{"law": name, **{side: column[name] for side, column in SIDES}, **table(part["law"])}]


def with_option_laws(old: dict[str, Any]) -> dict[str, Any]:
    """A watch with laws of what an option counts among the others."""
    parts = {name: old[name] for name in OPTION_LAWS if isinstance(old.get(name), dict)}
    if not parts or not isinstance(old.get("laws"), list):
        return old
    apart = {name: {key: each for key, each in part.items() if key != "law"}
             for name, part in parts.items()}
    return {**old, **apart,
            "laws": [*old["laws"], *(law for name, part in parts.items()
                                     for law in law_beside(name, part))]}


def watch_of(old: dict[str, Any]) -> dict[str, Any]:
    """A watch: laws by their names of today, counts beside sites."""
    sites = table(old.get("sites"))
    changed = {"laws": each_of(old.get("laws"), renamed_law),
               "sockets": each_of(old.get("sockets"), renamed_laws),
               "sites": {name: counted_site(each) for name, each in sites.items()}}
    subject = old.get("subject")
    return {**old, "schema": SCHEMA, "detail": old.get("detail", False),
            "counts": table(old.get("total")).get("counts"),
            "subject": {"words": None, **subject} if isinstance(subject, dict) else subject,
            **{key: each for key, each in changed.items() if key in old}}


def without_counts(site: Any) -> Any:
    """A site that an older record lacks, in the form of one that it has."""
    told = {"how": "not_measured", "why": "the record is older than this site"}
    return {key: told.get(key) for key in site} if isinstance(site, dict) else None


def without_tls(site: Any) -> Any:
    """A site of kernel TLS of a run from before there were runs over it."""
    told = {"how": "derived", "why": "no socket of this run has kernel TLS"}
    return {key: told.get(key, 0) for key in site} if isinstance(site, dict) else None


def with_laws(socket: Any) -> Any:
    """A socket of a watch with the laws that its record is too old for."""
    laws = table(table(socket).get("laws"))
    lacks = {"status": "not testable", "left": None, "right": None, "residual": None,
             "why": "the record is older than this law"}
    return {**socket, "laws": {**{name: lacks for name in SOCKET_LAWS}, **laws}} if laws else socket


def whole(value: Any, counted: list[str], probed: bool) -> Any:
    """A record or a part of one, with all sites of today and these counts wherever it has some;
    `probed`: of a run with probes."""
    if isinstance(value, list):
        return [whole(each, counted, probed) for each in value]
    if not isinstance(value, dict):
        return value
    # Most values are numbers and texts: a call for each takes a fifth of reading a record.
    found = {key: whole(each, counted, probed) if isinstance(each, (dict, list)) else each
             for key, each in value.items()}
    sites, counts = table(found.get("sites")), table(found.get("counts"))
    if sites:
        form = next(iter(sites.values()))
        found["sites"] = {**sites, **{
            site: without_tls(form) if probed and site in TLS_SITES else without_counts(form)
            for site in SITES if site not in sites}}
    if counts:
        found["counts"] = {**dict.fromkeys(counted), **counts}
    return found


def of_today(old: dict[str, Any]) -> dict[str, Any]:
    """An older record in the form of today."""
    if old["schema"] in RUNS:
        return run_of(old)
    now = {**old, "schema": SCHEMA} if old["schema"] == WITH_SENTENCES else watch_of(old)
    return with_option_laws(now)


def upgraded(data: Any) -> Any:
    """A record of version 4 with every site, and of a watch every count; any other document as it
    is. A run has no count that is not known: it lacks those that it is too old for."""
    if is_older(data):
        data = of_today(data)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        return data
    counts = {} if "experiment" in data else table(data.get("counts"))
    first = next(iter(data["sockets"]), None) if isinstance(data.get("sockets"), list) else None
    if counts and not set(SOCKET_LAWS) <= set(table(table(first).get("laws")) or SOCKET_LAWS):
        data = {**data, "sockets": each_of(data["sockets"], with_laws)}
    lacks = [count for count in COUNTS if counts and count not in counts]
    if not lacks and set(SITES) <= set(table(data.get("sites"))):
        return data
    probed = "experiment" in data and table(data.get("backend")).get("name") != "none"
    now = whole(data, lacks, probed)
    if lacks:
        whys = dict.fromkeys(lacks, "the record is older than this count")
        now["count_whys"] = {**whys, **table(data.get("count_whys"))}
    return now
