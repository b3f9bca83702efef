/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of copy sites, and what is counted in detail for one socket, for kernel and user space. Like
 * watch.h it includes nothing, and a hole in a struct is a compile error.
 */
#ifndef COPYSCOPE_SITES_H
#define COPYSCOPE_SITES_H

/* What sets a site apart from others. */
enum site_trait {
	SITE_COPIES = 1,	/* a processor copies the bytes; elsewhere pages are handed over */
	SITE_OF_SENDER = 2,	/* it is on the sender's side alone */
	SITE_OF_RECEIVER = 4,	/* it is on the receiver's side alone */
	SITE_OF_CALL = 8,	/* the bytes of a send or recv call pass it: a term of that law */
	SITE_OF_TLS = 16,	/* kernel TLS moves the bytes: no run or socket without it has any */
	SITE_TRANSFORMS = 32,	/* a cipher reads each byte once and writes it once */
	SITE_SENDS = SITE_OF_SENDER | SITE_OF_CALL,
	SITE_READS = SITE_OF_RECEIVER | SITE_OF_CALL,
};

/* X(name, traits, who works, meaning): a place where payload is copied, referenced, moved or
 * released. What became of the bytes there, in plain words: at most 50 characters. */
#define SITES(X)                                                                      \
	X(user_gather, SITE_COPIES | SITE_OF_SENDER, "sender, user space",            \
	  "copied by the program into one buffer before send")                        \
	X(tx_copy, SITE_SENDS | SITE_COPIES, "sender, system call",                   \
	  "copied from your buffer into the kernel by send")                          \
	X(tx_reference, SITE_SENDS, "sender, system call",                            \
	  "sent from your own pages, by reference")                                   \
	X(tx_splice, SITE_SENDS, "sender, system call",                               \
	  "sent from pages of a file or a pipe, by reference")                        \
	X(late_copy, SITE_COPIES, "softirq, often",                                   \
	  "sent by reference, and copied after all")                                  \
	X(reshape, SITE_COPIES, "either end",                                         \
	  "copied between buffers of packets in the kernel")                          \
	X(rx_copy, SITE_READS | SITE_COPIES, "receiver, system call",                 \
	  "copied from the kernel into your buffer by recv")                          \
	X(rx_map, SITE_READS, "receiver, system call",                                \
	  "mapped into your memory as pages, not copied")                             \
	X(rx_splice, SITE_READS, "receiver, system call",                             \
	  "passed on as pages by splice, not copied")                                 \
	X(rx_discard, SITE_READS, "receiver, system call",                            \
	  "dropped unread, by MSG_TRUNC")                                             \
	X(rx_direct, SITE_READS | SITE_OF_TLS, "receiver, system call",               \
	  "decrypted straight into your buffer by recv")                              \
	X(tls_copy, SITE_OF_SENDER | SITE_OF_TLS | SITE_COPIES, "sender, system call", \
	  "copied from your buffer into a TLS record by send")                        \
	X(tls_reference, SITE_OF_SENDER | SITE_OF_TLS, "sender, system call",         \
	  "encrypted straight from your buffer by send")                              \
	X(tls_splice, SITE_OF_SENDER | SITE_OF_TLS, "sender, system call",            \
	  "encrypted straight from pages of a file or a pipe")                        \
	X(tls_encrypt, SITE_OF_SENDER | SITE_OF_TLS | SITE_TRANSFORMS, "sender, system call", \
	  "read, encrypted and written by the cipher")                                \
	X(tls_decrypt, SITE_OF_RECEIVER | SITE_OF_TLS | SITE_TRANSFORMS, "receiver, system call", \
	  "read, decrypted and written by the cipher")

