/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The book of one socket of any process, as the programs of a watch keep it and user space reads it.
 *
 * Numbers are raw: SYN and FIN are still in them. userspace/watch/books turns them into bytes. Like
 * sites.h it includes nothing, and a hole in a struct is a compile error.
 */
#ifndef COPYSCOPE_WATCH_H
#define COPYSCOPE_WATCH_H

/* X(symbol, key, name): what stands between the program and TCP, where something does. These books are of
 * what TCP carried, and say nothing of the copies that such a layer makes. The first one that applies. */
#define WATCH_LAYERS(X)                                                 \
	X(MPTCP, "mptcp", "MPTCP")                                      \
	X(SMC, "smc", "SMC")                                            \
	X(KTLS, "ktls", "kernel TLS")                                   \
	X(ULP, "ulp", "another upper layer protocol of TCP's")          \
	X(SOCKMAP, "sockmap", "sockmap")                                \
	X(REPAIR, "repair", "TCP_REPAIR")

#define WATCH_LAYER_ENUM(symbol, key, name) WATCH_LAYER_##symbol,
enum watch_layer { WATCH_LAYER_NONE, WATCH_LAYERS(WATCH_LAYER_ENUM) WATCH_LAYER_COUNT };
#undef WATCH_LAYER_ENUM

/* X(symbol, name): sockets that have no books; the name of one. */
#define WATCH_UNCOVERED(X)                                              \
	X(UNIX, "UNIX socket")                                         \
	X(VSOCK, "vsock socket")                                       \
	X(SCTP, "SCTP socket")                                         \
	X(SMC, "SMC socket")                                           \
	X(RAW, "raw socket")                                           \
	X(PACKET, "packet socket")                                     \
	X(XDP, "AF_XDP socket")                                        \
	X(OTHER, "other socket")

#define WATCH_UNCOVERED_ENUM(symbol, name) WATCH_UNCOVERED_##symbol,
enum watch_uncovered { WATCH_UNCOVERED(WATCH_UNCOVERED_ENUM) WATCH_UNCOVERED_COUNT };
#undef WATCH_UNCOVERED_ENUM

/* X(symbol, name, number): errors of sends of datagrams (include/uapi/asm-generic/errno.h) that are told apart. */
#define WATCH_FAILURES(X)                                               \
	X(EPERM, "EPERM", 1)                                            \
	X(EIO, "EIO", 5)                                                \
	X(EINVAL, "EINVAL", 22)                                         \
	X(EMSGSIZE, "EMSGSIZE", 90)                                     \
	X(ENETUNREACH, "ENETUNREACH", 101)                              \
	X(ENOBUFS, "ENOBUFS", 105)                                      \
	X(ECONNREFUSED, "ECONNREFUSED", 111)                            \
	X(OTHER, "another error", 0)

#define WATCH_FAILURE_ENUM(symbol, name, number) WATCH_FAILURE_##symbol,
enum watch_failure { WATCH_FAILURES(WATCH_FAILURE_ENUM) WATCH_FAILURE_COUNT };
#undef WATCH_FAILURE_ENUM

/* X(symbol, name): what a program asks of a socket, and may be refused. */
#define WATCH_REQUESTS(X)                                               \
	X(TLS, "kernel TLS")                                           \
	X(ZEROCOPY, "SO_ZEROCOPY")

#define WATCH_REQUEST_ENUM(symbol, name) WATCH_REQUEST_##symbol,
enum watch_request { WATCH_REQUESTS(WATCH_REQUEST_ENUM) WATCH_REQUEST_COUNT };
#undef WATCH_REQUEST_ENUM

/* What a send does with the pages that it is given. */
enum watch_kind { WATCH_KIND_COPY, WATCH_KIND_REFERENCE, WATCH_KIND_SPLICE, WATCH_KINDS };

/* X(symbol, direction, key, name): how a call moved bytes, as far as its hooks tell; sends in the order of enum
 * watch_kind. */
