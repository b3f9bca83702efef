# SPDX-License-Identifier: GPL-2.0
"""The answer in words and tables, of which the page has the same."""
from __future__ import annotations

import datetime
from collections.abc import Iterable

from copyscope.common.errors import shown
from copyscope.common.tables import column
from copyscope.common.text import bytes_text, laid_out, listed, share_text, short, wrapped

from .answer import Answer, Host, Service

# A cell with more would push all others out of the line.
MOST_CELL, MOST_NAMED = 40, 6
NOT_MEASURED = "not measured"
MOVED_HEAD = ["host", "service", "sent", "received", "copied", "avoidable", "CPU s"]
SERVICE_HEAD = ["host", "service", "asked", "avoidable", "share", "since", "CPU s", "cause"]
KERNEL_HEAD = ["kernel", "hosts", "asked", "avoidable", "share", "CPU s"]
HOST_HEAD = ["host", "asked", "avoidable", "share", "CPU s", "kernel"]
UNKNOWN_HEAD = ["not known", "on"]
CAUSE_HEAD = ["cause", "what helps"]
CPU = "CPU s"
NUMBERS = ("sent", "received", "copied", "asked", "avoidable", "share", CPU, "hosts")
REMEDIES = column("causes", "remedy")


def counted(number: int, one: str) -> str:
    """1 host, 1,312 hosts."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def clock(when: float, begin: float, end: float) -> str:
    """A moment in UTC; with its day if the window has two."""
    moment, *ends = (datetime.datetime.fromtimestamp(each, datetime.UTC)
                     for each in (when, begin, end))
    return moment.strftime("%H:%M" if ends[0].date() == ends[1].date() else "%m-%d %H:%M")


def since_text(each: Service, told: Answer) -> str:
    """Since when most is copied after all."""
    if each.since is None:
        return ""
    moment = clock(told.begin if each.from_begin else each.since, told.begin, told.end)
    before = f"before {moment}" if each.from_begin else moment
    return before if each.still else f"{before}, not now"


def name_of(each: Service) -> str:
    """A service as a line can show it; before 1.1 the program, and the last step of its cgroup."""
    labels = each.labels
    if labels.get("service"):
        return shown(labels["service"], MOST_CELL)
    group = labels.get("container") or labels.get("cgroup", "").rstrip("/").rpartition("/")[2]
    comm = labels.get("comm", "")
    return shown(f"{comm} in {group}" if group and group != comm else comm or "?", MOST_CELL)


def amount(number: float | None) -> str:
    """Bytes, or that they are not known."""
    return NOT_MEASURED if number is None else bytes_text(round(number))


def of_all(part: float | None, whole: float | None) -> str:
    """The share of a part."""
    return "" if part is None or not whole else share_text(round(part), round(whole))


def cpu_text(seconds: float | None) -> str:
    """CPU time."""
    return NOT_MEASURED if seconds is None else \
        f"{seconds:,.0f}" if seconds >= 1000 else short(seconds)


def cause_text(each: Service) -> str:
    """Why it was copied, and how many other causes there are; or what the kernel refused."""
    others = f" and {len(each.causes) - 1} more" if len(each.causes) > 1 else ""
    refused = f"{each.of('enobufs'):.0f} sends refused" if round(each.of("enobufs")) else ""
    return "; ".join(filter(None, (shown(each.cause, MOST_CELL) + others, refused)))


def sends_told(services: Iterable[Service]) -> str:
    """The share of sends of which the kernel says that it copied them, where bytes are not
    measured: at least so many were; "" if it says so of none."""
    many = [each for each in services if each.unmeasured]
    told = sum(each.of("told_copied") for each in many)
    share = of_all(told, sum(each.of("completed") for each in many)) if told else ""
    return "" if not share else "> 0 % of sends" if share.startswith("<") else \
        f">= {share.removeprefix('> ')} of sends"


def service_row(each: Service, told: Answer) -> list[str]:
    """A service in a line."""
    asked, needless = each.sums.get("asked"), each.sums.get("needless")
    return [shown(each.host, MOST_CELL), name_of(each), amount(asked), amount(needless),
            of_all(needless, asked) or sends_told([each]), since_text(each, told),
            cpu_text(each.sums.get("cpu")), cause_text(each)]


def copied_text(each: Service) -> str:
    """What was copied; where not all is known, so much at least."""
    whole, least = each.copied
    return f">= {amount(least)}" if whole is None and least else amount(whole)


def moved_row(each: Service) -> list[str]:
    """What a service moved, as the rows of a watch have it."""
    sums = each.sums
    return [shown(each.host, MOST_CELL), name_of(each), amount(sums.get("sent")),
            amount(sums.get("received")), copied_text(each), amount(sums.get("needless")),
            cpu_text(sums.get("cpu"))]


def unknown_rows(told: Answer) -> list[list[str]]:
    """What is not known, and on which hosts."""
    found: dict[str, list[Host]] = {}
    for host in told.hosts:
        for each in host.not_known:
            found.setdefault(shown(each, 2 * MOST_CELL), []).append(host)
    return [[what, named(hosts)] for what, hosts in sorted(found.items())]


def summed(services: Iterable[Service]) -> list[str]:
    """What several services asked for and got."""
    many = list(services)
    asked, needless, cpu = (sum(found) if (found := [each.sums[name] for each in many
                                                     if name in each.sums]) else None
                            for name in ("asked", "needless", "cpu"))
    if not any(each.unmeasured for each in many):
        return [amount(asked), amount(needless), of_all(needless, asked), cpu_text(cpu)]
    # What some have measured is not all.
    return [amount(asked), f">= {amount(needless)}" if needless else NOT_MEASURED,
            sends_told(many), cpu_text(cpu)]


def kernel_rows(told: Answer) -> list[list[str]]:
    """Every kernel."""
    return [[shown(kernel or "not known", MOST_CELL), f"{len(hosts):,}", *summed(services)]
            for kernel, (hosts, services) in told.kernels.items()]


def host_rows(told: Answer) -> list[list[str]]:
    """Hosts on which something was copied after all, those with most first."""
    found: dict[tuple[str, str], list[Service]] = {}
    for each in told.services:
        found.setdefault((each.host, each.kernel), []).append(each)
    rows = sorted((-sum(each.of("needless") for each in many),
                   -sum(each.of("told_copied") for each in many), host, kernel)
                  for (host, kernel), many in found.items())
    return [[shown(host, MOST_CELL), *summed(found[host, kernel]), shown(kernel, MOST_CELL)]
            for needless, sends, host, kernel in rows if needless or sends]


def first_of(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = [f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    return listed([*names[:MOST_NAMED], *more])


def named(hosts: list[Host]) -> str:
    """Some hosts by name."""
    return first_of([shown(each.name, MOST_CELL) for each in hosts])


def broken_sentences(hosts: list[Host]) -> list[str]:
    """Whose numbers are not to be trusted: of whole hosts, and of services on others."""
    whole = [each for each in hosts if each.untrusted]
    others = [each for each in hosts if each.broken and not each.untrusted]
    services = [f"{name_of(each)} on {shown(each.host, MOST_CELL)}"
                for host in others for each in host.services_broken]
    return [f"Do not trust numbers of {names}: a law broke ({laws_text(found)})."
            for found, names in ((whole, named(whole)), (others, first_of(services))) if found]


def laws_text(hosts: list[Host]) -> str:
    """The laws that broke on some hosts, each once."""
    laws = dict.fromkeys(law for each in hosts for law in each.broken)
    return listed([shown(law, MOST_CELL) for law in laws])


def window_text(told: Answer) -> str:
    """From when to when."""
    first, last = (datetime.datetime.fromtimestamp(each, datetime.UTC)
                   for each in (told.begin, told.end))
    form = "%H:%M" if first.date() == last.date() else "%Y-%m-%d %H:%M"
    return f"{first:%Y-%m-%d %H:%M} to {last.strftime(form)} UTC"


def told_text(unmeasured: list[Service]) -> str:
    """What the kernel says of the sends of those whose bytes are not measured."""
    copied, done = (sum(each.of(name) for each in unmeasured)
                    for name in ("told_copied", "completed"))
    return f" The kernel says that it copied {copied:,.0f} of {counted(round(done), 'send')} of " \
           f"{counted(len(unmeasured), 'service')} whose bytes are not measured." if copied else ""


def asked_sentence(told: Answer) -> str:
    """What was asked for, and what came of it."""
    asked, needless = told.total("asked"), told.total("needless")
    if asked is None:
        return "How much programs asked to send without a copy is not measured."
    if not asked:
        return "No program asked to send without a copy."
    lacking = [each for each in told.asking if round(each.of("needless"))]
    unmeasured = [each for each in told.asking if each.unmeasured]
    begin = f"Programs asked to send {amount(asked)} without a copy; "
    if needless is None or (unmeasured and not lacking):
        return f"{begin}how much of it was copied after all is not measured.{told_text(unmeasured)}"
    if not lacking:
        return f"{begin}nothing of it was copied after all."
    hosts = len({each.host for each in lacking})
    return f"{begin}{'at least ' if unmeasured else ''}{of_all(needless, asked)} of it, " \
           f"{amount(needless)}, was copied after all, " \
           f"by {counted(len(lacking), 'service')} on {counted(hosts, 'host')}." \
           f"{told_text(unmeasured)}"


def sentences(told: Answer) -> list[str]:
    """The answer in short, and what makes it less sure."""
    cpu = told.total("cpu")
    said = [f"{counted(len(told.hosts), 'host')} on {counted(len(told.kernels), 'kernel')}, "
            f"{window_text(told)}.", asked_sentence(told),
            "What copying costs is not measured: that takes watch --cpu." if cpu is None else
            f"Copying payload took {cpu_text(cpu)} s of CPU time, "
            f"{short(cpu / told.window_s)} CPUs."]
    if told.silent:
        said.append(f"The watch is read no more on {named(told.silent)}.")
    return [*said, *broken_sentences(told.hosts)]


def remedies(services: list[Service]) -> list[list[str]]:
    """What helps against each cause."""
    causes = dict.fromkeys(each.cause for each in services if each.cause)
    return [[shown(cause, MOST_CELL), REMEDIES.get(cause, "")] for cause in causes]


def without_cpu(head: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """A table without the column of CPU time where nobody measured it; a sentence says so."""
    place = head.index(CPU) if CPU in head else -1
    if place < 0 or any(row[place] != NOT_MEASURED for row in rows):
        return head, rows
    return [*head[:place], *head[place + 1:]], [[*row[:place], *row[place + 1:]] for row in rows]


def table(head: list[str], rows: list[list[str]], most: int) -> list[str]:
    """A table, with an empty line before it; of many rows the first ones."""
    if not rows:
        return []
    head, cells = without_cpu(head, rows[:most])
    right = [number for number, name in enumerate(head) if name in NUMBERS]
    more = [f"and {len(rows) - most:,} more; --top shows more"] if len(rows) > most else []
    return ["", *laid_out([head, *cells], right), *more]


def lines(told: Answer, most: int) -> list[str]:
    """All of it."""
    rows = [service_row(each, told) for each in told.asking]
    return [*(line for each in sentences(told) for line in wrapped(each)),
            *table(MOVED_HEAD, [moved_row(each) for each in told.moving], most),
            *table(SERVICE_HEAD, rows, most),
            *table(CAUSE_HEAD, remedies(told.asking[:most]), most),
            *table(HOST_HEAD, host_rows(told), most),
            *table(KERNEL_HEAD, kernel_rows(told), most),
            *table(UNKNOWN_HEAD, unknown_rows(told), most)]
