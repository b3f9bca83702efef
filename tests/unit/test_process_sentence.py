# SPDX-License-Identifier: GPL-2.0
"""The sentence on a watched process says what was counted, and never more."""
from __future__ import annotations

import copy
import random
import re
from typing import Any

import pytest

from copyscope.report import phrases
from copyscope.report.figures import needless
from copyscope.report.process_sentence import all_told, of_process
from helpers import watches
from odd import words

MB = 1_000_000
LOOKED = "nobody looked"
IN_VAIN = "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference, and all of it was copied after all"
LOCAL = {"cause": "local delivery", "site": "late_copy", "remedy": "send elsewhere"}
TAP = {"cause": "packet tap on tx", "site": "late_copy", "remedy": "stop the packet capture"}
ARRIVED = {"cause": "arrival on this machine", "site": "late_copy", "remedy": "look at it"}
TUN = {"cause": "tun", "site": "late_copy", "remedy": "route around it"}
READS = ("rx_copy", "rx_discard", "rx_direct", "returned_bytes", "passed_on_bytes")
# What a phrase claims, in whichever words, beside what `odd.words` holds: and what must be known for it.
CLAIMED = [
    ("not copied by send", ("tx_splice", "accepted_bytes")), ("ignored", ("unset_sends",)),
    ("notifications say", ("completed_sends", "copied_sends")), ("had not left", ("tx_reference", "tx_splice")),
    ("refused", ("enobufs",)), ("option memory", ("refused_optmem",)), ("RLIMIT_MEMLOCK", ("refused_memlock",)),
    ("in at least", ("zerocopy_sends",)), ("on average", ("send_calls", "accepted_bytes")),
    ("receivers are on this machine", ("accepted_bytes",)), ("received ", ("returned_bytes",)),
    ("MSG_PEEK", READS), ("all copied by recv", READS)]


class Made:
    """A record of one process, whose numbers are 0 unless they are named: sites, counts, fates, and more of a sum."""

    def __init__(self, verdict: str = "copies", causes: tuple[dict[str, Any], ...] = (), **known: Any) -> None:
        self.process = watches.process(7, "nginx", watches.moved(0, 0))
        self.process["causes"], self.verdict = list(causes), verdict
        self.process["sum"]["fate"] |= {"unseen_most_bytes": 0, "declined_bytes": 0, "unwatched_bytes": None}
        self.set(**known)
        self.data = watches.watch_record(self.process)

    def set(self, **known: Any) -> Made:
        """Change numbers; None forgets one."""
        part = self.process["sum"]
        for name, value in known.items():
            if name in part["sites"]:
                part["sites"][name]["bytes"] = value
            else:
                next((part[kind] for kind in ("counts", "fate") if name in part[kind]), part)[name] = value
        return self

    def forget(self, name: str, why: str = LOOKED) -> Made:
        """A number that nobody counted, and why the whole has none."""
        self.set(**{name: None})
        if name in self.data["sites"]:
            self.data["sites"][name]["why"] = why
        else:
            self.data["count_whys"][name] = why
        return self

    def unseen(self, packets: int) -> Made:
        """The kernel ran no program for so many packets."""
        self.data["backend"]["probes"] = [{"site": "late_copy", "missed_runs": 0, "unseen_firings": packets}]
        return self

    @property
    def said(self) -> str:
        """The sentence."""
        return of_process(self.data, self.process, self.verdict)


def plain(sent: int, received: int, **more: Any) -> Made:
    """One that copies."""
    return Made(accepted_bytes=sent, tx_copy=sent, returned_bytes=received, rx_copy=received, **more)


def in_vain(*causes: dict[str, Any], **more: Any) -> Made:
    """One whose references were all copied."""
    return Made(causes=causes, verdict="in vain", **{
        "accepted_bytes": 9 * MB, "tx_reference": 9 * MB, "late_copy": 9 * MB, "copied_later_bytes": 9 * MB,
        "zerocopy_asked_sends": 41200, **more})