#define CALL_WAYS(X)                                                                             \
	X(SEND_PLAIN, "send", "plain", "plain sends")                                            \
	X(SEND_ZEROCOPY, "send", "zerocopy", "sends by MSG_ZEROCOPY")                            \
	X(SEND_SPLICE, "send", "splice", "sends of spliced pages")                               \
	X(RECV_PLAIN, "recv", "plain", "plain receives")                                         \
	X(RECV_PEEK, "recv", "peek", "receives with MSG_PEEK")                                   \
	X(RECV_DISCARD, "recv", "discard", "receives with MSG_TRUNC")                            \
	X(RECV_SPLICE, "recv", "splice", "receives by splice")                                   \
	X(RECV_MAP, "recv", "map", "receives by TCP_ZEROCOPY_RECEIVE")

#define CALL_WAY_ENUM(symbol, direction, key, name) CALL_##symbol,
enum call_way { CALL_WAYS(CALL_WAY_ENUM) CALL_WAY_COUNT };
#undef CALL_WAY_ENUM

/* A bucket for no byte, then one for each power of 2 up to the largest that a call returns; how many processes have
 * histograms of their own. */
enum { SIZE_BUCKETS = 32, SIZES_PROCESSES = 2048 };

/* The name of whoever has the programs, for those of others: all of TASK_COMM_LEN. */
#define WATCH_NAME "copyscope-watch"

enum {
	WATCH_TASK_COMM = 16,
	WATCH_WAYS = 8,		/* slots that a cookie may have */
};

/* Whom the programs count. */
enum watch_filter { WATCH_OF_TASKS, WATCH_OF_NETNS, WATCH_OF_PORTS, WATCH_OF_ALL };

/* Whether hooks of UDP are attached: those that tell of begins and ends of sockets, those that each datagram passes, too. */
enum watch_datagrams { DATAGRAMS_UNKNOWN, DATAGRAMS_AWAITED, DATAGRAMS_WATCHED };

/* What an iterator does. */
enum watch_mode { WATCH_MODE_OPEN, WATCH_MODE_READ };

enum watch_book_flags {
	WATCH_BORN = 1,		/* it was connected or accepted while the programs were attached */
	WATCH_ACTIVE = 2,	/* it sent a SYN of its own then, which bytes_acked counts */
	WATCH_CLOSED = 4,	/* it moved to CLOSE: .closed holds what it had then */
	WATCH_DIED = 8,		/* the kernel destroyed it */
	WATCH_OURS = 16,	/* a task of the subject used it */
	WATCH_GUESSED = 32,	/* the owner is the one of the socket that listened */
	WATCH_HANDED_ON = 64,	/* the owner was another one before */
	WATCH_NO_SLOT = 512,	/* the table had no room: copies to the reader are not counted */
	WATCH_TORN = 1024,	/* read without the lock while it was open */
	WATCH_WALK_SHORT = 2048,	/* its queues were longer than a walk */
	WATCH_MIXED = 4096,	/* its queues held spliced pages in packets with user pages, or may have */
	WATCH_UNOPENED = 8192,	/* found by a descriptor, in a network namespace that nobody entered: what it
				 * had moved by then is not known; or WATCH_LATE, and no hook ever met it */
	WATCH_DATAGRAMS = 16384,	/* a UDP socket */
	WATCH_READABLE = 32768,	/* closed, and what it had received may still be read */
	WATCH_READS_UNSEEN = 65536,	/* an earlier life ended so, and bytes of it may have been spliced out */
	WATCH_UNSENT_LOST = 1 << 17,	/* bytes of an earlier life were never sent: its queue is gone */
	WATCH_IN_KERNEL = 1 << 18,	/* the kernel itself sends and receives by it, as NFS and NVMe over TCP do */
	WATCH_LATE = 1 << 19,	/* a UDP socket that may have moved bytes before its hooks were attached */
	WATCH_LIFE_LOST = 1 << 20,	/* no program saw that a life ended, or that the next one began */
};

