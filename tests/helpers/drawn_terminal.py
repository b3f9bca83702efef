# SPDX-License-Identifier: GPL-2.0
"""Reads the drawn terminal of the README: its lines, and the names that its rows begin with."""
from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# A run has them by chance.
BY_CHANCE = {"reshape", "small packets merged", "sent again"}


def rows(picture: Path) -> list[str]:
    """The lines of a drawn terminal."""
    found: dict[float, list[tuple[float, str]]] = {}
    for each in ElementTree.parse(picture).iter(f"{SVG}text"):
        found.setdefault(float(each.get("y")), []).append((float(each.get("x")), each.text or ""))
    return ["".join(text for _, text in sorted(found[y])).replace("\xa0", " ") for y in sorted(found)]


def row_names(picture: Path) -> set[str]:
    """The names that its rows begin with, but for those that chance decides."""
    return {line.partition("  ")[0] for line in rows(picture) if "  " in line.strip() and line[:1].strip()} - BY_CHANCE
