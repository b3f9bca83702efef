# SPDX-License-Identifier: GPL-2.0
"""What a claim quotes is short, and stands in its report."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from copyscope.common.errors import Unusable
from copyscope_studies.claims import command, files
from copyscope_studies.claims.world import World

ROOT = Path(__file__).resolve().parents[2]
# The reports are no part of the project; they may lie beside it.
REPORTS = next((each / "shared/reports" for each in ROOT.parents if (each / "shared/reports").is_dir()), None)
CLAIM = "[[claims]]\nid = 'a'\nstatement = 's'\nbeyond = 'b'\nwords = '{}'\n"


def plain(text: str) -> str:
    """A text without marks of Markdown, and with one blank between words."""
    return " ".join(re.sub(r"[*`$\\]", "", text).split()).lower()


def test_more_than_fifteen_words_are_refused(tmp_path):
    source = tmp_path / "mine.toml"
    source.write_text(CLAIM.format(" ".join(["a"] * 7) + " ... " + " ".join(["b"] * 8)))
    assert files.read_all([source], World())
    source.write_text(CLAIM.format(" ".join(["a"] * 8) + " ... " + " ".join(["b"] * 8)))
    with pytest.raises(Unusable, match="mine.toml:5: words has 16 words"):
        files.read_all([source], World())


@pytest.mark.skipif(not REPORTS, reason="the reports are not beside the project")
def test_each_piece_of_a_quotation_stands_in_the_report():
    texts = {each.stem.upper(): plain(each.read_text()) for each in REPORTS.glob("*.txt")}
    claims = files.read_all(command.claim_files(None), World())
    lost = [(each.id, piece) for each in claims for piece in each.words.split(files.GAP)
            if plain(piece) not in texts[each.report]]
    assert not lost and claims
