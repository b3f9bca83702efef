# SPDX-License-Identifier: GPL-2.0
"""The README's terminal is that of its command, shows what the text beside it says, and needs nothing from elsewhere."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from helpers.drawn_terminal import SVG, row_names, rows
from helpers.names import LAWS, ROOT


@pytest.fixture(name="drawn", scope="module")
def fixture_drawn(tmp_path_factory) -> Path:
    """The pictures of a kept run of the same kind."""
    folder = tmp_path_factory.mktemp("picture")
    subprocess.run([ROOT / "packaging/picture", "--record", ROOT / "tests/data/run-A3-guest.json", "--out", folder],
                   check=True)
    return folder


def test_the_picture_drawn_again_has_the_same_parts(drawn):
    for name in ("terminal-light.svg", "terminal-dark.svg"):
        found = row_names(ROOT / "docs" / name)
        assert row_names(drawn / name) == found and {"late_copy", "pins", "laws"} <= found


def test_the_picture_is_of_the_readme_s_command_and_shows_what_the_readme_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = rows(ROOT / "docs/terminal-light.svg")
    assert shown == rows(ROOT / "docs/terminal-dark.svg")
    assert shown[0].startswith("$ ") and f"\n    {shown[0][2:].strip()}\n" in text
    late = next(line for line in shown if line.startswith("late_copy"))
    assert re.search(r"late_copy +([\d.]+ MB)", late)[1] in text
    assert any(f" {len(LAWS)} balance to the byte, none is broken" in line for line in shown), "draw it again: make picture"


def test_the_picture_needs_nothing_from_elsewhere_and_fits(drawn):
    for folder in (drawn, ROOT / "docs"):
        text = (folder / "terminal-dark.svg").read_text(encoding="utf-8")
        assert not re.search(r"url\((?!#)|href|@import", text) and len(text) < 30_000
        width = float(ElementTree.fromstring(text).get("viewBox").split()[2])
        assert all(float(each.get("x")) + float(each.get("textLength", 0)) < width
                   for each in ElementTree.fromstring(text).iter(f"{SVG}text"))