def late(cause: dict[str, Any], count: int) -> dict[str, Any]:
    """A cause of so many late copies."""
    return {**cause, "bytes": count}


UNSEEN = "(no device was seen to take them as pages, or one may have copied them unseen, as for an XDP program, or they " \
         "left before their packets were watched)"
EARLY = "(they left before their packets were watched)"
UNTAKEN = UNSEEN.replace(", or they left before their packets were watched", "")
UNCOVERED = [{"what": "UNIX sockets", "seen": True, "sockets": 2, "why": "-"},
             {"what": "AF_XDP sockets", "seen": True, "sockets": 1, "why": "-"},
             {"what": "kernel TLS", "seen": True, "sockets": 4, "why": "-"},
             {"what": "RDMA", "seen": False, "sockets": None, "why": "-"}]
SPLICED = Made("splices", accepted_bytes=12300 * MB, tx_splice=12079 * MB, tx_copy=221 * MB, uncopied_bytes=12079 * MB)
SAID = [
    (Made("moved nothing"), "moved no payload over TCP or UDP."),
    (plain(3 * MB, 0), "send copied all of 3.00 MB; it asked for no zero copy."),
    (plain(3 * MB, 1000), "send copied all of 3.00 MB; it asked for no zero copy. It received 1.00 kB, all copied by "
                          "recv."),
    (plain(0, 1000), "received 1.00 kB, all copied by recv."),
    # No flag of a send is read: it may have passed MSG_ZEROCOPY without SO_ZEROCOPY.
    (plain(3 * MB, 0).forget("unset_sends"), "send copied all of 3.00 MB; it sent no byte by reference."),
    (plain(3 * MB, 0).forget("zerocopy_asked_sends"), "send copied all of 3.00 MB; it sent no byte by reference."),
    # The larger direction leads.
    (plain(529, 315 * MB), "received 315 MB, all copied by recv. Send copied all of 529 B; it asked for no zero copy."),
    (plain(529, 315 * MB).set(tx_copy=0, tx_reference=529, uncopied_bytes=529, zerocopy_asked_sends=2),
     "received 315 MB, all copied by recv. It asked for zero copy in 2 sends: 529 B was sent by reference, and all of it "
     "was handed over as pages."),
    # Hints to a program that copies are what its sockets show.
    (plain(3 * MB, 0, send_calls=100, sent_here_bytes=3 * MB - 1).forget("unset_sends"),
     "send copied all of 3.00 MB; it sent no byte by reference; its sends were of 30.0 kB on average."),
    (plain(3 * MB, 0, sent_here_bytes=3 * MB).forget("unset_sends").forget("send_calls"),
     "send copied all of 3.00 MB; it sent no byte by reference; its receivers are on this machine, where bytes by "
     "MSG_ZEROCOPY are copied, too, and those that sendfile or splice sends are not (results/matrix, path lo)."),
    # Records of kernel TLS that went by reference are not denied.
    (plain(3 * MB, 0, tls_carried_bytes=3 * MB - 400).set(tx_copy=400, tx_splice=3 * MB - 400).forget("unset_sends"),
     "sent 3.00 MB; < 0.1 %, 400 B, was copied by send."),
    (plain(3 * MB, 0, unset_sends=1234), "send copied all of 3.00 MB; MSG_ZEROCOPY was ignored in 1,234 sends, because "
                                         "SO_ZEROCOPY is not set."),
    # A splice left without a copy only if somebody saw it.
    (SPLICED, "98.2 % of 12.3 GB was spliced from the page cache or a pipe, not copied by send, and all of it was handed "
              "over as pages; 1.8 %, 221 MB, was copied by send."),
    (copy.deepcopy(SPLICED).set(uncopied_bytes=0, unknown_bytes=12079 * MB),
     "98.2 % of 12.3 GB was spliced from the page cache or a pipe, not copied by send; whether 12.1 GB was copied behind "
     f"the socket is not known {UNSEEN}; 1.8 %, 221 MB, was copied by send."),
    (Made(accepted_bytes=12 * MB, tx_splice=12 * MB, uncopied_bytes=12 * MB, spliced_in_kernel_bytes=12 * MB),
     "100 % of 12.0 MB was spliced from memory of the kernel, which sent it itself, not copied by send, and all of it was "
     "handed over as pages."),
    (Made(accepted_bytes=12 * MB, tx_splice=12 * MB, uncopied_bytes=12 * MB, spliced_in_kernel_bytes=3 * MB),
     "100 % of 12.0 MB was spliced from the page cache, a pipe or memory of the kernel, not copied by send, and all of it "
     "was handed over as pages."),
    # Zero copy in vain has its cause.
    (in_vain(late(LOCAL, 9 * MB)), f"{IN_VAIN}, because the receiver is local."),
    (in_vain(late(ARRIVED, 9 * MB)), f"{IN_VAIN}, where its packets arrived on this machine: at a receiver, a router or a "
                                     "packet capture (which of them was not measured)."),
    (in_vain(late(ARRIVED, 4 * MB), late(TUN, 5 * MB)), f"{IN_VAIN}, most of it because of tun: route around it."),
    # As with a capture beside a local receiver: its end alone saves no copy.
    (in_vain(late(LOCAL, 9 * MB), late(TAP, 9 * MB), late_copy=18 * MB),
     f"{IN_VAIN}, because of local delivery and of packet tap on tx: without one of them the other copies it still; "
     "late_copy is 200.0 % of tx_reference: packets also carry plain bytes, are sent again, or are copied for captures."),
    (in_vain(late(LOCAL, 9 * MB - 1), late(TAP, 9 * MB)),
     f"{IN_VAIN}, because of packet tap on tx: stop the packet capture."),
    # Without a hook in each call those are known that the kernel obeyed; and of io_uring not even these.
    (in_vain(late(LOCAL, 9 * MB), zerocopy_sends=41199).forget("zerocopy_asked_sends"),
     IN_VAIN.replace("in 41,200", "in at least 41,199") + ", because the receiver is local."),
    (in_vain(late(LOCAL, 9 * MB)).forget("zerocopy_asked_sends"),
     IN_VAIN.replace(" in 41,200 sends", "") + ", because the receiver is local."),
    # References that nobody followed are not called clean.
    (in_vain(late_copy=0, copied_later_bytes=0, uncopied_bytes=4_500_000, unknown_bytes=4_500_000, held_bytes=500_000),
     "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; 50.0 % of it was handed over as pages; whether "
     f"4.00 MB was copied behind the socket is not known {UNSEEN}; 500 kB of it had not left yet."),
    (in_vain(late_copy=0, copied_later_bytes=0, unknown_bytes=9 * MB, unwatched_bytes=9 * MB),
     "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; whether 9.00 MB was copied behind the socket is "
     f"not known {EARLY}."),
    (in_vain(late_copy=0, copied_later_bytes=0, unknown_bytes=9 * MB, unwatched_bytes=0),
     "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; whether 9.00 MB was copied behind the socket is "
     f"not known {UNTAKEN}."),
    (in_vain(copied_later_bytes=0, unknown_bytes=9 * MB).forget("late_copy"),
     "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; whether 9.00 MB was copied behind the socket is "
     "not known (nobody looked)."),
    # In place of a reason that is none.
    (in_vain(copied_later_bytes=0, unknown_bytes=9 * MB).forget("late_copy", "a program was skipped").unseen(3),
     "asked for zero copy in 41,200 sends: 9.00 MB was sent by reference; whether 9.00 MB was copied behind the socket is "
     "not known (a program was skipped); of this machine's packets and notifications, 3 passed while the kernel ran no "
     "program."),
    (Made(accepted_bytes=200 * MB, tx_splice=200 * MB, uncopied_bytes=200 * MB, unseen_most_bytes=1_572_840).unseen(3),
     "100 % of 200 MB was spliced from the page cache or a pipe, not copied by send, and all of it was handed over as "
     "pages; of that, at most 1.57 MB may have been copied, in 3 packets or notifications of this machine that no program "
     "saw."),
    # The total has no such socket, and so no reason.
    (plain(0, 1000).forget("returned_bytes"), "how much was read is not known (nobody looked)."),
    (plain(0, 1000).forget("returned_bytes", ""),
     "how much was read is not known (for one of its sockets nobody counted it)."),
    (Made(zerocopy_asked_sends=100, enobufs=60, refused_optmem=60),
     "asked for zero copy in 100 sends; the kernel refused 60 of these sends with ENOBUFS, for want of option memory: read "
     "completions sooner, or raise net.core.optmem_max."),
    (Made(enobufs=60, refused_optmem=60).forget("zerocopy_asked_sends").forget("refused_optmem"),
     "the kernel refused 60 sends by MSG_ZEROCOPY with ENOBUFS."),
    (Made(enobufs=60, refused_memlock=60, refused_at_rest_sends=60).forget("zerocopy_asked_sends"),
     "the kernel refused 60 sends by MSG_ZEROCOPY with ENOBUFS, by RLIMIT_MEMLOCK, with nothing in flight: send less at "
     "once than it allows, or raise it."),
    # What was peeked is told apart. A splice behind a peek looks the same where nothing counts splices.
    (plain(0, 753).set(rx_copy=754), "received 753 B, all copied by recv, 1 B of it again (MSG_PEEK)."),
    (plain(0, 753).set(rx_copy=754, passed_on_bytes=None).forget("rx_splice", "bytes were peeked"),
     "received 753 B; recv copied 754 B; whether some left the socket another way was not measured (bytes were peeked)."),
    # As a proxy does that looks at the first bytes and splices all.
    (plain(0, 1000).set(rx_splice=1000, passed_on_bytes=1000),
     "received 1.00 kB; peeks copied 1.00 kB (MSG_PEEK); 100 % was spliced out."),
    (plain(0, 1000).set(rx_splice=400, passed_on_bytes=400),
     "received 1.00 kB; recv copied 600 B; peeks copied 400 B (MSG_PEEK); 40.0 % was spliced out."),
    (plain(0, 1000).set(rx_copy=300, rx_splice=None, rx_map=None, passed_on_bytes=700),
     "received 1.00 kB; recv copied 300 B; 70.0 % was spliced out or mapped."),
    (Made("not known", other=[{"layer": "ktls", "sockets": 3, "sent_bytes": 4 * MB, "received_bytes": 10_000}]),
     "moved no payload of plain TCP or UDP; 3 sockets of kernel TLS carried 4.01 MB, which are not in these numbers."),
    (Made("not known", other=[{"layer": "repair", "sockets": 1, "sent_bytes": 9, "received_bytes": 9}]),
     "moved no payload of plain TCP or UDP; 1 socket of TCP_REPAIR carried bytes that cannot be counted, which are not in "
     "these numbers."),
    (Made("not known", other=[{"layer": "mptcp", "sockets": 2, "sent_bytes": 5 * MB, "received_bytes": 0}]),
     "moved no payload of plain TCP or UDP; 2 sockets of MPTCP carried 5.00 MB, which are not in these numbers (MPTCP "
     "copies whatever it is given to send, by sendfile and MSG_ZEROCOPY, too)."),
    # What a program redirects to the queue of another socket no number has.
    (Made("not known", other=[{"layer": "sockmap", "sockets": 2, "sent_bytes": 0, "received_bytes": 0}]),
     "moved no payload of plain TCP or UDP; 2 sockets of sockmap carried bytes that cannot be counted, which are not in "
     "these numbers."),
    (Made("not known", other=[{"layer": "sockmap", "sockets": 2, "sent_bytes": 4 * MB, "received_bytes": 0}]),
     "moved no payload of plain TCP or UDP; 2 sockets of sockmap carried at least 4.00 MB, which are not in these "
     "numbers."),
    (plain(30_000, 0, handed_on=1), "send copied all of 30.0 kB; it asked for no zero copy; another process used 1 socket "
                                    "of these before, and its bytes are in these numbers."),
]


