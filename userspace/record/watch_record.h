/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a watch found, as plain data: sockets of processes that were there before, their opening and
 * closing balances, and what moved in between.
 *
 * Sites, counts and ways of knowing have the names of a run's record. Bytes are exact. A number that
 * is not known has its bit unset in sites_known, counts_known or the balance's known, and the reason
 * stands once, in the record's sites[] or count_why[].
 */
#ifndef COPYSCOPE_RECORD_WATCH_RECORD_H
#define COPYSCOPE_RECORD_WATCH_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/watch.h"
#include "userspace/record/cpu.h"
#include "userspace/record/laws.h"
#include "userspace/record/measured.h"
#include "userspace/record/user_stacks.h"

/* The verdicts on a watched process: what became of what it wanted. X(symbol, name, meaning) */
#define WATCH_VERDICTS(X)                                                                     \
	X(MOVED_NOTHING, "moved nothing", "no byte of payload was sent or received over TCP or UDP") \
	X(REFUSED, "refused", "it asked for zero copy, and the kernel refused with ENOBUFS")  \
	X(IN_VAIN, "in vain", "it asked for zero copy, and all of it was copied after all")   \
	X(PARTLY, "partly", "some of what was to go without a copy was copied after all")     \
	X(CLEAN, "clean", "all that was to go without a copy was handed over as pages")                    \
	X(ENCRYPTED, "encrypted", "kernel TLS encrypted or decrypted: each byte was read and written once")        \
	X(COPIES, "copies", "plain sends and receives alone, which copy every byte")          \
	X(MIXED, "mixed", "several of these, as refused and clean")                           \
	X(NOT_KNOWN, "not known", "a number that decides was not measured, or its bytes are not plain TCP or UDP")

#define WATCH_VERDICT_ENUM(symbol, name, meaning) VERDICT_##symbol,
enum verdict_of_process { WATCH_VERDICTS(WATCH_VERDICT_ENUM) VERDICT_COUNT };
#undef WATCH_VERDICT_ENUM

enum watch_books { WATCH_SEQUENCE, WATCH_CALLS };

/* X(name, meaning): what a socket holds at one moment, read under its lock. */
#define WATCH_BALANCES(X)                                                                     \
	X(unsent_bytes, "accepted, and not sent yet")                                         \
	X(unacked_bytes, "sent, and not acknowledged yet")                                    \
	X(unread_bytes, "received, and not read yet")                                         \
	X(referenced_bytes, "unsent or unacknowledged, in pages of the user")                 \
	X(referenced_pages, "pages of the user that unsent or unacknowledged bytes lie in")   \
	X(spliced_bytes, "unsent or unacknowledged, in pages that were spliced")              \
	X(zerocopy_sends, "zero-copy sends that are not completed")

#define WATCH_BALANCE_ENUM(name, meaning) WATCH_##name,
enum watch_balance_item { WATCH_BALANCES(WATCH_BALANCE_ENUM) WATCH_BALANCE_COUNT };
#undef WATCH_BALANCE_ENUM

struct watch_balance {
	uint32_t known;		/* a bit for each item */
	uint64_t item[WATCH_BALANCE_COUNT];
};

/* What became of the bytes that send took by reference or spliced, all of them: known where both sites are.
 * .uncopied was seen to be handed over as pages, .later to be copied after all. */
struct watch_fate {
	uint64_t uncopied, later, unknown;
	uint64_t held;		/* of .unknown: not sent yet */
	uint64_t unwatched;	/* of the rest of .unknown: by sockets whose packets were not watched from the first page on */
	uint64_t unsure;	/* of .uncopied: so if no packet that no program saw was one of theirs */
};

/* Sums alone, of 64 bits each: what moved, and what follows from it. */
struct watch_moved {
	union { struct books books; struct books; };	/* of its sites the bytes */
	/* Of late_copy: what a capture was shown on the way out, what tun took, what else was copied before it
	 * arrived, and what was copied on arrival where it is known that the receiver is why. */
	uint64_t late_by_tap_bytes, late_by_tun_bytes, late_on_way_out_bytes, late_by_delivery_bytes;
	struct watch_fate fate;
	uint64_t refused_at_rest;	/* of enobufs: by sockets that had nothing in flight all the time */
	uint64_t failed_sends[WATCH_FAILURE_COUNT];	/* of datagrams, by error */
	uint64_t failed_bytes;	/* of those with EIO, which the kernel copied and freed; trampolines alone tell */
	uint64_t declined_bytes;	/* of datagrams: zero copy was asked for, and send copied them all the same */
	uint64_t declined_unknown;	/* sockets of which that is not known */
	uint64_t passed_bytes;	/* received and passed on as pages: spliced or mapped */
	uint64_t passed_unknown;	/* sockets of which that is not known */
	uint64_t copies_derived;	/* sockets whose rx_copy is the rest of what left, as their copies do not tell it */
	uint64_t spliced_in_kernel;	/* of tx_splice: by sockets that the kernel itself sends by */
	uint64_t unseen_completions;	/* sockets whose notifications nobody saw all of: their completions are the least */
	/* Sums of sockets that were more than any can move, or less than nothing; sockets a life of which was not seen whole. */
	uint64_t implausible;
};

