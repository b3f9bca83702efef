# SPDX-License-Identifier: GPL-2.0
"""All attacks, in the order in which they take turns."""
from __future__ import annotations

from attacks import c_words, documents, parsers, python_words, signals

ATTACKS = [*c_words.ATTACKS, *python_words.ATTACKS, *documents.ATTACKS, *parsers.ATTACKS,
           *signals.ATTACKS]
BY_NAME = {each.name: each for each in ATTACKS}
