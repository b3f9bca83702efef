# SPDX-License-Identifier: GPL-2.0
"""Counts what came of random programs, and by kind what was wrong, with the smallest program of each."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fuzz.compare import Compared
from fuzz.draw import Draw


@dataclass
class Tally:
    """Sums over programs."""
    sums: Counter = field(default_factory=Counter)
    unmeasured_bytes: Counter = field(default_factory=Counter)
    kinds: Counter = field(default_factory=Counter)
    smallest: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, drawn: Draw, compared: Compared) -> None:
        """Enter one program."""
        self.sums.update({"programs": 1, "sockets": compared.sockets, "bytes": compared.moved_bytes,
                          "faulty": int(bool(compared.faults))})
        self.unmeasured_bytes.update(compared.unmeasured_bytes)
        one = Draw(drawn.way, drawn.options, {compared.seed: drawn.programs[compared.seed]})
        for kind, said in {each.kind: each.said for each in compared.faults}.items():
            self.kinds[kind] += 1
            known = self.smallest.get(kind)
            if known is None or compared.moved_bytes < known[0]:
                self.smallest[kind] = (compared.moved_bytes, f"{one}: {said}")
        for each in compared.faults:
            self.sums["broken" if each.kind.startswith("false BROKEN") else "wrong"] += 1

    def share(self, size: int) -> str:
        """Percent of all bytes."""
        return f"{100 * size / self.sums['bytes']:.1f}" if self.sums["bytes"] else "0"

    def lines(self) -> list[str]:
        """All of it, for people."""
        sums = self.sums
        return [f"{sums['programs']:,} programs, {sums['sockets']:,} sockets, {sums['bytes']:,} bytes; "
                f"{sums['faulty']} programs with a fault: {sums['wrong']} wrong numbers, {sums['broken']} false BROKEN; "
                f"{self.share(self.unmeasured_bytes.total())} % of the bytes not measured",
                *(f"{self.share(size):>6} % {why}" for why, size in self.unmeasured_bytes.most_common()),
                *(f"{count:>6} {kind}\n       {self.smallest[kind][1]}" for kind, count in self.kinds.most_common())]
