# SPDX-License-Identifier: GPL-2.0
"""The prices of a machine: named by the user, kept from an earlier time, or measured there now."""
from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

from copyscope.common.errors import Refused, Unusable, shown
from copyscope.common.tree import CACHE
from copyscope.files.cache import write_cached
from copyscope.model.changes import OPTIONAL_ROWS, ROWS
from copyscope.model.costs import SAME, Costs
from copyscope.records import documents
from copyscope.records.documents import BadRecord
from copyscope.records.watch_record import Watched
from copyscope.runs import baseline

PLACE = CACHE / "prices"


def key_of(machine: dict[str, Any], host: str) -> str:
    """The name of a machine and kernel, for a file; of another host that says nothing of this one,
    though they be of one kind."""
    told = "\n".join([*(str(machine[name]) for name in SAME), *[host] * bool(host)])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def load(file: Path, record: Watched) -> Costs:
    """The prices of a file, if they are of the machine that was watched."""
    costs = Costs.load(file)
    costs.check_machine(record)
    for row in ROWS:
        costs.row(row)
    return costs


def far_words(host: str, ssh: str | None) -> list[str]:
    """How a command is told of another host; nothing for this one."""
    return [f"--host={host}", *([] if ssh is None else [f"--ssh={ssh}"])] if host else []


def of_machine(record: Watched, named: Path | None, live: bool, host: str = "",
               ssh: str | None = None) -> Costs:
    """The prices of the machine that was watched: this one, or that host."""
    if named:
        return load(named, record)
    live = live or bool(host)
    kept = PLACE / f"{key_of(record.data['machine'], host)}.json"
    if kept.exists():
        try:
            found = load(kept, record)
            # Of an older release, which had fewer rows: measured again, and replaced.
            if found.rows.keys() >= set(OPTIONAL_ROWS) or not live:
                return found
        except BadRecord:
            pass
    if not live and record.at("machine.kernel") != os.uname().release:
        raise Unusable(f"{record.source}: the record is of another machine or kernel "
                       f"({record.at('machine.kernel')}): run tools/baseline --json FILE there, "
                       "and give --baseline FILE")
    if os.geteuid() != 0 and not host:
        raise Refused("measuring prices needs root; or give --baseline FILE")
    print(f"advise: measuring what sends cost on {shown(host) or 'this machine'}, once, in "
          f"{baseline.LEAST_TURNS} or {baseline.TURNS} turns",
          file=sys.stderr, flush=True)
    said = baseline.measure_in_turn(ROWS, OPTIONAL_ROWS, far_words(host, ssh))
    Costs(documents.parse_json(said, "the baseline"), "the baseline").check_machine(record)
    write_cached(kept, lambda stream: stream.write(said))
    return load(kept, record)
