# SPDX-License-Identifier: GPL-2.0
"""When each predicate was fixed: the ledger studies/claims/fixed.toml, by git's history."""
from __future__ import annotations

import functools
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common import programs
from copyscope.common.errors import Unusable
from copyscope.common.tree import ROOT
from copyscope.records.documents import parse_toml, read_bytes

NAME = "fixed.toml"
FILE = ROOT / "studies" / "claims" / NAME
# Where claims are, and where they were before.
CLAIMS = ("studies/claims", "claims")
JUDGED = "results/claims/verdicts.json"
# Of a commit's name: as many digits as a reader needs to find it.
DIGITS = 12
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
# docs/CLAIMS.md says how that is told. Written by tools/claims fix; not edited by hand.

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


class History:
    """The history of one tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.blob = functools.cache(self.read_blob)
        self.unseen = functools.cache(self.read_unseen)
        self.judged_before = functools.cache(self.read_judged_before)

    def git(self, *words: str) -> str:
        """What git prints."""
        try:
            done = programs.run(["git", "-C", str(self.root), *words])
        except OSError as error:
            raise Unusable(f"git: {error.strerror}: install it") from None
        if done.returncode:
            raise Unusable(f"{self.root}: git {words[0]}: {done.stderr.strip()[:200]}")
        return done.stdout

    def whole(self) -> bool:
        """Tell whether all of the history is there."""
        try:
            return self.git("rev-parse", "--is-shallow-repository").strip() == "false" and \
                Path(self.git("rev-parse", "--show-toplevel").strip()) == self.root.resolve()
        except Unusable:
            return False

    def read_blob(self, blob: str) -> dict[str, str]:
        """The wordings of a file of claims; none of one that is no TOML."""
        try:
            data: dict[str, Any] = tomllib.loads(self.git("cat-file", "blob", blob))
        except ValueError:
            return {}
        claims = data.get("claims", [])
        return {str(each.get("id")): hash_of(each, data.get("names", {}))
                for each in claims if isinstance(each, dict)} if isinstance(claims, list) else {}

    def wordings(self, commit: str) -> dict[str, str]:
        """All claims of a commit, by id."""
        found: dict[str, str] = {}
        for line in self.git("ls-tree", commit, *(f"{each}/" for each in CLAIMS)).splitlines():
            about, _, name = line.partition("\t")
            if name.endswith(".toml") and Path(name).name != NAME:
                found |= self.blob(about.split()[2])
        return found

    def read_unseen(self, blob: str) -> set[str]:
        """Of a record of verdicts the claims that no number spoke to: UNDECIDED, and without any
        evidence."""
        data = json.loads(self.git("cat-file", "blob", blob))
        return {each["id"] for each in data["verdicts"]
                if each["verdict"] == "UNDECIDED" and not each["evidence"]}

    def read_judged_before(self, commit: str) -> str:
        """The record of verdicts that was there before a commit; empty if none was."""
        parents = self.git("rev-list", "--parents", "-n", "1", commit).split()[1:]
        line = self.git("ls-tree", parents[0], JUDGED) if parents else ""
        return line.split()[2] if line else ""

    def after_numbers(self, commit: str, name: str) -> bool:
        """Tell whether results had been judged before a commit, so that its author could know what
        they say of a claim; those of one that stood apart are of the claim that it is of."""
        judged = self.judged_before(commit)
        return bool(judged) and name.removesuffix("-described") not in self.unseen(judged)

    def entries(self) -> dict[str, Fixed]:
        """The first commit of each wording that the last commit has."""
        first: dict[tuple[str, str], tuple[str, str]] = {}
        log = self.git("log", "--reverse", "--topo-order", "--format=%H %as", "--", *CLAIMS)
        for line in log.splitlines():
            commit, date = line.split()
            for each in self.wordings(commit).items():
                first.setdefault(each, (commit, date))
        found = {}
        for name, text in sorted(self.wordings("HEAD").items()):
            if text:
                commit, date = first[name, text]
                found[name] = Fixed(text, commit[:DIGITS], date, self.after_numbers(commit, name))
        return found
