# SPDX-License-Identifier: GPL-2.0
"""Puts what a watched process did into one or two sentences, of phrases that its numbers back."""
from __future__ import annotations

import re
from typing import Any

from copyscope.common.tables import column
from copyscope.common.text import bytes_text, share_text

from . import phrases as say
from .figures import fate, number, spliced
from .missing import unseen_packets
from .page import plural

Document = dict[str, Any]
LAYERS = column("layers", "meaning")
# What a sum tells of beside sites, counts and fates; it is there if it is more than 0.
MORE = ("unseen_completions", "spliced_in_kernel_bytes", "refused_at_rest_sends", "sent_here_bytes")
FATES = ("uncopied_bytes", "copied_later_bytes", "unknown_bytes", "held_bytes", "unwatched_bytes",
         "unseen_most_bytes", "passed_on_bytes", "declined_bytes")
UNWATCHED = "they left before their packets were watched"
UNTAKEN = "no device was seen to take them as pages, or one may have copied them unseen, as for " \
          "an XDP program"
OF_A_SOCKET = "for one of its sockets nobody counted it"
NOT_ENTERED = "one of its sockets lay in a network namespace that was not entered, or moved " \
              "datagrams before their hooks were attached"
# What begins with one of these goes on as "It ...".
OF_IT = re.compile("(asked|received|sent) ")


class Moved:
    """What a process moved, by name; None: not known."""

    def __init__(self, data: Document, process: Document) -> None:
        part = process["sum"]
        self.data, self.part, self.causes = data, part, process.get("causes") or []
        self.known = {name: number(part, name) for name in (*part["sites"], *part["counts"])}
        self.known |= {name: fate(part, name) for name in FATES}
        self.known |= {name: part.get(name, 0) for name in MORE}
        self.known["spliced"] = spliced(part)

    def knows(self, name: str) -> bool:
        """Was it counted, or does it follow from what was?"""
        return self.known[name] is not None

    def __getitem__(self, name: str) -> int:
        """As much as is known of it."""
        return self.known[name] or 0

    def why(self, name: str) -> str:
        """Why a site or a count is not known. The whole has its reasons once for all processes. It
        has none for what is known of it: its sums lack sockets in namespaces that were not entered,
        and those of a process do not."""
        why = self.data["sites"].get(name, {}).get("why") or self.data["count_whys"].get(name)
        return why or (NOT_ENTERED if self.data["losses"].get("unopened_sockets") else OF_A_SOCKET)


class Text:
    """A part of the sentence as it grows."""

    def __init__(self, moved: Moved) -> None:
        self.moved, self.text = moved, ""

    def add(self, phrase: say.Phrase, *words: object) -> bool:
        """Append a phrase with its words if every number is known that it needs. Did it? A sentence
        does not begin with a joint."""
        if not all(self.moved.knows(name) for name in phrase.needs):
            return False
        text = phrase.text if self.text else phrase.text.lstrip(",;: ")
        self.text += text.format(*words)
        return True


def chief_causes(m: Moved) -> tuple[Document | None, Document | None]:
    """Why most of what was copied late was, and why the most of the rest; None: not known."""
    late = sorted((each for each in m.causes if each["site"] == "late_copy" and each["bytes"]),
                  key=lambda each: -each["bytes"])
    return (late + [None, None])[0], (late + [None, None])[1]


def add_cause(s: Text, copied: int) -> None:
    """Why so much was copied late. A capture copies a clone, and the packet itself may be copied
    for another reason."""
    chief, second = chief_causes(s.moved)
    if chief is None or not s.moved.knows("late_copy"):
        return
    if second and second["bytes"] >= copied:
        s.add(say.BECAUSE_BOTH, chief["cause"], second["cause"])
    elif chief["cause"] == "local delivery":
        s.add(say.BECAUSE_LOCAL)
    elif chief["cause"] == "arrival on this machine":
        s.add(say.BECAUSE_ARRIVED)
    else:
        s.add(say.BECAUSE_MOSTLY if chief["bytes"] < copied else say.BECAUSE,
              chief["cause"], chief["remedy"])


def why_unknown(m: Moved, unknown: int) -> str:
    """Why nobody saw what became of so many bytes, where copies were watched. Older records do not
    tell how many left too early."""
    early = m["unwatched_bytes"]
    if early >= unknown:
        return UNWATCHED
    return UNTAKEN if m.knows("unwatched_bytes") and not early else f"{UNTAKEN}, or {UNWATCHED}"


