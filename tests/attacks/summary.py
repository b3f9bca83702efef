# SPDX-License-Identifier: GPL-2.0
"""Writes what a campaign has done for people: campaign.md beside campaign.json."""
from __future__ import annotations

import os

from attacks.book import Book, uninterrupted

HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# The campaign

`sudo tests/campaign` wrote this from campaign.json. Everything an attack does comes from its seed:
`tests/campaign --only NAME --seed {seed} --case K` repeats one case. A case that failed stays
listed with the commit that it was seen on, and with what this command showed of it since.

Seed {seed}, begun {begun}, last entry {updated}, kernel {kernel}, {cpus} processors.

| attack | done | goal | failed | skipped | seconds | commits |
|---|---|---|---|---|---|---|
"""


def since(failure: dict) -> str:
    """What repeating a failed case showed: mended, if all tries on the last, other commit held."""
    if not failure.get("again"):
        return "open"
    made, tries = list(failure["again"].items())[-1]
    total = tries["held"] + tries["failed"]
    times = "once" if total == 1 else f"{total} times"
    if tries["failed"]:
        return f"open: failed again on {made}, {tries['failed']} of {total} tries"
    if made == failure["commit"]:
        return f"open: passed when repeated on the same commit ({times}), so it depends on the moment"
    return f"mended since: passed again on {made} ({times})"


def failed(entry: dict) -> str:
    """How many cases of an attack failed, and how many of these are mended."""
    mended = sum(since(each).startswith("mended") for each in entry["failures"])
    return f"{entry['failed']} ({mended} mended since)" if mended else str(entry["failed"])


def row(name: str, entry: dict) -> str:
    """One attack as a line of the table."""
    commits = ", ".join(f"{commit} ({share['counted']:,})"
                        for commit, share in entry["commits"].items())
    return (f"| {name} | {entry['counted']:,} | {entry['goal']:,} {entry['unit']} | "
            f"{failed(entry)} | {entry['skipped']} | {entry['seconds']:,.0f} | {commits} |\n")


@uninterrupted()
def write(book: Book) -> None:
    """Write campaign.md whole or not at all."""
    data = book.data
    if "updated" not in data:
        return
    text = HEAD.format(**{key: data[key] for key in ("seed", "begun", "updated", "kernel", "cpus")})
    done = {name: entry for name, entry in data["attacks"].items() if entry["cases"]}
    text += "".join(row(name, entry) for name, entry in done.items())
    if any(entry["counted"] < entry["goal"] for entry in done.values()):
        text += "\nNot every goal is reached: the same command goes on.\n"
    text += "\n## What each attack claims\n\n"
    text += "".join(f"- **{name}**: {entry['claim']}\n" for name, entry in done.items())
    skipped = {name: entry for name, entry in done.items() if entry["skipped_why"]}
    if skipped:
        text += "\n## Skipped\n\n"
        text += "".join(f"- {name}: {entry['skipped_why']}\n" for name, entry in skipped.items())
    failures = [(name, each) for name, entry in done.items() for each in entry["failures"]]
    if failures:
        text += "\n## What failed\n\n"
        text += "".join(f"- on {each['commit']}, `{each['repeat']}`: "
                        f"**{since(each)}**. {' '.join(each['said'].split())[:300]}\n"
                        for _, each in failures)
    aside = book.folder / ".campaign.md.part"
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, book.folder / "campaign.md")
