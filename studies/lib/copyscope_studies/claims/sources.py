# SPDX-License-Identifier: GPL-2.0
"""Loads all kinds of records from files and folders; those of a folder may lie in an archive."""
from __future__ import annotations

import io
import lzma
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from copyscope.common.errors import shown
from copyscope.files.tar_members import tar_members
from copyscope.records import documents, load
from copyscope.records.check import check
from copyscope.records.documents import BadRecord
from copyscope.records.older import SCHEMA
from copyscope.records.run_record import Record
from copyscope.records.watch_record import check_watch, is_watch, watched_of

from . import of_others, of_runs
from .page.front import OWN
from .readings import Item

ARCHIVE, MODELLED = "runs.tar.xz", "modelled"
# Of all files of an archive, and of the levels of folders below one that is named.
MOST_UNPACKED, MOST_DEPTH = 2 << 30, 3
Tell = Callable[[str], None]
DAMAGED = "unpack it by hand to see what is in it"


def archived(source: Path) -> Iterator[tuple[str, bytes]]:
    """The JSON files of an archive, read in memory: nothing of it is written anywhere."""
    try:
        with lzma.open(io.BytesIO(documents.read_bytes(source))) as unpacked:
            for member, file in tar_members(unpacked):
                if member.offset_data + member.size > MOST_UNPACKED:
                    raise BadRecord(source, "archive", f"it holds more than {MOST_UNPACKED >> 30} "
                                    "GiB", DAMAGED)
                if not file or not member.name.endswith(".json"):
                    continue
                if member.size > documents.MOST_BYTES:
                    raise BadRecord(source, shown(member.name), "it is too large", DAMAGED)
                yield member.name, file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        raise BadRecord(source, "archive", shown(str(error) or type(error).__name__, 120),
                        DAMAGED) from None


def packed_or_not(folder: Path, files: list[Path]) -> Iterator[tuple[Path, Any]]:
    """The records of a folder by their file: these, or if there are none, those of its archive."""
    for file in files:
        yield file, documents.read_json(file)
    if not files and (folder / ARCHIVE).is_file():
        for name, data in archived(folder / ARCHIVE):
            yield folder / ARCHIVE / name, documents.parse_json(data, folder / ARCHIVE / name)


def whole(record: Record, tell: Tell) -> bool:
    """Tell whether a run is complete; what is left out is told."""
    if record.incomplete:
        tell(f"{record.source} is left out, because it is not complete: {record.incomplete}")
    return not record.incomplete


def of_sweep(folder: Path, tell: Tell) -> Iterator[Item]:
    """The runs of a sweep, each with the point that it is of."""
    plan = load.load_plan(folder)
    points = {each["name"]: each for each in plan["points"]}
    for source, data in packed_or_not(folder, sorted(folder.glob("runs/*.json"))):
        check(data, source)
        record = Record(data, source, load.point_of(plan, points, source.stem))
        if whole(record, tell):
            yield of_runs.item("run", record, {} if record.point else {"profile": "none"})


def of_matrix(folder: Path, tell: Tell) -> Iterator[Item]:
    """The cells of a matrix, by the names of their rows."""
    for source, data in packed_or_not(folder, sorted(folder.glob("*/*.json"))):
        check(data, source)
        record = Record(data, source)
        row = source.stem.removesuffix(f"-{record.variant}")
        if whole(record, tell):
            yield of_runs.item("matrix", record, {"row": row})


def of_document(source: Path, data: Any, tell: Tell) -> Iterator[Item]:
    """What one document has; nothing if it is of no kind that claims are judged by."""
    schema = str(data.get("schema")) if isinstance(data, dict) else ""
    if is_watch(data):
        check_watch(data, source)
        yield from of_runs.watch_items([*watched_of(data, source)])
    elif schema == SCHEMA:
        check(data, source)
        record = Record(data, source)
        if whole(record, tell):
            yield of_runs.item("run", record, {"profile": "none"})
    elif schema.startswith("copyscope.baseline/"):
        documents.check(data, "baseline", source, "run tools/baseline again")
        yield from of_others.baseline_items(data)
    elif schema.startswith("copyscope.crossover/"):
        documents.check(data, "crossover", source, "run tools/crossover again")
        yield of_others.crossover_item(data, source.stem)
    elif schema.startswith("copyscope.facts/"):
        documents.check(data, "facts", source, "run tools/facts again")
        yield from of_others.fact_items(data)


def of_folder(folder: Path, tell: Tell, depth: int = 0) -> Iterator[Item]:
    """What a folder holds: a sweep, a matrix, or documents and folders of all kinds."""
    if (folder / "plan.json").is_file():
        yield from of_sweep(folder, tell)
        # The same points in guests whose caches were modelled.
        if (folder / MODELLED / "plan.json").is_file():
            yield from of_sweep(folder / MODELLED, tell)
        return
    if (folder / "matrix.csv").is_file():
        yield from of_matrix(folder, tell)
        return
    for source, data in packed_or_not(folder, load.listed(folder)):
        yield from of_document(source, data, tell)
    folders = sorted(Path(each.path) for each in os.scandir(folder)
                     if each.is_dir(follow_symlinks=False))
    for each in folders if depth < MOST_DEPTH else ():
        if not depth and each.name in OWN:
            tell(f"{each} is left out, as it has runs of your own; name it, too, to have it read")
            continue
        yield from of_folder(each, tell, depth + 1)


def items(sources: list[Path], tell: Tell) -> Iterator[Item]:
    """All that files and folders hold; a named file of no kind is refused."""
    for source in sources:
        if source.is_dir():
            yield from of_folder(source, tell)
            continue
        found = list(of_document(source, documents.read_json(source), tell))
        if not found:
            raise BadRecord(source, "schema", "claims are not judged by such a document",
                            "give records of runs, watch, baseline, crossover or facts")
        yield from found