/* What a socket's packets with user pages or spliced ones met beside loopback and devices on a bus. */
enum watch_paths {
	WATCH_PATH_VIRTUAL = 1,	/* a device that hands packets on as they are: who is behind it is not known */
	WATCH_PATH_OTHER = 2,	/* a device that may copy, or a packet that is no plain TCP any more */
	WATCH_PATH_ONWARD = 4,	/* this machine handed it on to more than one device */
	WATCH_PATH_TAPPED = 8,	/* a capture saw them, or may have */
	WATCH_PATH_TUN = 16,	/* a device whose other side is a program */
	WATCH_PATH_STACKED = 32,	/* several devices of this machine, one after the other */
	WATCH_PATH_XDP = 64,	/* a receiving device with an XDP program, for which the kernel may copy all of it */
};

#define WATCH_UNSETTLED (~0ull)

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/* A process, and its name and cgroup when it was seen last. */
struct watch_task {
	unsigned int tgid;
	unsigned int kernel;	/* a kernel thread */
	unsigned long long started_ns;
	unsigned long long cgroup;
	unsigned int uid;	/* as the first user namespace numbers it */
	unsigned int unused;
	char comm[WATCH_TASK_COMM];
};

enum { SUBJECT_COMMS = 16, SUBJECT_CGROUPS = 64, SUBJECT_PORTS = 32 };

/* What names tasks and sockets. Without any of a kind, that kind says nothing. */
struct subject_names {
	char comms[SUBJECT_COMMS][WATCH_TASK_COMM];	/* globs of * and ?, without ** */
	unsigned long long cgroups[SUBJECT_CGROUPS];	/* by number, with those below */
	unsigned int cgroup_levels[SUBJECT_CGROUPS];	/* how deep they lie: the root has 0 */
	struct {
		unsigned short from, to;
	} ports[SUBJECT_PORTS];
	unsigned int comm_count, cgroup_count, port_count, unused;
};

/* A process of the subject. */
struct watch_member {
	struct watch_task task;
	unsigned long long ended_ns;	/* CLOCK_BOOTTIME; 0: it runs */
	unsigned int joined;		/* after the window was opened */
	unsigned int unused;
};

/* A process of the machine, as a walk over all of them finds it. */
struct watch_row {
	struct watch_task task;
	unsigned int pid;	/* as the process that asked calls it; 0: it cannot see it */
	unsigned int in_cgroup;	/* it lies in one of those that were named */
	unsigned int left_out;	/* it lies in one of those that are left out */
	unsigned int running;	/* one of its threads has not ended */
	unsigned int parent;	/* tgid */
	unsigned int unused;
};

struct size_bucket {
	unsigned long long calls, bytes;
};

/* What the calls of one process moved, by way and by size: bucket n has those of less than 1 << n bytes. */
struct call_sizes {
	struct watch_task task;		/* tgid 0: of all that have no histograms of their own */
	struct size_bucket bucket[CALL_WAY_COUNT][SIZE_BUCKETS];
};

/* A bucket for each power of 2 of nanoseconds: up to 9 minutes. */
enum { HOLD_BUCKETS = 40 };

struct hold_times {
	unsigned long long sends;
	unsigned long long longest_ns;
	unsigned long long shortest_less;	/* the complement of the shortest, as 0 is no time */
	unsigned long long bucket[HOLD_BUCKETS];
};

/* How long the pages of a process's zero-copy sends were held, each from its first turn on. */
struct call_holds {
	struct hold_times posted, read;	/* until the kernel notified, until the program read that */
	unsigned long long released, copied;	/* sends that were notified, by what the kernel says of them */
	unsigned long long closed;	/* that their socket ended before */
	unsigned long long untold;	/* of io_uring: notified, and the program did not ask to be told of copies */
	unsigned long long by_ring;	/* of those that were notified: sends of io_uring, which nobody sees read */
	unsigned long long rings_missed;	/* not 0: sends of io_uring began before the hook of their end was attached */
	unsigned long long untimed;	/* no room */
	long long outstanding;
	unsigned long long outstanding_most;	/* with any that is outstanding no more */
};

