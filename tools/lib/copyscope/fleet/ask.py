# SPDX-License-Identifier: GPL-2.0
"""Asks Prometheus by its HTTP API; whatever goes wrong is one line."""
from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from copyscope.common.errors import Refused, Unusable, shown
from copyscope.common.json_bounds import check_parts

# For one question, from the look-up of its host's name to the last byte of its answer.
PATIENCE_S = 30
MOST_BYTES = 256 << 20
PIECE = 1 << 16
# What a counter of 64 bits can hold, and the last second that a date can name.
MOST_VALUE = float(1 << 64)
MOST_TIME_S = 253_402_300_799.0
Read = TypeVar("Read")


class Sample(NamedTuple):
    """One series of an answer: its labels, its value now or (time, value) of each step."""

    labels: dict[str, str]
    value: float
    steps: list[tuple[float, float]]


class SlowAnswer(OSError):
    """The answer was not whole in time."""


def checked(url: str) -> str:
    """The address without what stands behind it, if it may be one."""
    try:
        parts = urllib.parse.urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        fine = False
    if not fine or parts.query or parts.fragment or not url.isascii() or not url.isprintable():
        raise Unusable(f"{url!r} is no address of a Prometheus, such as http://127.0.0.1:9090")
    if "@" in parts.netloc:
        raise Unusable("an address with a password in it is seen by all who list processes: "
                       "reach that Prometheus by a proxy on this machine")
    return url.rstrip("/")


def within(seconds: float, act: Callable[[], Read]) -> Read:
    """What a call gives. After so many seconds SlowAnswer is raised, whatever the call waits for: a
    limit of each read is none for a far side that sends a byte now and then, and the look-up of a
    name has none at all. The call is left behind, in a thread that holds up no exit."""
    given: list[Read] = []
    failed: list[BaseException] = []

    def call() -> None:
        """Make the call, and keep what comes of it."""
        try:
            given.append(act())
        except BaseException as error:  # pylint: disable=broad-exception-caught
            failed.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not given:
        raise SlowAnswer
    return given[0]


def number(value: Any) -> float:
    """A number of one of our metrics: none of them can be negative, infinite or no number."""
    found = float(value)
    if not 0 <= found <= MOST_VALUE:
        raise ValueError(f"{found} is no number of such a metric")
    return found


def moment(value: Any) -> float:
    """A time in seconds since 1970 that a date can name."""
    found = float(value)
    if not 0 <= found <= MOST_TIME_S:
        raise ValueError(f"{found} is no time")
    return found


def labels_of(found: Any) -> dict[str, str]:
    """The labels of a series, each of which can be written."""
    if not isinstance(found, dict):
        raise TypeError("the labels are no table")
    for name, value in found.items():
        f"{name}{value}".encode()
        if not isinstance(value, str):
            raise TypeError("a label is no text")
    return found


class Prometheus:
    """A Prometheus, or what answers like one: Thanos, Mimir, VictoriaMetrics."""

    def __init__(self, url: str) -> None:
        self.url = checked(url)
        # No files, and no FTP, wherever a redirection leads.
        self.opener = urllib.request.OpenerDirector()
        for each in (urllib.request.ProxyHandler(), urllib.request.HTTPHandler(),
                     urllib.request.HTTPSHandler(), urllib.request.HTTPDefaultErrorHandler(),
                     urllib.request.HTTPErrorProcessor(), urllib.request.UnknownHandler()):
            self.opener.add_handler(each)

    def refusal(self, what: str) -> Refused:
        """An error about this Prometheus."""
        return Refused(f"{self.url}: {what}")

    def _body(self, path: str, words: dict[str, str]) -> bytes:
        """The whole answer to a form."""
        ended = time.monotonic() + PATIENCE_S
        form = urllib.parse.urlencode(words | {"timeout": f"{PATIENCE_S}s"}).encode("ascii")
        body = bytearray()
        try:
            answer = self.opener.open(f"{self.url}/api/v1/{path}", form, PATIENCE_S)
        except urllib.error.HTTPError as error:
            # Prometheus says in JSON what it did not like.
            answer = error
        with answer:
            while piece := answer.read1(PIECE):
                body += piece
                if time.monotonic() > ended:
                    raise SlowAnswer
                if len(body) > MOST_BYTES:
                    raise self.refusal(f"the answer has more than {MOST_BYTES >> 20} MiB: ask for "
                                       "a shorter --window")
        return bytes(body)

    def _data(self, path: str, words: dict[str, str]) -> list[Any]:
        """What an answer tells."""
        try:
            body = within(PATIENCE_S, lambda: self._body(path, words))
        except (TimeoutError, SlowAnswer):
            raise self.refusal(f"no whole answer within {PATIENCE_S} s") from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self.refusal(f"no answer within {PATIENCE_S} s") from None
            reason = getattr(error.reason, "strerror", None) or str(error.reason)
            raise self.refusal(f"cannot be reached: {reason}") from None
        except (OSError, http.client.HTTPException) as error:
            raise self.refusal(f"the answer broke off: {error or type(error).__name__}") from None
        except ValueError as error:
            # Of a name that DNS cannot have, or a proxy in the environment that is no address.
            raise Unusable(f"{self.url} cannot be asked: {error}") from None
        try:
            check_parts(body, MOST_BYTES)
            answer = json.loads(body)
            if answer["status"] == "success":
                return list(answer["data"]["result"])
            told = f"{answer['errorType']}: {answer['error']}"
        except (ValueError, KeyError, TypeError, RecursionError):
            begins = body[:60].decode("utf-8", "replace")
            raise Unusable(f"{self.url} does not answer as a Prometheus does, but with "
                           f"{shown(begins)!r}") from None
        raise self.refusal(told)

    def now(self) -> float:
        """The time there: ours may be another."""
        try:
            return moment(self._data("query", {"query": "time()"})[0])
        except (ValueError, TypeError, IndexError, OverflowError):
            raise Unusable(f"{self.url} does not tell its time") from None

    def at(self, expression: str, when: float) -> list[Sample]:
        """Every series of an expression at a time."""
        data = self._data("query", {"query": expression, "time": f"{when:.3f}"})
        return self._samples(data, lambda each: Sample(
            labels_of(each["metric"]), number(each["value"][1]), []))

    def steps(self, expression: str, begin: float, end: float, step: float) -> list[Sample]:
        """Every series of an expression, at each step."""
        data = self._data("query_range", {"query": expression, "start": f"{begin:.3f}",
                                          "end": f"{end:.3f}", "step": f"{step:.3f}"})
        return self._samples(data, lambda each: Sample(
            labels_of(each["metric"]), 0.0,
            [(moment(when), number(value)) for when, value in each["values"]]))

    def _samples(self, data: list[Any], read: Callable[[Any], Sample]) -> list[Sample]:
        """What an answer has, read."""
        try:
            return [read(each) for each in data]
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise Unusable(f"{self.url} does not answer as a Prometheus does: "
                           f"{shown(str(error), 80)}") from None
