# SPDX-License-Identifier: GPL-2.0
"""A line of small bars: how a rate went in the last minutes."""
from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field

# Lower than a line, so that rows stay apart.
BARS, PLAIN = "▁▂▃▄▅▆", "._-=+#"
# Where nothing was told of a row: not 0.
UNTOLD = " "
MINUTES = 5


def bars() -> str:
    """Characters of the bars, lowest first: what the locale says that the terminal shows."""
    told = next((os.environ[each] for each in ("LC_ALL", "LC_CTYPE", "LANG")
                 if os.environ.get(each)), "")
    return BARS if "utf" in told.lower() else PLAIN


@dataclass
class History:
    """Rates of the last minutes by name, None where a name was not told."""

    by: str = ""
    at_s: deque[float] = field(default_factory=deque)
    rates: dict[str, deque[int | None]] = field(default_factory=dict)

    def note(self, by: str, seconds: float, rates: dict[str, int]) -> None:
        """An interval that ended `seconds` after the begin. The same one again says nothing new."""
        if by != self.by:
            self.by, self.at_s, self.rates = by, deque(), {}
        if self.at_s and seconds <= self.at_s[-1]:
            return
        for name in rates.keys() - self.rates.keys():
            self.rates[name] = deque([None] * len(self.at_s))
        self.at_s.append(seconds)
        for name, found in self.rates.items():
            found.append(rates.get(name))
        while self.at_s[0] < seconds - MINUTES * 60:
            self.at_s.popleft()
            for found in self.rates.values():
                found.popleft()
        self.rates = {name: found for name, found in self.rates.items()
                      if any(each is not None for each in found)}

    def span_s(self) -> float:
        """Seconds from the first interval's end to the last one's."""
        return self.at_s[-1] - self.at_s[0] if self.at_s else 0

    def line(self, name: str, width: int) -> str:
        """At most so many columns; each is the mean of as many intervals as that takes."""
        found = list(self.rates.get(name, ()))
        each = max(1, -(-len(found) // max(1, width)))
        parts = [[rate for rate in found[at:at + each] if rate is not None]
                 for at in range(0, len(found), each)]
        means = [sum(part) / len(part) if part else None for part in parts]
        most = max((mean for mean in means if mean), default=0)
        shown = bars()
        return "".join(UNTOLD if mean is None else
                       shown[0 if not most else round(mean / most * (len(shown) - 1))]
                       for mean in means)

    def most(self, name: str) -> int:
        """The highest rate of a name."""
        return max((rate for rate in self.rates.get(name, ()) if rate is not None), default=0)