def add_unknown_fate(s: Text, unknown: int) -> None:
    """Of so many bytes nobody saw what became of them; and what is known all the same."""
    m = s.moved
    s.add(say.FATE_UNKNOWN, bytes_text(unknown),
          why_unknown(m, unknown) if m.knows("late_copy") else m.why("late_copy"))
    unseen = unseen_packets(m.data)
    if unseen:
        s.add(say.UNSEEN, f"{unseen:,}")
    told = m["copied_sends"]
    if told and told == m["completed_sends"] and not m["unseen_completions"]:
        s.add(say.TOLD_COPIED, f"{told:,}")


def add_late(s: Text, handed: int) -> None:
    """Of what was handed over without a copy by send, that which was copied later."""
    m, later = s.moved, s.moved["copied_later_bytes"]
    if later >= handed:
        s.add(say.ALL_LATER)
    elif later:
        s.add(say.SOME_LATER, share_text(later, handed))
    if later:
        add_cause(s, later)
    # Headers and a packet or two sent again are no matter.
    if m["tx_reference"] and m["late_copy"] > m["tx_reference"] + m["tx_reference"] // 1000:
        s.add(say.LATER_MORE, share_text(m["late_copy"], m["tx_reference"]))


def add_fate(s: Text) -> None:
    """What became of the bytes that send took by reference or spliced."""
    m = s.moved
    if not m.knows("tx_reference") or not m.knows("spliced"):
        s.add(say.NO_FATE, m.why("tx_splice" if m.knows("tx_reference") else "tx_reference"))
        return
    handed, clean, held = m["tx_reference"] + m["spliced"], m["uncopied_bytes"], m["held_bytes"]
    add_late(s, handed)
    if clean >= handed:
        s.add(say.ALL_CLEAN)
    elif clean:
        s.add(say.SOME_CLEAN, share_text(clean, handed))
    if m["unseen_most_bytes"]:
        s.add(say.UNSEEN_MOST, bytes_text(m["unseen_most_bytes"]),
              f"{unseen_packets(m.data):,}")
    if m["unknown_bytes"] > held:
        add_unknown_fate(s, m["unknown_bytes"] - held)
    if held:
        s.add(say.HELD, bytes_text(held))


def add_asked(s: Text) -> None:
    """How often it asked. Without a hook in each call: at least as often as the kernel obeyed."""
    m = s.moved
    if m["zerocopy_asked_sends"]:
        s.add(say.ASKED, f"{m['zerocopy_asked_sends']:,}")
    elif m["zerocopy_sends"]:
        s.add(say.ASKED_AT_LEAST, f"{m['zerocopy_sends']:,}")
    else:
        s.add(say.ASKED_OFTEN)


def add_declined(s: Text) -> None:
    """Datagrams that were to go by reference, and that send copied."""
    if s.moved["declined_bytes"]:
        s.add(say.DECLINED, f"{s.moved['zerocopy_sends']:,}",
              bytes_text(s.moved["declined_bytes"]))


def add_copied(s: Text) -> None:
    """What send copied, beside the rest."""
    if s.moved["tx_copy"]:
        s.add(say.COPIED, share_text(s.moved["tx_copy"], s.moved["accepted_bytes"]),
              bytes_text(s.moved["tx_copy"]))


def source_of_pages(m: Moved) -> str:
    """Whose pages were spliced."""
    own = m["spliced_in_kernel_bytes"]
    if not own:
        return "the page cache or a pipe"
    return "the page cache, a pipe or memory of the kernel" if own < m["tx_splice"] else \
        "memory of the kernel, which sent it itself"


def add_handed(s: Text) -> None:
    """What it sent by reference or spliced."""
    m = s.moved
    if m["tx_reference"]:
        add_asked(s)
        s.add(say.REFERENCED, bytes_text(m["tx_reference"]))
    if m["spliced"] and (m["tx_reference"] or not m.knows("accepted_bytes")):
        s.add(say.SPLICED_TOO, bytes_text(m["spliced"]), source_of_pages(m))
    elif m["spliced"]:
        s.add(say.SPLICED, share_text(m["spliced"], m["accepted_bytes"]),
              bytes_text(m["accepted_bytes"]), source_of_pages(m))
    add_fate(s)
    add_copied(s)
    add_declined(s)


