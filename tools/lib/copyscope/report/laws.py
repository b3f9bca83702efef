# SPDX-License-Identifier: GPL-2.0
"""Which laws balance for every socket of a watch, which for some, and which broke."""
from __future__ import annotations

from typing import Any

from .page import BAD, BOLD, GOOD, Tinted, labelled
from .tables import TLS_LAWS, law_rows

Document = dict[str, Any]


def is_idle(law: Document) -> bool:
    """A law of kernel TLS that found none."""
    return law["law"] in TLS_LAWS and law["status"] == "balanced" and not law["left"]


def law_named(data: Document, name: str) -> Document:
    """A law that the record tests, or should."""
    return next(law for law in data["laws"] if law["law"] == name)


def partly(laws: list[Document]) -> list[str]:
    """Laws that are not testable for some sockets and balanced for the others, by reason."""
    names: dict[str, list[str]] = {}
    for law in laws:
        if law["status"] == "balanced" and law["why"]:
            names.setdefault(law["why"], []).append(law["law"])
    return [line for why, found in names.items()
            for line in (*labelled("partly tested", ", ".join(found)),
                         *labelled("", f"{why}; balanced for the others"))]


def lines(data: Document, listed: bool) -> list[str]:
    """How many balance; each that broke, or if they are listed was tested, with both sides."""
    laws = data["laws"]
    tested = [law for law in laws if not is_idle(law)]
    whole = [law["law"] for law in tested if law["status"] == "balanced" and not law["why"]]
    text = f"{len(whole)} of {len(tested)} balance to the byte, for every socket: " \
        f"{', '.join(whole)}" if whole else "none balances for every socket"
    wanted = {"broken", "balanced"} if listed else {"broken"}
    broken = any(law["status"] == "broken" for law in laws)
    tint = BAD if broken else GOOD if whole else BOLD
    return ["", *Tinted.of(tint, labelled("laws", text)), *law_rows(laws, wanted), *partly(laws)]
