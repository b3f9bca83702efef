# SPDX-License-Identifier: GPL-2.0
"""What an attack is: a claim, and a function that tries to break it once, all from one seed."""
from __future__ import annotations

import random
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from attacks import places
from helpers.records import ROOT

# Said of a case: 2,000 characters tell enough, a report of a sanitizer included.
SAID_CHARACTERS = 2000


class Broken(Exception):
    """The claim did not hold, or what should have shown it could not run; says how."""


class Skipped(Exception):
    """This machine has not what the case needs; says what."""


@dataclass
class Case:
    """One try: its number, dice of its own, and a folder that it may fill."""
    number: int
    dice: random.Random
    place: Path
    # What the conductor gives every case: time that attacks of a given length may take.
    seconds: float = 0.0


@dataclass(frozen=True)
class Attack:
    """A claim and how to try it."""
    name: str
    claim: str
    # What one case counts, in words; a case that returns a number counted that many.
    unit: str
    goal: int
    # Cases of the short slice that runs with the tests.
    slice: int
    try_once: Callable[[Case], int | None]
    # Cases between two looks at what is left on the machine.
    batch: int = 20
    jobs: int = 2
    needs_root: bool = True
    # Run once before the first case: what several cases share and workers inherit.
    prepare: Callable[[], None] | None = None
    # Seconds of a case that goes on for a time of the runner's choice, as long ones are made of.
    seconds: float = 0.0
    slice_seconds: float = 0.0


@dataclass
class Result:
    """What became of one case."""
    number: int
    counted: int = 0
    seconds: float = 0.0
    broken: str | None = None
    skipped: str | None = None
    more: dict = field(default_factory=dict)


def from_root(text: str) -> str:
    """A text with the files of this tree named from its root: the same wherever the tree lies."""
    return text.replace(f"{ROOT}/", "").replace(str(ROOT), ".")


def dice_of(seed: int, name: str, number: int) -> random.Random:
    """The dice of one case: no other case has any influence on it."""
    return random.Random(f"{seed}/{name}/{number}")


def try_case(attack: Attack, seed: int, number: int, seconds: float) -> Result:
    """Try one case in a folder of its own; whatever goes wrong is told, never raised."""
    result, began = Result(number), time.monotonic()
    place = places.new(attack.name)
    try:
        case = Case(number, dice_of(seed, attack.name, number), place, seconds)
        counted = attack.try_once(case)
        result.counted = 1 if counted is None else counted
    except Broken as broken:
        result.broken = from_root(str(broken))[:SAID_CHARACTERS]
    except Skipped as skipped:
        result.skipped = from_root(str(skipped))[:SAID_CHARACTERS]
    except Exception:  # pylint: disable=broad-except
        result.broken = "the attack itself failed: " + from_root(traceback.format_exc())[-SAID_CHARACTERS:]
    finally:
        shutil.rmtree(place, ignore_errors=True)
    result.seconds = time.monotonic() - began
    return result
