# SPDX-License-Identifier: GPL-2.0
"""Which names of metrics and of labels a PromQL expression has, held against the tables that have them."""
from __future__ import annotations

import re
from pathlib import Path

import yaml

from copyscope.common.metric_names import (
    CAUSES,
    CLASSES,
    METRICS,
    RECEIVED_WAYS,
    SENT_WAYS,
    SERVICE,
    WHO,
)

PLACE = Path(__file__).resolve().parents[2] / "packaging" / "prometheus"
TARGET = {"job", "instance"}
# What Prometheus, node_exporter and kube-state-metrics call theirs.
FOREIGN = {"up": TARGET, "ALERTS": TARGET | {"alertname", "alertstate"}, "ALERTS_FOR_STATE": TARGET | {"alertname"},
           "node_cpu_seconds_total": TARGET | {"cpu", "mode"},
           "kube_pod_info": TARGET | {"namespace", "pod", "uid"}}
VALUES = {"cause": CAUSES, "class": CLASSES, "way": {*SENT_WAYS, *RECEIVED_WAYS}}
PARTS = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}
STRING = r'"(?:[^"\\]|\\.)*"'
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
NAME = re.compile(r"[a-zA-Z_:][\w:]*")
# Words that are neither metrics nor functions, which stand before a bracket.
WORDS = {"and", "or", "unless", "bool", "offset", "on", "ignoring", "group_left", "group_right", "by", "without", "inf",
         "nan", "start", "end"}


def written() -> dict[str, set[str]]:
    """Names of samples that a watch writes, each with its labels."""
    return {f"{each.name}{part}": TARGET | {*each.labels, *(WHO if each in SERVICE else ())} |
            ({"le"} if part == "_bucket" else set()) for each in METRICS for part in PARTS[each.kind]}


def rules() -> list[dict]:
    """All rules of packaging/prometheus."""
    text = (PLACE / "copyscope.rules.yml").read_text(encoding="utf-8")
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def known() -> dict[str, set[str]]:
    """All names that an expression may have: what is written, what rules record of it, what others write."""
    names = written() | FOREIGN
    for rule in rules():
        if "record" in rule:
            names[rule["record"]] = set().union(*(names[each] for each in metrics(rule["expr"])))
    return names


def bare(expression: str) -> str:
    """The expression without its strings."""
    return re.sub(STRING, '""', expression)


def metrics(expression: str) -> set[str]:
    """Names of metrics in an expression."""
    text = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", GROUPING.sub(" ", bare(expression)))
    text = re.sub(r"\b\d[\w.]*", " ", text)
    return {found[0] for found in NAME.finditer(text)
            if found[0].lower() not in WORDS and not text[found.end():].lstrip().startswith("(")}


def unknown(expression: str, names: dict[str, set[str]]) -> set[str]:
    """What in an expression no table has: a metric, METRIC{LABEL} of a selector, or a label to group by that none of
    its metrics has, a cause, class or way."""
    text = bare(expression)
    wrong = {each for each in metrics(expression) if each not in names}
    for metric, inside in re.findall(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}", text):
        wrong |= {f"{metric}{{{label}}}" for label in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*""', inside)
                  if label not in names.get(metric, {label})}
    for label, values in re.findall(r'\b(\w+)=~?"([^"]*)"', expression):
        wrong |= set(values.split("|")) - set(VALUES.get(label, values.split("|")))
    labels = set().union(*(names.get(each, set()) for each in metrics(expression)))
    made = set(re.findall(r'label_replace\(.*?, "(\w+)"', expression))
    for group in GROUPING.findall(text):
        wrong |= set(re.findall(r"\w+", group)) - labels - made
    return wrong