#define CPU_FRAMES 48

/* Room for one turn; further places are told without thread and address, and there is room for these by themselves. */
enum { CPU_STACKS = 4096, CPU_PLACES = 16384, CPU_PLACES_TOLD = 12288, CPU_THREADS = 4096, CPU_PROGRAMS = 4096 };

/*
 * User space takes what samples found out of the tables, and begins a turn each time: what a turn found belongs
 * together, and what comes meanwhile is of the next one.
 */

/* Addresses in the kernel, innermost first; 0 ends them. */
struct cpu_frames {
	unsigned long long frames[CPU_FRAMES];
	unsigned long long turn;
};

/* Where a sample of the clock found a thread. */
struct cpu_place {
	unsigned int tgid;
	unsigned int tid;	/* 0: one that is not told, for want of room */
	unsigned long long at;	/* in user space the address, else the number of its stack; 0: not told */
	unsigned int user;
	unsigned int turn;
};

/* A thread from its first sample to its last. */
struct cpu_thread {
	unsigned int tgid;
	unsigned int turn;		/* of its last sample */
	unsigned long long first_ns;	/* when that was */
	unsigned long long samples, ran_ns;	/* so long it had a processor, until its last sample */
	unsigned long long skipped;	/* periods of the clock without a sample, at the end of which it ran */
	unsigned long long left_ns, since_ns;	/* the same until it left one; since when it has one, 0: it has none */
	char comm[WATCH_TASK_COMM];	/* at the last */
};

/* A process that samples found in user space. */
struct cpu_program {
	unsigned long long started_ns;
	unsigned long long samples;
};

/* How much of a program's stack is kept: calls; of those without a frame pointer above the last call, how many may
 * be, and in how many words they lie. */
enum { USER_FRAMES = 127, USER_CALLERS = 4, USER_WORDS = 32, CALLER_IN_REGISTER = 255 };

/* In place of a site, where a call does not tell it. */
enum { WATCH_ACCEPTED = 254, WATCH_RETURNED = 255 };

/* Which call of which process moved bytes. */
struct user_stack {
	unsigned int tgid;
	unsigned int site;
	unsigned long long started_ns;
	unsigned int depth;	/* of .frames; 0: the kernel made the call by itself */
	unsigned int cut;	/* there are more frames; with none: a thread of io_uring made the call */
	/* Words at the stack pointer that may be return addresses of calls without a frame pointer, and the number of
	 * each word plus 1, 0 ends them. */
	unsigned char caller_at[8];
	unsigned long long callers[USER_CALLERS];
	unsigned long long frames[USER_FRAMES];	/* where it was, then return addresses, innermost first */
};

/* What calls of a socket moved: what stacks have, and what none has, of other processes, or where there was no room. */
struct stack_sum {
	unsigned long long stacked, unstacked;
};

/* A process that has a new stack. */
struct stack_task {
	unsigned long long started_ns;
	unsigned int tgid;
	unsigned int unused;
};