/* X(name, meaning): everything else that is counted for one socket. Units are in the names. */
#define COUNTS(X)                                                                             \
	X(send_calls, "calls of send that the kernel accepted bytes from")                    \
	X(accepted_bytes, "bytes that send accepted")                                         \
	X(recv_calls, "calls of recv that returned bytes")                                    \
	X(returned_bytes, "bytes that recv returned")                                         \
	X(zerocopy_asked_sends, "sends with MSG_ZEROCOPY, refused ones included")             \
	X(zerocopy_sends, "sends whose pages the kernel should reference")                    \
	X(zerocopy_bytes, "bytes accepted by those sends")                                    \
	X(unset_sends, "sends with MSG_ZEROCOPY on a socket without SO_ZEROCOPY")             \
	X(unset_bytes, "bytes accepted by those sends")                                       \
	X(nosg_sends, "zero-copy sends on a route without scatter-gather, where it is off")   \
	X(nosg_bytes, "bytes accepted by those sends")                                        \
	X(fastopen_sends, "zero-copy sends that put bytes into the SYN")                      \
	X(fastopen_bytes, "those bytes, always copied")                                       \
	X(enobufs, "sends refused with ENOBUFS")                                              \
	X(refused_optmem, "notifications refused for want of option memory")                  \
	X(refused_memlock, "notifications refused by RLIMIT_MEMLOCK")                         \
	X(pinned_pages, "page references taken for tx_reference")                             \
	X(released_pages, "page references given back")                                       \
	X(completed_sends, "zero-copy sends that the kernel completed")                       \
	X(copied_sends, "of those, completed as COPIED")                                      \
	X(wire_copied_bytes,                                                                  \
	  "payload in kernel memory of the skbs that left, retransmissions included")         \
	X(wire_referenced_bytes,                                                              \
	  "payload in user pages of the skbs that left, retransmissions included")            \
	X(wire_referenced_pages,                                                              \
	  "user pages in the skbs that left, retransmissions included")                       \
	X(retrans_copied_bytes, "payload in kernel memory that left again")                   \
	X(retrans_referenced_bytes, "payload in user pages that left again")                  \
	X(retrans_referenced_pages, "user pages that left again")                             \
	X(user_referenced_bytes,                                                              \
	  "payload that the receiver read from pages still referenced")                       \
	X(clean_bytes, "payload in user pages that a device on a bus was handed")             \
	X(reshaped_referenced_bytes,                                                          \
	  "payload in user pages that the kernel moved into pages of its own")                \
	X(dropped_referenced_bytes,                                                           \
	  "payload in user pages of packets that were dropped on the way")                    \
	X(dropped_bytes, "payload of datagrams that were dropped on their way or unread")     \
	X(truncated_bytes, "payload of datagrams that did not fit the reader's buffer")       \
	X(tapped_bytes,                                                                       \
	  "payload in user pages of packets that a capture was shown going out")              \
	X(mixed_bytes,                                                                        \
	  "payload copied on a socket that references, which left in packets that "           \
	  "carry user pages")                                                                  \
	X(map_calls, "calls of TCP_ZEROCOPY_RECEIVE that found bytes to map")                 \
	X(peeked_bytes, "bytes that recv copied and left where they were (MSG_PEEK)")         \
	X(tls_accepted_bytes, "plaintext that kernel TLS accepted")                           \
	X(tls_carried_bytes, "bytes that TCP accepted from kernel TLS: whole records")        \
	X(tls_sent_records, "TLS records that were encrypted")                                \
	X(tls_sent_overhead_bytes, "what these records are longer than their plaintext")      \
	X(tls_received_bytes, "plaintext of the TLS records that were decrypted")             \
	X(tls_received_records, "those records")                                              \
	X(tls_received_overhead_bytes, "what these are longer than their plaintext")

/* X(name, function): calls whose cost is measured with --cost. The empty one is a call of nothing,
 * to learn what measuring costs. */
#define COSTS(X)                                   \
	X(send_call, tcp_sendmsg_locked)           \
	X(tx_reference, skb_zerocopy_iter_stream)  \
	X(late_copy, skb_copy_ubufs)               \
	X(reshape, skb_copy_bits)                  \
	X(recv_call, tcp_recvmsg_locked)           \
	X(rx_copy, skb_copy_datagram_iter)         \
	X(empty, bpf_fentry_test1)

#define COST_ENUM(name, function) COST_##name,
enum cost { COSTS(COST_ENUM) COST_COUNT };
#undef COST_ENUM

/* Hardware events read at both ends of a call: the first ones of enum counter_event. */
enum { COST_EVENTS = 4 };

#define SITE_ENUM(name, traits, who, meaning) SITE_##name,
enum site { SITES(SITE_ENUM) SITE_COUNT };
#undef SITE_ENUM

#define COUNT_ENUM(name, meaning) COUNT_##name,
enum count { COUNTS(COUNT_ENUM) COUNT_COUNT };
#undef COUNT_ENUM

/* Hooks that run in softirq on top of any task, where a kernel may not run the program. */
enum seen_hook { SEEN_WIRE, SEEN_ARRIVAL, SEEN_XMIT, SEEN_REPORT };
enum { SEEN_CPUS = 512, SEEN_LINE = 7 };

/* How many processes, and how many network namespaces, one measurement may watch. */
enum { SUBJECT_PROCESSES = 8 };