def add_hints(s: Text) -> None:
    """What a program that copies could know about its path; no advice that no number backs."""
    m, sent = s.moved, s.moved["accepted_bytes"]
    if m["send_calls"] and sent:
        s.add(say.SIZE, bytes_text(sent // m["send_calls"]))
    if sent and m["sent_here_bytes"] == sent:
        s.add(say.LOCAL)


def add_no_request(s: Text) -> None:
    """That no byte went by reference, and why."""
    m = s.moved
    if m["unset_sends"]:
        s.add(say.IGNORED, f"{m['unset_sends']:,}")
    elif m["declined_bytes"]:
        add_declined(s)
    elif not m.knows("tx_reference"):
        s.add(say.REFERENCES_UNKNOWN, m.why("tx_reference"))
    # Records of kernel TLS go by reference.
    elif (m["zerocopy_asked_sends"] or not s.add(say.ASKED_NOTHING)) and not m["tls_carried_bytes"]:
        s.add(say.NO_REFERENCE)


def add_plain(s: Text, verdict: str) -> None:
    """What it sent by plain calls."""
    m, sent = s.moved, s.moved["accepted_bytes"]
    if m.knows("tx_copy") and m["tx_copy"] >= sent:
        s.add(say.COPIED_ALL, bytes_text(sent))
    else:
        s.add(say.SENT, bytes_text(sent))
        add_copied(s)
    if m.knows("tx_copy"):
        add_no_request(s)
    else:
        s.add(say.COPIES_UNKNOWN, m.why("tx_copy"))
    if verdict == "copies":
        add_hints(s)


def add_refused(s: Text) -> None:
    """What the kernel refused, and by which limit."""
    m, refused = s.moved, s.moved["enobufs"]
    if not refused:
        return
    if not m["tx_reference"] and m["zerocopy_asked_sends"]:
        add_asked(s)
    if not s.add(say.REFUSED_OF_ASKED, f"{refused:,}"):
        s.add(say.REFUSED, f"{refused:,}")
    if m["refused_at_rest_sends"] >= refused and (s.add(say.FOR_LARGE) or s.add(say.AT_REST)):
        return
    if m["refused_optmem"] > m["refused_memlock"]:
        s.add(say.FOR_OPTMEM)
    elif m["refused_memlock"]:
        s.add(say.FOR_MEMLOCK)


def sends(m: Moved, verdict: str) -> str:
    """What it sent."""
    s, handed = Text(m), m["tx_reference"] or m["spliced"]
    if handed:
        add_handed(s)
    add_refused(s)
    if not handed and m["accepted_bytes"]:
        add_plain(s, verdict)
    return s.text


def add_reads(s: Text) -> None:
    """What recv copied. Where every way out of the socket was counted, what is beyond the rest was
    copied again."""
    m, received, copied = s.moved, s.moved["returned_bytes"], s.moved["rx_copy"]
    elsewhere = m["passed_on_bytes"] + m["rx_discard"] + m["rx_direct"]
    whole = all(m.knows(name) for name in say.READS)
    once = max(0, received - elsewhere)
    if whole and not elsewhere and copied >= received:
        s.add(say.READ_ALL)
        if copied > once:
            s.add(say.READ_AGAIN, bytes_text(copied - once))
    elif whole and copied > once:
        if once:
            s.add(say.READ, bytes_text(once))
        s.add(say.PEEKED, bytes_text(copied - once))
    elif copied:
        s.add(say.READ, bytes_text(copied))


def add_passed(s: Text) -> None:
    """What left as pages; where no tracepoint tells of spliced and mapped ones apart, both."""
    m, received = s.moved, s.moved["returned_bytes"]
    if m["rx_map"]:
        s.add(say.MAPPED, share_text(m["rx_map"], received))
    elif m["map_calls"]:
        s.add(say.MAPPED_NONE, f"{m['map_calls']:,}")
    if m["rx_splice"]:
        s.add(say.SPLICED_OUT, share_text(m["rx_splice"], received))
    if not m.knows("rx_splice") and not m.knows("rx_map") and m["passed_on_bytes"]:
        s.add(say.PASSED_ON, share_text(m["passed_on_bytes"], received))


def receives(m: Moved) -> str:
    """What it received."""
    s, received = Text(m), m["returned_bytes"]
    if not m.knows("returned_bytes"):
        s.add(say.RECEIVED_UNKNOWN, m.why("returned_bytes"))
    if not received:
        return s.text
    s.add(say.RECEIVED, bytes_text(received))
    add_reads(s)
    add_passed(s)
    if m["rx_discard"]:
        s.add(say.DISCARDED, share_text(m["rx_discard"], received))
    for name, site in (("rx_copy", "rx_copy"), ("rx_discard", "rx_discard"),
                       ("passed_on_bytes", "rx_splice")):
        if not m.knows(name):
            s.add(say.READS_UNKNOWN, m.why(site))
            break
    return s.text


def add_part(s: Text, phrase: say.Phrase, site: str) -> None:
    """A site that has some of it."""
    if s.moved[site]:
        s.add(phrase, bytes_text(s.moved[site]))


def by_tls(m: Moved) -> str:
    """What kernel TLS did with it."""
    s = Text(m)
    if m["tls_accepted_bytes"] and s.add(say.ENCRYPTED, bytes_text(m["tls_accepted_bytes"])):
        add_part(s, say.FROM_BUFFERS, "tls_reference")
        add_part(s, say.FROM_PAGES, "tls_splice")
        add_part(s, say.INTO_RECORDS, "tls_copy")
    if m["tls_received_bytes"] and s.add(say.DECRYPTED, bytes_text(m["tls_received_bytes"])):
        add_part(s, say.INTO_BUFFERS, "rx_direct")
    return s.text


def add_uncovered(s: Text) -> None:
    """Sockets without a book, of all processes: which of them holds one is not kept."""
    data = s.moved.data
    found = [plural(each["sockets"], each["what"].removesuffix("s")) for each in data["not_covered"]
             if each["seen"] and each["sockets"] and each["what"].endswith(" sockets")]
    whose = " of the watched processes" if len(data["processes"]) > 1 else ""
    if found:
        s.add(say.UNCOVERED, ", ".join(found), whose)


def carried(other: Document) -> str:
    """Of a repaired socket no number is one of bytes that moved. What a sockmap passes on to the
    queue of another socket moves no sequence number there."""
    layer, count = other["layer"], other["sent_bytes"] + other["received_bytes"]
    if layer == "repair" or layer == "sockmap" and not count:
        return "bytes that cannot be counted"
    return f"{'at least ' * (layer == 'sockmap')}{bytes_text(count)}"


def add_others(s: Text) -> None:
    """Sockets whose bytes are in no sum, and those that another process had."""
    for other in s.moved.part.get("other") or []:
        s.add(say.OTHERS, plural(other["sockets"], "socket"),
              LAYERS.get(other["layer"], other["layer"]), carried(other))
        if other["layer"] == "mptcp" and other["sent_bytes"]:
            s.add(say.MPTCP_COPIES)
    if s.moved.part.get("handed_on"):
        s.add(say.HANDED_ON, plural(s.moved.part["handed_on"], "socket"))


def joined(parts: list[str]) -> str:
    """Parts as sentences of their own."""
    first, *more = filter(None, parts) if any(parts) else [""]
    return ". ".join([first, *(f"It {each}" if OF_IT.match(each) else each[:1].upper() + each[1:]
                               for each in more)])


def of_process(data: Document, process: Document, verdict: str) -> str:
    """What a process did, without its name: "98.2 % of 12.3 GB was spliced ...". The larger of what
    it sent and received comes first. No phrase needs a number that is not known."""
    m = Moved(data, process)
    both = [sends(m, verdict), receives(m)]
    if m["returned_bytes"] > m["accepted_bytes"]:
        both.reverse()
    whole = Text(m)
    whole.text = joined([*both, by_tls(m)])
    if not whole.text:
        nothing = say.PLAIN_NOTHING if verdict == "not known" else say.NOTHING
        if not whole.add(nothing):
            whole.add(say.NOTHING_KNOWN)
        add_uncovered(whole)
    add_others(whole)
    return f"{whole.text}."


def told(data: Document, process: Document, verdict: Document) -> str:
    """The sentence on a process; of an older record that which it has."""
    return verdict.get("sentence") or of_process(data, process, verdict["verdict"])


def all_told(data: Document) -> list[str]:
    """The sentence on each process of a watch, in the order of its verdicts."""
    return [told(data, process, verdict) for process, verdict
            in zip(data["processes"], data["verdicts"])]
