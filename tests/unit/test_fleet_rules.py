# SPDX-License-Identifier: GPL-2.0
"""Prometheus' rules alert of what they say they do, and they, the dashboard and the pages name what is written."""
from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from helpers import foreign, promql

ROOT = Path(__file__).resolve().parents[2]
RULES, TESTS = "copyscope.rules.yml", "rules_test.yml"
DASHBOARD = json.loads((promql.PLACE / "grafana.json").read_text(encoding="utf-8"))
TARGETS = [(panel["title"], target) for panel in DASHBOARD["panels"] for target in panel["targets"]]
NAMES = promql.known()


def promtool(*words: object, place: Path = promql.PLACE) -> subprocess.CompletedProcess:
    """Run promtool in a folder."""
    # It ends before it needs its memory back.
    return subprocess.run([*foreign.words("promtool"), *map(str, words)], capture_output=True, text=True, check=False,
                          cwd=place, timeout=60, env={**os.environ, "GOGC": "off"})


def test_promtool_takes_the_rules_and_their_tests_pass():
    for words in (("check", "rules", RULES), ("test", "rules", TESTS)):
        done = promtool(*words)
        assert done.returncode == 0, done.stdout + done.stderr


MUTATIONS = {
    "another share": ("needless:ratio_rate5m > 0.5", "needless:ratio_rate5m > 0.75"),
    "at once": ("needless:ratio_rate5m)\n        for: 10m", "needless:ratio_rate5m)\n        for: 0m"),
    "what the kernel says of sends": ("(service:copyscope_told_copied:ratio_rate5m > 0.5", "(service:copyscope_told_copied:ratio_rate5m > 1.5"),
    "the kernel's word before bytes": (" unless service:copyscope_needless:ratio_rate5m", ""),
    "what was ignored is left out": ("SO_ZEROCOPY not set|", ""),
    "plain sends are asked, too": ('{way="zerocopy"}', ""),
    "causes of other containers": (",container=%q", ""),
    "any cause": ("sum by (cause)", "sum by (job)"),
    "no new program is refused": ("copyscope_enobufs_total > 0 unless", "copyscope_enobufs_total > 99 unless"),
    "refusals of before": ("\n          and on (job, instance) copyscope_last_reading_timestamp_seconds offset 10m)", ")"),
    "a program without completions": ("or 0 * rate(copyscope_zerocopy_sends_total[10m])", ""),
    "completions of one kind": ("sum without (copied) (rate(copyscope_zerocopy_completions_total[10m]))",
                                'sum without (copied) (rate(copyscope_zerocopy_completions_total{copied="true"}[10m]))'),
    "every CPU mode": ('node_cpu_seconds_total{mode="idle"}', "node_cpu_seconds_total"),
    "no late copies": ("recv_copy|late_copy", "recv_copy"),
    "a law that broke at once": ("(copyscope_laws_broken_total > 0 unless", "(copyscope_laws_broken_total > 1 unless"),
    "a law that broke for one service": ("\n          unless on (job, instance) (increase(copyscope_service_laws_broken_total[1h])",
                                         "\n          or on (job, instance) (increase(copyscope_service_laws_broken_total[1h])"),
    "a watch that stopped": ("> 300", "> 3000"),
    "hosts that are gone": ("\n          and on (job, instance) up == 1)", ")"),
    "samples without room": ("increase(copyscope_lost_samples_total[10m])", "increase(copyscope_lost_events_total[10m])"),
    "a clock that is sampled": ("copyscope_clock_sampled == 0", "copyscope_clock_sampled"),
    "a clock refused for a moment": ("copyscope_clock_sampled == 0\n        for: 5m", "copyscope_clock_sampled == 0\n        for: 0m"),
    "what was not measured before": ("increase(copyscope_unmeasured_readings_total[1h])", "copyscope_unmeasured_readings_total"),
    "services for a moment": ("copyscope_folded_services > 0\n        for: 1h", "copyscope_folded_services > 0\n        for: 0m"),
    "sockets without room": ("increase(copyscope_unbooked_sockets_total[1h]) > 0 or ", ""),
}