/* Sequence numbers of a socket at one moment, under its lock. */
struct watch_reading {
	unsigned long long accepted;	/* bytes_acked + (write_seq - snd_una) */
	unsigned long long sent;	/* bytes_sent */
	unsigned long long retransmitted;	/* bytes_retrans */
	unsigned long long received;	/* bytes_received */
	unsigned int unsent;		/* write_seq - snd_nxt */
	unsigned int unacked;		/* snd_nxt - snd_una */
	unsigned int unread;		/* rcv_nxt - copied_seq */
	unsigned int zerocopy_sends;	/* of all time: sk_zckey */
	unsigned short state;		/* TCP_ESTABLISHED, ... */
	unsigned char fin_queued;	/* write_seq counts a FIN */
	unsigned char numbered;		/* a packet in the queue holds a notification with a number: first_id */
	unsigned char fin_received;	/* bytes_received counts a FIN */
	unsigned char asks_zerocopy;	/* SO_ZEROCOPY is set */
	unsigned char urgent_due;	/* no receive has passed the newest urgent byte yet (urg_data) */
	unsigned char orphaned;		/* no process has it any more: the kernel drops its notifications (SOCK_DEAD) */
	unsigned int calls_sleep;	/* a call of a task may be under way */
	unsigned int drops;		/* of a UDP socket: datagrams that the kernel says it dropped, */
	union {
		unsigned int restless;	/* and whether some came or went while it was read */
		unsigned int arrives_on;	/* of a TCP socket: number of the device that its packets came by; 0: none came */
	};
	union {
		unsigned int urgent_seq;	/* where the newest urgent byte was; 0: there was none */
		unsigned int option_bytes;	/* of a UDP socket: option memory, which each notification holds until
						 * the program has read it */
	};
	/* What lies in the queue of unacknowledged and unsent packets. */
	unsigned int referenced_pages;
	unsigned int first_id;		/* oldest such notification there; zerocopy_sends if none */
	unsigned long long referenced_bytes;
	unsigned long long spliced_bytes;
	unsigned long long unsent_referenced_bytes;
};

enum watch_pages {
	WATCH_PACKETS_UNSEEN = 1,
	WATCH_REFERENCES_UNSEEN = 2, /* sends of datagrams */
};

/* Counted by hooks that know a socket by its cookie alone: looked up without a call. Whole lines of the
 * cache: what each packet with user pages touches comes first, then what else zero copy needs. */
struct watch_slot {
	unsigned long long sent_as[WATCH_KINDS];	/* raw bytes of each kind, up to .since */
	unsigned long long since;	/* .accepted when sends became of this kind */
	unsigned long long departed;	/* all payload that went to a device */
	unsigned long long sent_referenced;	/* bytes of user pages that went to a device */
	unsigned long long late_copied;		/* bytes of packets that arrived with user pages */
	union {
		unsigned char kind;
		unsigned char send_failed;	/* of a UDP socket */
	};
	unsigned char departures_noted;	/* departed_from is set */
	unsigned char pages_unwatched;	/* enum watch_pages: it referenced or spliced before that was hooked */
	unsigned char mixed;	/* pages of files left in packets with user pages */
	unsigned char unpinned;	/* the kernel just freed a notification that nobody will get */
	unsigned char paths;	/* enum watch_paths */
	unsigned char ring_used;	/* io_uring referenced pages */
	unsigned char ring_silent;	/* a notification of its that does not tell of copies */

	unsigned long long completed_sends, copied_sends;
	unsigned int next_id;		/* of the notification expected next */
	unsigned int skipped_ids;	/* notifications that nobody saw */
	unsigned int opened_sends;	/* zero-copy sends not completed when the window opened */
	unsigned int unseen_reports;	/* the queue was empty when a notification was reported */
	/* What TCP had sent when .departed was 0: what it has sent since then and is not there, no program saw. */
	union {
		unsigned long long departed_from;
		unsigned long long handed_over;	/* of a UDP socket: payload that IP was given */
	};
	unsigned long long tapped;	/* late copies shown to a capture on the way out */
	unsigned int dropped_packets;	/* by this machine, on the way out */
	unsigned int refused_optmem, refused_memlock;	/* told with trampolines alone */
	unsigned int refused_by_unknown;	/* with them: both limits were reached */

	unsigned long long rx_discarded, rx_peeked;
	union {
		struct {
			unsigned long long rx_spliced, rx_mapped;
			unsigned long long map_calls;	/* of TCP_ZEROCOPY_RECEIVE that found bytes */
		};
		/* Of a UDP socket: bytes of datagrams that were queued, that were dropped, and what of those that
		 * were taken did not fit the reader's buffer. */
		struct {
			unsigned long long rx_queued, rx_dropped, rx_cut;
		};
	};
	unsigned long long send_calls, sends_returned;	/* these four as a witness alone */
	unsigned long long recv_calls, recvs_returned;

