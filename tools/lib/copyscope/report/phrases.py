# SPDX-License-Identifier: GPL-2.0
"""Every phrase that may be said of a watched process, and the numbers without which it may not."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Phrase:
    """Words with a {} for each that is given with them; sites, counts and fates that must be known.
    One that claims nothing but that something is not known needs none."""
    text: str
    needs: tuple[str, ...] = ()


def phrase(text: str, *needs: str) -> Phrase:
    """One of the table below."""
    return Phrase(text, needs)


# What became of bytes by reference or spliced is known where both sites are.
FATE = ("tx_reference", "tx_splice")
# All ways out of a socket: what took one did not take another.
READS = ("rx_copy", "rx_discard", "rx_direct", "returned_bytes", "passed_on_bytes")
LIMITS = ("refused_optmem", "refused_memlock")

SENT = phrase("; sent {}", "accepted_bytes")
COPIED_ALL = phrase("; send copied all of {}", "tx_copy", "accepted_bytes")
COPIED = phrase("; {}, {}, was copied by send", "tx_copy", "accepted_bytes")
COPIES_UNKNOWN = phrase("; how much of it send copied was not measured ({})")
ASKED_NOTHING = phrase("; it asked for no zero copy",
                       "tx_reference", "zerocopy_asked_sends", "unset_sends")
NO_REFERENCE = phrase("; it sent no byte by reference", "tx_reference")
REFERENCES_UNKNOWN = phrase("; whether some was sent by reference was not measured ({})")
IGNORED = phrase("; MSG_ZEROCOPY was ignored in {} sends, because SO_ZEROCOPY is not set",
                 "unset_sends")
DECLINED = phrase("; of {} sends by MSG_ZEROCOPY it copied {} inside send: UDP references no send "
                  "that is larger than the MTU, or whose device has no sg or tx: send at most the "
                  "MTU at once, or set UDP_SEGMENT", "tx_reference", "zerocopy_sends")
SIZE = phrase("; its sends were of {} on average", "send_calls", "accepted_bytes")
LOCAL = phrase("; its receivers are on this machine, where bytes by MSG_ZEROCOPY are copied, too, "
               "and those that sendfile or splice sends are not (results/matrix, path lo)",
               "accepted_bytes")
ASKED = phrase("asked for zero copy in {} sends", "zerocopy_asked_sends")
ASKED_AT_LEAST = phrase("asked for zero copy in at least {} sends", "zerocopy_sends")
ASKED_OFTEN = phrase("asked for zero copy", "tx_reference")
REFERENCED = phrase(": {} was sent by reference", "tx_reference")
SPLICED = phrase("{} of {} was spliced from {}, not copied by send",
                 "tx_splice", "accepted_bytes", "tls_carried_bytes")
SPLICED_TOO = phrase("; {} was spliced from {}", "tx_splice", "tls_carried_bytes")
ALL_LATER = phrase(", and all of it was copied after all", *FATE)
SOME_LATER = phrase("; {} of it was copied after all", *FATE)
BECAUSE_LOCAL = phrase(", because the receiver is local", *FATE)
BECAUSE_ARRIVED = phrase(", where its packets arrived on this machine: at a receiver, a router or "
                         "a packet capture (which of them was not measured)", *FATE)
BECAUSE = phrase(", because of {}: {}", *FATE)
BECAUSE_BOTH = phrase(", because of {} and of {}: without one of them the other copies it still",
                      *FATE)
BECAUSE_MOSTLY = phrase(", most of it because of {}: {}", *FATE)
LATER_MORE = phrase("; late_copy is {} of tx_reference: packets also carry plain bytes, are sent "
                    "again, or are copied for captures", "late_copy", "tx_reference")
ALL_CLEAN = phrase(", and all of it was handed over as pages", *FATE)
SOME_CLEAN = phrase("; {} of it was handed over as pages", *FATE)
HELD = phrase("; {} of it had not left yet", *FATE)
FATE_UNKNOWN = phrase("; whether {} was copied behind the socket is not known ({})", *FATE)
UNSEEN = phrase("; of this machine's packets and notifications, {} passed while the kernel ran no "
                "program")
UNSEEN_MOST = phrase("; of that, at most {} may have been copied, in {} packets or notifications "
                     "of this machine that no program saw", *FATE)
TOLD_COPIED = phrase("; the kernel's notifications say of all {} sends that it copied",
                     *FATE, "completed_sends", "copied_sends")
NO_FATE = phrase("; what became of it behind the socket is not known ({})")
REFUSED_OF_ASKED = phrase("; the kernel refused {} of these sends with ENOBUFS",
                          "enobufs", "zerocopy_asked_sends")
REFUSED = phrase("; the kernel refused {} sends by MSG_ZEROCOPY with ENOBUFS", "enobufs")
FOR_OPTMEM = phrase(", for want of option memory: read completions sooner, or raise "
                    "net.core.optmem_max", *LIMITS)
FOR_MEMLOCK = phrase(", by RLIMIT_MEMLOCK: wait for completions, or raise it", *LIMITS)
FOR_LARGE = phrase(", by RLIMIT_MEMLOCK, with nothing in flight: send less at once than it allows, "
                   "or raise it", *LIMITS)
AT_REST = phrase(", though it had nothing in flight: send less at once, as waiting does not help",
                 "enobufs")
RECEIVED = phrase("received {}", "returned_bytes")
RECEIVED_UNKNOWN = phrase("how much was read is not known ({})")
READ_ALL = phrase(", all copied by recv", *READS)
READ_AGAIN = phrase(", {} of it again (MSG_PEEK)", *READS)
PEEKED = phrase("; peeks copied {} (MSG_PEEK)", *READS)
READ = phrase("; recv copied {}", "rx_copy", "returned_bytes")
MAPPED = phrase("; {} was mapped", "rx_map", "returned_bytes")
MAPPED_NONE = phrase("; TCP_ZEROCOPY_RECEIVE found bytes {} times, and mapped none",
                     "rx_map", "map_calls")
SPLICED_OUT = phrase("; {} was spliced out", "rx_splice", "returned_bytes")
PASSED_ON = phrase("; {} was spliced out or mapped", "returned_bytes", "passed_on_bytes")
DISCARDED = phrase("; {} was discarded", "rx_discard", "returned_bytes")
READS_UNKNOWN = phrase("; whether some left the socket another way was not measured ({})")
ENCRYPTED = phrase("; kernel TLS encrypted {}, which it read and wrote once",
                   "tls_encrypt", "tls_accepted_bytes")
FROM_BUFFERS = phrase("; {} of it straight from buffers of the program", "tls_reference")
FROM_PAGES = phrase("; {} of it straight from pages of a file or a pipe", "tls_splice")
INTO_RECORDS = phrase("; {} of it was copied into records first", "tls_copy")
DECRYPTED = phrase("; kernel TLS decrypted {}", "tls_decrypt", "tls_received_bytes")
INTO_BUFFERS = phrase("; {} of it straight into buffers of the program", "rx_direct")
PLAIN_NOTHING = phrase("moved no payload of plain TCP or UDP", "accepted_bytes", "returned_bytes")
NOTHING = phrase("moved no payload over TCP or UDP", "accepted_bytes", "returned_bytes")
NOTHING_KNOWN = phrase("how much it moved is not known")
UNCOVERED = phrase("; what passed {}{} is not in these numbers")
OTHERS = phrase("; {} of {} carried {}, which are not in these numbers")
# mptcp_sendmsg() drops MSG_SPLICE_PAGES and MSG_ZEROCOPY, 6.1 to 7.2.
MPTCP_COPIES = phrase(" (MPTCP copies whatever it is given to send, by sendfile and MSG_ZEROCOPY, "
                      "too)")
HANDED_ON = phrase("; another process used {} of these before, and its bytes are in these numbers")

ALL = {name: each for name, each in globals().items() if isinstance(each, Phrase)}
