# SPDX-License-Identifier: GPL-2.0
"""The verdict on a run in one sentence, with every digit or in short: what was copied, how often,
and why.
"""
from __future__ import annotations

import re
from typing import Any

from copyscope.common.tables import call_of, names
from copyscope.common.text import bytes_text
from copyscope.records.run_record import Record

OLDER = "no verdict: the record is older than that"
FAILED = {"failed": "The run failed", "interrupted": "The run was interrupted",
          "blind": "The probes did not see the whole run"}
# Every verdict needs them.
NEEDED = ("tx_copy", "tx_reference", "rx_copy")
# Copies that a run makes, in the words of its sentence.
MOVES = {"user_gather": "gathered in user space", "tx_copy": "user to kernel when sent",
         "tls_copy": "into TLS records when sent", "late_copy": "on its way",
         "reshape": "between buffers of packets", "rx_copy": "kernel to user when received"}
# Receivers that take pages, and what sends without copying into pages of the kernel's own.
SPLICE, MAP = names("receivers", splices=True), names("receivers", maps=True)
OF_PAGES, OF_REFERENCES = names("variants", splices=True), names("variants", references=True)
# Of the machines whose kernels are tested.
PAGE_BYTES = 4096
# Numbers that tell of copies.
OF_COPIES = ("copies_per_byte", "referenced_bytes")
# 36,000 of 36,837 bytes, or one amount. What one packet carries is never short for anything.
EXACT = r"\d{1,3}(?:,\d{3})*"
AMOUNT = re.compile(rf"(?<![\d,.])(?<!carry )(?:({EXACT}) of )?({EXACT}) bytes?\b")


def amount(count: int) -> str:
    """65,536,000 bytes."""
    return f"{count:,} byte{'s' * (count != 1)}"


class Run:
    """What the sentence takes from a record of a run."""

    def __init__(self, record: Record) -> None:
        self.record, self.data = record, record.data
        self.work, self.path = record.experiment["workload"], record.experiment["path"]
        self.verdict: dict[str, Any] = record.experiment["verdict"]
        self.outcome = record.experiment.get("outcome") or {"status": "complete", "reason": None}

    def bytes_at(self, site: str) -> int:
        """Bytes that passed a site, as far as that was counted."""
        return self.record.site_bytes(site) or 0

    def count(self, name: str) -> int:
        """A count; 0 if there is none."""
        return self.data["counts"].get(name) or 0

    def measured(self, site: str) -> bool:
        """Was it, or is it derived?"""
        return self.record.site_how(site) != "not_measured"

    @property
    def turns(self) -> str:
        """The ways that alternate."""
        alternation = self.record.experiment.get("alternation")
        return ",".join(alternation["variants"]) if alternation else ""

    @property
    def replies(self) -> str:
        """Of what a verdict is where both ends send, as requests are plain sends."""
        return "of the replies " if self.work["pattern"] == "rr" else ""

    @property
    def subject(self) -> str:
        """A3, MSG_ZEROCOPY, on veth."""
        kind = self.path["kind"]
        return f"{self.turns} in turns, on {kind}" if self.turns else \
            f"{self.record.variant}, {call_of(self.record.variant)}, on {kind}"



def reservations(run: Run, all_copied: bool) -> str:
    """Completions that do not report copies, and a capture beside the path."""
    said, completions, copied = "", run.work["completions"], run.work["completions_copied"]
    if all_copied and completions is not None and copied < completions:
        said = f" Yet {completions - copied:,} of {completions:,} completions did not carry COPIED."
    tapped = run.count("tapped_bytes")
    if tapped:
        return f"{said} A packet capture copied {amount(tapped)} beside them."
    unseen = run.path.get("taps") and run.data["backend"]["name"] == "tracepoint"
    return f"{said} What the packet capture copied was not measured: no tracepoint sees it." \
        if unseen else said


def of_references(run: Run) -> str:
    """What became of memory that sends referenced. "Not copied" is known only where all functions
    that may copy were watched."""
    referenced, clean = run.bytes_at("tx_reference"), run.verdict.get("uncopied_bytes")
    if clean is None:
        said = f"{run.subject} referenced {amount(referenced)} of user memory; whether they were " \
            "copied later was not measured."
        return said + reservations(run, False)
    part, cause = f"{clean:,} of {amount(referenced)}", run.verdict.get("chief_cause")
    if not clean:
        said = f"{run.subject} copied every byte {run.replies}after all: {part} were sent " \
            f"without a copy, because of {cause}."
    elif clean == referenced:
        said = f"{run.subject} copied nothing {run.replies}on the way out: all " \
            f"{amount(referenced)} of referenced memory were sent without a copy."
    else:
        said = f"{run.subject} sent {part} of referenced memory without a copy; the others were " \
            f"copied, most of them because of {cause}."
    return said + reservations(run, not clean)


