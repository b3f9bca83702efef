/* SPDX-License-Identifier: GPL-2.0 */
/* What sites and laws both ask of a book: its readings, whether packets were seen, what became of its pages. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_BOOKS_FATE_H
#define COPYSCOPE_WATCH_BOOKS_BOOKS_FATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/sites.h"
#include "bpf/include/watch.h"
#include "userspace/record/watch_record.h"

/* Which hooks counted while the socket was watched. */
struct watch_hooked {
	bool sends;		/* each change of the kind of sends */
	bool rx_copies;
	bool rx_calls;		/* calls that splice or map what was received */
	bool urgent;		/* urgent bytes that receives skip */
	bool discards;
	bool completions;
	bool calls;		/* what sends and receives returned */
	bool packets;		/* departures of zero-copy sends; without trampolines arrivals and refusals */
	bool late_copies;	/* late copies where they are made, from the beginning */
	bool devices;		/* what devices were handed */
	bool moved;		/* what the kernel moved behind the socket */
	bool rings;		/* sends by reference of io_uring's, and their notifications */
	bool no_onward;		/* what was spliced and forwarded or bridged was not copied on its way */
	bool no_orphans;	/* nor moved for nobody knows whom */
	bool no_sockmaps;	/* none was seen, which move bytes as no call does */
	bool taps;		/* what captures on the way out were shown */
	bool details;		/* what was copied between buffers of packets */
	bool wire;		/* with details: the payload of all packets that left */
	bool pins;		/* pages that were referenced and given back */
	bool fast_open;		/* what Fast Open put into a SYN */
	bool limits;		/* refusals by the limit that refused */
	bool trampolines;
	bool datagrams;		/* UDP sockets have books */
	bool handed;		/* datagrams that IP was given */
	bool queued;		/* datagrams that were queued for readers */
	bool datagram_drops;	/* datagrams that were dropped, by their bytes */
	bool no_rings;		/* no process of the subject was seen to have an io_uring */
	bool skipped;		/* the kernel skipped a program for packets or notifications */
	bool tls;		/* all that kernel TLS does by software */
	const struct tls_book *tls_book;	/* of the socket that is judged; NULL: it has none */
	const struct books *detail;	/* what the hooks of details counted of it; NULL: nothing that is known */
};

static inline struct watch_sides watch_not_known(const char *why)
{
	return (struct watch_sides){ .why = why };
}

struct watch_plain {
	uint64_t accepted, sent, received, returned, unsent, unacked, unread;
};

struct watch_plain watch_plain_of(const struct watch_reading *r);

/* The reading that closes a book: at the move to CLOSE, else the newest one. */
const struct watch_reading *watch_last_of(const struct watch_book *book);

/* Bytes that it sent more than once. */
uint64_t watch_sent_again(const struct watch_book *book);

/* An urgent byte may have left the stream unread, or was read before its turn, and no hook tells. */
bool watch_urgent_is_unknown(const struct watch_book *book, const struct watch_hooked *hooked);

/* Urgent bytes that left the queue, less those that calls returned; 0 where that is unknown. */
int64_t watch_urgent_left(const struct watch_book *book, const struct watch_hooked *hooked);

/* A receive that was under way when the window opened may have taken bytes before: a peek and a discard tell how many
 * they took when they return. */
bool watch_reads_began_before(const struct watch_book *book);

/* How many sends by reference the socket accepted in the window; false: a send that was under way when it opened gave
 * its number back since (msg_zerocopy_put_abort), so that numbers do not tell. */
bool watch_sends_by_number(const struct watch_book *book, uint64_t *sends);

/* Nothing was sent by reference, nor did anything wait when the window opened: then nothing can be copied late. */
bool watch_refers_to_nothing(const struct watch_book *book, const struct watch_movements *m);

/* Since before the socket's first reference. */
bool watch_packets_were_watched(const struct watch_book *book, const struct watch_hooked *hooked);

/* Notifications are counted in the table alone. */
bool watch_completions_were_counted(const struct watch_book *book, const struct watch_hooked *hooked);

/* Of sockets that referenced pages while packets were watched: did the programs see each byte that TCP
 * sent leave once? TCP counts what it sends again, too. */
bool watch_departures_are_whole(const struct watch_book *book);

/* Were the copies of all bytes that it referenced counted, as late_copy or because they met nothing but devices
 * where arrivals tell of them? */
bool watch_late_copies_are_known(const struct watch_book *book, const struct watch_hooked *hooked);

/* The same, but for packets that no program saw: then .late_copied is what was seen, and what each of them held may have
 * been copied besides. Completions do not say otherwise. @m has tx_reference. */
bool watch_late_copies_were_seen(const struct watch_book *book, const struct watch_hooked *hooked,
				 const struct watch_movements *m);

/* The notifications of io_uring's sends by reference were counted, or there were none. */
bool watch_rings_were_counted(const struct watch_book *book, const struct watch_hooked *hooked);

/* Zero-copy sends that were not completed when the window opened: never more than were made by then. */
uint32_t watch_opened_sends(const struct watch_book *book);

/* What completions say of copies, against the copies that were counted: both sides of a law, or why it cannot be
 * tested. */
struct watch_sides watch_copied_sides(const struct watch_book *book, const struct watch_hooked *hooked,
				      const struct watch_movements *m);

/* Of tx_splice, what was no record of kernel TLS: its pages are the kernel's own. */
uint64_t watch_spliced_by_calls(const struct watch_movements *m);

/* Of what the program itself handed over; of records of kernel TLS nothing is told. @m has its sites. All 0 if tx_reference or tx_splice is not known. */
struct watch_fate watch_fate_of(const struct watch_book *book, const struct watch_hooked *hooked,
				const struct watch_movements *m);

#endif
