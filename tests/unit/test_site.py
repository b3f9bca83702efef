# SPDX-License-Identifier: GPL-2.0
"""The static site has every page of the documents, the figures and the answers, and each link of it lands there."""
from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from helpers.names import ROOT


class Page(HTMLParser):
    """What a page names: links, what it loads, and its own anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.anchors |= {found["id"]} if found.get("id") else set()
        self.links |= {found["href"]} if tag == "a" and found.get("href") else set()
        self.loaded |= {found[key] for key in ("src", "srcset") if found.get(key)}
        self.loaded |= {found["href"]} if tag == "link" and found.get("href") else set()


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory) -> dict[Path, Page]:
    """Every page of the site, by its place."""
    folder = tmp_path_factory.mktemp("site") / "made"
    done = subprocess.run([ROOT / "packaging/site", folder], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return {file: Page(file.read_text(encoding="utf-8")) for file in folder.rglob("*.html")}


def test_each_document_each_figure_and_the_answers_are_there(site):
    root = min(site, key=lambda each: len(each.parts)).parent
    names = {str(each.relative_to(root)) for each in site}
    assert {"index.html", "gallery.html", "results/claims/index.html", "docs/METHOD.html"} <= names
    assert {f"docs/{page.stem}.html" for page in (ROOT / "docs").glob("*.md")} <= names
    figures = list(ROOT.glob("results/*/figures/*.svg"))
    assert len(figures) > 50 and len(site[root / "gallery.html"].loaded) >= len(figures)
    assert "table" in site[root / "docs/METHOD.html"].tags and site[root / "index.html"].tags.count("li") > 8


def test_each_link_lands_on_the_site_and_nothing_is_loaded_from_elsewhere(site):
    lost = []
    for file, page in site.items():
        assert not [each for each in page.loaded if re.match(r"\w+:", each) and not each.startswith("data:")], file
        for to in page.links | page.loaded:
            name, _, anchor = to.partition("#")
            if re.match(r"\w+:", to):
                continue
            target = (file.parent / name).resolve() if name else file
            known = site.get(target)
            if not target.exists() or anchor and known and anchor not in known.anchors:
                lost.append(f"{file.name}: {to}")
    assert not lost, lost


def test_a_folder_with_files_of_others_is_refused(tmp_path):
    (tmp_path / "mine").write_text("")
    for words in ([tmp_path], ["a", "b"], ["--what"]):
        done = subprocess.run([ROOT / "packaging/site", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert (tmp_path / "mine").exists()
