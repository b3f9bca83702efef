# SPDX-License-Identifier: GPL-2.0
"""The verdict on a run in one sentence, which its record has with every digit, and in short."""
from __future__ import annotations

import re

from copyscope.common.text import bytes_text
from copyscope.records.run_record import Record

OLDER = "no verdict: the record is older than that"
# Numbers that tell of copies. A sentence without one has no amounts; what it quotes stays as it is.
OF_COPIES = ("copies_per_byte", "referenced_bytes")
# 36,000 of 36,837 bytes, or one amount. What one packet carries is never short for anything.
EXACT = r"\d{1,3}(?:,\d{3})*"
AMOUNT = re.compile(rf"(?<![\d,.])(?<!carry )(?:({EXACT}) of )?({EXACT}) bytes?\b")


def short(found: re.Match[str]) -> str:
    """An amount as people read it; exact where rounding would hide that a part is not the whole."""
    part, whole = (each and int(each.replace(",", "")) for each in found.groups())
    if part is None:
        return bytes_text(whole)
    first, second = bytes_text(part) if part else "0", bytes_text(whole)
    return found[0] if part != whole and first == second else f"{first} of {second}"


def of(record: Record, exact: bool) -> str:
    """What a run comes to."""
    told, verdict = record.verdict or OLDER, record.at("experiment.verdict")
    numbers = isinstance(verdict, dict) and any(each in verdict for each in OF_COPIES)
    return AMOUNT.sub(short, told) if numbers and not exact else told
