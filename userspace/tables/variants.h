/* SPDX-License-Identifier: GPL-2.0 */
/* The table of variants: how the sender sends one message of eight fields. */
#ifndef COPYSCOPE_VARIANTS_H
#define COPYSCOPE_VARIANTS_H

#include <stdint.h>

#include "userspace/tables/rows.h"

/* What the rest of the program does differently for a variant. */
enum variant_trait {
	VARIANT_PLAIN = 0,
	VARIANT_ASKS = 1,	  /* it sends with MSG_ZEROCOPY */
	VARIANT_SO_ZEROCOPY = 2,  /* the socket has SO_ZEROCOPY, so the kernel does as asked */
	VARIANT_UNREAPED = 4,	  /* it never reads completions */
	VARIANT_OVERWRITES = 8,	  /* it overwrites what is still in flight: bytes arrive wrong */
	VARIANT_SPLICES = 16,	  /* it sends pages of a file or of a pipe */
	VARIANT_TLS = 32,	  /* over kernel TLS, version 1.3 */
	VARIANT_TLS_OLD = 64,	  /* with it: version 1.2 */
	VARIANT_RING = 128,	  /* it sends by io_uring, which needs no SO_ZEROCOPY */
	VARIANT_REGISTERED = 256, /* memory that io_uring holds: a send takes no reference to its pages */
	VARIANT_POLLED = 512,	  /* a thread of the kernel submits (IORING_SETUP_SQPOLL) */
	VARIANT_DATAGRAMS = 1024, /* it sends by UDP, where what is dropped is lost */
	VARIANT_READS = 2048,	  /* it reads what it sends from a file before */
	VARIANT_REFERENCES = VARIANT_ASKS | VARIANT_SO_ZEROCOPY,
	VARIANT_RING_REFERENCES = VARIANT_RING | VARIANT_ASKS,
};

/* X(symbol, name, call, traits, meaning): userspace/workload/variants.c sends so. The call stands
 * beside the name where there is no room for the meaning. */
#define VARIANTS(X)                                                                  \
	X(a1, "A1", "send()",                                                        \
	  VARIANT_PLAIN, "copy the fields into one buffer, one send()")              \
	X(a1_plain, "A1-plain", "send()",                                            \
	  VARIANT_PLAIN, "one buffer to begin with, one send()")                     \
	X(a1_8send, "A1-8send", "send() for each field",                             \
	  VARIANT_PLAIN, "one send() for each field")                                \
	X(a2, "A2", "sendmsg()",                                                     \
	  VARIANT_PLAIN, "one sendmsg() with eight pieces")                          \
	X(a2_more, "A2-more", "send() for each field, MSG_MORE",                     \
	  VARIANT_PLAIN, "as A1-8send, all but the last say MSG_MORE")               \
	X(a3, "A3", "MSG_ZEROCOPY",                                                  \
	  VARIANT_REFERENCES, "MSG_ZEROCOPY; memory is reused after its completion") \
	X(a3_aligned, "A3-aligned", "MSG_ZEROCOPY",                                  \
	  VARIANT_REFERENCES, "as A3, each field on a page boundary")                \
	X(a3_whole, "A3-whole", "MSG_ZEROCOPY",                                      \
	  VARIANT_REFERENCES, "as A3, of one buffer to begin with")                  \
	X(a3_unset, "A3-unset", "MSG_ZEROCOPY without SO_ZEROCOPY",                  \
	  VARIANT_ASKS, "MSG_ZEROCOPY without SO_ZEROCOPY: the kernel ignores it")   \
	X(a3_unreaped, "A3-unreaped", "MSG_ZEROCOPY",                                \
	  VARIANT_REFERENCES | VARIANT_UNREAPED,                                     \
	  "as A3, completions are never read")                                       \
	X(a3_aligned_unreaped, "A3-aligned-unreaped", "MSG_ZEROCOPY",                \
	  VARIANT_REFERENCES | VARIANT_UNREAPED,                                     \
	  "as A3-aligned, completions are never read")                               \
	X(a3_reuse, "A3-reuse", "MSG_ZEROCOPY",                                      \
	  VARIANT_REFERENCES | VARIANT_OVERWRITES,                                   \
	  "as A3, memory is reused at once: bytes arrive wrong")                     \
	X(sendfile, "sendfile", "sendfile()",                                        \
	  VARIANT_SPLICES, "sendfile() from the page cache")                         \
	X(splice, "splice", "splice()",                                              \
	  VARIANT_SPLICES, "splice() from the page cache to a pipe, and on")         \
	X(vmsplice, "vmsplice", "vmsplice()",                                        \
	  VARIANT_SPLICES, "vmsplice() from memory to a pipe, splice() on")          \
	X(vmsplice_gift, "vmsplice-gift", "vmsplice()",                              \
	  VARIANT_SPLICES, "as vmsplice, the pages are a gift (SPLICE_F_GIFT)")      \
	X(ktls, "ktls", "send() over kernel TLS",                                    \
	  VARIANT_TLS, "as A1-plain, over kernel TLS 1.3")                           \
	X(ktls_old, "ktls-1.2", "send() over kernel TLS",                            \
	  VARIANT_TLS | VARIANT_TLS_OLD, "as ktls, TLS 1.2")                         \
	X(ktls_more, "ktls-more", "send(MSG_MORE) over kernel TLS",                  \
	  VARIANT_TLS, "as A2-more, over kernel TLS 1.3")                            \
	X(ktls_sendfile, "ktls-sendfile", "sendfile() over kernel TLS",              \
	  VARIANT_TLS | VARIANT_SPLICES, "as sendfile, over kernel TLS 1.3")         \
	X(ktls_sendfile_old, "ktls-sendfile-1.2", "sendfile() over kernel TLS",      \
	  VARIANT_TLS | VARIANT_SPLICES | VARIANT_TLS_OLD, "as ktls-sendfile, TLS 1.2") \
	X(uring, "uring", "io_uring SEND",                                           \
	  VARIANT_RING, "io_uring's IORING_OP_SEND of one buffer")                   \
	X(uring_zc, "uring-zc", "io_uring SEND_ZC",                                  \
	  VARIANT_RING_REFERENCES, "SEND_ZC; memory is reused after its notification") \
	X(uring_zc_fixed, "uring-zc-fixed", "io_uring SEND_ZC",                      \
	  VARIANT_RING_REFERENCES | VARIANT_REGISTERED,                              \
	  "as uring-zc, from registered buffers")                                    \
	X(uring_zc_sqpoll, "uring-zc-sqpoll", "io_uring SEND_ZC",                    \
	  VARIANT_RING_REFERENCES | VARIANT_POLLED,                                  \
	  "as uring-zc, a thread of the kernel's submits (SQPOLL)") \
	X(udp, "udp", "send() by UDP",                                               \
	  VARIANT_DATAGRAMS, "send() of one buffer by UDP")                          \
	X(udp_each, "udp-each", "send() by UDP for each datagram",                   \
	  VARIANT_DATAGRAMS, "as udp, one send() for each datagram")                 \
	X(udp_zc, "udp-zc", "MSG_ZEROCOPY by UDP",                                   \
	  VARIANT_REFERENCES | VARIANT_DATAGRAMS, "as udp, MSG_ZEROCOPY")              \
	X(a1_file, "A1-file", "read() and send()",                                   \
	  VARIANT_READS, "read() from the page cache into a buffer, one send()")

