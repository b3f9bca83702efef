# SPDX-License-Identifier: GPL-2.0
"""Every committed figure, with what is to be seen in it."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from copyscope.common.tree import PROFILES
from copyscope.records.documents import read_bytes, read_toml

from .blocks import Block, Bullets, Fold, Group, Heading, Picture, line, said
from .front import FOLDERS, Place, drawings

# What tools/plot writes beside its figures.
INDEX, INDEX_TITLE, LEFT_OUT = "index.md", "# Figures", "- not drawn: "
INDEX_LINE = re.compile(r"- \[([^\]]+)\]\([^)]+\): (.+)")
# Of a profile's figure: what its vertical axis shows.
SEEN = {
    "throughput_gbps": "higher is faster; error bars are the 95 % interval of the median",
    "latency_us": "lower is faster; error bars are the 95 % interval of the median",
    "speedup": "a line of slope 1 would be linear scaling",
    "efficiency": "1 would be linear scaling",
    "cycles_per_byte": "cycles of the end that its report watched; none where there is no counter",
    "l1_misses": "misses of the first cache; none where there is no counter",
    "llc_misses": "misses of the last cache; none where there is no counter",
    "cache_misses": "misses of the last cache; none where there is no counter",
    "context_switches": "of the end that its report watched, whole runs",
    "pinned_pages": "page references that zero copy takes",
}
# By the beginning of a file's name: title, and what is to be seen.
KNOWN = (
    ("copymap-", "Copy map of {}",
     "each arrow is a copy of the payload, or a reference in its place"),
    ("copies-by-site", "Bytes copied for each byte of payload, by site",
     "a bar of height 2 is two copies of every byte"),
    ("pins-per-message", "Pages pinned for a message", "only what takes references pins pages"),
    ("fig1-ram-latency", "Latency of a load by the size of what is loaded",
     "each step is a cache that is too small"),
    ("fig2-file-cache", "A file read again, by its size", "the knee is where the page cache ends"),
    ("fig3-file-read", "A block of a local file, in order and at random",
     "where lines are flat, the size of the file does not matter"),
    ("fig4-remote-read", "A block of a remote file, in order and at random",
     "how much of both is the round trip of the network"),
    ("fig5-contention", "A block of a file by the number of processes that read",
     "a straight line is contention that grows linearly, and one through nothing in proportion"),
    ("copy-bandwidth", "Bandwidth of a copy by its size", "it falls where the caches end"),
    ("memory-loops", "Ways to read, write and copy memory",
     "whether wider loads and stores are faster"),
    ("rows", "All rows of the baseline beside what CSE221 published",
     "the further from the diagonal, the further apart"),
    ("predicted-against-measured", "Times of a message, predicted against measured",
     "on the diagonal a prediction is right"),
)


def of_profiles() -> dict[str, tuple[str, str]]:
    """Title and hint of the figures that profiles draw, by the name of their files."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(PROFILES.glob("*.toml")):
        data: dict[str, Any] = read_toml(file, PROFILES)
        for each in data.get("figures", []):
            hint = SEEN.get(str(each.get("y")), "the axes say what it is of")
            found.setdefault(str(each.get("file")), (str(each.get("title")), hint))
    return found


def indexed(folder: Path) -> tuple[dict[Path, str], list[str]]:
    """What tools/plot wrote beside its figures: the title of each, by its file without ending, and
    what it left out and why."""
    titles: dict[Path, str] = {}
    left: list[str] = []
    for file in sorted(folder.rglob(INDEX)):
        lines = read_bytes(file).decode("utf-8", "replace").splitlines()
        if lines[:1] != [INDEX_TITLE]:
            continue
        for each in lines:
            found = INDEX_LINE.fullmatch(each)
            if found:
                titles[file.parent / found[1]] = found[2]
            elif each.startswith(LEFT_OUT):
                left.append(each.removeprefix(LEFT_OUT))
    return titles, list(dict.fromkeys(left))


def told(file: Path, profiles: dict[str, tuple[str, str]],
         titles: dict[Path, str]) -> tuple[str, str]:
    """Title of a figure, and what is to be seen in it."""
    name = file.stem
    title, hint = profiles.get(name, ("", ""))
    for start, general, seen in KNOWN if not hint else ():
        if name.startswith(start):
            title, hint = general.format(name[len(start):]), seen
            break
    plain = name.replace("_", " ").replace("-", " ")
    return titles.get(file.parent / name) or title or plain, \
        hint or "its axes and its foot say what it is of"


def section(place: Place) -> list[Block]:
    """All figures, by folder."""
    found: list[Block] = []
    profiles, total = of_profiles(), 0
    for folder in place.folders():
        files = drawings(folder) if folder != place.out else []
        if not files:
            continue
        total += len(files)
        what = FOLDERS.get(folder.name, ("a folder of its own", ""))[0]
        titles, left = indexed(folder)
        shown = [(place.link(each), *told(each, profiles, titles)) for each in files]
        found += [Heading(2, f"{folder.name}: {what}", f"figures-{folder.name}"),
                  Group("gallery", tuple(Picture(source, f"{title}:", f"{hint}.")
                                         for source, title, hint in shown))]
        if left:
            found.append(Fold("Not drawn, and why", (Bullets(tuple(map(line, left))),)))
    return [said(f"{total} figures; a click opens the drawing, which says at its foot "
                 "what it is of." if total else "There are none."), *found]
