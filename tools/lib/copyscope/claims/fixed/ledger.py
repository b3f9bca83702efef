# SPDX-License-Identifier: GPL-2.0
"""The ledger studies/claims/fixed.toml: the commit that fixed each claim's present predicate."""
from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.tree import ROOT
from copyscope.records.documents import parse_toml, read_bytes

NAME = "fixed.toml"
FILE = ROOT / "studies" / "claims" / NAME
# What decides a claim.
DECIDES = ("predicate", "given", "here", "there")
# The values of a filter, which are no names; a comment; a word.
PIECE = re.compile(r"(?<![=!<>])=(?!=)\s*(?:'[^'\n]*'|[\w.+-]+)(?:\s*\|\s*(?:'[^'\n]*'|[\w.+-]+))*|"
                   r"#[^\n]*|[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# Names stand for names: of a circle, which is refused elsewhere, as many rounds are enough.
MOST_LEVELS = 20
HEAD = """# SPDX-License-Identifier: GPL-2.0
# The first commit that has the present predicate of each claim (with given, here, there, and all
# names put in; its hash is `text`), the date, and whether results had been judged by then:
# docs/METHOD.md says how that is told. Written by tools/claims fix; not edited by hand.

"""
KEYS = {"text": str, "commit": str, "date": str, "after_numbers": bool}


@dataclass(frozen=True)
class Fixed:
    """One entry."""

    text: str
    commit: str
    date: str
    after_numbers: bool


def put_in(text: str, names: dict[str, Any], level: int = 0) -> str:
    """A predicate without comments, with what its names stand for in their places."""
    def put(found: re.Match[str]) -> str:
        piece = found[0]
        if piece.startswith("#"):
            return ""
        if piece in names and level < MOST_LEVELS:
            return f"({put_in(str(names[piece]), names, level + 1)})"
        return piece
    return " ".join(PIECE.sub(put, text).split())


def hash_of(claim: dict[str, Any], names: Any) -> str:
    """What tells one wording of a claim's predicate from another; "" if it has none."""
    if "predicate" not in claim:
        return ""
    known = names if isinstance(names, dict) else {}
    text = "\n".join(f"{key}: {put_in(str(claim.get(key, '')), known)}" for key in DECIDES)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(source: Path = FILE) -> dict[str, Fixed]:
    """The entries by the id of their claim; none if there is no ledger."""
    if not source.is_file():
        return {}
    try:
        data = parse_toml(read_bytes(source))
    except (OSError, ValueError) as error:
        raise Unusable(f"{source}: {error}") from None
    for name, each in data.items():
        if not isinstance(each, dict) or {key: type(value) for key, value in each.items()} != KEYS:
            raise Unusable(f"{source}: {name[:60]!r} must have {' '.join(KEYS)}: run tools/claims "
                           "fix")
    return {name: Fixed(**each) for name, each in data.items()}


def text(entries: Iterable[tuple[str, Fixed]]) -> str:
    """The ledger as its file has it, a claim a line."""
    return HEAD + "".join(
        f'"{name}" = {{ text = "{each.text}", commit = "{each.commit}", date = "{each.date}", '
        f"after_numbers = {str(each.after_numbers).lower()} }}\n" for name, each in entries)
