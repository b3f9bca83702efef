# SPDX-License-Identifier: GPL-2.0
"""Decides what is drawn of some records and what is left out, draws it, and writes their index."""
from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from copyscope import drawing
from copyscope.files.output_folder import OutputFolder, has_line
from copyscope.pictures import copymap
from copyscope.pictures.groups import Group, slugs

from . import draw_bars, draw_holds, draw_lines, draw_sizes, lines, specs

INDEX, TITLE = "index.md", "# Figures"
MODELLED, FIGURES = "modelled", "figures"
KINDS = ("svg", "png")


@dataclass(frozen=True)
class Job:
    """One figure: the name of its files without ending, what it shows, and what draws it; or why
    it is left out; and which points of its profile nobody ran."""

    name: str
    title: str
    group: Group
    draw: Callable[[], Figure]
    left_out: str = ""
    lacks: str = ""


def line_figures(group: Group, profile: str | None) -> list[specs.Spec]:
    """Which line figures to draw of a group."""
    if group.watched:
        return []
    if profile is None:
        return list(specs.DEFAULTS)
    point = group.records[0].point
    return specs.load(profile, point.mode if point else "")


def line_job(group: Group, spec: specs.Spec) -> Job:
    """A line figure. Of an empty one, and of one without a line, a sentence takes the place."""
    spec = lines.drawn_instead(group.records, spec)
    panels = lines.panels(group.records, spec)
    return Job(spec.file + group.suffix, spec.title, group,
               lambda: draw_lines.draw(group, spec, panels),
               lines.nothing_to_draw(panels, spec, group.records),
               lines.lacking(group.records, spec))


def map_jobs(group: Group) -> Iterator[Job]:
    """A copy map for each implementation."""
    labelled = draw_bars.by_label(group)
    names = slugs(labelled)
    for label, mine in labelled.items():
        yield Job(f"copymap-{names[label]}{group.suffix}", f"Copy map of {label}", group,
                  lambda name=label, m=mine: copymap.draw(group, name, m), copymap.unseen(mine))


def size_jobs(group: Group) -> Iterator[Job]:
    """Histograms of the calls of each process whose watch asked for them, and of how long its
    zero-copy sends were held."""
    labelled = draw_bars.by_label(group) if group.watched else {}
    names = slugs(labelled)
    for label, mine in labelled.items():
        if draw_sizes.found(mine):
            yield Job(f"call-sizes-{names[label]}{group.suffix}", draw_sizes.title(label), group,
                      lambda name=label, m=mine: draw_sizes.draw(group, name, m))
        if draw_holds.found(mine):
            yield Job(f"holds-{names[label]}{group.suffix}", draw_holds.title(label), group,
                      lambda name=label, m=mine: draw_holds.draw(group, name, m))


def jobs(groups: list[Group], profile: str | None) -> Iterator[Job]:
    """Everything that could be drawn. Names contain what their groups differ in."""
    for group in groups:
        for spec in line_figures(group, profile):
            yield line_job(group, spec)
        yield Job("copies-by-site" + group.suffix,
                  draw_bars.copies_title(group), group,
                  lambda g=group: draw_bars.copy_bars(g), copymap.unseen(group.records))
        if not group.watched:
            yield Job("pins-per-message" + group.suffix, "Pages pinned per message", group,
                      lambda g=group: draw_bars.pin_bars(g), draw_bars.no_pins(group))
        yield from map_jobs(group)
        yield from size_jobs(group)


def index(work: list[Job], modelled: Sequence[str] = ()) -> str:
    """A page that names every figure, and in one line for each reason those that are left out; and
    the pages of what was modelled of the same points."""
    said = [TITLE, ""]
    for group in {id(job.group): job.group for job in work}.values():
        mine = [job for job in work if job.group is group]
        said += [f"Of {group.provenance}:", ""]
        said += [f"- [{job.name}]({job.name}.svg): {job.title}"
                 f"{f'; not run: {job.lacks}' if job.lacks else ''}" for job in mine
                 if not job.left_out]
        by_why: dict[str, list[str]] = {}
        for job in mine:
            if job.left_out:
                by_why.setdefault(job.left_out, []).append(job.name)
        said += [f"- not drawn: {', '.join(names)}: {why}" for why, names in by_why.items()] + [""]
    if modelled:
        said += ["Modelled in an emulator, not measured, of the same points:", ""]
        said += [f"- [{page}]({page})" for page in modelled] + [""]
    return "\n".join(said[:-1]) + "\n"


def modelled_pages(sources: Iterable[str], out: Path) -> list[str]:
    """Where the sweeps have figures of another sweep of their points, under --counters model: in a
    folder of theirs, or in one of their name in a folder beside them."""
    folders = [folder for source in map(Path, sources)
               for folder in (source / MODELLED, source.parent / MODELLED / source.name)]
    return [os.path.relpath(folder / FIGURES / INDEX, out) for folder in folders
            if (folder / FIGURES / INDEX).is_file()]


def write_index(folder: OutputFolder, work: list[Job], modelled: Sequence[str] = ()) -> None:
    """Write the page; nobody else's is replaced."""
    if folder.file(INDEX) and not has_line(TITLE)(folder.read(INDEX)):
        raise folder.refuse(INDEX, "is not an index that these tools wrote")
    folder.write(INDEX, index(work, modelled))


def remove_old(folder: OutputFolder, job: Job) -> None:
    """Remove the pictures of an earlier call of what is left out now."""
    for kind in KINDS:
        name = f"{job.name}.{kind}"
        state = folder.state(name)
        if state and stat.S_ISREG(state.st_mode) and drawing.is_picture(folder.read(name)):
            folder.remove(name)


def make(folder: OutputFolder, job: Job, out: Path) -> list[Path]:
    """Draw one figure, if it is to be drawn; its files."""
    if job.left_out:
        remove_old(folder, job)
        return []
    return drawing.save(job.draw(), out / job.name)
