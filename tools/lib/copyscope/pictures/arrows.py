# SPDX-License-Identifier: GPL-2.0
"""Lays the measured bytes of some runs along the data path: which arrow goes where, how wide."""
from __future__ import annotations

import re
from dataclasses import dataclass

from copyscope.common.tables import column, names
from copyscope.records.copies import NOTHING, Amount, amounts
from copyscope.records.run_record import Record

USER, STAGING, SENDER, DEVICE, RECEIVER, BUFFER = range(6)
# Causes of late copies that are made where a packet is handed to the receiver. The others are made
# before the device has it; unknown ones are drawn there.
LATE_ON_ARRIVAL = names("causes", on_arrival=True)
PAID = column("sites", "who")
# What happens to payload where no processor copies it: "mapped into your memory as pages".
HOLLOW = {site: re.split(" by | from ", column("sites", "meaning")[site])[0]
          for site in names("sites", copies=False)}
HOLLOW |= {"tx_reference": "user pages referenced",
           "tx_splice": "page-cache or pipe pages attached"}
GATHERS = names("sites", of_sender=True, of_call=False)
# Of a send, but for tx_copy, which may be of what was gathered.
SENDS = tuple(site for site in names("sites", of_sender=True, of_call=True) if site != "tx_copy")
# At either end, but for late copies, which have places by their causes.
MOVES = tuple(site for site in names("sites", of_sender=False, of_receiver=False)
              if site != "late_copy")
READS = names("sites", of_receiver=True)


@dataclass(frozen=True)
class Arrow:
    """Payload on its way from one box to another; the same box: it stays, but in other memory."""

    name: str
    start: int
    end: int
    amount: Amount
    by_cpu: bool
    detail: str = ""


@dataclass
class CopyMap:
    """What one variant did on one path."""

    arrows: list[Arrow]
    sums: dict[str, Amount]
    device: str
    causes: dict[str, str]      # cause: remedy
    staged: bool                # the staging buffer was used

    def between(self, start: int, end: int) -> list[Arrow]:
        """Arrows from one box to another, top first."""
        return [arrow for arrow in self.arrows if (arrow.start, arrow.end) == (start, end)]


def cause_bytes(records: list[Record], site: str) -> dict[str, int]:
    """Bytes of a site by cause."""
    found: dict[str, int] = {}
    for record in records:
        for cause in record.at("causes"):
            if cause.get("site") == site:
                found[cause["cause"]] = found.get(cause["cause"], 0) + (cause.get("bytes") or 0)
    return found


def less(whole: Amount, part: float) -> float:
    """What is left of an amount; retransmissions can make the part the larger."""
    return max((whole.value or 0.0) - part, 0.0)


def sending(sums: dict[str, Amount], records: list[Record]) -> list[Arrow]:
    """From the user's memory to the sender's skb."""
    gather, copy = sums["user_gather"], sums["tx_copy"]
    arrows = [Arrow(site, USER, STAGING, sums[site], True) for site in GATHERS
              if sums[site].seen or sums[site].value is None]
    staged = min(gather.value or 0.0, copy.value or 0.0)
    unset = ", ".join(cause_bytes(records, "tx_copy"))
    if staged > NOTHING:
        arrows.append(Arrow("tx_copy", STAGING, SENDER, Amount(staged, copy.how, copy.why), True,
                            unset))
    direct = less(copy, staged)
    if copy.value is None or direct > NOTHING:
        rest = copy if copy.value is None else Amount(direct, copy.how, copy.why)
        arrows.append(Arrow("tx_copy", USER, SENDER, rest, True, unset))
    # Splices that nothing looks for are named below the map.
    return arrows + [Arrow(site, USER, SENDER, sums[site], site not in HOLLOW, HOLLOW.get(site, ""))
                     for site in SENDS if sums[site].seen or
                     (sums[site].value is None and site == "tx_reference")]