/* What moved, and which of it is known. */
struct watch_movements {
	uint32_t sites_known;	/* a bit for each site */
	uint64_t counts_known;	/* a bit for each count */
	union {
		struct watch_moved;
		uint64_t sums[sizeof(struct watch_moved) / sizeof(uint64_t)];
	};
};

/* A process by its pid and the time it started: a pid may be used again. */
struct watch_process_id {
	uint32_t pid;		/* as the first PID namespace numbers it; 0: the kernel's, not known, or no process's: */
	uint32_t listener;	/* it was not seen at any process, and came to a socket of this one's that listens; 0: else */
	uint64_t started_ns;	/* CLOCK_BOOTTIME */
};

enum { WATCH_COMM_BYTES = 16 };

/* IPv4 addresses as ::ffff:a.b.c.d, ports in host order. */
struct watch_address {
	uint8_t ip[16];
	uint16_t port;
};

struct watch_socket {
	uint64_t cookie;
	struct watch_process_id owner;	/* who used it last, as far as the kernel showed */
	char comm[WATCH_COMM_BYTES];	/* of that process, as it was; may hold any byte */
	uint64_t cgroup;		/* number of that process's cgroup (version 2); 0: not known */
	uint32_t uid;			/* its user, as the first user namespace numbers it */
	uint32_t netns;			/* inode number of its network namespace */
	struct watch_address local, remote;
	bool ipv6;
	bool datagrams;		/* of UDP; else of TCP */
	bool on_loopback;	/* TCP's packets from the other end came by loopback */
	enum watch_layer layer;	/* between the program and TCP */
	bool apart;		/* nothing is known of the copies that this layer makes */
	uint32_t mptcp_token;	/* of the MPTCP socket above it; 0: none, or not known */
	bool born;		/* connected or accepted in the window: its opening balance is 0 */
	bool died;		/* closed and gone: its closing balance is what was lost with it */
	bool whole;		/* both */
	bool unopened;		/* in a network namespace that was not entered, or .late: nothing is known of it */
	bool late;		/* of UDP: it may have moved datagrams before their hooks were attached */
	bool handed_on;		/* another process used it before: its bytes are in these numbers, too */
	bool died_before;	/* the reading before this one: it moved nothing lately */
	bool rested;		/* open, and each number of .lately is 0 */
	struct watch_balance opening, closing;
	uint64_t stacked_bytes, unstacked_bytes;	/* of calls, by stacks that are kept and by others */
	struct watch_movements moved;	/* since its opening */
	struct watch_movements lately;	/* since the reading before this one */
	/* What its calls returned, peeks apart, and how many of them have no place in histograms. */
	uint64_t called_bytes, unsized_calls;
	bool tls;		/* kernel TLS calls TCP, and no program does */
	struct watch_sides laws[WATCH_LAW_COUNT];
};

/* Sockets whose bytes pass a layer above TCP that is not counted, by what TCP carried: the layer's own words
 * included. */
struct watch_other {
	uint64_t sockets, sent_bytes, received_bytes;
};

/* Sums over sockets: of one process, of one cgroup, or of all. */
struct watch_sum {
	uint64_t sockets, born, died;	/* all of them, also those of other[] */
	uint64_t handed_on;		/* of them: another process used them before */
	uint64_t sockets_lately;	/* of them: open since the reading before this one */
	uint64_t called_bytes, unsized_calls;	/* as in struct watch_socket */
	uint64_t tls_sockets;		/* of them: calls are those of kernel TLS */
	uint32_t laws_broken;		/* a bit for each law that one of them broke */
	uint64_t stacked_bytes, unstacked_bytes;	/* of all, also those of other[] */
	uint64_t sent_here_bytes;	/* accepted by sockets whose other end answers by loopback */
	struct watch_other other[WATCH_LAYER_COUNT];	/* in no sum below */
	struct watch_balance opening, closing;
	struct watch_movements moved, lately;
};

/* What sockets are added up by beside processes, and how many are told apart. */
enum watch_grouping { WATCH_BY_PEER, WATCH_BY_PORT, WATCH_GROUPINGS };
enum { WATCH_PEERS_MAX = 10000, WATCH_LOCAL_PORTS_MAX = 1000 };

