# SPDX-License-Identifier: GPL-2.0
"""The schema of run records accepts what trace_run writes and refuses damaged records."""
import copy
import json

import pytest

from helpers import records, schemas
from helpers.names import LAWS

# Keys that only some records have, or that older ones lack.
OPTIONAL = {"failed_sends", "law", "unseen_completions", "laws_broken", "cpu", "sizes", "holds", "stacks", "parts", "peer", "partner_authenticated", "host", "behaviours", "senders", "listeners", "cpus", "scheduling", "alternation", "cost",
            "instruction_clock", "outcome", "qdisc", "mixed_bytes", "map_calls", "peeked_bytes", "asked_s",
            "cpu_shares", "cache-misses", "modelled", "protocol",
            "copies_per_byte", "referenced_bytes", "uncopied_bytes", "chief_cause", "user_space", "by_thread", "names_why", "untold", "by_ring", "rings_missed", "sampled_every_bytes", "unseen_most_bytes", "unwatched_bytes", "refused_requests", "failed_bytes", "mptcp_copied_bytes", "mptcp_copied_why",
            "unbooked_why", "copied_bytes", "copied_least_bytes", "declined_bytes", "receiver_bytes", "socket_sums",
            "listener_pid", "uid", "names", "sort", "skipped_seconds", "unseen_may_be_closed",
            "sentence", "sent_here_bytes", "spliced_in_kernel_bytes", "refused_at_rest_sends", "answer_every", "piece_bytes"}
# Keys that records of runs alone have, or of watches.
OF_ONE_KIND = {
    "other", "sums_short", "folded_processes", "unseen_events", "unopened_sockets", "experiment", "pins",
    "throughput_ratio", "why", "end", "connection", "messages", "latency_mean_us", "calls", "verdicts",
    "referenced_peak_pages", "losses", "not_covered", "total", "processes", "peers", "ports",
    "own_cpu_seconds", "memory_bytes", "cgroup", "netns", "layer", "mptcp", "mptcp_token", "token", "subflows", "whole", "born", "died", "handed_on",
    "opening", "closing", "fate", "causes", "laws", "report"}


@pytest.fixture(scope="module", name="good")
def good_record():
    """A record of a run that has causes, sockets and laws of all kinds."""
    return records.run_record("A3", 4093, 2, "--messages", 23)


def part(record, path):
    """The object that holds the last step of a path, and that step."""
    *steps, last = path
    for step in steps:
        record = record[step]
    return record, last


@records.needs_root
@pytest.mark.parametrize("words", ["A1 --path lo", "A3-unset", "A3-unreaped --pattern rr",
                                   "A3-reuse --no-probes", "A2 --seconds 0.1", "A2 --pass counted",
                                   "A3-aligned-unreaped --readers 3"])
def test_records_of_all_kinds_are_accepted(words):
    variant, *rest = words.split()
    stop = () if "--seconds" in rest else ("--messages", 23)
    assert records.run_record(variant, 4093, 1, *stop, *rest)["schema"] == "copyscope.record/4"


