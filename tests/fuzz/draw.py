# SPDX-License-Identifier: GPL-2.0
"""What is drawn from seeds: programs of a protocol, how they are watched, and with which options of the watch."""
from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from odd.frame import LIFE, WHOLE

# Beside from the first call, and from mid-life to when it has done its thing: from there to when it has ended.
LAST = "last"
WAYS = (WHOLE, LIFE, LAST)
TCP, UDP = "tcp", "udp"
PROTOCOLS = (TCP, UDP)
# Of a receive that tells how long a datagram is, no tracepoint tells how much it copied: few programs make such.
WITHOUT_LENGTHS = "without=trunc,peek_trunc"
# Options of a watch, and how often they are drawn. Each can be drawn beside each.
OPTIONS = ((("--books", "calls"), .3), (("--detail",), .2), (("--sizes",), .2), (("--stacks",), .1),
           (("--cpu",), .1), (("--interval", "1"), .15))
FIRST_CALLS, SECOND_CALLS = (20, 100, 300), (30, 100, 300, 800)


@dataclass(frozen=True)
class Draw:
    """One watch, and the programs in its window, by seed."""
    way: str
    options: tuple[str, ...]
    programs: dict[int, tuple[str, ...]]
    protocol: str = TCP

    @property
    def name(self) -> str:
        """Begins the names of the files that it leaves."""
        return f"{self.protocol}-{self.way}-{min(self.programs)}"

    def __str__(self) -> str:
        """What repeats it, if it has one program."""
        seed, words = next(iter(self.programs.items()))
        options = f" --options='{' '.join(self.options)}'"
        return f"--protocol {self.protocol} --seeds {seed}:{seed + 1} --way {self.way}{options} --program '{' '.join(words)}'"


def program_words(seed: int, protocol: str) -> tuple[str, ...]:
    """How many calls the program of a seed makes in each phase, and which it does not make."""
    dice = random.Random(f"program {seed}")
    words = f"first={dice.choice(FIRST_CALLS)}", f"second={dice.choice(SECOND_CALLS)}"
    return (*words, WITHOUT_LENGTHS) if protocol == UDP and dice.random() < .75 else words


def watch_options(dice: random.Random) -> tuple[str, ...]:
    """Some options of a watch."""
    return tuple(word for words, chance in OPTIONS if dice.random() < chance for word in words)


def draw(seeds: Iterable[int], words: tuple[str, ...] = (), way: str | None = None,
         options: tuple[str, ...] | None = None, protocol: str = TCP) -> Draw:
    """One watch over the programs of these seeds; what is not given is drawn from the first of them."""
    programs = {seed: (*program_words(seed, protocol), *words) for seed in seeds}
    dice = random.Random(f"watch {min(programs)}")
    drawn_way, drawn_options = dice.choice(WAYS), watch_options(dice)
    return Draw(way or drawn_way, drawn_options if options is None else options, programs, protocol)


def draws(first: int, end: int, together: int = 1, **more) -> list[Draw]:
    """Watches over so many programs each."""
    return [draw(range(at, min(at + together, end)), **more) for at in range(first, end, together)]


def write(file: Path, drawn: list[Draw]) -> None:
    """Leave them for whoever runs them."""
    file.write_text(json.dumps([asdict(each) for each in drawn]))


def read(file: Path) -> list[Draw]:
    """The same again."""
    return [Draw(each["way"], tuple(each["options"]), {int(seed): tuple(words) for seed, words in each["programs"].items()},
                 each["protocol"]) for each in json.loads(file.read_text())]