@functools.cache
def read(text: str) -> dict:
    """YAML, by the reader in C: that in Python takes as long as promtool."""
    return yaml.load(text, yaml.CSafeLoader)


def what_expects(alert: str | None) -> dict:
    """What promtool is to test: what expects an alert to be there or not; all, if it is no alert that is asked for."""
    tests = read((promql.PLACE / TESTS).read_text(encoding="utf-8"))
    if not alert:
        return tests
    chosen = [each for each in tests["tests"] if any(one["alertname"] == alert for one in each.get("alert_rule_test", ()))]
    assert chosen, alert
    return {**tests, "tests": chosen}


def alert_changed(before: str, after: str) -> str | None:
    """The alert whose rule differs, if it is the only rule."""
    rules = [[rule for group in read(text)["groups"] for rule in group["rules"]] for text in (before, after)]
    differ = [old for old, new in zip(*rules, strict=True) if old != new]
    return differ[0].get("alert") if len(differ) == 1 else None


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_rule_that_is_wrong_fails_its_test(name, tmp_path):
    text = (promql.PLACE / RULES).read_text(encoding="utf-8")
    before, after = MUTATIONS[name]
    assert before in text
    wrong = text.replace(before, after)
    (tmp_path / RULES).write_text(wrong, encoding="utf-8")
    (tmp_path / TESTS).write_text(yaml.dump(what_expects(alert_changed(text, wrong)), Dumper=yaml.CSafeDumper), encoding="utf-8")
    done = promtool("test", "rules", TESTS, place=tmp_path)
    assert done.returncode == 1 and "FAILED" in done.stdout + done.stderr


def test_every_alert_is_tested():
    tested = (promql.PLACE / TESTS).read_text(encoding="utf-8")
    for rule in promql.rules():
        if "alert" in rule:
            assert f"alertname: {rule['alert']}\n" in tested


def test_rules_name_what_is_written():
    for rule in promql.rules():
        assert not promql.unknown(rule["expr"], NAMES), rule
        labels = set().union(*(NAMES[each] for each in promql.metrics(rule["expr"])))
        for text in rule.get("annotations", {}).values():
            assert set(re.findall(r"\$labels\.(\w+)", text)) <= labels
            for found in re.findall(r'range printf "([^"]*)"', text):
                assert not promql.unknown(found.replace("%q", '""'), NAMES)


@pytest.mark.parametrize("title, target", TARGETS, ids=[f"{title}-{target['refId']}" for title, target in TARGETS])
def test_the_dashboard_names_what_is_written(title, target):
    expression = target["expr"].replace("$__range", "1h")
    assert not promql.unknown(expression, NAMES), title
    shown = set(re.findall(r"{{(\w+)}}", target.get("legendFormat", "")))
    assert shown <= {word for group in promql.GROUPING.findall(expression) for word in re.findall(r"\w+", group)}


def test_the_variables_of_the_dashboard_are_labels_that_are_written():
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
            assert label in NAMES[metric]
    used = set(re.findall(r"\$(\w+)", " ".join(target["expr"] for _, target in TARGETS)))
    assert used <= {"__range", *(each["name"] for each in DASHBOARD["templating"]["list"])}


def test_a_name_that_nobody_writes_is_found():
    for wrong in ("copyscope_site_byte_total", 'copyscope_site_bytes_total{sit="x"}', "sum by (caus) (copyscope_cause_bytes_total)",
                  'rate(copyscope_sent_bytes_total{way="copy", cause="x"}[5m])', "up / on (kernel) copyscope_enobufs_total",
                  'copyscope_cause_bytes_total{cause=~"tun|tunnels"}'):
        assert promql.unknown(wrong, NAMES), wrong
    assert not promql.unknown('topk(3, sum by (le, until) (rate(copyscope_zerocopy_hold_seconds_bucket{comm!="x"}[5m])) > 1e3)', NAMES)
