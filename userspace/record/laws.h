/* SPDX-License-Identifier: GPL-2.0 */
/* The table of laws: two numbers of different hooks or witnesses that must be equal. A name means one equation. */
#ifndef COPYSCOPE_RECORD_LAWS_H
#define COPYSCOPE_RECORD_LAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/record/measured.h"

/* X(symbol, name): what is held against what. */
#define LAW_SCOPES(X)                                                                          \
	X(SOCKET, "socket") /* each socket keeps it, and so does their sum */                  \
	X(SUM, "sum") /* the sum alone */                                                      \
	X(EXPERIMENT, "experiment") /* what copyscope arranged, or its workload says, is a side */

#define LAW_SCOPE_ENUM(symbol, name) LAW_OF_##symbol,
enum law_scope { LAW_SCOPES(LAW_SCOPE_ENUM) };
#undef LAW_SCOPE_ENUM

enum law_trait {
	LAW_IN_RUNS = 1,	/* a run tests it */
	LAW_AT_ANY_END = 2,	/* it holds however the two ends ended, as long as the calls returned */
	LAW_OF_TLS = 4,		/* it is of sockets with kernel TLS alone */
};

/*
 * Every law, in the order of records and reports: R(symbol, name, scope, traits, left, right, equation) of runs alone,
 * W(...) of what a watch tests for each of its sockets, and O(...) of what an option of a watch counts
 * (watch/books/watch_judge.c). A right side without words is the sum of all sites of such calls. The equation is of what
 * moved in the window: members of struct equation (judge/laws.c), which says what both sides are and what must be
 * measured. A socket of a watch may be older than the window: watch/books adds to its sides what it held when that
 * opened and holds now, and has both sides of laws without an equation.
 */