def late_at(records: list[Record], late: Amount) -> dict[int, list[tuple[str, float]]]:
    """Late copies by the box that they are made on the way to."""
    payload = sum(record.payload_bytes or 0 for record in records) or 1
    causes = cause_bytes(records, "late_copy") if late.value is not None else {}
    found: dict[int, list[tuple[str, float]]] = {DEVICE: [], RECEIVER: []}
    for cause, passed in causes.items():
        where = RECEIVER if cause in LATE_ON_ARRIVAL else DEVICE
        found[where].append((cause, passed / payload))
    rest = less(late, sum(causes.values()) / payload)
    if rest > NOTHING:
        found[DEVICE].append(("cause not known", rest))
    return found


def crossing(sums: dict[str, Amount], records: list[Record]) -> list[Arrow]:
    """From the sender's skb over the device to the receiver's."""
    late = sums["late_copy"]
    sent = [sums[site].value for site in ("tx_copy", *SENDS)]
    known = [value for value in sent if value is not None]
    dma = all(record.at("experiment.path.hardware_dma") for record in records)
    where = late_at(records, late)
    arrows = []
    for start, end in ((SENDER, DEVICE), (DEVICE, RECEIVER)):
        mine = [(cause, part) for cause, part in where[end] if part > NOTHING]
        arrows += [Arrow("late_copy", start, end, Amount(part, late.how, late.why), True, cause)
                   for cause, part in mine]
        if late.value is None and end == RECEIVER:
            arrows.append(Arrow("late_copy", start, end, late, True))
        rest = sum(known) - sum(part for _, part in mine)
        # Retransmitted and control bytes leave crumbs that are no flow of their own.
        if known and rest > 1e-3:
            arrows.append(Arrow("DMA" if dma else "pointer", start, end, Amount(rest, "derived"),
                                False, "moved by the device" if dma else "passed by pointer"))
        elif not known:
            arrows.append(Arrow("payload", start, end,
                                Amount(None, "not measured", sums["tx_copy"].why), False))
    return arrows


def moving(site: str, whole: Amount, records: list[Record]) -> list[Arrow]:
    """Payload moved between skbs, at the end whose sockets did it."""
    if not whole.seen:
        return []
    ends = {"sender": 0, "receiver": 0}
    for record in records:
        for end in ends:
            ends[end] += sum(each["sites"][site]["bytes"] or 0 for each in record.sockets(end))
    total = sum(ends.values()) or 1
    return [Arrow(site, box, box, Amount((whole.value or 0) * ends[end] / total, whole.how,
                                         whole.why), site not in HOLLOW, f"at the {end}")
            for end, box in (("sender", SENDER), ("receiver", RECEIVER)) if ends[end]]


def receiving(sums: dict[str, Amount]) -> list[Arrow]:
    """From the receiver's skb to the user's buffer."""
    return [Arrow(site, RECEIVER, BUFFER, sums[site], site not in HOLLOW, HOLLOW.get(site, ""))
            for site in READS if sums[site].seen or
            (sums[site].value is None and site == "rx_copy")]


def build(records: list[Record]) -> CopyMap:
    """The map of runs of one variant on one path."""
    sums = amounts(records)
    arrows = [*sending(sums, records), *crossing(sums, records),
              *(arrow for site in MOVES for arrow in moving(site, sums[site], records)),
              *receiving(sums)]
    path = records[0].experiment["path"]
    causes = {cause["cause"]: cause.get("remedy") or "" for record in records
              for cause in record.at("causes") if cause.get("bytes") or cause.get("calls")}
    devices = dict.fromkeys(str(path.get(key) or "unknown") for key in ("tx_dev", "rx_dev"))
    kind = "" if list(devices) == [path["kind"]] else f"{path['kind']}\n"
    staged = any(arrow.name == "user_gather" for arrow in arrows)
    return CopyMap(arrows, sums, kind + " to\n".join(devices), causes, staged)
