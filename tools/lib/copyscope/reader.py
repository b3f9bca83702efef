# SPDX-License-Identifier: GPL-2.0
"""What `import copyscope` gives: records as dataclasses, and as a table of pandas."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from copyscope.common.errors import lacks_module
from copyscope.records.check import check
from copyscope.records.documents import read_json
from copyscope.records.load import listed
from copyscope.records.run_record import Record
from copyscope.records.watch_record import check_watch, is_watch
from copyscope.report.rows import rows_of


@dataclass(frozen=True)
class Site:
    """Bytes that passed a place in the kernel; None: not measured, and why."""

    bytes: int | None
    how: str
    why: str | None


@dataclass(frozen=True)
class Service:
    """A row of a watch, as its report has it. Bytes and seconds of the CPU; None: not measured. Of
    copied bytes `copied_least_bytes` are known in any case."""

    service: str
    processes: int
    sockets: int
    sent_bytes: int | None
    received_bytes: int | None
    copied_bytes: int | None
    copied_least_bytes: int
    avoidable_bytes: int | None
    uncopied_bytes: int | None
    cpu_seconds: float | None


@dataclass(frozen=True)
class Measured:
    """What a run and a watch have in common; `data` is the whole record, by
    docs/record.schema.json, and `started` ISO 8601 in UTC."""

    id: str
    started: str
    kernel: str
    sites: dict[str, Site]
    laws_broken: list[str]
    data: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Watch(Measured):
    """A watch of `seconds`; services in the order of what they copied."""

    seconds: float
    services: list[Service]


@dataclass(frozen=True)
class Run(Measured):
    """A run: messages of `bytes` by a variant over a path; throughput in Gbit/s of the pass without
    probes, if there was one."""

    variant: str
    bytes: int
    connections: int
    path: str
    passed: bool
    throughput_gbps: float | None


def common(data: dict[str, Any]) -> dict[str, Any]:
    """The fields of Measured."""
    sites = {name: Site(each["bytes"], each["how"], each.get("why"))
             for name, each in data["sites"].items()}
    broken = [each["law"] for each in data["laws"] if each["status"] == "broken"]
    return {"id": data["id"], "started": data["started"], "kernel": data["machine"]["kernel"],
            "sites": sites, "laws_broken": broken, "data": data}


def services_of(data: dict[str, Any]) -> list[Service]:
    """The rows of a watch."""
    return [Service(row.name, row.processes, row.sockets, row.sent, row.received, *row.copied,
                    row.needless, row.uncopied, row.cpu_s) for row in rows_of(data, "service")]


def read(source: str | Path) -> Run | Watch:
    """Read the file of one record; raises a CommandError with one line if it is none."""
    path = Path(source)
    data = read_json(path)
    if is_watch(data):
        check_watch(data, path)
        return Watch(**common(data), seconds=data["window"]["seconds"],
                     services=services_of(data))
    check(data, path)
    run = Record(data, path)
    verdict = run.at("experiment.verdict.passed")
    return Run(**common(data), variant=run.variant, bytes=run.bytes, connections=run.connections,
               path=run.path, passed=bool(verdict), throughput_gbps=run.throughput_gbps)


def read_all(*sources: str | Path) -> list[Run | Watch]:
    """Read files of records, and all records of folders, by name."""
    files = [file for source in map(Path, sources)
             for file in (listed(source) if source.is_dir() else [source])]
    return [read(file) for file in files]


def rows(records: Iterable[Run | Watch]) -> list[dict[str, Any]]:
    """A row for each service of each watch, and for each run; bytes at each site of a run as
    SITE_bytes. None is not measured."""
    found = []
    for each in records:
        head = {"id": each.id, "started": each.started, "kernel": each.kernel}
        if isinstance(each, Watch):
            found += [{**head, "seconds": each.seconds, **asdict(one)} for one in each.services]
        else:
            sites = {f"{name}_bytes": site.bytes for name, site in each.sites.items()}
            found.append({**head, "variant": each.variant, "bytes": each.bytes,
                          "connections": each.connections, "path": each.path,
                          "passed": each.passed, "throughput_gbps": each.throughput_gbps, **sites})
    return found


def frame(records: Iterable[Run | Watch]) -> Any:
    """These rows as a DataFrame of pandas."""
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise lacks_module(error) from None
    return pandas.DataFrame(rows(records))