/* Rows of a table that may be asked for. */
enum { WATCH_ROWS_MAX = 1000 };

/* Sums of the sockets with one remote address, or with one local port. */
struct watch_group {
	struct watch_address at;	/* of a peer the address alone, of a port the port alone */
	bool further;			/* all that are told apart no more; .at says nothing */
	uint64_t sockets, sockets_lately;	/* as in struct watch_sum */
	uint64_t other_sockets;		/* of them: of a layer above TCP that is not counted, in no sum below */
	struct watch_movements moved, lately;
};

struct watch_groups {
	struct watch_group *group;	/* owned, in the order in which they were met */
	int count, room;
	int *note, notes;		/* owned: where which one is, for those who add to them */
};

struct watch_process {
	struct watch_process_id id;
	struct cpu_use cpu;	/* of its CPU time, if the clock was sampled */
	const struct call_sizes *sizes;	/* of its calls: the record's; NULL: none were sized */
	const struct call_holds *holds;	/* and of its zero-copy sends */
	enum law_status cpu_clock;	/* that the samples add up to what the scheduler counted */
	char comm[WATCH_COMM_BYTES];
	uint64_t cgroup;
	uint32_t uid;
	bool ended;		/* it ended in the window */
	bool joined;		/* it became part of the subject in the window: a child, a new NAME */
	struct watch_sum sum;
	enum verdict_of_process verdict;
};

/* What is not in the books, and how it was noticed. */
struct watch_gap {
	const char *what;	/* "MPTCP" */
	bool seen;		/* on this machine in this window; false: it would not be seen */
	uint64_t sockets;	/* how many, where that is known */
	char why[WHY_BYTES];
};

enum { WATCH_GAPS_MAX = 24, WATCH_PATH_BYTES = 256 };

/* Name of a cgroup by its number: below the mount of version 2. */
struct watch_cgroup {
	uint64_t id;
	char path[WATCH_PATH_BYTES];
};

struct watch_overhead {
	struct overhead programs;
	uint64_t own_cpu_ns;	/* what this process itself used */
	uint64_t memory_bytes;	/* tables of the programs, and the rings between */
};

/* Histograms of what calls moved. */
struct watch_sizes {
	bool asked;
	struct call_sizes *all;	/* owned, by process; the first: of all that are told together. NULL: not measured */
	int count;
	struct call_holds *holds;	/* owned, in the same order */
	bool readings_known;	/* a hook tells when a program reads its error queue */
	bool receives_known;	/* receives by splice and map are in them, too */
	bool began_since;	/* a socket began after the books were read, and what it moved may be in them */
	uint64_t unsized_calls;	/* of the subject's sockets, before it was known whose these are */
	uint64_t told_bytes, returned_bytes;	/* in all histograms, peeks apart; by the calls of the subject's sockets */
};

struct watch_record {
	MEASURED;			/* window: first opening balance to last reading; sites, causes, laws: of the total */
	enum watch_books books;
	bool details;			/* causes are from stacks, and reshape is counted */
	unsigned int cpu_hz;		/* how often the clock was sampled in a second; 0: nobody asked */
	const char *cpu_clock;		/* that clock; NULL: the kernel refused, and why */
	char cpu_why[WHY_BYTES];
	uint64_t cpu_lost;		/* samples that found no room */
	int cpu_broken;			/* processes whose samples do not add up */
	bool cpu_named;			/* functions of user space have names, as far as they can */
	char cpu_names_why[STACK_WHY_BYTES];	/* why none has; empty: those that could be named were */
	struct cpu_thread_use *cpu_threads;	/* owned: what the processes point to */
	struct watch_sizes sizes;
	bool stacks_asked;
	uint32_t stack_every;		/* bytes: one of so many was sampled, and .calls are samples; 0: each counts */
	struct user_stacks stacks;	/* owned */
	uint64_t lately_ns;		/* reading before this one to this one */
	/* Sockets that are open, and as many of those that died as there is room for. */
	struct watch_socket *sockets;	/* owned */
	int socket_count;
	uint64_t folded_sockets;	/* died, and are in the sums alone */
	struct watch_groups groups[WATCH_GROUPINGS];	/* owned; of all sockets, those as well */
	uint64_t folded_processes;	/* gone, and in the total alone */
	struct watch_process *processes;	/* owned */
	int process_count;
	struct watch_cgroup *cgroups;	/* owned; every number above */
	int cgroup_count;
	struct watch_sum total;
	char count_why[COUNT_COUNT][WHY_BYTES];	/* why a count is not known; empty if it is */
	struct watch_gap not_covered[WATCH_GAPS_MAX];
	int gap_count;
	/* What sends gave to MPTCP, which copied it; why that is not known, or empty. */
	uint64_t mptcp_copied;
	char mptcp_why[WHY_BYTES];
	/* Refused requests of the subject's tasks, by kind, and the newest error of each; why that is not known, or empty. */
	uint64_t refused[WATCH_REQUEST_COUNT];
	int refused_error[WATCH_REQUEST_COUNT];
	char refused_why[WHY_BYTES];
	struct watch_overhead overhead;
	uint64_t lost_events;		/* found no room: sums are short, laws not testable */
	uint64_t lost_ends, lost_members;	/* of them: ends of sockets, in the ring or beside it; processes; else rows of tables */
	uint64_t unseen_events;		/* of any socket: no program ran for them */
	bool unseen_may_be_closed;	/* or it is closed, and no walk that this kernel allows finds it */
	uint64_t unbooked_sockets;	/* no room or no memory for their books */
	char unbooked_why[WHY_BYTES];
	uint64_t unopened_sockets;	/* in network namespaces that were not entered: the sums lack them; or .late: the sums
					 * lack what they moved before */
	uint64_t referenced_peak_pages;	/* most in any reading */
};