/* X(symbol, word): faults that a test may inject, to see them caught (--break): in a watch, and in a run. */
#define WATCH_FAULTS(X)                                                                        \
	X(DROP_REPORT, "drop-completion") /* one, where it is put on the error queue */        \
	X(SKIP_ENDS, "skip-ends") /* as if the kernel ran no program when a socket ends */     \
	X(SKIP_BIRTHS, "skip-births") /* nor when one begins */                                \
	X(SKIP_DEPARTURES, "skip-departures") /* nor when a packet leaves */                   \
	X(SKIP_CLOSES, "skip-closes") /* nor when a socket moves to CLOSE */                   \
	X(SKIP_STARTS, "skip-starts") /* nor when one connects anew */                         \
	X(SKIP_ARRIVAL, "skip-arrival") /* nor for one packet with user pages that arrives */  \
	/* One datagram, where it is queued, taken and handed to IP. */                        \
	X(LOSE_QUEUED, "lose-queued")                                                          \
	X(LOSE_TAKEN, "lose-taken")                                                            \
	X(LOSE_HANDED, "lose-handed")                                                          \
	X(LOSE_SIZES, "lose-sizes") /* of the calls of one socket */                           \
	/* As if no program ran from a socket's eighth TLS record on. */                       \
	X(SKIP_ENCRYPTION, "skip-encryption")                                                  \
	X(SKIP_DECRYPTION, "skip-decryption")                                                  \
	X(LOSE_STACK, "lose-stack") /* bytes of one call are put to no stack */
#define RUN_FAULTS(X)                                                                          \
	X(LOSE_UPDATE, "lose-update")                                                          \
	X(DROP_COMPLETION, "drop-completion") /* one, where a notification ends */             \
	X(FORGET_DEPARTURES, "forget-departures")                                              \
	/* The first of the two for each change of a socket's state and its end. */            \
	X(SKIP_STATE, "skip-state")                                                            \
	X(SKIP_PUT_ENTRY, "skip-put-entry")                                                    \
	X(SKIP_PUT_EXIT, "skip-put-exit")                                                      \
	/* From here on hits are not noted. */                                                 \
	X(MISS_HITS, "miss-hits")                                                              \
	X(COUNT_NOTHING, "count-nothing")

#define FAULT_ENUM(symbol, word) FAULT_##symbol,
enum fault_inject { FAULT_NONE, WATCH_FAULTS(FAULT_ENUM) RUN_FAULTS(FAULT_ENUM) FAULT_COUNT };
#undef FAULT_ENUM

#define FAULT_WORD(symbol, word) word,
#define FAULT_LISTED(symbol, word) " " word

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct tally {
	unsigned long long bytes;
	unsigned long long calls;
};

/* What is counted of one socket. */
struct books {
	struct tally site[SITE_COUNT];
	unsigned long long count[COUNT_COUNT];
};

/* Both ends of a flow as they stand in a packet that arrives; IPv4 as ::ffff:a.b.c.d. */
struct flow {
	unsigned int saddr[4];
	unsigned int daddr[4];
	unsigned short sport;
	unsigned short dport;
	unsigned int protocol;	/* IPPROTO_* */
};

/* What lies in kernel TLS at one moment, read under the socket's lock; and what TCP had accepted and returned by its
 * sequence numbers then, SYN included, FIN not. */
struct tls_held {
	unsigned long long accepted, returned;
	unsigned int open;	/* plaintext in a record that is not full */
	unsigned int queued;	/* bytes of records that TCP has not accepted */
	unsigned int collected;	/* bytes that were taken from TCP, of a record that is not whole */
	unsigned int decrypted;	/* plaintext that no receive has returned */
};

/* What kernel TLS did with the bytes of one socket; kept beside its book, for those that have TLS alone. */
struct tls_book {
	unsigned long long accepted;	/* plaintext that calls returned: of sends */
	unsigned long long copied, referenced, spliced;
	unsigned long long encrypted, sent_overhead;
	unsigned long long returned, peeked;	/* of receives */
	unsigned long long direct;	/* decrypted into user pages */
	unsigned long long decrypted;	/* by the cipher, whatever became of it */
	unsigned long long opened, received_overhead;	/* plaintext of whole records */
	/* When TLS began: what TCP had accepted and returned, by its sequence numbers and by calls. */
	unsigned long long sent_before, received_before, accepted_before;
	unsigned long long sent_cipher, received_cipher;	/* struct crypto_tfm */
	unsigned int send_calls, copies, references, splices;
	unsigned int recv_calls, directs, sent_records, received_records;
	unsigned int decryptions, last_cipher_bytes;
	struct tls_held first, now;	/* when the window opened, else 0; last */
	unsigned char sends, receives;	/* it has keys for them */
	unsigned char sends_ended, receives_ended;	/* the kernel has given them up: .now is final */
	unsigned char device;	/* it encrypts or decrypts, and these numbers say nothing */
	unsigned char walk_short;	/* more lay there than was read */
	unsigned char unused[2];
};