	unsigned long long clean;	/* bytes of user pages that a device on a bus was handed */
	unsigned long long reshaped;	/* bytes of user or spliced pages that the kernel moved behind the socket */
	/* Bytes of packets with spliced pages that went to a device, and that it was handed so. */
	unsigned long long spliced_queued, spliced_handed;
	/* Of rx_copied (see bpf/receives.bpf.c): what ended receives explain, and what was no copy of
	 * the stream; what no receive explains. */
	union {
		unsigned long long rx_settled;	/* WATCH_UNSETTLED: no receive has ended since the window opened */
		unsigned long long rx_refused;	/* of a UDP socket: datagrams that its queue had no room for */
	};
	unsigned long long rx_off;
	unsigned int ring_sends, ring_notified, ring_copied;
	unsigned int rx_odd;

	unsigned long long late_on_way_out;	/* of late_copied, before the packet arrived anywhere */
	union {
		struct {
			unsigned int splice_reads, discards;	/* calls behind rx_spliced and rx_discarded */
		};
		/* Of a UDP socket: how often calls that receive or queue began or ended, and those under way. */
		struct {
			unsigned int moves;
			int under_way;
		};
	};
	unsigned char ours;	/* the socket is the subject's */
	unsigned char dead;	/* the socket is gone: another one may have the place if there is no other */
	unsigned char tls;	/* SLOT_HAS_TLS_BOOK, ... */
	unsigned char datagrams;	/* it is a UDP socket */
	union {
		unsigned int user;	/* of a UDP socket: the process that used it last */
		unsigned int unscattered_sends;	/* with MSG_ZEROCOPY, on a route without scatter-gather: see send_enter */
	};
	unsigned long long moved_between;	/* with details: bytes copied between buffers of packets */
	union {
		unsigned long long splice_sends;	/* of send_calls, those that spliced pages */
		/* Of a UDP socket with trampolines: given to sends that failed with EIO. */
		unsigned long long failed_bytes;
	};
	/* Of the calls that have a place in histograms: the process that called last, and the place of its own;
	 * those that have none, as it was not known yet that the socket is the subject's. */
	unsigned int caller, sizes_at, unsized_calls;
	/* Of a zero-copy send, by the number of its notification: of TCP, up to which the program has read them; of
	 * a UDP socket, the one that would be next. */
	unsigned int zerocopy_id;
	/* The newest notification that was counted, see noted_as(); the first number that was not due by then when the
	 * window opened. */
	unsigned long long newest;
	unsigned int opened_id;
	unsigned int added_sends;	/* whose notification is part of one before, and has its word on copies */
	/* Of a UDP socket with trampolines: accepted by sends that asked for zero copy. */
	unsigned long long asked_bytes;
	/* Of a UDP socket: the task (pid_tgid) whose receive is noted here, and the room in its buffer. */
	unsigned long long receiver, room;
	unsigned int failed_sends[WATCH_FAILURE_COUNT];	/* of a UDP socket, by error */
	unsigned long long opened_ns;	/* when the window opened for it; 0: it began in the window, or is a UDP socket */
};

/* A socket's place in the table, and what each plain receive counts: one line of the cache has both. */
struct slot_way {
	unsigned long long cookie;
	unsigned long long rx_copied;
};

struct slot_bucket {
	struct slot_way way[WATCH_WAYS];
};

/* How an urgent byte is read: it is skipped, or a byte as any other (SO_OOBINLINE). */
enum watch_urgent_way {
	URGENT_APART = 1,
	URGENT_IN_LINE = 2,
};

/* Urgent bytes of a TCP socket, see bpf/include/urgent.bpf.h: counted with trampolines. */
struct watch_urgent {
	unsigned int skipped;	/* left the queue and were returned by no receive of the stream */
	unsigned int read;	/* returned by recv(MSG_OOB) */
	unsigned int unsure;	/* left the queue while SO_OOBINLINE changed */
	unsigned int due;	/* the newest is unread */
	unsigned int seen;	/* ways that it may be read, so far: enum watch_urgent_way */
	unsigned int before;	/* urg_seq until TCP has noted the newest */
};

