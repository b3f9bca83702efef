# SPDX-License-Identifier: GPL-2.0
"""Whatever a Prometheus answers to copyscope fleet, it becomes a record of its schema or one line."""
from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from copyscope.common.errors import CommandError
from copyscope.fleet import answer, ask, command, page, text
from helpers.schemas import faults

SCHEMA = Path(__file__).resolve().parents[2] / "docs/fleet.schema.json"
NOW, WINDOW_S = 1_800_000_000, 3600
HOST = {"job": "node", "instance": "a:9100"}
WHO = {**HOST, "cgroup": "/x.service", "comm": "x"}
CASES = 400
VALUES: list[Any] = ["+Inf", "-Inf", "NaN", "1e308", "-1", "9" * 400, "", "x", float("inf"), float("nan"), 10 ** 400, -10 ** 18,
                     2 ** 64 + 2 ** 20, 253_402_300_800, None, True, [], {}, [[]], {"": {}}, "\ud800", "\x00\x1b[31m", "a" * 10_000]


def vector(labels: dict[str, str], value: object) -> dict[str, Any]:
    """One series of an instant."""
    return {"metric": labels, "value": [NOW, str(value)]}


def result_of(form: dict[str, str]) -> Any:
    """What a Prometheus in order answers to one question."""
    query = form["query"]
    if query == "time()":
        return [NOW, str(NOW)]
    if "step" in form:
        begin = float(form["start"])
        return [{"metric": WHO, "values": [[begin + 60 * step, str(50 + 100 * ("needless" in query))] for step in range(60)]}]
    if query.startswith("copyscope_build_info"):
        return [vector({**HOST, "kernel": "6.12", "version": "0.1"}, 1)]
    if "last_reading" in query and "increase" not in query:
        return [vector(HOST, NOW - 10)]
    if "laws" in query:
        return [vector({**HOST, "law": "send queue"}, 1)] if query.startswith("last") else []
    if query.startswith(("resets", "copyscope")):
        return []
    return [vector({**WHO, "cause": "tun"} if "cause_bytes" in query else WHO, 123_456_789)]