def left(run: Run) -> str:
    """What was not copied where nothing was referenced."""
    spliced = run.bytes_at("tx_splice")
    if run.count("unset_sends"):
        return "MSG_ZEROCOPY was ignored because SO_ZEROCOPY is not set"
    if run.bytes_at("tls_encrypt"):
        lay = run.bytes_at("tls_reference") + run.bytes_at("tls_splice")
        return f"kernel TLS encrypted {amount(lay)} from where they lay"
    return f"{amount(spliced)} left as pages of a file or of a pipe" if spliced \
        else "nothing was referenced"


def of_copies(run: Run) -> str:
    """How often and where each byte was copied."""
    moves = [words for site, words in MOVES.items() if run.bytes_at(site)]
    if moves:
        said = f"{run.subject} copied each payload byte {run.verdict['copies_per_byte']:.2f} " \
            f"times: {', '.join(moves)}; {left(run)}"
    else:
        where = "" if run.measured("reshape") else " where that was measured (reshape was not)"
        said = f"{run.subject} copied no payload byte{where}; {left(run)}"
    dropped = run.bytes_at("rx_discard")
    were = "was" if dropped == 1 else "were"
    return f"{said}; {amount(dropped)} {were} dropped unread." if dropped else f"{said}."


def of_nothing(run: Run) -> str:
    """Why there is no verdict. Counts are in the record; a verdict on the variant needs a run that
    went as requested."""
    missing = next((site for site in NEEDED if not run.measured(site)), "")
    status = run.outcome["status"]
    if status != "complete":
        what = f"{run.turns}, in turns" if run.turns else \
            f"{run.record.variant}, {call_of(run.record.variant)}"
        return f"{FAILED[status]}: {run.outcome['reason']}; no verdict on {what}."
    if run.data["backend"]["name"] == "none":
        return f"{run.subject} ran without probes: nothing was counted."
    if missing:
        return f"{run.subject}: no verdict, because {missing} was not measured."
    return f"{run.subject}: no byte was counted."


def why_unmapped(run: Run) -> str:
    """Why TCP_ZEROCOPY_RECEIVE found no page (net/ipv4/tcp.c, can_map_frag)."""
    headers = 72 if run.path.get("ipv6") else 52
    payload = run.path["mtu"] - headers
    if run.work["bytes"] < PAGE_BYTES:
        return "a message here is shorter than a page"
    if run.path["hardware_dma"]:
        return "which ones a NIC receives is up to its driver"
    if run.record.variant in OF_PAGES:
        return "pages of a file or a pipe are not free to be mapped"
    if run.record.variant not in OF_REFERENCES:
        return "send copies into larger ones"
    if payload % PAGE_BYTES:
        return f"packets of MTU {run.path['mtu']} carry {payload} bytes, which fill none or part " \
            f"of one (--mtu {15 * PAGE_BYTES + headers} fills 15)"
    return "no packet had one"


def reads(run: Run) -> str:
    """How the reader took the bytes, where it did more or less than copy each once."""
    peeked, receiver = run.count("peeked_bytes"), run.work["receiver"]
    said = f" Peeks (MSG_PEEK) copied {amount(peeked)} to the reader, which recv then copied " \
        "again." if peeked else ""
    if receiver in SPLICE and run.measured("rx_splice"):
        said += f" The reader spliced {amount(run.bytes_at('rx_splice'))} out as pages."
    if receiver in MAP and run.measured("rx_map"):
        mapped = run.bytes_at("rx_map")
        returned = amount(run.count("returned_bytes"))
        told = f"{mapped:,} of {returned}; recv copied what was left" if mapped else \
            f"nothing: it takes single pages that a packet fills; {why_unmapped(run)}"
        said += f" TCP_ZEROCOPY_RECEIVE mapped {told}."
    return said


def exact(record: Record) -> str:
    """The sentence with every digit; of an older record that which it has."""
    verdict = record.experiment.get("verdict")
    if not isinstance(verdict, dict) or "sentence" in verdict:
        return record.kept_sentence or OLDER
    run, broken = Run(record), verdict["laws_broken"]
    said = of_references(run) if "referenced_bytes" in verdict else \
        of_copies(run) if "copies_per_byte" in verdict else ""
    said = said + reads(run) if said else of_nothing(run)
    laws = "1 law is" if broken == 1 else f"{broken} laws are"
    return f"{said} Do not trust this run: {laws} broken." if broken else said


def short(found: re.Match[str]) -> str:
    """An amount as people read it; exact where rounding would hide that a part is not the whole."""
    part, whole = (each and int(each.replace(",", "")) for each in found.groups())
    if part is None:
        return bytes_text(whole)
    first, second = bytes_text(part) if part else "0", bytes_text(whole)
    return found[0] if part != whole and first == second else f"{first} of {second}"


def of(record: Record, every_digit: bool) -> str:
    """What a run comes to. A sentence without a number that tells of copies has no amounts; what it
    quotes stays as it is."""
    told, verdict = exact(record), record.at("experiment.verdict")
    numbers = isinstance(verdict, dict) and any(each in verdict for each in OF_COPIES)
    return told if every_digit or not numbers else AMOUNT.sub(short, told)
