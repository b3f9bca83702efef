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
    ("asked", questions.REFERENCED), ("asked", questions.COPIED_AT_ONCE),
    ("needless", questions.NEEDLESS), ("enobufs", questions.REFUSED),
    ("completed", questions.COMPLETED), ("told_copied", questions.TOLD_COPIED))
# Of so many, those that had most copied after all, what happened over time is asked.
MOST_CHOSEN = 200
# A watch that is read less often says so long before.
STALE_S = 300


@dataclass
class Service:
    """A program in a cgroup of a host."""

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


def tell_broken(window: Window, hosts: dict[Key, Host]) -> None:
    """Add to each host the laws that broke, and the services that broke them."""
    for (*key, law), times in window.risen(questions.LAWS, (*HOST, "law")).items():
        if times and tuple(key) in hosts:
            hosts[tuple(key)].broken.append(law)
    for whole, times in window.risen(questions.LAWS_OF_SERVICES, SERVICE).items():
        if times and whole[:2] in hosts:
            hosts[whole[:2]].services_broken.append(service_of(whole, hosts))


def services_of(window: Window, hosts: dict[Key, Host]) -> list[Service]:
    """Every service, with its sums and causes."""
    found: dict[Key, Service] = {}

    def service(key: Key) -> Service:
        """The one of a key."""
        if key not in found:
            found[key] = service_of(key, hosts)
        return found[key]

    for name, counter in SUMS:
        for key, value in window.risen(counter, SERVICE).items():
            sums = service(key).sums
            sums[name] = sums.get(name, 0) + value
    # A watch that does not measure it at the moment says nothing: what it said before is not all.
    now = {name: {key_of(each, SERVICE) for each in window.ask(questions.selector(counter))}
           for name, counter in (("needless", questions.NEEDLESS),
                                 ("completed", questions.COMPLETED))}
    for key in now["completed"] - now["needless"]:
        service(key).sums.pop("needless", None)
    for each in window.ask(questions.cpu(window.window_s)):
        service(key_of(each, SERVICE)).sums["cpu"] = each.value
    for (*rest, cause), value in window.risen(questions.CAUSES, (*SERVICE, "cause")).items():
        if value:
            service(tuple(rest)).causes[cause] = value
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


def course_of(window: Window, chosen: list[Service]) -> list[Steps]:
    """What some services asked for over time, and what was copied after all; each is told since
    when that is most of it."""
    if not chosen:
        return [[], []]
    step = questions.step_of(window.window_s)
    both = [{key_of(each, SERVICE): each.steps
             for each in window.asked.steps(expression, window.begin, window.end, step)}
            for expression in questions.rates(window.window_s,
                                              sorted({each.host for each in chosen}))]
    sums: list[dict[float, float]] = [defaultdict(float), defaultdict(float)]
    for service in chosen:
        key = tuple(service.labels.get(name, "") for name in SERVICE)
        asked, copied = (part.get(key, []) for part in both)
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
    services = services_of(window, hosts)
    told = Answer(asked.url, window.begin, window.end,
                  sorted(hosts.values(), key=lambda each: each.name), services)
    told.chosen = told.asking[:MOST_CHOSEN]
    told.course = course_of(window, told.chosen)
    return told
