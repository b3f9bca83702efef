# SPDX-License-Identifier: GPL-2.0
"""Records of older versions become records of today, whole or damaged."""
from __future__ import annotations

import json

import pytest

from copyscope.common.tables import names
from copyscope.records import documents, older
from copyscope.records.check import check
from copyscope.records.documents import BadRecord
from copyscope.records.load import load_any, load_record
from copyscope.records.watch_record import check_watch
from helpers import damage
from helpers.names import ROOT
from helpers.pictures import DATA

RUN_1, RUN_2 = DATA / "run-A3-guest.json", ROOT / "results/single/run-A3-reuse-65536-1-path-lo.json"
WATCH_1 = ROOT / "results/single/sendfile-lo.json"
OLD = {name: json.loads(file.read_text()) for name, file in
       (("run/1", RUN_1), ("run/2", RUN_2), ("watch/1", WATCH_1))}


def test_these_are_of_older_versions():
    assert [each["schema"] for each in OLD.values()] == [f"copyscope.{name}" for name in OLD]


def keeps(now, old):
    """Every value is as it was; tables may have more."""
    if isinstance(old, dict):
        return set(now) >= set(old) and all(keeps(now[key], each) for key, each in old.items())
    if isinstance(old, list):
        return len(now) == len(old) and all(map(keeps, now, old))
    return now == old


@pytest.mark.parametrize("name", ["run/1", "run/2"])
def test_a_run_keeps_every_value_that_it_had(name):
    old, now = OLD[name], older.upgraded(OLD[name])
    for key, value in old.items():
        if key in ("schema", "interrupted", "backend", "peer"):
            continue
        assert keeps((now["experiment"] if key in older.OF_EXPERIMENT else now)[key], value)
    assert now["experiment"]["attempt"] == old["backend"]["attempt"]
    assert now["backend"] == {key: each for key, each in old["backend"].items() if key != "attempt"}
    assert load_record(RUN_1 if name == "run/1" else RUN_2).data == now


def test_a_watch_keeps_every_value_and_has_laws_by_their_names_of_today():
    old, now = OLD["watch/1"], older.upgraded(OLD["watch/1"])
    assert {each["law"] for each in now["laws"]} == set(names("laws", of_sockets=True, of_tls=False))
    assert {each["laws"]["TLS send"]["why"] for each in now["sockets"]} == {"the record is older than this law"}
    assert [each["left"] for each in now["laws"]] == [each["left"] for each in old["laws"]]
    assert [sorted(each["laws"]) for each in now["sockets"]] == [sorted(names("laws", of_sockets=True))] * len(
        old["sockets"])
    assert keeps(now["counts"], old["total"]["counts"]) and keeps(now["processes"], old["processes"])
    assert now["counts"]["peeked_bytes"] is None
    assert now["count_whys"]["peeked_bytes"] == "the record is older than this count"
    assert len(load_any(WATCH_1)) == len([each for each in old["processes"] if any(
        each["sum"]["counts"][key] for key in ("accepted_bytes", "returned_bytes"))])


def test_laws_of_options_stood_beside_the_others_in_version_3():
    law = {"status": "broken", "left": 7, "right": 6, "residual": 1, "why": None}
    old = {**older.upgraded(OLD["watch/1"]), "schema": "copyscope.record/3", "stacks": {"why": None, "law": law}}
    now = older.upgraded(old)
    assert now["laws"][:-1] == old["laws"] and now["stacks"] == {"why": None}
    last = now["laws"][-1]
    assert last["law"] == "stacks" and last["right_is"] and keeps(last, law)
    # One that had no calls to look at has no law.
    assert older.upgraded({**old, "stacks": None, "sizes": None})["laws"] == old["laws"]


@pytest.mark.parametrize("name", OLD)
def test_a_damaged_one_is_refused_in_one_line_or_read(name):
    refused = 0
    for each in damage.damages(OLD[name], 7, 80):
        try:
            data = documents.parse_json(each.data, "old.json")
            (check_watch if name == "watch/1" else check)(data, "old.json")
        except BadRecord as error:
            assert str(error).startswith("old.json: ") and "\n" not in str(error)
            refused += 1
    assert refused > 16


@pytest.mark.parametrize("name", OLD)
def test_a_site_that_a_record_is_too_old_for_is_not_measured(name):
    now = older.upgraded(OLD[name])
    younger = json.loads(json.dumps(now), object_pairs_hook=lambda pairs: {
        key: each for key, each in pairs if key != "rx_discard"})
    again = older.upgraded(younger)
    (check_watch if name == "watch/1" else check)(again, "old.json")
    assert again["sites"]["rx_discard"] == {"bytes": None, "calls": None, "how": "not_measured",
                                            "why": "the record is older than this site"}
    assert {each["sites"]["rx_discard"]["bytes"] for each in again["sockets"]} == {None}
    assert again["sites"]["rx_copy"] == now["sites"]["rx_copy"] and older.upgraded(now) is now


@pytest.mark.parametrize("name", OLD)
def test_no_run_from_before_there_were_runs_over_tls_had_it(name):
    now = older.upgraded(OLD[name])
    runs = name != "watch/1"
    for site in names("sites", of_tls=True):
        assert now["sites"][site]["how"] == ("derived" if runs else "not_measured")
        assert now["sites"][site]["bytes"] == (0 if runs else None)


def test_other_documents_stay_as_they_are():
    for each in ({}, [], None, 7, {"schema": "copyscope.plan/1"}, {"schema": ["x"]}):
        assert older.upgraded(each) is each