struct watch_book {
	unsigned long long cookie;
	struct watch_task owner;
	struct watch_task holder;	/* found by the last walk over descriptors */
	struct watch_reading opened, now, closed;
	struct watch_slot slot;		/* these two: copied from the table when the book is read */
	unsigned long long rx_copied;
	/* Of earlier lives of the socket, which was disconnected and connected again; no SYN, no FIN. Sent is
	 * also what was lost unsent with its queue. */
	unsigned long long past_accepted, past_sent, past_returned, past_retransmitted;
	unsigned int flags;
	unsigned int slot_at;		/* 1 + place in the table; 0: none */
	unsigned int netns;
	unsigned int pass;		/* number of the walk that found .holder */
	unsigned char owner_holds;	/* that walk saw the owner hold it, too */
	unsigned char state;		/* of TCP: after the last change that was seen, or walk under its lock; 0: none */
	unsigned short addresses_known;
	unsigned int local_ip[4], remote_ip[4];	/* IPv4 as ::ffff:a.b.c.d */
	unsigned short local_port, remote_port;	/* host order */
	unsigned short family;
	unsigned short layers;		/* a bit for each enum watch_layer that it ever had */
	unsigned int census;		/* number of the first one that counts it, see bpf/include/census.bpf.h */
	unsigned int met;		/* number of the last one that did */
	unsigned int mptcp_token;	/* of the MPTCP socket above it; 0: none, or not known */
	struct watch_urgent urgent;
	struct stack_sum stacks;	/* copied like .slot, if stacks are kept */
};

/* Of the whole machine. */
struct watch_gauges {
	unsigned long long lost_deaths;		/* the ring had no room */
	unsigned long long unbooked;		/* no storage for a book */
	unsigned long long no_slots;
	unsigned long long lost_updates;	/* of any other table */
	unsigned long long zerocopy_seen;	/* a send asked for it: hooks for it are needed */
	unsigned long long datagrams_due;	/* the subject has a UDP socket: its hooks are needed, */
	unsigned long long datagrams_seen;	/* and without trampolines those that TCP passes, too */
	unsigned long long rings_seen;	/* a process of the subject has an io_uring */
	/* Processes that user space made part of the subject; that became part of it since; that ended. */
	unsigned long long chosen, joined, left;
	unsigned long long lost_members;	/* no room for a process of the subject */
	/* Books: all, and those that the next census does not count; met by this one, ended since then. */
	unsigned long long begun, ended, begun_lately[2], ended_lately[2], met, ended_after;
	/* Sockets without a book: that ended, that the last walk met; lives whose end or new beginning no
	 * program saw. */
	unsigned long long unseen_births, bookless, unseen_changes;
	unsigned long long injected_faults;	/* completions dropped on purpose */
	unsigned long long reshaped_orphans;	/* spliced bytes that the kernel moved for nobody knows whom */
	unsigned long long spliced_onward;	/* spliced bytes of nobody knows whom that this machine handed on, and may have copied unseen */
	unsigned long long sockmaps;	/* that there were at the last reading */
	unsigned long long sockmap_seen;	/* a socket was in one */
	unsigned long long sized_processes;	/* that asked for histograms of their own */
	unsigned long long uncovered[WATCH_UNCOVERED_COUNT];	/* sockets of the subject that have no books */
	unsigned long long mptcp_copied;	/* what sends of the subject's tasks gave to MPTCP sockets */
	/* Requests of the subject's tasks that the kernel refused, and the newest error of each. */
	unsigned long long refused[WATCH_REQUEST_COUNT], refused_error[WATCH_REQUEST_COUNT];
	unsigned long long rings_overflowed;	/* completions of sends by reference that found no room: of nobody knows whom */
	unsigned long long size_strays;		/* sized sockets that were not known to be the subject's */
};

#pragma GCC diagnostic pop

#endif
