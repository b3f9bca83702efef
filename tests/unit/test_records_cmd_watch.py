# SPDX-License-Identifier: GPL-2.0
"""The report of a kept record of watch claims nothing of what is null in it."""
from __future__ import annotations

import itertools
import json
import re

from copyscope.common.tables import SITES
from copyscope.records.older import upgraded
from copyscope.report import watch
from copyscope.report.page import View
from helpers import schemas, watches
from helpers.records import ROOT

SENTENCE = "sent 9.00 kB; how much of it send copied was not measured (nobody looked)."


def record(**known: int | None) -> dict:
    """A record of one process whose sites are these."""
    made = watches.watch_record(watches.process(812, "nginx", watches.moved(9000, 500, **known)))
    made["verdicts"][0] |= {"verdict": "not known", "sentence": SENTENCE}
    return made


def peer(address: str | None, **numbers: int | None) -> dict:
    """The sums of one remote peer."""
    return {"peer": address, "sockets": 1500, "other_sockets": 0, "sent_bytes": 15000,
            "received_bytes": 0, "uncopied_bytes": 0, "needless_bytes": 0, **numbers}


def lines(made: dict) -> list[str]:
    """The report of a record."""
    return watch.lines(made, View())


def test_no_site_that_is_null_is_told_as_a_number_or_as_nothing():
    # None, each, each two, and all but so many.
    few = [set(sites) for count in range(3) for sites in itertools.combinations(SITES, count)]
    for unknown in [*few, *(set(SITES) - sites for sites in few)]:
        null = [site for site in SITES if site in unknown]
        said = lines(record(**dict.fromkeys(null)))
        told, _, missing = "\n".join(said).partition("\nnot seen")
        assert SENTENCE in " ".join(" ".join(said).split())
        for site in null:
            assert site not in told and (site in missing or len(null) == len(SITES) and "all sites" in missing)


def test_a_refusal_has_its_number_and_what_helps():
    made = record()
    made["causes"] = [{"cause": "ENOBUFS", "site": "tx_reference", "bytes": None, "calls": 3,
                       "share": None, "remedy": "wait", "stack": None, "why": "no bytes"}]
    assert "ENOBUFS" not in "\n".join(lines(made))
    made["total"]["counts"] |= {"enobufs": 3, "refused_optmem": 3, "refused_memlock": None}
    made["count_whys"] = {"refused_memlock": "nobody looked"}
    assert "ENOBUFS 3 sends refused, 3 by option memory (net.core.optmem_max), by RLIMIT_MEMLOCK not measured " \
        "(nobody looked) wait" in " ".join(" ".join(lines(made)).split())


def test_the_share_of_a_site_is_of_what_was_sent_or_of_what_was_received():
    made = record()
    made["sites"]["tx_copy"] |= {"bytes": 4500, "how": "derived"}
    made["sites"]["rx_copy"] |= {"bytes": 250, "how": "measured"}
    made["counts"] |= {"accepted_bytes": 9000, "returned_bytes": 500}
    said = "\n".join(lines(made))
    assert "\nsite               bytes     share  how " in said
    assert "\ntx_copy          4.50 kB    50.0 %  derived   copied from your buffer" in said
    assert "\nrx_copy            250 B    50.0 %  measured  copied from the kernel" in said


def test_peers_are_told_from_their_sums_and_null_is_a_dash():
    made = record()
    made |= {"peers": [peer("10.0.0.1", uncopied_bytes=None, needless_bytes=None),
                       peer(None, sent_bytes=7 * 10**6), *[peer(f"10.0.1.{n}") for n in range(5)]],
             "ports": []}
    assert not schemas.faults(ROOT / "docs/record.schema.json", made)
    said = "\n".join(lines(made))
    assert re.search(r"\n +sent +received +copied +avoidable.*remote peers\n"
                     r" +7\.00 MB .*  all other peers: 10,000 are told apart\n +15\.0 kB +0 B +- +- .*10\.0\.0\.1\n", said)
    assert "2 more" in said


def test_sockets_are_all_that_there_were_not_those_that_are_listed():
    made = record()
    made["total"] = {**made["total"], "sockets": 10000}
    assert "10,000 sockets, 1 opened" in "\n".join(lines(made))


def test_who_moved_nothing_is_told_only_if_nobody_did():
    made = record()
    idle = {"pid": 9, "process": "sh, pid 9", "verdict": "moved nothing", "sentence": "moved none."}
    made["verdicts"].append(idle)
    assert "sh, pid 9" not in "\n".join(lines(made))
    made["verdicts"] = [idle]
    assert "sh, pid 9: moved none." in "\n".join(lines(made))


def test_a_record_of_an_older_version_is_shown_and_what_it_lacks_is_not_measured():
    old = upgraded(json.loads((ROOT / "results/single/sendfile-lo.json").read_text()))
    said = "\n".join(watch.lines(old, watch.view_of(old)))
    assert "\nspliced, pid 176: received 6.55 MB, all copied by recv.\n" in said
    assert re.search(r"\n  6\.55 MB   6\.55 MB >=6\.55 MB         - .*spliced, 2 processes\n", said)
    assert re.search(r"\n  6\.55 MB   6\.55 MB         -       0 B .*::1\n", said)
    assert "5 balance to the byte, none is broken, 3 are not testable; --laws" in said and "the record is older than this site" in said
