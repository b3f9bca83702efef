# SPDX-License-Identifier: GPL-2.0
"""The answer: what each service of each host asked for and got, what a kernel's hosts did, since when."""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from copyscope.common.errors import Refused

from . import questions
from .ask import Prometheus, Sample
from .questions import HOST, SERVICE

Key = tuple[str, ...]
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


@dataclass
class Answer:
    """All that is told."""

    url: str
    begin: float
    end: float
    hosts: list[Host]
    services: list[Service]
    course: list[list[tuple[float, float]]]  # asked, and copied after all

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
                      key=lambda each: (-each.of("needless"), -each.of("asked"), each.host))

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


def added(asked: Prometheus, expressions: list[str], labels: tuple[str, ...],
          when: float) -> dict[Key, float]:
    """The sum of some expressions, by labels."""
    found: dict[Key, float] = defaultdict(float)
    for expression in expressions:
        for sample in asked.at(expression, when):
            found[key_of(sample, labels)] += sample.value
    return found


def hosts_of(asked: Prometheus, window_s: int, when: float) -> dict[Key, Host]:
    """Every host, by job and name."""
    read = {key_of(each, HOST): each.value for each in asked.at(questions.READ, when)}
    found: dict[Key, Host] = {}
    for each in asked.at(questions.hosts(window_s), when):
        key, labels = key_of(each, HOST), each.labels
        found[key] = Host(key[1], key[0], labels.get("kernel", ""), labels.get("version", ""),
                          read.get(key))
    laws = added(asked, [questions.laws(window_s)], (*HOST, "law"), when)
    for (*key, law), times in laws.items():
        if times and tuple(key) in found:
            found[tuple(key)].broken.append(law)
    return found


def tell_since(asked: Prometheus, services: dict[Key, Service], window_s: int,
               when: float) -> None:
    """Add to each service since when most of it is copied after all."""
    step = questions.step_of(window_s)
    firsts, lasts, fines = (
        {key_of(each, SERVICE): each.value for each in asked.at(expression, when)}
        for expression in questions.since(window_s))
    for key, first in firsts.items():
        if key not in services:
            continue
        service, fine = services[key], fines.get(key, 0.0)
        # Steps lie at multiples of themselves.
        service.still = lasts[key] >= when // step * step
        service.since = fine + step if service.still and fine > first else first
        service.from_begin = service.since < when - window_s + step


def ask(url: str, window_s: int) -> Answer:
    """Ask for everything."""
    asked = Prometheus(url)
    when = asked.now()
    hosts = hosts_of(asked, window_s, when)
    if not hosts:
        raise Refused(f"{asked.url} has no metrics of copyscope in this window: does it scrape the "
                      "files of copyscope watch --metrics?")
    services: dict[Key, Service] = {}

    def service(key: Key) -> Service:
        """The one of a key."""
        if key not in services:
            labels = {name: value for name, value in zip(SERVICE, key) if value}
            host = hosts.get(key[:2])
            services[key] = Service(labels | {"instance": key[1]}, host.kernel if host else "")
        return services[key]

    for name, counters in questions.SUMS.items():
        risen = [questions.risen(counter, SERVICE, window_s) for counter in counters]
        for key, value in added(asked, risen, SERVICE, when).items():
            service(key).sums[name] = value
    causes = questions.risen(questions.CAUSES, (*SERVICE, "cause"), window_s)
    for (*rest, cause), value in added(asked, [causes], (*SERVICE, "cause"), when).items():
        if value:
            service(tuple(rest)).causes[cause] = value
    tell_since(asked, services, window_s, when)
    course = [next((each.steps for each in asked.steps(
        expression, when - window_s, when, questions.step_of(window_s))), [])
        for expression in questions.course(window_s)]
    return Answer(asked.url, when - window_s, when, sorted(hosts.values(), key=lambda each: each.name),
                  list(services.values()), course)
