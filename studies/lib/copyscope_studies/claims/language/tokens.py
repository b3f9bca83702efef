# SPDX-License-Identifier: GPL-2.0
"""Cuts the text of a predicate into numbers, words and signs."""
from __future__ import annotations

import re
from dataclasses import dataclass

from .fault import Fault

MOST_TEXT = 4000
SPACE = re.compile(r"(?:\s|#[^\n]*)*")
NUMBER = re.compile(r"[0-9][0-9_]{0,30}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,2})?(?![\w.])", re.ASCII)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}(?![A-Za-z0-9_])", re.ASCII)
SIGN = re.compile(r"==|!=|<=|>=|[-+*/<>()\[\],:.=|]")
# What a filter compares with: the name of a label, a row or a kernel; or any text in quotes.
VALUE = re.compile(r"'([^'\n]{1,100})'|([A-Za-z0-9_.+-]{1,100})", re.ASCII)
SHAPES = (("number", NUMBER), ("word", WORD), ("sign", SIGN))


@dataclass(frozen=True)
class Token:
    """One piece of the text; at its end one of kind "end"."""

    kind: str
    text: str
    at: int


class Tokens:
    """Reads pieces one after another; the caller may ask for a value in place of the next."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_TEXT:
            raise Fault(0, f"it is longer than {MOST_TEXT} characters")
        self.text = text
        self.after = 0
        self.next = self._cut()

    def _skip(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at

    def _cut(self) -> Token:
        at = self._skip(self.after)
        if at >= len(self.text):
            return Token("end", "", at)
        for kind, shape in SHAPES:
            found = shape.match(self.text, at)
            if found:
                self.after = found.end()
                return Token(kind, found[0], at)
        raise Fault(at, f"{self.text[at:at + 20]!r} is no number, word or sign")

    def take(self) -> Token:
        """The next piece."""
        token = self.next
        self.next = self._cut()
        return token

    def take_if(self, *texts: str) -> Token | None:
        """The next piece if it is one of these signs or words."""
        return self.take() if self.next.kind != "end" and self.next.text in texts else None

    def need(self, text: str) -> Token:
        """The next piece, which must be this one."""
        if self.next.text != text or self.next.kind == "end":
            raise Fault(self.next.at, f"{text!r} must stand here, not {described(self.next)}")
        return self.take()

    def followed_by_equals(self) -> bool:
        """Tell whether the next piece is the key of a filter."""
        at = self._skip(self.after)
        return self.text[at:at + 1] == "=" and self.text[at:at + 2] != "=="

    def value(self) -> str:
        """The value of a filter: called where the piece before it, = or |, is the next one."""
        at = self._skip(self.after)
        found = VALUE.match(self.text, at)
        if not found:
            raise Fault(at, f"{self.text[at:at + 20]!r} is no value of a filter")
        self.after = found.end()
        self.next = self._cut()
        return found[1] or found[2]


def described(token: Token) -> str:
    """A piece as a message names it."""
    return "the end" if token.kind == "end" else repr(token.text)
