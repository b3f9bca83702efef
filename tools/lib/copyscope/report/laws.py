# SPDX-License-Identifier: GPL-2.0
"""Which laws of a run or a watch balance, which for some sockets alone, and which broke."""
from __future__ import annotations

from collections import Counter
from typing import Any

from copyscope.common.text import laws_text

from .page import BAD, BOLD, GOOD, Tinted, labelled
from .tables import TLS_LAWS, law_rows

Document = dict[str, Any]


def is_idle(law: Document) -> bool:
    """A law of kernel TLS that found none."""
    return law["law"] in TLS_LAWS and law["status"] == "balanced" and not law.get("left")


def law_named(data: Document, name: str) -> Document:
    """A law that the record tests, or should."""
    return next(law for law in data["laws"] if law["law"] == name)


def partly(laws: list[Document]) -> list[str]:
    """Laws that are not testable for some sockets and balanced for the others, by reason."""
    names: dict[str, list[str]] = {}
    for law in laws:
        if law["status"] == "balanced" and law.get("why"):
            names.setdefault(law["why"], []).append(law["law"])
    return [line for why, found in names.items()
            for line in (*labelled("partly tested", ", ".join(found)),
                         *labelled("", f"{why}; balanced for the others"))]


def lines(laws: list[Document], listed: bool) -> list[str]:
    """How many laws of a run or a watch balance, broke, are not testable; each that broke, or if
    they are listed was tested, with both sides."""
    tested = [law for law in laws if not is_idle(law)]
    count = Counter("partly" if law["status"] == "balanced" and law.get("why") else law["status"]
                    for law in tested)
    text = laws_text(count["balanced"], count["broken"], count["not testable"], count["partly"])
    more = "" if listed or count["not testable"] == len(tested) else "; --laws lists them"
    wanted = {"broken", "balanced"} if listed else {"broken"}
    tint = BAD if count["broken"] else GOOD if count["balanced"] else BOLD
    return ["", *Tinted.of(tint, labelled("laws", text + more)), *law_rows(tested, wanted),
            *partly(tested)]