@pytest.mark.parametrize("made,said", SAID, ids=range(len(SAID)))
def test_a_process_is_told_in_sentences(made, said):
    assert made.said == said


def test_sockets_that_no_book_covers_are_named():
    made = Made("moved nothing")
    made.data["not_covered"] = UNCOVERED
    beside = "moved no payload over TCP or UDP; what passed 2 UNIX sockets, 1 AF_XDP socket"
    assert made.said == f"{beside} is not in these numbers."
    made.data["processes"] = [made.process, made.process]
    assert made.said == f"{beside} of the watched processes is not in these numbers."


def test_notifications_that_all_say_copied_are_told_where_nothing_else_is_known():
    told_so = "; the kernel's notifications say of all 200 sends that it copied"
    made = in_vain(late_copy=0, copied_later_bytes=0, unknown_bytes=9 * MB, completed_sends=200, copied_sends=200)
    assert told_so in made.said
    assert told_so not in made.set(unseen_completions=1).said
    assert told_so not in made.set(unseen_completions=0, copied_sends=199).said


def test_more_late_copies_than_references_are_explained():
    """Packets that are copied carry plain bytes, too, and may be sent again."""
    made = in_vain(late(LOCAL, 9_144_000), late_copy=9_144_000)
    assert made.said == f"{IN_VAIN}, because the receiver is local; late_copy is 101.6 % of tx_reference: packets also " \
        "carry plain bytes, are sent again, or are copied for captures."
    assert needless(made.process["sum"]) == 9 * MB