@records.needs_root
@pytest.mark.parametrize("path, value", [
    # null without a reason, and a reason that hides a number
    ("sites.rx_copy.bytes", None), ("sites.rx_map.why", None), ("sites.rx_map.bytes", 0),
    ("sites.tx_copy.why", None), ("pins.why", None), ("causes.0.bytes", None),
    ("experiment.workload.completions", None), ("experiment.workload.accepted_bytes", None),
    ("experiment.counters.sender.page-faults.value", None), ("experiment.counters.sender.page-faults.why", "shy"),
    # values outside the words of the design
    ("schema", "copyscope.record/5"), ("sites.rx_copy.how", "guessed"), ("experiment.path.kind", "tunnel"),
    ("experiment.workload.variant", "A4"), ("experiment.workload.bytes", 7), ("experiment.workload.threads", 0),
    ("laws.0.status", "fine"), ("laws.0.law", "karma"), ("causes.0.cause", "bad luck"),
    ("backend.name", "auto"), ("backend.probes.0.status", "absent"), ("experiment.attempt", 0),
    # numbers that cannot be
    ("sites.rx_copy.bytes", -1), ("sites.rx_copy.bytes", 94139.5), ("sites.rx_copy.bytes", "9"),
    ("laws.0.residual", 1), ("laws.0.left", None), ("sockets.0.cookie", "0"),
    ("experiment.timing.throughput_gbps", -1), ("counts.accepted_bytes", -1), ("started", "yesterday"),
    # both or neither of what excludes each other
    ("experiment.workload.seconds", 2.0), ("experiment.workload.messages_asked", None), ("sockets.0.end", None),
    ("laws.0.residual", -1),
    # an outcome that contradicts itself
    ("experiment.outcome.status", "fine"), ("experiment.outcome.status", "failed"), ("experiment.outcome.reason", "hm"),
    ("experiment.outcome.sender.exit_status", 1), ("experiment.outcome.receiver.exit_status", None),
    ("experiment.outcome.receiver.signal", 9), ("subject.kind", "pids"),
    # a verdict without its words, and one that contradicts the outcome
    ("experiment.verdict", ""), ("experiment.verdict", None), ("experiment.verdict.passed", "yes"),
    ("experiment.verdict.uncopied_bytes", -1), ("experiment.verdict.laws_broken", 1),
    # passes that contradict each other
    ("experiment.passes.counted", None), ("experiment.passes.why", "no time"), ("experiment.passes.counted.tcp.why", "no idea"),
    ("experiment.passes.timed.tcp.accepted_bytes", None), ("experiment.timing.pass", "both"),
])
def test_a_damaged_record_is_refused(good, path, value):
    record = copy.deepcopy(good)
    holder, key = part(record, [int(step) if step.isdigit() else step for step in path.split(".")])
    assert holder[key] != value, "this changes nothing"
    holder[key] = value
    # Both readers of schemas refuse it: the product's own, and the one of JSON Schema's authors.
    assert not records.accepted(record) and not schemas.validator(records.SCHEMA).is_valid(record)


@pytest.mark.parametrize("file", sorted(records.SCHEMA.parent.glob("*.schema.json")), ids=lambda file: file.name)
def test_each_schema_is_one(file):
    schemas.validator(file)


def ends_of_lists(node):
    """A record whose lists have their first and last alone, but for laws, of which all must be there, and words."""
    if isinstance(node, dict):
        return {key: value if key in ("laws", "command") else ends_of_lists(value) for key, value in node.items()}
    return [ends_of_lists(each) for each in (node if len(node) < 3 else (node[0], node[-1]))] if isinstance(node, list) else node


@records.needs_root
def test_a_missing_or_a_foreign_key_is_refused_everywhere(good):
    # What lies between is held against the same, some hundred times.
    good = ends_of_lists(good)
    assert records.accepted(good)

    def objects(node, path=()):
        if isinstance(node, dict):
            yield path, node
        # Of laws, too, the first and the last.
        parts = node if isinstance(node, dict) else {at: node[at] for at in (0, len(node) - 1) if node}
        for key, value in parts.items():
            if isinstance(value, (dict, list)):
                yield from objects(value, (*path, key))

    for path, node in objects(good):
        for key, value in list(node.items()):
            del node[key]
            assert key in OPTIONAL or path == ("count_whys",) or not records.accepted(good), (path, key)
            node[key] = value
        node["surprise"] = 1
        assert not records.accepted(good), path
        del node["surprise"]
    assert records.accepted(good)


@records.needs_root
def test_an_older_record_has_a_sentence(good):
    for verdict in ("It copied.", {**good["experiment"]["verdict"], "sentence": "It copied."}):
        assert records.accepted(good | {"experiment": {**good["experiment"], "verdict": verdict}})


@records.needs_root
@pytest.mark.parametrize("lost", range(len(LAWS)))
def test_a_record_that_lacks_a_law_is_refused(good, lost):
    record = copy.deepcopy(good)
    record["laws"][lost] = record["laws"][lost - 1]
    assert not records.accepted(record)


def test_the_schema_lets_no_object_hold_foreign_keys():
    schema = json.loads(records.SCHEMA.read_text())

    def check(node):
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert (node["additionalProperties"] is False or "propertyNames" in node) and node["description"]
                assert set(node.get("required", ())) >= set(node.get("properties", ())) - OPTIONAL - OF_ONE_KIND
            for value in node.values():
                check(value)
        elif isinstance(node, list):
            for value in node:
                check(value)

    check(schema)
