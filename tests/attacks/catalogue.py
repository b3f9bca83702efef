# SPDX-License-Identifier: GPL-2.0
"""All attacks, in the order in which they take turns."""
from __future__ import annotations

from attacks import (
    c_words,
    disks,
    documents,
    events,
    faults,
    limits,
    loads,
    networks,
    parsers,
    programs,
    python_words,
    signals,
    watch_ends,
    windows,
)

ATTACKS = [attack for module in (c_words, python_words, documents, parsers, signals, networks,
                                 limits, disks, faults, events, windows, loads, watch_ends, programs)
           for attack in module.ATTACKS]
BY_NAME = {each.name: each for each in ATTACKS}