def test_one_of_its_sockets_lay_where_nobody_entered():
    made = plain(0, 1000).forget("returned_bytes", "")
    made.data["losses"]["unopened_sockets"] = 1
    assert made.said == "how much was read is not known (one of its sockets lay in a network namespace that was not " \
        "entered, or moved datagrams before their hooks were attached)."


def test_a_socket_beyond_the_table_of_slots_gets_no_headline():
    """attacks.md S4: all of it went by MSG_ZEROCOPY, and no site was counted."""
    made = Made("not known", accepted_bytes=13_100_000)
    for name in (*made.process["sum"]["sites"], *made.process["sum"]["counts"], "passed_on_bytes"):
        if name not in ("accepted_bytes", "returned_bytes"):
            made.set(**{name: None})
    made.data["sites"]["tx_copy"]["why"] = "a socket found no room in the table of counts"
    assert made.said == "sent 13.1 MB; how much of it send copied was not measured (a socket found no room in the table " \
        "of counts)."


def test_an_older_record_keeps_the_sentence_that_it_has():
    made = plain(3 * MB, 0)
    assert all_told(made.data) == ["copied."]
    del made.data["verdicts"][0]["sentence"]
    assert all_told(made.data) == [made.said]


# Numbers of several magnitudes, so that each phrase is met.
MIXED = [
    Made("not known", other=[{"layer": "mptcp", "sockets": 1, "sent_bytes": 4 * MB, "received_bytes": 0}]),
    Made("moved nothing", handed_on=2),
    plain(3 * MB, 500, send_calls=100, sent_here_bytes=3 * MB, map_calls=12).set(rx_copy=501),
    plain(1, 315 * MB, unset_sends=7),
    in_vain(late(LOCAL, 12 * MB), late_copy=12 * MB), in_vain(late(LOCAL, 9 * MB), late(TUN, 9 * MB), late_copy=18 * MB),
    in_vain(late(ARRIVED, 9 * MB)), in_vain(late(TUN, 9 * MB)),
    copy.deepcopy(SPLICED).set(unseen_most_bytes=MB),
    Made("mixed", (late(TUN, MB), late(LOCAL, MB - 1)), accepted_bytes=9 * MB, returned_bytes=9 * MB, tx_copy=2 * MB,
         tx_reference=4 * MB, tx_splice=3 * MB, late_copy=2 * MB, enobufs=5, refused_memlock=4, refused_optmem=1,
         rx_map=MB, rx_splice=MB, passed_on_bytes=2 * MB, rx_discard=3 * MB, rx_copy=4 * MB + 9, copied_later_bytes=2 * MB,
         uncopied_bytes=MB, unknown_bytes=4 * MB, held_bytes=7, completed_sends=4, copied_sends=4, zerocopy_sends=4),
    Made("encrypted", accepted_bytes=4 * MB, tx_copy=300, tx_splice=4 * MB - 300, tls_carried_bytes=4 * MB - 300,
         tls_copy=MB, tls_reference=2 * MB, tls_splice=MB - 900, tls_accepted_bytes=4 * MB - 900, tls_encrypt=4 * MB - 900,
         returned_bytes=5 * MB, tls_received_bytes=5 * MB - 400, tls_decrypt=5 * MB - 400, rx_direct=3 * MB, rx_copy=2 * MB),
    plain(3 * MB, 0, enobufs=60, refused_memlock=60, refused_at_rest_sends=60),
    plain(3 * MB, 0, zerocopy_asked_sends=100, zerocopy_sends=99, declined_bytes=2 * MB),
    Made("partly", accepted_bytes=3 * MB, tx_copy=MB, tx_reference=2 * MB, late_copy=MB, uncopied_bytes=MB,
         copied_later_bytes=MB, enobufs=60, refused_optmem=60, zerocopy_asked_sends=100, zerocopy_sends=99),
]
FORGOTTEN = ("tx_copy", "tx_reference", "tx_splice", "late_copy", "rx_copy", "rx_map", "rx_splice", "rx_discard",
             "rx_direct", "tls_copy", "tls_reference", "tls_splice", "tls_encrypt", "tls_decrypt", "accepted_bytes",
             "returned_bytes", "tls_accepted_bytes", "tls_received_bytes", "tls_carried_bytes", "enobufs",
             "zerocopy_asked_sends", "unset_sends", "zerocopy_sends", "completed_sends", "copied_sends", "send_calls",
             "refused_optmem", "refused_memlock", "passed_on_bytes", "map_calls")
