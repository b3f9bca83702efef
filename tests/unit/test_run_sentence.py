# SPDX-License-Identifier: GPL-2.0
"""The verdict on a run says in one sentence what its record counted, and what was not measured."""
from __future__ import annotations

import copy
from typing import Any

import pytest

from helpers.pictures import made, two_passes
from helpers.records import sentence_of

BYTES = 36_837
ON_VETH = "A3, MSG_ZEROCOPY, on veth"


def told(variant: str = "A3", verdict: dict[str, Any] | None = None, sites: dict[str, int | None] | None = None,
         counts: dict[str, int] | None = None, path: dict[str, Any] | None = None, work: dict[str, Any] | None = None,
         outcome: dict[str, Any] | None = None, backend: str = "trampoline", alternation: list[str] | None = None) -> str:
    """The sentence of a run with these numbers; a site that is None was not measured, one that is not named has 0."""
    data = copy.deepcopy(two_passes(made()))
    experiment = data["experiment"]
    for name, site in data["sites"].items():
        found = (sites or {}).get(name, 0)
        site |= {"bytes": found, "how": "not_measured" if found is None else "measured"}
    data["counts"] = {"accepted_bytes": BYTES, **(counts or {})}
    data["backend"]["name"] = backend
    experiment["verdict"] = {"passed": True, "laws_broken": 0, **(verdict or {})}
    experiment["path"] |= {"kind": "veth", "mtu": 1500, "hardware_dma": False, "taps": [], "ipv6": False, **(path or {})}
    experiment["workload"] |= {"variant": variant, "bytes": 65536, "receiver": "recv", "completions": None,
                               "completions_copied": None, **(work or {})}
    experiment["outcome"] = outcome or {"status": "complete", "reason": None}
    if alternation:
        experiment["alternation"] = {"variants": alternation}
    return sentence_of(data)


