# SPDX-License-Identifier: GPL-2.0
"""The answer: what each service of each host asked for and got, and since when."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from copyscope.common.errors import Refused

from . import questions
from .ask import MOST_TIME_S, Prometheus, Sample
from .questions import HOST, SERVICE, Counter

Key = tuple[str, ...]
Steps = list[tuple[float, float]]
# Numbers of a service, each the sum of counters.
SUMS: tuple[tuple[str, Counter], ...] = (
    ("sent", questions.SENT), ("received", questions.RECEIVED), ("copied", questions.COPIED),
    ("copied_least", questions.COPIED_LEAST), ("asked", questions.REFERENCED),
    ("asked", questions.COPIED_AT_ONCE), ("needless", questions.NEEDLESS),
    ("enobufs", questions.REFUSED), ("completed", questions.COMPLETED),
    ("told_copied", questions.TOLD_COPIED))
# A number that a reading did not measure is absent then; another of the same reading is not.
BESIDE = (("needless", questions.NEEDLESS, questions.COMPLETED),
          ("copied", questions.COPIED, questions.COPIED_LEAST))
# Of so many, those that had most copied after all, what happened over time is asked.
MOST_CHOSEN = 200
# A watch that is read less often says so long before.
STALE_S = 300


@dataclass
class Service:
    """A service of a host: what was summed as one row of it, with the labels that all of it has."""

    labels: dict[str, str]
    kernel: str
    sums: dict[str, float] = field(default_factory=dict)  # what is not there is not measured
    causes: dict[str, float] = field(default_factory=dict)
    since: float | None = None  # most is copied after all since then
    from_begin: bool = False  # it was so when the window began
    still: bool = False  # else it was so for a while

    @property
    def host(self) -> str:
        """Where it runs."""
        return self.labels["instance"]

    @property
    def unmeasured(self) -> bool:
        """How many bytes were copied after all is not known; of how many sends at least, is."""
        return "needless" not in self.sums and self.of("completed") > 0

    @property
    def cause(self) -> str:
        """By what most was copied."""
        return max(self.causes, key=lambda each: self.causes[each], default="")

    @property
    def copied(self) -> tuple[float | None, float]:
        """Bytes that were copied, None if not all is known, and so many at least."""
        return self.sums.get("copied"), max(self.of("copied"), self.of("copied_least"))

    def of(self, name: str) -> float:
        """A number to sort by."""
        return self.sums.get(name, 0.0)


@dataclass
class Host:
    """A host with what it runs."""

    name: str
    job: str
    kernel: str
    version: str
    read: float | None  # when its watch was read last
    broken: list[str] = field(default_factory=list)
    services_broken: list[Service] = field(default_factory=list)  # whose sockets broke them
    not_known: list[str] = field(default_factory=list)  # of what it should count

    @property
    def untrusted(self) -> bool:
        """Did a law break that no service of it accounts for?"""
        return questions.LAW_OF_ALL in self.broken or bool(self.broken) and not self.services_broken


@dataclass
class Answer:
    """All that is told."""

    url: str
    begin: float
    end: float
    hosts: list[Host]
    services: list[Service]
    chosen: list[Service] = field(default_factory=list)  # those of which the course is told
    course: list[Steps] = field(default_factory=list)  # asked, and copied after all

    @property
    def window_s(self) -> int:
        """How long it is about."""
        return round(self.end - self.begin)

    def total(self, name: str) -> float | None:
        """A sum over all services; None if none measured it."""
        found = [each.sums[name] for each in self.services if name in each.sums]
        return sum(found) if found else None

    @property
    def asking(self) -> list[Service]:
        """Services that asked for zero copy, those first that got least of it."""
        return sorted((each for each in self.services
                       if each.of("asked") or each.of("needless") or each.of("enobufs")),
                      key=lambda each: (-each.of("needless"), -each.of("told_copied"),
                                        -each.of("asked"), each.host))

    @property
    def moving(self) -> list[Service]:
        """Services that moved payload, those first that copied most."""
        return sorted((each for each in self.services if each.of("sent") or each.of("received")),
                      key=lambda each: (-each.copied[1], -each.of("sent") - each.of("received"),
                                        each.host))

    @property
    def kernels(self) -> dict[str, tuple[list[Host], list[Service]]]:
        """Hosts and services of each kernel."""
        found: dict[str, tuple[list[Host], list[Service]]] = {}
        for host in self.hosts:
            found.setdefault(host.kernel, ([], []))[0].append(host)
        for service in self.services:
            found.setdefault(service.kernel, ([], []))[1].append(service)
        return dict(sorted(found.items()))

    @property
    def silent(self) -> list[Host]:
        """Hosts whose watch is read no more."""
        return [each for each in self.hosts if each.read is None or each.read < self.end - STALE_S]


def key_of(sample: Sample, labels: tuple[str, ...]) -> Key:
    """What a series is of."""
    return tuple(sample.labels.get(each, "") for each in labels)


def row_of(key: Key) -> Key:
    """What of a series' labels tells a service from others: its name, and before 1.1, or of what
    is of no service, all."""
    named = dict(zip(SERVICE, key))
    return tuple(each if name in (*HOST, "service") else "" for name, each in named.items()) \
        if named["service"] else key


def whole_key(sample: Sample) -> Key:
    """What tells a series from all others of its metric."""
    return tuple(f"{name}={value}" for name, value in sorted(sample.labels.items())
                 if name != "__name__")


class Window:
    """What a Prometheus has of a window."""

    def __init__(self, asked: Prometheus, window_s: int) -> None:
        self.asked, self.window_s, self.end = asked, window_s, asked.now()
        self.begin = self.end - window_s
        self.seen = {key_of(each, HOST) for each in self.ask(questions.seen(window_s))}

    def ask(self, expression: str) -> list[Sample]:
        """Ask for the end of the window."""
        return self.asked.at(expression, self.end)

    def risen(self, counter: Counter, labels: tuple[str, ...]) -> dict[Key, float]:
        """By how much a counter rose, summed by labels: to the byte as the readings have it, where
        no series began again and the host is not new."""
        last = self.ask(questions.last(counter, self.window_s))
        before = {whole_key(each): each.value
                  for each in self.ask(questions.before(counter, self.window_s))}
        again = {whole_key(each)
                 for each in self.ask(questions.begun_again(counter, self.window_s))}
        guessed: dict[Key, float] = {}
        if again or any(key_of(each, HOST) not in self.seen for each in last):
            guessed = {whole_key(each): each.value
                       for each in self.ask(questions.estimated(counter, self.window_s))}
        found: dict[Key, float] = defaultdict(float)
        for sample in last:
            key, host = whole_key(sample), key_of(sample, HOST)
            exact = key not in again and host in self.seen
            # A counter that went back although it is said not to: what it rose by is not known.
            found[key_of(sample, labels)] += \
                max(sample.value - before.get(key, 0), 0) if exact else guessed.get(key, 0)
        return found


def hosts_of(window: Window) -> dict[Key, Host]:
    """Every host, by job and name."""
    read = {key_of(each, HOST): each.value for each in window.ask(questions.READ)
            if each.value <= MOST_TIME_S}
    found: dict[Key, Host] = {}
    for each in window.ask(questions.hosts(window.window_s)):
        key, labels = key_of(each, HOST), each.labels
        found[key] = Host(key[1], key[0], labels.get("kernel", ""), labels.get("version", ""),
                          read.get(key))
    return found


def service_of(key: Key, hosts: dict[Key, Host]) -> Service:
    """A service of which nothing is known yet."""
    labels = {name: value for name, value in zip(SERVICE, key) if value}
    host = hosts.get(key[:2])
    return Service(labels | {"instance": key[1]}, host.kernel if host else "")


def tell_not_known(window: Window, hosts: dict[Key, Host]) -> None:
    """Add to each host what of its numbers is not known."""
    def tell(key: Key, text: str) -> None:
        """Add a line, once."""
        if key in hosts and text not in hosts[key].not_known:
            hosts[key].not_known.append(text)

    for (*key, site), readings in window.risen(questions.UNMEASURED, (*HOST, "site")).items():
        if readings:
            tell(tuple(key), f"{site} was not measured of some programs")
    for counter in questions.SHORT:
        for key, times in window.risen(counter, HOST).items():
            if times:
                tell(key, "sums may be short: sockets or events were missed")
    for key, samples in window.risen(questions.LOST_SAMPLES, HOST).items():
        if samples:
            tell(key, "CPU s are short: samples of the clock were lost")
    refused = "CPU s are not measured: the kernel refuses the clock"
    for expression, text in ((questions.CLOCK, refused),
                             (questions.OTHERS, "some services are summed as other")):
        for each in window.ask(expression):
            tell(key_of(each, HOST), text)


def tell_broken(window: Window, hosts: dict[Key, Host]) -> None:
    """Add to each host the laws that broke, and the services that broke them."""
    for (*key, law), times in window.risen(questions.LAWS, (*HOST, "law")).items():
        if times and tuple(key) in hosts:
            hosts[tuple(key)].broken.append(law)
    broken = {row_of(whole): whole for whole, times
              in window.risen(questions.LAWS_OF_SERVICES, SERVICE).items() if times}
    for row, whole in broken.items():
        if row[:2] in hosts:
            hosts[row[:2]].services_broken.append(service_of(whole, hosts))


def services_of(window: Window, hosts: dict[Key, Host]) -> list[Service]:
    """Every service, with its sums and causes."""
    found: dict[Key, Service] = {}

    def service(key: Key) -> Service:
        """The one that a series is of; it keeps the labels that all its series have."""
        each = found.setdefault(row_of(key), service_of(key, hosts))
        mine = dict(zip(SERVICE, key))
        each.labels = {name: value for name, value in each.labels.items() if mine[name] == value}
        return each

    for name, counter in SUMS:
        for key, value in window.risen(counter, SERVICE).items():
            sums = service(key).sums
            sums[name] = sums.get(name, 0) + value
    # A watch that does not measure it at the moment says nothing: what it said before is not all.
    for name, *counters in BESIDE:
        now, beside = ({key_of(each, SERVICE) for each in window.ask(questions.selector(counter))}
                       for counter in counters)
        for key in beside - now:
            service(key).sums.pop(name, None)
    for each in window.ask(questions.cpu(window.window_s)):
        sums = service(key_of(each, SERVICE)).sums
        sums["cpu"] = sums.get("cpu", 0) + each.value
    for (*rest, cause), value in window.risen(questions.CAUSES, (*SERVICE, "cause")).items():
        if value:
            causes = service(tuple(rest)).causes
            causes[cause] = causes.get(cause, 0) + value
    return list(found.values())


def tell_since(each: Service, asked: Steps, copied: Steps, window: Window) -> None:
    """Add since when most of it is copied after all."""
    wanted = dict(asked)
    shares = [(when, value > questions.MOST_NEEDLESS * wanted[when])
              for when, value in copied if wanted.get(when)]
    mostly = [when for when, most in shares if most]
    if not mostly:
        return
    fine = max((when for when, most in shares if not most), default=0.0)
    step = questions.step_of(window.window_s)
    # A program that has ended asks for nothing any more.
    each.still = mostly[-1] > max(fine, window.end - 2 * step)
    each.since = min(when for when in mostly if when > fine) if each.still else mostly[0]
    each.from_begin = each.since < window.begin + step


def rows_of_steps(found: list[Sample]) -> dict[Key, dict[float, float]]:
    """The steps of all series of each service, added up."""
    rows: dict[Key, dict[float, float]] = {}
    for each in found:
        row = rows.setdefault(row_of(key_of(each, SERVICE)), defaultdict(float))
        for when, value in each.steps:
            row[when] += value
    return rows


def course_of(window: Window, chosen: list[Service]) -> list[Steps]:
    """What some services asked for over time, and what was copied after all; each is told since
    when that is most of it."""
    if not chosen:
        return [[], []]
    step = questions.step_of(window.window_s)
    both = [rows_of_steps(window.asked.steps(expression, window.begin, window.end, step))
            for expression in questions.rates(window.window_s,
                                              sorted({each.host for each in chosen}))]
    sums: list[dict[float, float]] = [defaultdict(float), defaultdict(float)]
    for service in chosen:
        key = row_of(tuple(service.labels.get(name, "") for name in SERVICE))
        asked, copied = (sorted(part.get(key, {}).items()) for part in both)
        tell_since(service, asked, copied, window)
        for place, steps in zip(sums, (asked, copied)):
            for when, value in steps:
                place[when] += value
    return [sorted(each.items()) for each in sums]


def ask(url: str, window_s: int) -> Answer:
    """Ask for everything."""
    asked = Prometheus(url)
    window = Window(asked, window_s)
    hosts = hosts_of(window)
    if not hosts:
        raise Refused(f"{asked.url} has no metrics of copyscope in this window: does it scrape the "
                      "files of copyscope watch --metrics?")
    tell_broken(window, hosts)
    tell_not_known(window, hosts)
    services = services_of(window, hosts)
    told = Answer(asked.url, window.begin, window.end,
                  sorted(hosts.values(), key=lambda each: each.name), services)
    told.chosen = told.asking[:MOST_CHOSEN]
    told.course = course_of(window, told.chosen)
    return told
