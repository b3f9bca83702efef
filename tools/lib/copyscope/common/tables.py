# SPDX-License-Identifier: GPL-2.0
"""The names of sites, causes, variants and paths, as the tables of the C source have them, and the
largest and smallest numbers that trace_run takes.
"""
from __future__ import annotations

import json
from pathlib import Path

# Made by `make tables`.
TABLES = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))
RELEASE: str = TABLES["release"]


def names(table: str, **traits: bool) -> tuple[str, ...]:
    """The names in one table, of the rows that have these traits."""
    return tuple(row["name"] for row in TABLES[table]
                 if all(row[trait] == value for trait, value in traits.items()))


def column(table: str, key: str) -> dict[str, str]:
    """One column of a table by name."""
    return {row["name"]: row[key] for row in TABLES[table]}


def commit_of(cause: str) -> str:
    """The kernel commit that changed what a cause copies; "" if none is known."""
    return next((f"{row['commit']} (\"{row['title']}\"), in Linux {row['release']}: {row['effect']}"
                 for row in TABLES["cause_commits"] if row["name"] == cause), "")


def most(what: str) -> int:
    """The most of a thing: of peers, ports or rows that a watch tells apart, of a datagram's bytes,
    of datagrams in one send."""
    return next(row["most"] for row in TABLES["limits"] if row["name"] == what)


SITES = names("sites")
# The sites where a processor copies payload; the others hand over pages or drop bytes.
COPY_SITES = names("sites", copies=True)
# Those that only sockets with kernel TLS have bytes at.
TLS_SITES = names("sites", of_tls=True)
COUNTS = names("counts")
VARIANTS = names("variants")
# Those that deliver what was sent.
RIGHT_VARIANTS = names("variants", overwrites=False)
RECEIVERS = names("receivers")
BEHAVIOURS = names("behaviours")
# Those of receivers of whole messages.
RECEIVER_BEHAVIOURS = names("behaviours", of_receiver=True)
PATHS = names("paths")
PATHS_OF_ONE_HOST = names("paths", two_hosts=False)
PATHS_OF_NICS = names("paths", nics=True)


def call_of(variant: str) -> str:
    """The call that a variant sends by; "" if it is none of ours."""
    return column("variants", "call").get(variant, "")


def named(label: str, variant: str) -> str:
    """A label with the call of its variant beside it: "A3, MSG_ZEROCOPY"."""
    call = call_of(variant)
    return f"{label}, {call}" if call else label


LEAST_BYTES, MOST_BYTES = 8, 64 << 20
MOST_THREADS, MOST_SECONDS = 1024, 86400