REFERENCED = {"tx_reference": BYTES}
IN_VAIN = {"referenced_bytes": BYTES, "uncopied_bytes": 0, "chief_cause": "local delivery"}
COPIED = {"copies_per_byte": 2.0}
BOTH = {"tx_copy": BYTES, "rx_copy": BYTES}
A1 = "A1, send(), on veth"
SAID = [
    ({"verdict": IN_VAIN, "sites": {**REFERENCED, "late_copy": BYTES}},
     f"{ON_VETH} copied every byte after all: 0 of 36,837 bytes were sent without a copy, because of local delivery."),
    ({"verdict": {**IN_VAIN, "laws_broken": 1}, "sites": {**REFERENCED, "late_copy": BYTES}},
     f"{ON_VETH} copied every byte after all: 0 of 36,837 bytes were sent without a copy, because of local delivery. Do "
     "not trust this run: 1 law is broken."),
    ({"verdict": {**IN_VAIN, "laws_broken": 2}, "sites": {**REFERENCED, "late_copy": BYTES},
      "work": {"completions": 9, "completions_copied": 7}},
     f"{ON_VETH} copied every byte after all: 0 of 36,837 bytes were sent without a copy, because of local delivery. Yet 2 "
     "of 9 completions did not carry COPIED. Do not trust this run: 2 laws are broken."),
    ({"verdict": {**IN_VAIN, "uncopied_bytes": 36_000}, "sites": {**REFERENCED, "late_copy": 837},
      "work": {"completions": 9, "completions_copied": 7}},
     f"{ON_VETH} sent 36,000 of 36,837 bytes of referenced memory without a copy; the others were copied, most of them "
     "because of local delivery."),
    ({"verdict": {"referenced_bytes": BYTES, "uncopied_bytes": BYTES}, "sites": REFERENCED},
     f"{ON_VETH} copied nothing on the way out: all 36,837 bytes of referenced memory were sent without a copy."),
    ({"verdict": {"referenced_bytes": BYTES, "uncopied_bytes": BYTES}, "sites": REFERENCED, "work": {"pattern": "rr"}},
     f"{ON_VETH} copied nothing of the replies on the way out: all 36,837 bytes of referenced memory were sent without a "
     "copy."),
    # A capture copies clones, beside the packets that the verdict is about.
    ({"verdict": {"referenced_bytes": BYTES, "uncopied_bytes": BYTES}, "sites": {**REFERENCED, "late_copy": BYTES},
      "counts": {"tapped_bytes": BYTES}},
     f"{ON_VETH} copied nothing on the way out: all 36,837 bytes of referenced memory were sent without a copy. A packet "
     "capture copied 36,837 bytes beside them."),
    ({"verdict": {"referenced_bytes": BYTES}, "sites": {**REFERENCED, "late_copy": None}, "path": {"taps": ["tx"]},
      "backend": "tracepoint"},
     f"{ON_VETH} referenced 36,837 bytes of user memory; whether they were copied later was not measured. What the packet "
     "capture copied was not measured: no tracepoint sees it."),
    ({"variant": "A1", "verdict": COPIED, "sites": {**BOTH, "user_gather": 1}},
     f"{A1} copied each payload byte 2.00 times: gathered in user space, user to kernel when sent, kernel to user when "
     "received; nothing was referenced."),
    ({"verdict": COPIED, "sites": BOTH, "counts": {"unset_sends": 9}},
     f"{ON_VETH} copied each payload byte 2.00 times: user to kernel when sent, kernel to user when received; MSG_ZEROCOPY "
     "was ignored because SO_ZEROCOPY is not set."),
    ({"variant": "A1", "verdict": COPIED, "sites": {**BOTH, "tls_encrypt": BYTES, "tls_reference": 7, "tls_splice": 1}},
     f"{A1} copied each payload byte 2.00 times: user to kernel when sent, kernel to user when received; kernel TLS "
     "encrypted 8 bytes from where they lay."),
    ({"variant": "A1", "verdict": {"copies_per_byte": 0.0}, "sites": {"tx_splice": BYTES, "rx_discard": 1, "reshape": None}},
     f"{A1} copied no payload byte where that was measured (reshape was not); 36,837 bytes left as pages of a file or of a "
     "pipe; 1 byte was dropped unread."),
    ({"variant": "A1", "verdict": COPIED, "sites": BOTH, "counts": {"peeked_bytes": 5}},
     f"{A1} copied each payload byte 2.00 times: user to kernel when sent, kernel to user when received; nothing was "
     "referenced. Peeks (MSG_PEEK) copied 5 bytes to the reader, which recv then copied again."),
    ({"variant": "A1", "verdict": COPIED, "sites": {**BOTH, "rx_splice": 1000}, "work": {"receiver": "splice"}},
     f"{A1} copied each payload byte 2.00 times: user to kernel when sent, kernel to user when received; nothing was "
     "referenced. The reader spliced 1,000 bytes out as pages."),
    ({"outcome": {"status": "failed", "reason": "no progress"}},
     "The run failed: no progress; no verdict on A3, MSG_ZEROCOPY."),
    ({"outcome": {"status": "interrupted", "reason": "signal 2"}, "alternation": ["A1", "A3"]},
     "The run was interrupted: signal 2; no verdict on A1,A3, in turns."),
    ({"outcome": {"status": "blind", "reason": "the probes missed 3 packets"}},
     "The probes did not see the whole run: the probes missed 3 packets; no verdict on A3, MSG_ZEROCOPY."),
    ({"backend": "none"}, f"{ON_VETH} ran without probes: nothing was counted."),
    ({"sites": {"rx_copy": None}}, f"{ON_VETH}: no verdict, because rx_copy was not measured."),
    ({"counts": {"accepted_bytes": 0}}, f"{ON_VETH}: no byte was counted."),
    ({"verdict": COPIED, "sites": BOTH, "alternation": ["A1", "A3"]},
     "A1,A3 in turns, on veth copied each payload byte 2.00 times: user to kernel when sent, kernel to user when received; "
     "nothing was referenced."),
]
UNMAPPED = [
    ("A3", {}, {"bytes": 64}, "a message here is shorter than a page"),
    ("A3", {"hardware_dma": True}, {}, "which ones a NIC receives is up to its driver"),
    ("sendfile", {}, {}, "pages of a file or a pipe are not free to be mapped"),
    ("A1", {}, {}, "send copies into larger ones"),
    ("A3", {}, {}, "packets of MTU 1500 carry 1448 bytes, which fill none or part of one (--mtu 61492 fills 15)"),
    ("A3", {"ipv6": True}, {}, "packets of MTU 1500 carry 1428 bytes, which fill none or part of one (--mtu 61512 fills 15)"),
    ("A3", {"mtu": 61492}, {}, "no packet had one"),
]


@pytest.mark.parametrize("run, said", SAID, ids=range(len(SAID)))
def test_a_run_is_told_in_one_sentence(run, said):
    assert told(**run) == said


@pytest.mark.parametrize("variant, path, work, why", UNMAPPED)
def test_a_reader_that_mapped_nothing_is_told_why(variant, path, work, why):
    said = told(variant, COPIED, BOTH, path=path, work={"receiver": "map", **work})
    assert said.endswith(f" TCP_ZEROCOPY_RECEIVE mapped nothing: it takes single pages that a packet fills; {why}.")


def test_what_a_reader_mapped_is_told_beside_the_whole():
    said = told("A3", COPIED, {**BOTH, "rx_map": 4096}, {"returned_bytes": BYTES}, work={"receiver": "map"})
    assert said.endswith(" TCP_ZEROCOPY_RECEIVE mapped 4,096 of 36,837 bytes; recv copied what was left.")