/* The metrics of probes that count packets or notifications. */
#define WATCH_PACKET_PROBES(X) X(drops) X(late_copy) X(notifications) X(taps)

/* Is it one of these? They come in softirqs, which interrupt tasks in the same programs. */
bool watch_probe_is_of_packets(const struct probe *p);

/* How often the kernel ran no program for one of these, of the whole machine. */
uint64_t watch_unseen_firings(const struct watch_record *r);

/* Of a fate's .unsure, how many bytes these packets can have had at most. */
uint64_t watch_unseen_most(const struct watch_record *r, const struct watch_fate *fate);

/* "send" or "recv", and "zerocopy". */
const char *call_way_direction(enum call_way way);
const char *call_way_key(enum call_way way);

/* The least number, of bytes or of nanoseconds, in a bucket of sizes or holds; the next one's is too large for it. */
uint64_t bucket_from(int bucket);

/* Was any page held, and how many sends at most at a time? */
bool hold_was_any(const struct call_holds *holds);
uint64_t hold_most(const struct call_holds *holds);

/* In which bucket the time lies below which @share of them are; of none 0. */
int hold_bucket(const struct hold_times *times, double share);

/* All of one way. */
struct size_bucket size_sum(const struct call_sizes *sizes, enum call_way way);

const char *watch_balance_name(enum watch_balance_item item);

/* "ktls" and "kernel TLS"; of WATCH_LAYER_NONE "tcp" and "TCP". */
const char *watch_layer_key(enum watch_layer layer);
const char *watch_failure_name(enum watch_failure error);
const char *watch_layer_name(enum watch_layer layer);

/* "kernel TLS" */
const char *watch_request_name(enum watch_request request);

/* "UNIX sockets" */
const char *watch_uncovered_names(enum watch_uncovered kind);

/* The name of a verdict in records: "clean". */
const char *verdict_name(enum verdict_of_process verdict);

/* Notes a number, if it is known. */
/* Less than 72 PB: more than a socket moves, and what a number below 0 looks like. */
bool watch_is_plausible(uint64_t value);

/* These two note a sum unless it is implausible. */
void watch_set_site(struct watch_movements *m, enum site site, bool known, uint64_t bytes);
void watch_set_count(struct watch_movements *m, enum count count, bool known, uint64_t value);

/* Adds @from to @into; what either does not know, the sum does not know. */
void watch_movements_add(struct watch_movements *into, const struct watch_movements *from);

/* Is each of its numbers 0? */
bool watch_moved_nothing(const struct watch_movements *m);

/* Adds what moved since the reading before: of 10,000 sockets most rest. */
void watch_lately_add(struct watch_movements *into, const struct watch_socket *socket);

/* Takes @less, which moved before, out of @from. */
void watch_movements_subtract(struct watch_movements *from, const struct watch_movements *less);

/* A sum of nothing: 0, and known. */
struct watch_sum watch_sum_of_nothing(void);
void watch_sum_add(struct watch_sum *sum, const struct watch_socket *socket);

/* What TCP carried for one MPTCP socket, over all of its subflows; what MPTCP sent again by another one is in it, too. */
struct watch_mptcp {
	uint32_t netns, token;
	struct watch_process_id owner;
	char comm[WATCH_COMM_BYTES];
	uint64_t subflows, sent_bytes, received_bytes;
};

/* Sums by token of the sockets that the record has one by one; *@out is the caller's to free. How many, or -ENOMEM. */
int watch_mptcp_sums(const struct watch_record *r, struct watch_mptcp **out);

/* Frees what the first @count of these own. */
void watch_groups_free(struct watch_groups *groups, int count);

/* Frees what the record owns and empties it. */
void watch_record_free(struct watch_record *r);

#endif
