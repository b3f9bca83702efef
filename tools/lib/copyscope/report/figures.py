# SPDX-License-Identifier: GPL-2.0
"""Sums over sites of what a socket, a process or all moved: None unless all terms are known."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Part = dict[str, Any]
# Bytes that send copied because it ignored MSG_ZEROCOPY.
IGNORED = ("unset_bytes", "nosg_bytes", "fastopen_bytes")
# Layers of sockets that are in each sum; early records do not tell.
PLAIN = (None, "tcp", "udp")
MOVED = ("accepted_bytes", "returned_bytes")
COPIES = ("tx_copy", "tls_copy", "rx_copy")
FATE = ("uncopied_bytes", "unknown_bytes", "declined_bytes")


def plus(terms: Iterable[int | None]) -> int | None:
    """Their sum, if each is known."""
    found = list(terms)
    return None if None in found else sum(found)  # type: ignore[arg-type]


def together(names: Iterable[str], rows: list[list[int | None]]) -> dict[str, int | None]:
    """The sum of each name; a row has their values in one part. So each part is read once: column
    by column 10,000 of them take twice as long."""
    return dict(zip(names, map(plus, zip(*rows))))


def added(parts: list[Part]) -> Part:
    """What several moved together. One moved what it did: there may be 10,000 of these."""
    if len(parts) == 1:
        return {**parts[0], "fate": {name: fate(parts[0], name) for name in FATE}}
    sites, counts = [*parts[0]["sites"]], [*parts[0]["counts"]]
    passed = together(sites, [[part["sites"][site]["bytes"] for site in sites] for part in parts])
    return {"sites": {site: {"bytes": count} for site, count in passed.items()},
            "counts": together(counts, [[part["counts"][name] for name in counts]
                                        for part in parts]),
            "fate": together(FATE, [[fate(part, name) for name in FATE] for part in parts])}


def number(part: Part, name: str) -> int | None:
    """A site's bytes, or a count."""
    return part["sites"][name]["bytes"] if name in part["sites"] else part["counts"][name]


def fate(part: Part, name: str) -> int | None:
    """What became of some of it; early records do not tell."""
    found = part.get("fate")
    return found.get(name) if found else None


def is_apart(socket: Part) -> bool:
    """It is of a layer above TCP whose copies are not known, and no sum has it."""
    return socket.get("layer") not in PLAIN and \
        all(each["bytes"] is None for each in socket["sites"].values())


def moved(part: Part) -> int:
    """Bytes sent and received, as far as they are known: reports are sorted by it."""
    return sum([part["counts"][each] or 0 for each in MOVED])


def is_silent(part: Part) -> bool:
    """Nothing moved, and all is known."""
    return not any([part["counts"][each] != 0 for each in MOVED])


def spliced(part: Part) -> int | None:
    """Bytes that the program spliced: those that kernel TLS did are records."""
    pages, records = number(part, "tx_splice"), number(part, "tls_carried_bytes")
    return None if pages is None or records is None else max(0, pages - records)


def handed(part: Part) -> int | None:
    """Bytes that send took without a copy."""
    reference, pages = number(part, "tx_reference"), spliced(part)
    return None if reference is None or pages is None else reference + pages


def copied_later(part: Part) -> int | None:
    """Bytes of user pages that were copied after send had referenced them, or that the kernel
    moved. Who referenced nothing has nothing to copy later, whether anybody looked or not."""
    late = number(part, "late_copy")
    if late is None and number(part, "tx_reference") != 0:
        return None
    return (late or 0) + (number(part, "reshaped_referenced_bytes") or 0)


def uncopied(part: Part) -> int | None:
    """Of what send took without a copy, seen to be handed over as pages: not known if none was and
    the fate of some is not."""
    found = fate(part, "uncopied_bytes")
    seen = found or not fate(part, "unknown_bytes")
    return found if seen and handed(part) is not None else None


def needless(part: Part) -> int | None:
    """Bytes that were to be sent without a copy, and were copied all the same."""
    later, meant = copied_later(part), number(part, "tx_reference")
    declined = fate(part, "declined_bytes")
    if later is None or declined is None or later and meant is None:
        return None
    # A packet that is copied may carry plain bytes beside, or be sent and copied again.
    return min(later, meant or 0) + declined + sum([number(part, each) or 0 for each in IGNORED])


def copied(part: Part) -> tuple[int | None, int]:
    """Bytes that the processor copied, by send, by recv or in between, known if nothing may have
    been copied besides; and so many at least."""
    terms = [number(part, each) for each in COPIES] + [copied_later(part)]
    # What becomes of records of kernel TLS behind the socket is not told.
    known = None not in terms and handed(part) is not None and fate(part, "unknown_bytes") == 0 \
        and not number(part, "tls_carried_bytes")
    least = sum([each or 0 for each in terms])
    return (least if known else None), least