FATES = ("uncopied_bytes", "copied_later_bytes", "unknown_bytes", "held_bytes", "unseen_most_bytes")


def unknown_in(said: str, n: words.Numbers) -> list[str]:
    """What a sentence claims although it is not known."""
    claims = [(each.words, each.of) for each in words.CLAIMS] + CLAIMED
    return [f"{pattern!r} in {clause!r}: {name}" for clause in words.clauses(said) for pattern, of in claims
            if re.search(pattern, clause) for name in of if n.get(name, 0) is None]


def test_no_sentence_claims_what_is_not_known():
    """In random combinations of unknown numbers; each phrase is met where all that it needs is known."""
    dice, met = random.Random(40), set()
    constant = {name: max(re.split(r"\{\}", each.text), key=len).lstrip(",;: ") for name, each in phrases.ALL.items()}
    for made in MIXED:
        made.data["not_covered"] = UNCOVERED
        made.unseen(3)
        for each in made.data["sites"].values():
            each["why"] = LOOKED
        for draw in range(200):
            tried = copy.deepcopy(made)
            lacks = [name for name in FORGOTTEN if draw and dice.random() < dice.choice((.05, .3))]
            tried.set(**dict.fromkeys(lacks))
            if {"tx_reference", "tx_splice"} & set(lacks):
                tried.set(**dict.fromkeys(FATES))
            if draw % 2:
                tried.verdict = dice.choice(("copies", "not known", "moved nothing", "in vain"))
            said = tried.said
            assert not unknown_in(said, words.numbers(tried.process["sum"])), (lacks, said)
            met |= {name for name, text in constant.items() if text in said}
    assert set(phrases.ALL) == met
