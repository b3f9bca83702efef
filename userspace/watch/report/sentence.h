/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on one watched process, in words: every claim that it may make, and the numbers without which it
 * may not. Pure. */
#ifndef COPYSCOPE_WATCH_REPORT_SENTENCE_H
#define COPYSCOPE_WATCH_REPORT_SENTENCE_H

#include <stdbool.h>

#include "userspace/record/watch_record.h"

enum { SENTENCE_BYTES = 2000 };

#define OF_SITE(name) (1u << SITE_##name)
#define OF_COUNT(name) (1ull << COUNT_##name)

/* What became of bytes by reference or spliced is known where both sites are. */
#define OF_FATE (OF_SITE(tx_reference) | OF_SITE(tx_splice))
/* Not a count of its own: how much was received and passed on as pages. */
#define OF_PASSED (1ull << 63)
/* All ways out of a socket, with the above: what took one did not take another. */
#define OF_READER (OF_SITE(rx_copy) | OF_SITE(rx_discard) | OF_SITE(rx_direct))
#define OF_READS (OF_COUNT(returned_bytes) | OF_PASSED)

/* X(symbol, sites, counts, text); each % of a text stands for a word that is given with it. A phrase that
 * claims nothing but that something is not known needs nothing. */
#define PHRASES(X)                                                                                  \
	X(SENT, 0, OF_COUNT(accepted_bytes), "; sent %")                                            \
	X(COPIED_ALL, OF_SITE(tx_copy), OF_COUNT(accepted_bytes), "; send copied all of %")         \
	X(COPIED, OF_SITE(tx_copy), OF_COUNT(accepted_bytes), "; %, %, was copied by send")         \
	X(COPIES_UNKNOWN, 0, 0, "; how much of it send copied was not measured (%)")                \
	X(ASKED_NOTHING, OF_SITE(tx_reference), OF_COUNT(zerocopy_asked_sends) | OF_COUNT(unset_sends), \
	  "; it asked for no zero copy")                                                            \
	X(NO_REFERENCE, OF_SITE(tx_reference), 0, "; it sent no byte by reference")                 \
	X(REFERENCES_UNKNOWN, 0, 0, "; whether some was sent by reference was not measured (%)")    \
	X(IGNORED, 0, OF_COUNT(unset_sends),                                                        \
	  "; MSG_ZEROCOPY was ignored in % sends, because SO_ZEROCOPY is not set")                  \
	X(DECLINED, OF_SITE(tx_reference), OF_COUNT(zerocopy_sends),                                \
	  "; of % sends by MSG_ZEROCOPY it copied % inside send: UDP references no send that is larger than the MTU, " \
	  "or whose device has no sg or tx: send at most the MTU at once, or set UDP_SEGMENT")                                       \
	X(SIZE, 0, OF_COUNT(send_calls) | OF_COUNT(accepted_bytes), "; its sends were of % on average") \
	X(LOCAL, 0, OF_COUNT(accepted_bytes), "; its receivers are on this machine, where bytes by " \
	  "MSG_ZEROCOPY are copied, too, and those that sendfile or splice sends are not (results/matrix, path lo)") \
	X(ASKED, 0, OF_COUNT(zerocopy_asked_sends), "asked for zero copy in % sends")               \
	X(ASKED_AT_LEAST, 0, OF_COUNT(zerocopy_sends), "asked for zero copy in at least % sends")   \
	X(ASKED_OFTEN, OF_SITE(tx_reference), 0, "asked for zero copy")                             \
	X(REFERENCED, OF_SITE(tx_reference), 0, ": % was sent by reference")                        \
	X(SPLICED, OF_SITE(tx_splice), OF_COUNT(accepted_bytes) | OF_COUNT(tls_carried_bytes),      \
	  "% of % was spliced from %, not copied by send")                   \
	X(SPLICED_TOO, OF_SITE(tx_splice), OF_COUNT(tls_carried_bytes), "; % was spliced from %")                     \
	X(ALL_LATER, OF_FATE, 0, ", and all of it was copied after all")                            \
	X(SOME_LATER, OF_FATE, 0, "; % of it was copied after all")                                 \
	X(BECAUSE_LOCAL, OF_FATE, 0, ", because the receiver is local")                             \
	X(BECAUSE_ARRIVED, OF_FATE, 0, ", where its packets arrived on this machine: at a receiver, a router " \
	  "or a packet capture (which of them was not measured)")                                   \
	X(BECAUSE, OF_FATE, 0, ", because of %: %")                                                 \
	X(BECAUSE_BOTH, OF_FATE, 0, ", because of % and of %: without one of them the other copies it still")    \
	X(BECAUSE_MOSTLY, OF_FATE, 0, ", most of it because of %: %")                               \
	X(LATER_MORE, OF_SITE(late_copy) | OF_SITE(tx_reference), 0,                                \
	  "; late_copy is % of tx_reference: packets also carry plain bytes, are sent again, or are " \
	  "copied for captures")                                                                    \
	X(ALL_CLEAN, OF_FATE, 0, ", and all of it was handed over as pages")                         \
	X(SOME_CLEAN, OF_FATE, 0, "; % of it was handed over as pages")                              \
	X(HELD, OF_FATE, 0, "; % of it had not left yet")                                           \
	X(FATE_UNKNOWN, OF_FATE, 0, "; whether % was copied behind the socket is not known (%)")    \
	X(UNSEEN, 0, 0, "; of this machine's packets and notifications, % passed while the kernel ran no program") \
	X(UNSEEN_MOST, OF_FATE, 0, "; of that, at most % may have been copied, in % packets or notifications of " \
	  "this machine that no program saw")                                                       \
	X(TOLD_COPIED, OF_FATE, OF_COUNT(completed_sends) | OF_COUNT(copied_sends),                 \
	  "; the kernel's notifications say of all % sends that it copied")                         \
	X(NO_FATE, 0, 0, "; what became of it behind the socket is not known (%)")                  \
	X(REFUSED_OF_ASKED, 0, OF_COUNT(enobufs) | OF_COUNT(zerocopy_asked_sends),                  \
	  "; the kernel refused % of these sends with ENOBUFS")                                     \
	X(REFUSED, 0, OF_COUNT(enobufs), "; the kernel refused % sends by MSG_ZEROCOPY with ENOBUFS") \
	X(FOR_OPTMEM, 0, OF_COUNT(refused_optmem) | OF_COUNT(refused_memlock),                      \
	  ", for want of option memory: read completions sooner, or raise net.core.optmem_max")     \
	X(FOR_MEMLOCK, 0, OF_COUNT(refused_optmem) | OF_COUNT(refused_memlock),                     \
	  ", by RLIMIT_MEMLOCK: wait for completions, or raise it")                                 \
	X(FOR_LARGE, 0, OF_COUNT(refused_optmem) | OF_COUNT(refused_memlock),                       \
	  ", by RLIMIT_MEMLOCK, with nothing in flight: send less at once than it allows, or raise it") \
	X(AT_REST, 0, OF_COUNT(enobufs), ", though it had nothing in flight: send less at once, as waiting does not help") \
	X(RECEIVED, 0, OF_COUNT(returned_bytes), "received %")                                      \
	X(RECEIVED_UNKNOWN, 0, 0, "how much was read is not known (%)")                            \
	X(READ_ALL, OF_READER, OF_READS, ", all copied by recv")                    \
	X(READ_AGAIN, OF_READER, OF_READS, ", % of it again (MSG_PEEK)")            \
	X(PEEKED, OF_READER, OF_READS, "; peeks copied % (MSG_PEEK)")                               \
	X(READ, OF_SITE(rx_copy), OF_COUNT(returned_bytes), "; recv copied %")                      \
	X(MAPPED, OF_SITE(rx_map), OF_COUNT(returned_bytes), "; % was mapped")                      \
	X(MAPPED_NONE, OF_SITE(rx_map), OF_COUNT(map_calls),                                        \
	  "; TCP_ZEROCOPY_RECEIVE found bytes % times, and mapped none")                            \
	X(SPLICED_OUT, OF_SITE(rx_splice), OF_COUNT(returned_bytes), "; % was spliced out")         \
	X(PASSED_ON, 0, OF_READS, "; % was spliced out or mapped")                                  \
	X(DISCARDED, OF_SITE(rx_discard), OF_COUNT(returned_bytes), "; % was discarded")            \
	X(READS_UNKNOWN, 0, 0, "; whether some left the socket another way was not measured (%)")   \
	X(ENCRYPTED, OF_SITE(tls_encrypt), OF_COUNT(tls_accepted_bytes),                            \
	  "; kernel TLS encrypted %, which it read and wrote once")                                 \
	X(FROM_BUFFERS, OF_SITE(tls_reference), 0, "; % of it straight from buffers of the program") \
	X(FROM_PAGES, OF_SITE(tls_splice), 0, "; % of it straight from pages of a file or a pipe")  \
	X(INTO_RECORDS, OF_SITE(tls_copy), 0, "; % of it was copied into records first")            \
	X(DECRYPTED, OF_SITE(tls_decrypt), OF_COUNT(tls_received_bytes), "; kernel TLS decrypted %") \
	X(INTO_BUFFERS, OF_SITE(rx_direct), 0, "; % of it straight into buffers of the program")    \
	X(PLAIN_NOTHING, 0, OF_COUNT(accepted_bytes) | OF_COUNT(returned_bytes),                    \
	  "moved no payload of plain TCP or UDP")                                                   \
	X(NOTHING, 0, OF_COUNT(accepted_bytes) | OF_COUNT(returned_bytes),                             \
	  "moved no payload over TCP or UDP")                                                       \
	X(UNCOVERED, 0, 0, "; what passed %% is not in these numbers")                             \
	X(NOTHING_KNOWN, 0, 0, "how much it moved is not known")                                    \
	X(OTHERS, 0, 0, "; % of % carried %, which are not in these numbers")                       \
	/* mptcp_sendmsg() drops MSG_SPLICE_PAGES and MSG_ZEROCOPY, 6.1 to 7.2. */                 \
	X(MPTCP_COPIES, 0, 0, " (MPTCP copies whatever it is given to send, by sendfile and MSG_ZEROCOPY, too)") \
	X(HANDED_ON, 0, 0, "; another process used % of these before, and its bytes are in these numbers")

#define PHRASE_ENUM(symbol, sites, counts, text) SAY_##symbol,
enum phrase { PHRASES(PHRASE_ENUM) PHRASE_COUNT };
#undef PHRASE_ENUM

bool phrase_is_backed(enum phrase which, const struct watch_movements *moved);

/* What the process did, without its name: "98.2 % of 12.3 GB was spliced ...". The larger of what it sent and
 * received comes first. It has no phrase that needs a number which is not known. */
void sentence_of_process(const struct watch_record *r, const struct watch_process *p,
			 char text[SENTENCE_BYTES]);

/* The name of a verdict in records: "clean". */
const char *verdict_name(enum verdict_of_process verdict);

#endif