#define LAWS(R, W, O) \
	R(send, "send", SOCKET, LAW_IN_RUNS, "accepted by send", NULL, \
	  .left = { COUNT(accepted_bytes) }, .right_sites = SITE_SENDS, .sites = BIT(tx_copy) | BIT(tx_reference), \
	  .hooks = { "accepted" }, .obstacle = obstacle_to_send) \
	/* A capture's clone is one more set of references, which ends as a copy like any other. */ \
	R(reference, "reference", SOCKET, LAW_IN_RUNS, \
	  "referenced bytes copied late, reshaped, sent clean or dropped", \
	  "tx_reference + sent again + shown to captures + copied into their packets", \
	  .left = { SITE(late_copy), COUNT(reshaped_referenced_bytes), COUNT(clean_bytes), COUNT(dropped_referenced_bytes) }, \
	  .right = { SITE(tx_reference), COUNT(retrans_referenced_bytes), COUNT(tapped_bytes), COUNT(mixed_bytes) }, \
	  .sites = BIT(tx_reference) | BIT(late_copy), .hooks = { "tx_copy", "drops" }, \
	  .obstacle = obstacle_to_reference) \
	R(receive, "receive", SOCKET, LAW_IN_RUNS | LAW_AT_ANY_END, "returned by recv + peeked", NULL, \
	  .left = { COUNT(returned_bytes), COUNT(peeked_bytes) }, .right_sites = SITE_READS, \
	  .sites = BIT(rx_copy) | BIT(rx_direct), .hooks = { "returned", "TLS returned" }, \
	  .obstacle = obstacle_to_receive) \
	R(end_to_end, "end to end", SUM, LAW_IN_RUNS, "accepted from all senders", \
	  "returned to all receivers + datagrams dropped or truncated", \
	  .left = { COUNT(accepted_bytes), -COUNT(tls_carried_bytes), COUNT(tls_accepted_bytes) }, \
	  .right = { COUNT(returned_bytes), COUNT(dropped_bytes), COUNT(truncated_bytes) }, \
	  .hooks = { "accepted", "TLS accepted", "returned", "TLS returned" }, .obstacle = obstacle_to_end_to_end) \
	W(completion, "completion", SOCKET, LAW_IN_RUNS, "outstanding at the opening + zero-copy sends", \
	  "completed + outstanding at the closing", \
	  .left = { COUNT(zerocopy_sends) }, .right = { COUNT(completed_sends) }, .sites = BIT(tx_reference), \
	  .hooks = { "accepted" }, .obstacle = obstacle_to_completion) \
	R(pin, "pin", SOCKET, LAW_IN_RUNS, "pages pinned", "pages released", \
	  .left = { COUNT(pinned_pages) }, .right = { COUNT(released_pages) }, .obstacle = obstacle_to_pin) \
	R(refusal, "refusal", SOCKET, LAW_IN_RUNS | LAW_AT_ANY_END, "sends that got ENOBUFS", "notifications refused", \
	  .left = { COUNT(enobufs) }, .right = { COUNT(refused_optmem), COUNT(refused_memlock) }, \
	  .hooks = { "accepted" }, .obstacle = obstacle_to_refusal) \
	R(causes_of_late_copy, "causes of late_copy", SUM, LAW_IN_RUNS | LAW_AT_ANY_END, "late_copy", \
	  "the sum of its causes", \
	  .sites = BIT(late_copy), .test = law_of_causes) \
	R(causes_of_reshape, "causes of reshape", SUM, LAW_IN_RUNS | LAW_AT_ANY_END, "reshape", \
	  "the sum of its causes", \
	  .sites = BIT(reshape), .test = law_of_causes) \
	R(witness_sent, "witness sent", EXPERIMENT, LAW_IN_RUNS, "bytes that send calls returned to the workload", \
	  "the same, counted by the probes", \
	  .app = APP(accepted_bytes), \
	  .right = { COUNT(accepted_bytes), -COUNT(tls_carried_bytes), COUNT(tls_accepted_bytes) }, \
	  .hooks = { "accepted", "TLS accepted" }) \
	R(witness_received, "witness received", EXPERIMENT, LAW_IN_RUNS, \
	  "bytes that recv calls returned to the workload", "the same, counted by the probes", \
	  .app = APP(received_bytes), .right = { COUNT(returned_bytes) }, .hooks = { "returned", "TLS returned" }, \
	  .obstacle = obstacle_to_returned) \
	R(witness_gathered, "witness gathered", EXPERIMENT, LAW_IN_RUNS, \
	  "bytes that the workload gathered by its own account", "the same, counted by the probes", \
	  .app = APP(gather_bytes), .right = { SITE(user_gather) }, .sites = BIT(user_gather)) \
	R(witness_zerocopy_sends, "witness zero-copy sends", EXPERIMENT, LAW_IN_RUNS, \
	  "zero-copy sends by the workload's account", "the same, counted by the probes", \
	  .app = APP(zerocopy_sends), .right = { COUNT(zerocopy_sends) }, .hooks = { "accepted" }) \
	R(witness_completions, "witness completions", EXPERIMENT, LAW_IN_RUNS, "completions that the workload read", \
	  "the same, counted by the probes", \
	  .app = APP(completions), .right = { COUNT(completed_sends) }, .test = law_completions) \
	R(sequence_accepted, "sequence accepted", EXPERIMENT, LAW_IN_RUNS | LAW_AT_ANY_END, \
	  "payload that TCP accepted by its own sequence numbers, in each pass", \
	  "bytes that send calls returned to the workload", \
	  .app = APP(tcp_accepted_bytes), .app_right = APP(accepted_bytes), .test = law_sequence) \
	R(sequence_returned, "sequence returned", EXPERIMENT, LAW_IN_RUNS | LAW_AT_ANY_END, \
	  "payload that TCP passed on by its own sequence numbers, in each pass", \
	  "bytes that recv calls returned to the workload", \
	  .app = APP(tcp_returned_bytes), .app_right = APP(received_bytes), .test = law_sequence) \
	R(passes, "passes", EXPERIMENT, LAW_IN_RUNS, "bytes accepted in the timed pass", \
	  "bytes accepted in the counted pass, for as many messages", \
	  .test = law_passes) \
	R(content, "content", EXPERIMENT, LAW_IN_RUNS | LAW_AT_ANY_END, "bytes that arrived wrong", "none", \
	  .test = law_content) \
	W(send_queue, "send queue", SOCKET, LAW_AT_ANY_END, "unsent at the opening + accepted", \
	  "sent for the first time + unsent at the closing") \
	W(receive_queue, "receive queue", SOCKET, LAW_AT_ANY_END, "unread at the opening + received", \
	  "taken at the receive sites + unread at the closing") \
	W(reference_queue, "reference queue", SOCKET, LAW_AT_ANY_END, \
	  "unsent in user pages at the opening + tx_reference", \
	  "sent in user pages for the first time + unsent in them at the closing") \
	W(copied, "copied", SOCKET, LAW_IN_RUNS | LAW_AT_ANY_END, "completed as COPIED", "copied, as far as counted", \
	  .test = law_of_copies) \
	W(sends, "sends", SOCKET, LAW_AT_ANY_END, "accepted by sequence numbers", "returned by send calls") \
	W(receives, "receives", SOCKET, LAW_AT_ANY_END, "returned by sequence numbers; of datagrams: copied", \
	  "returned by receive calls, or passed on as pages") \
	W(tls_send, "TLS send", SOCKET, LAW_IN_RUNS | LAW_OF_TLS, "plaintext accepted by kernel TLS", \
	  "tls_copy + tls_reference + tls_splice", \
	  .left = { COUNT(tls_accepted_bytes) }, .right = { SITE(tls_copy), SITE(tls_reference), SITE(tls_splice) }, \
	  .sites = BIT(tls_copy) | BIT(tls_reference) | BIT(tls_splice), .hooks = { "TLS accepted" }) \
	W(tls_encryption, "TLS encryption", SOCKET, LAW_IN_RUNS | LAW_OF_TLS, "plaintext accepted by kernel TLS", \
	  "tls_encrypt", \
	  .left = { COUNT(tls_accepted_bytes) }, .right = { SITE(tls_encrypt) }, .sites = BIT(tls_encrypt), \
	  .hooks = { "TLS accepted" }) \
	/* Records leave as spliced pages, and up to 6.4 the function that splices is the only one that accepts them. */ \
	W(tls_sent, "TLS records sent", SOCKET, LAW_IN_RUNS | LAW_OF_TLS, "accepted by TCP from kernel TLS", \
	  "tls_encrypt + what records are longer", \
	  .left = { COUNT(tls_carried_bytes) }, .right = { SITE(tls_encrypt), COUNT(tls_sent_overhead_bytes) }, \
	  .sites = BIT(tls_encrypt) | BIT(tx_splice), .hooks = { "accepted" }) \
	W(tls_received, "TLS records received", SOCKET, LAW_IN_RUNS | LAW_OF_TLS, \
	  "taken from TCP by its own sequence numbers", "plaintext of the decrypted records + what these are longer", \
	  .app = APP(tcp_returned_bytes), .right = { COUNT(tls_received_bytes), COUNT(tls_received_overhead_bytes) }, \
	  .sites = BIT(tls_decrypt), .hooks = { "TLS records" }, .obstacle = obstacle_to_tls_received) \
	W(probes, "probes", SUM, LAW_IN_RUNS | LAW_AT_ANY_END, "events that no program counted", "none", \
	  .test = law_probes) \
	O(sizes, "sizes", SUM, LAW_AT_ANY_END, "bytes of calls that have a size", "returned by all calls") \
	O(stacks, "stacks", SUM, LAW_AT_ANY_END, "accepted, returned and peeked by sockets", "what their stacks moved")

