# SPDX-License-Identifier: GPL-2.0
"""Copy bytes from a guest's port to a sink, up to the mark that ends them."""
from __future__ import annotations

import os
from collections.abc import Callable


class Channel:
    """One port: passes data on at once and holds back only what may be the mark's beginning."""

    def __init__(self, mark: bytes, sink: Callable[[bytes], None]) -> None:
        self.mark, self.sink = mark, sink
        self.held = b""
        self.tail: bytes | None = None

    def feed(self, data: bytes) -> None:
        """Take the next piece from the port."""
        if self.tail is not None:
            self.tail += data
            return
        data = self.held + data
        place = data.find(self.mark)
        if place >= 0:
            self.tail, self.held = data[place + len(self.mark):], b""
        else:
            place = len(data) - self._maybe_mark(data)
            self.held = data[place:]
        if place:
            self.sink(data[:place])

    def _maybe_mark(self, data: bytes) -> int:
        """Return how many last bytes of `data` may be the beginning of the mark."""
        longest = min(len(self.mark) - 1, len(data))
        return next((size for size in range(longest, 0, -1)
                     if data.endswith(self.mark[:size])), 0)

    @property
    def ended(self) -> bool:
        """The mark has come, with the whole line after it."""
        return self.tail is not None and self.tail.endswith(b"\n")

    def flush(self) -> None:
        """Pass on what was held back when no mark can come any more."""
        if self.held:
            self.sink(self.held)
            self.held = b""


class LineFilter:
    """Passes on the lines that do not begin with a word."""

    def __init__(self, word: bytes, sink: Callable[[bytes], None]) -> None:
        self.word, self.sink = word, sink
        self.left_out, self.held = 0, b""

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        *lines, self.held = (self.held + data).split(b"\n")
        kept = [line + b"\n" for line in lines if not line.startswith(self.word)]
        self.left_out += len(lines) - len(kept)
        if kept:
            self.sink(b"".join(kept))

    def flush(self) -> None:
        """Pass on a last line that has no end."""
        if self.held:
            self.sink(self.held)
        self.held = b""


def to_descriptor(descriptor: int) -> Callable[[bytes], None]:
    """Return a sink that writes everything to a descriptor of ours, unbuffered."""
    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view):]
    return write