def places(value: Any, at: tuple = ()) -> list[tuple]:
    """Every place in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


def mutated(data: Any, dice: Random) -> Any:
    """The document with one to three places changed, taken away or doubled."""
    whole = {"": copy.deepcopy(data)}
    for _ in range(dice.randint(1, 3)):
        *path, last = dice.choice(places(whole)[1:])
        inside: Any = whole
        for key in path:
            inside = inside[key]
        how = dice.random()
        if how < 0.7:
            inside[last] = copy.deepcopy(dice.choice(VALUES))
        elif how < 0.85 and path:
            del inside[last]
        elif isinstance(inside, list):
            inside.append(inside[last])
        else:
            inside[dice.choice(["__name__", "\ud83d", "instance"])] = inside[last]
    return whole[""]


def told_of(asked: type[ask.Prometheus], monkeypatch) -> str:
    """All that is written of answers, or the one line."""
    monkeypatch.setattr(answer, "Prometheus", asked)
    try:
        told = answer.ask("http://127.0.0.1:9", WINDOW_S)
        document = json.dumps(command.document(told))
        wrong = faults(SCHEMA, json.loads(document, parse_constant=pytest.fail))
        assert not wrong, wrong
        said = text.lines(told, 5)
        written = "\n".join([*said, page.page(told)])
    except CommandError as error:
        return str(error)
    written.encode()
    assert all(map(str.isprintable, said))
    return written


class Sound(ask.Prometheus):
    """One in order, without a network."""

    def _body(self, path: str, words: dict[str, str]) -> bytes:
        return json.dumps({"status": "success", "data": {"resultType": path, "result": result_of(words)}}).encode()


def spoiling(dice: Random, spoiled: int) -> type[Sound]:
    """One that answers one question otherwise, and others now and then."""
    class Mutated(Sound):
        """It counts what it is asked."""

        asked = 0

        def _body(self, path: str, words: dict[str, str]) -> bytes:
            body = super()._body(path, words)
            type(self).asked += 1
            if self.asked - 1 == spoiled or dice.random() < 0.02:
                body = json.dumps(mutated(json.loads(body), dice)).encode()
            return body

    return Mutated


CAPTURED = {**HOST, "comm": "captured"}
COMPLETED, COPIED = 139_544, 139_529


class Captured(Sound):
    """One more program: while a capture runs, its bytes are not measured, and before they were 0."""

    def _body(self, path: str, words: dict[str, str]) -> bytes:
        query, found = words["query"], json.loads(super()._body(path, words))
        of_completions = "completions" in query
        value = COPIED if 'copied="true"' in query else COMPLETED if of_completions else 0 if "needless" in query else 10 ** 9
        if query.startswith("last") and "laws" not in query and "cause" not in query:
            found["data"]["result"].append(vector(CAPTURED, value))
        if query == "copyscope_zerocopy_completions_total":
            found["data"]["result"].append(vector(CAPTURED, value))
        return json.dumps(found).encode()


def test_where_bytes_are_not_measured_the_kernels_word_on_sends_is_told_and_no_0(monkeypatch):
    monkeypatch.setattr(answer, "Prometheus", Captured)
    told = answer.ask("http://127.0.0.1:9", WINDOW_S)
    each, = [each for each in command.document(told)["services"] if each["labels"]["comm"] == "captured"]
    assert (each["copied_after_all_bytes"], each["copied_sends"], each["completed_sends"]) == (None, COPIED, COMPLETED)
    row, = [row for row in text.lines(told, 5) if " captured " in row and "of sends" in row]
    assert "not measured" in row and ">= 99.9 % of sends" in row and "0 B" not in row
    said = " ".join(text.lines(told, 5))
    assert "at least" in said and "The kernel says that it copied 139,529 of 139,544 sends of 1 service" in said
    assert not faults(SCHEMA, command.document(told))


NGINX = {**HOST, "service": "nginx.service", "cgroup": "/nginx.service"}
SERVICES = {"copyscope_sent_bytes_total": ((NGINX, "worker", 700), (NGINX, "cache", 200), (HOST, "other", 5)),
            "copyscope_copied_bytes_total": ((NGINX, "worker", 600), (NGINX, "cache", 90), (HOST, "other", 5)),
            "copyscope_copied_least_bytes_total": ((NGINX, "worker", 600), (NGINX, "cache", 90), (HOST, "other", 5))}


@pytest.mark.parametrize("hidden, copied", [("", "690 B"), ("cache", ">= 690 B")])
def test_programs_of_a_service_are_one_row_and_what_is_not_known_is_told(hidden, copied, monkeypatch):
    class Three(Sound):
        """Two programs of a service; what one of them copied is not known any more."""

        def _body(self, path: str, words: dict[str, str]) -> bytes:
            query, found = words["query"], []
            for name, rows in SERVICES.items():
                if query in (name, f"last_over_time({name}[{WINDOW_S}s])"):
                    gone = hidden if name == "copyscope_copied_bytes_total" and query == name else None
                    found = [vector({**who, "comm": comm}, value) for who, comm, value in rows if comm != gone]
            if query.startswith("last_over_time(copyscope_unmeasured"):
                found = [vector({**HOST, "site": "late_copy"}, 3)]
            if "copyscope_clock_sampled" in query:
                found = [vector(HOST, 0)]
            if not found and not any(each in query for each in ("build_info", "last_reading", "time()")):
                return json.dumps({"status": "success", "data": {"resultType": path, "result": []}}).encode()
            return json.dumps({"status": "success", "data": {"resultType": path, "result": found}}).encode() if found \
                else super()._body(path, words)

    monkeypatch.setattr(answer, "Prometheus", Three)
    told = answer.ask("http://127.0.0.1:9", WINDOW_S)
    rows = [row.split("  ") for row in text.lines(told, 5) if row.startswith("a:9100  ")]
    assert [list(map(str.strip, filter(None, row)))[:5] for row in rows] == [
        ["a:9100", "nginx.service", "900 B", "not measured", copied], ["a:9100", "other", "5 B", "not measured", "5 B"]]
    moved = command.document(told)["moved"]
    assert moved[0]["labels"] == NGINX and moved[0]["copied_bytes"] == (None if hidden else 690)
    said = " ".join(text.lines(told, 5))
    assert "late_copy was not measured of some programs" in said and "the kernel refuses the clock" in said
    assert not faults(SCHEMA, command.document(told))


def test_an_answer_in_order_is_told(monkeypatch):
    said = told_of(Sound, monkeypatch)
    assert said.startswith("1 host on 1 kernel") and "tun" in said and "send queue" in said


@pytest.mark.parametrize("part", range(4))
def test_a_mutated_answer_is_a_record_or_one_line(part, monkeypatch):
    lines = 0
    for case in range(part, CASES, 4):
        dice = Random(case)
        spoiled = dice.randrange(50)
        try:
            said = told_of(spoiling(dice, spoiled), monkeypatch)
        except Exception as error:
            raise AssertionError(f"case {case}") from error
        lines += "\n" not in said
    assert CASES / 4 * 0.1 < lines < CASES / 4 * 0.95


@pytest.mark.parametrize("value", ["+Inf", "NaN", "-1", "1e300"])
@pytest.mark.parametrize("metric", ["last_over_time(copyscope_sent_bytes", "increase(copyscope_cpu", "rate(copyscope_needless"])
def test_a_number_that_no_metric_has_is_one_line(metric, value, monkeypatch):
    class Infinite(Sound):
        """One number is none."""

        def _body(self, path: str, words: dict[str, str]) -> bytes:
            body = super()._body(path, words)
            return body.replace(b'"123456789"', f'"{value}"'.encode()).replace(b'"150"', f'"{value}"'.encode()) \
                if metric in words["query"] else body

    assert told_of(Infinite, monkeypatch).startswith("http://127.0.0.1:9 does not answer as a Prometheus does: ")


def test_a_time_that_no_date_names_is_none(monkeypatch):
    class Late(Sound):
        """Its last reading is in the year 500,000,000."""

        def _body(self, path: str, words: dict[str, str]) -> bytes:
            return super()._body(path, words).replace(str(NOW - 10).encode(), b"16000000000000000")

    assert "The watch is read no more on a:9100." in told_of(Late, monkeypatch)


def test_an_answer_of_many_small_parts_is_refused_before_it_takes_memory(monkeypatch):
    monkeypatch.setattr(ask, "MOST_BYTES", 1 << 20)

    class Many(Sound):
        """Lists of nothing."""

        def _body(self, path: str, words: dict[str, str]) -> bytes:
            return b'{"status": "success", "data": {"result": [' + b"[]," * (1 << 15) + b"[]]}}"

    monkeypatch.setattr(ask.json, "loads", lambda _: pytest.fail("it was read"))
    assert "does not answer as a Prometheus" in told_of(Many, monkeypatch)
