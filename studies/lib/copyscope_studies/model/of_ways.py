# SPDX-License-Identifier: GPL-2.0
"""Predicts every way to send and to receive that the baseline has prices for, and says of each
other one what has none. What no profile runs is held against no measurement.
"""
from __future__ import annotations

from collections.abc import Callable

from copyscope.common.text import csv_text, size_text
from copyscope.model.terms import (
    FIELDS,
    FITTED,
    PREDICTED,
    TERMS,
    Fit,
    Terms,
    aligned_frags,
    dominant,
    pages_of,
    predict,
    referenced,
    total,
)
from copyscope_studies.ways import PLAIN, WAYS, Way

from . import evaluate

SHEET = "ways.csv"
SHOWN_BYTES = 65536         # of each way in the page; the sheet has every size
RING = "submitting and completing by a ring"
FILE_PAGES, PIPE = "finding pages of a file", "moving pages through a pipe"
# What the baseline has no price for.
UNPRICED = {
    "send": {"A2-more": "a send() that adds to a packet and sends none",
             "sendfile": FILE_PAGES, "splice": f"{FILE_PAGES}, {PIPE}",
             "vmsplice": PIPE, "vmsplice-gift": PIPE,
             "uring": RING, "uring-zc": RING, "uring-zc-fixed": RING, "uring-zc-sqpoll": RING,
             **dict.fromkeys(("ktls", "ktls-1.2", "ktls-more"), "encryption"),
             **dict.fromkeys(("ktls-sendfile", "ktls-sendfile-1.2"),
                             f"encryption, {FILE_PAGES}"),
             "udp": "datagrams", "udp-each": "datagrams", "udp-zc": "datagrams"},
    "receive": {"perfield": "a recv() whose bytes are there", "recvmsg": "pieces that are read",
                "splice": PIPE, "map": "mapping pages of the receive queue", "uring": RING,
                "uring-multishot": RING, "ktls": "decryption", "ktls-1.2": "decryption"},
}
UNKNOWN = "what it does"
# Not in the profile: predicted, and held against nothing.
HELD = (FITTED, *PREDICTED)

# Pages that variants of A3 touch.
PAGES: dict[str, Callable[[int], float]] = {"A3-aligned": aligned_frags, "A3-whole": pages_of}


def why_not(way: Way, path: str) -> str:
    """Why a way has no prediction on a path; "" if it has one."""
    if way.variant in PAGES:
        return evaluate.why_not("A3", path)
    if way.end == "send" and evaluate.why_not(way.variant, path):
        return evaluate.why_not(way.variant, path)
    if way.end == "send" and way.variant in (*HELD, "A3-unset", *PAGES) or \
            way.end == "receive" and way.name in ("recv", "trunc", "peek"):
        return ""
    return f"no row of the baseline prices {UNPRICED[way.end].get(way.name, UNKNOWN)}"


def terms_of(fit: Fit, way: Way, size: int) -> Terms:
    """The terms of a way that has a prediction."""
    if way.variant in PAGES:
        return referenced(fit, size, PAGES[way.variant](size))
    # The kernel ignores the flag: eight pieces that are copied.
    terms = predict(fit, "A2" if way.variant == "A3-unset" else way.variant, size)
    if way.name == "trunc":
        terms["copy"] -= fit.costs.copy_ns(size)
    elif way.name == "peek":
        terms["copy"] += fit.costs.copy_ns(size)
        terms["syscall"] += fit.costs.ns("syscall")
    return terms


def sizes_of(fit: Fit, sizes: list[int]) -> list[int]:
    """The sizes that a prediction is made for."""
    return sorted(size for size in sizes if size >= fit.sizes[0] * FIELDS)


def sheet(fit: Fit, sizes: list[int], path: str) -> str:
    """A row a way and size; of a way without a prediction one row, which says why."""
    rows: list[list[object]] = []
    for way in WAYS:
        why = why_not(way, path)
        if why:
            rows.append([way.end, way.name, None, None, None, why, *[None] * len(TERMS)])
            continue
        for size in sizes_of(fit, sizes):
            terms = terms_of(fit, way, size)
            rows.append([way.end, way.name, size, f"{total(terms):.1f}", dominant(terms), None,
                         *(f"{terms[name]:.1f}" if name in terms else None for name in TERMS)])
    return csv_text(["end", "way", "message_bytes", "predicted_ns", "dominant", "why_not",
                     *(f"{name}_ns" for name in TERMS)], rows)


def table(fit: Fit, sizes: list[int], path: str) -> list[str]:
    """Every way at one size, in Markdown."""
    size = min(sizes_of(fit, sizes), key=lambda each: abs(each - SHOWN_BYTES))
    rows = [f"Every way at {size_text(size)}, path {path}, one connection; one that is not in the "
            f"table above is held against no measurement. [{SHEET}]({SHEET}) has every size.", "",
            "| end | way | predicted, us | against A1-plain | most goes to |",
            "|---|---|---:|---:|---|"]
    plain = total(predict(fit, PLAIN, size))
    for way in WAYS:
        why = why_not(way, path)
        if why:
            rows.append(f"| {way.end} | {way.name} | not predicted | - | {why} |")
            continue
        terms = terms_of(fit, way, size)
        rows.append(f"| {way.end} | {way.name} | {total(terms) / 1e3:.2f} | "
                    f"{total(terms) / plain - 1:+.0%} | {dominant(terms)} |")
    return rows