#define LAW_ENUM(symbol, ...) LAW_##symbol,
#define LAW_NONE(symbol, ...)
enum law_id { LAWS(LAW_ENUM, LAW_ENUM, LAW_ENUM) LAW_COUNT };
#undef LAW_ENUM

#define WATCH_LAW_ENUM(symbol, ...) WATCH_LAW_##symbol,
enum watch_law { LAWS(LAW_NONE, WATCH_LAW_ENUM, LAW_NONE) WATCH_LAW_COUNT };
#undef WATCH_LAW_ENUM

/* What a law compares of one socket of a watch. */
struct watch_sides {
	bool known;		/* both are, and it can be tested */
	int64_t left, right;
	const char *why;	/* why not; NULL if they are known */
};

struct law_row {
	const char *name, *left_is, *right_is;
	enum law_scope scope;
	unsigned int traits;	/* enum law_trait */
	bool in_watches;	/* for each socket */
};

struct law_row law_row(enum law_id id);
const char *law_scope_name(enum law_scope scope);

/* A law that is not tested yet: its name and what both sides are. */
struct law law_untested(enum law_id id);

/* Which law of the table that is. */
enum law_id law_of_watch(enum watch_law law);
const char *watch_law_name(enum watch_law law);
enum law_status watch_law_status(const struct watch_sides *sides);

#endif
