# SPDX-License-Identifier: GPL-2.0
"""How many lists, tables and values JSON may have, before its reader makes an object of each."""
from __future__ import annotations

# Our documents have one list or table for each 77 bytes and more, and a value for each 20. An empty
# list takes 3 bytes of a file and 80 of memory, so that a bound on bytes alone bounds neither.
BYTES_A_PART, BYTES_A_VALUE = 64, 16
# All but what begins a list or a table, or stands before a value.
OTHERS = bytes(each for each in range(256) if each not in b"[{,")


def check_parts(data: bytes, most_bytes: int) -> None:
    """Raise ValueError if it has more than a document of the largest size would have. What stands
    in texts is counted, too: telling it apart would be a reader of its own."""
    marks = data.translate(None, OTHERS)
    values = marks.count(b",")
    if len(marks) - values > most_bytes // BYTES_A_PART:
        raise ValueError(f"it has more than {most_bytes // BYTES_A_PART:,} lists and tables")
    if values > most_bytes // BYTES_A_VALUE:
        raise ValueError(f"it has more than {most_bytes // BYTES_A_VALUE:,} values")
