# SPDX-License-Identifier: GPL-2.0
"""Writes pages as HTML by the templates beside it; they escape all text, and fetch nothing."""
from __future__ import annotations

from pathlib import Path

from copyscope.common.templates import templates

from .blocks import Page

TEMPLATES = Path(__file__).resolve().parent / "templates"
# Every page of the folder: its file, and how the others call it.
Menu = tuple[tuple[str, str], ...]


def page(of: Page, name: str = "index.html", menu: Menu = ()) -> str:
    """A whole page; `menu` leads to the others."""
    made = templates(TEMPLATES)
    made.tests["a"] = lambda each, kind: type(each).__name__ == kind
    return made.get_template("page.html").render(page=of, name=name, menu=menu)