#define VARIANT_ENUM(symbol, ...) VARIANT_##symbol,
enum variant_id { VARIANTS(VARIANT_ENUM) VARIANT_COUNT };
#undef VARIANT_ENUM

extern const struct table_row variant_rows[VARIANT_COUNT];

/* The number of a variant, or -1. */
int variant_number(const char *name);

/* What it calls, in a word or two; "" if there is no such variant. */
const char *variant_call(const char *name);

/* The name that is meant by one in letters of either case, or NULL. */
const char *variant_meant(const char *name);

/* The longest payload of a datagram, of IPv4; into how many a send may be cut (UDP_MAX_SEGMENTS, include/linux/udp.h). */
enum { DATAGRAM_BYTES_MAX = 65535 - 20 - 8, DATAGRAMS_OF_SEND_MAX = 64 };

/* Of memory that is registered, which RLIMIT_MEMLOCK counts: often 8 MiB for all of a user's. */
enum { REGISTERED_BYTES = 1 << 20, REGISTERED_MOST = 256 };

/* The traits of a variant; none if there is no such variant. */
unsigned int variant_traits(const char *name);

/* Of these traits: the kernel is asked to reference every byte, and will where the path lets it. */
static inline bool traits_reference(unsigned int traits)
{
	return traits & VARIANT_ASKS && traits & (VARIANT_SO_ZEROCOPY | VARIANT_RING);
}

/* What a message locks: all of the pages that it may touch. */
static inline uint64_t registered_bytes(uint64_t bytes, uint64_t page_bytes)
{
	return ((bytes + page_bytes - 1) / page_bytes + 1) * page_bytes;
}

/* Messages of a connection that a registering variant has: as many as lock 1 MiB, from 2 to 256. */
static inline uint64_t registered_messages(uint64_t bytes, uint64_t page_bytes)
{
	uint64_t fit = REGISTERED_BYTES / registered_bytes(bytes, page_bytes);

	return fit < 2 ? 2 : fit > REGISTERED_MOST ? REGISTERED_MOST : fit;
}

/* What a variant with these traits cannot do together with the rest of a plan; NULL: nothing is wrong. */
const char *variant_fault(unsigned int traits, bool replies, bool readers, const char *receiver);

/* What a variant with these traits cannot do from several threads on one socket; NULL: nothing is wrong. */
const char *senders_fault(unsigned int traits, bool replies);

/* Why messages of variants with one of these traits are not cut into pieces of so many bytes, or NULL; 0: into none. */
const char *piece_fault(unsigned int traits, uint64_t bytes);

/* What variants with these traits cannot do in turns on one connection; NULL: nothing is wrong. */
const char *ways_fault(const unsigned int traits[], int count);

/* True if @name is a variant that has all of @traits. */
bool variant_has(const char *name, unsigned int traits);

#endif