/* Bits of watch_slot's .tls. */
enum { SLOT_HAS_TLS_BOOK = 1, SLOT_TLS_RECEIVES = 2, SLOT_TLS_SENDS = 4 };

/* Who owns a zero-copy notification, and how many pages it holds. */
struct pin {
	unsigned long long cookie;
	unsigned long long pages;
	unsigned short sends; /* these two as the last program saw them that had the notification */
	unsigned short clean;
	unsigned int unused;
};

/* Machine-wide gauges of one run. */
struct gauges {
	unsigned long long outstanding_pages;
	unsigned long long peak_pages; /* filled in by the reader, from struct seen */
	unsigned long long lost_updates; /* filled in by the reader, from struct watch_gauges */
	unsigned long long first_byte_ns; /* CLOCK_MONOTONIC */
	unsigned long long injected_faults; /* completions dropped on purpose */
};

/* What an event had counted, and for how long it had been wanted and had a counter. */
struct event_span {
	unsigned long long count;
	unsigned long long enabled_ns;
	unsigned long long running_ns;
};

/* What the calls of one function cost on one CPU. Only calls that began and ended on that CPU and
 * never slept: the counters also run for other tasks in between. */
struct cost_sums {
	unsigned long long calls;
	unsigned long long bytes;
	unsigned long long time_ns;
	unsigned long long least_ns;
	unsigned long long moved_calls; /* left out: ended on another CPU */
	unsigned long long slept_calls; /* left out: other tasks ran in between */
	struct event_span event[COST_EVENTS];
	unsigned long long least[COST_EVENTS];
};

/* What one CPU's programs saw since they were attached; on a cache line of its own. */
struct seen {
	unsigned long long tp_hits[SEEN_LINE]; /* before the gate and any filter, as perf counts */
	unsigned long long peak_pages; /* most outstanding just after a reference was taken here */
};

/* How many frames of the stack of a copy are kept: enough to reach its cause. */
#define CAUSE_FRAMES 12
/* How many different stacks one run may have. */
#define STACKS_MAX 1024

/* Circumstances that the callers of a copy do not show, as bits. */
enum circumstance {
	COPIED_TAPPED = 1,    /* captures receive the packets of its device */
	COPIED_ELSEWHERE = 2, /* its device is in a namespace where no end of the run lives */
	COPIED_UNSURE = 4,    /* the kernel does not show its list of captures */
	COPIED_ANYWHERE = 8,  /* where the other end lives is not known */
	/* Its device could do so, and was told not to (ethtool -K): */
	COPIED_SG_OFF = 16,   /* take packets in pieces */
	COPIED_TX_OFF = 32,   /* compute checksums */
	COPIED_TSO_OFF = 64,  /* cut packets */
};

/* Where a byte was copied late or reshaped. */
struct copied_from {
	unsigned long long frames[CAUSE_FRAMES]; /* return addresses, innermost first; 0 ends them */
	unsigned int site;
	unsigned int circumstances;
};

/* A call of a function that copies, by return addresses into it and into its caller; the second is 0
 * where the kernel keeps no address of the function that copies. */
struct copy_call {
	unsigned long long copier;
	unsigned long long caller;
	unsigned int site;
	unsigned int circumstances;
};

/* What the map of copy_callers says of a function: a bit for each site where it decides the cause of a copy, or
 * CALLER_DECIDES of one that copies: its caller decides. */
enum { CALLER_DECIDES = 1 << 31, COPY_CALLERS_MAX = 128 };

/* How many addresses are named at a time, and the longest name kept, its 0 included. */
enum { SYMBOLS_AT_ONCE = 64, SYMBOL_BYTES = 64 };

/* Padded with zeros. */
struct function_name {
	char text[SYMBOL_BYTES];
};

struct symbol_names {
	unsigned long long address[SYMBOLS_AT_ONCE];
	char name[SYMBOLS_AT_ONCE][SYMBOL_BYTES]; /* as printf's %ps */
};

/* Where the kernel's lists of packet captures lie; 0: not known. */
struct taps_at {
	unsigned long long ptype_all;
	unsigned long long net_hotdata;
};

#pragma GCC diagnostic pop

#endif
