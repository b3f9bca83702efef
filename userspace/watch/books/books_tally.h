/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adds up sockets: by process, remote address and local port, in total, since the opening and since the
 * reading before. Sockets that died stay in the sums for good, and one by one only as many as there is room
 * for. So do processes that are gone. Pure.
 */
#ifndef COPYSCOPE_WATCH_BOOKS_BOOKS_TALLY_H
#define COPYSCOPE_WATCH_BOOKS_BOOKS_TALLY_H

#include "userspace/record/watch_record.h"
#include "userspace/watch/books/books_socket.h"

/* Where in a table each process is, by its pid and its start. */
struct watch_ids {
	struct watch_id_place {
		struct watch_process_id id;
		int place;	/* plus 1; 0: nobody is here */
	} *items;	/* owned */
	int count, room;
};

/* -1: it is not there. */
int watch_ids_find(const struct watch_ids *ids, const struct watch_process_id *id);

/* A process that is not there yet. 0 or -ENOMEM. */
int watch_ids_put(struct watch_ids *ids, const struct watch_process_id *id, int place);

/* All processes of a record, by their places in it. 0 or -ENOMEM. */
int watch_ids_fill(struct watch_ids *ids, const struct watch_record *r);

/* Frees what it owns and empties it. */
void watch_ids_free(struct watch_ids *ids);

/* A law over all sockets that it can be tested for. */
enum { LAW_REASONS = 16 };

struct watch_law_sum {
	int64_t left, right;
	uint64_t testable, not_testable, broken;
	/* Why it cannot be tested, and for how many sockets; those beyond have their reason in the record. */
	struct {
		const char *why;
		uint64_t sockets;
	} reasons[LAW_REASONS];
};

/* Adds one socket's. */
void watch_law_add(struct watch_law_sum *sum, const struct watch_sides *sides);

/* The law in a record. For @unseen sockets a run that the kernel skipped may explain that sides differ. */
void watch_law_tell(struct law *law, enum law_id id, const struct watch_law_sum *sum, uint64_t unseen);

struct watch_sums {
	struct watch_process *processes;	/* owned */
	int process_count, process_room;
	struct watch_groups groups[WATCH_GROUPINGS];	/* owned */
	struct watch_ids index;		/* of these */
	struct watch_sum total;
	uint64_t unopened;		/* sockets that the total counts, and nothing of what they moved, or not all of it */
	struct watch_law_sum laws[WATCH_LAW_COUNT];
};

/* What a socket had moved at the reading before. */
struct watch_past {
	uint64_t cookie;
	struct watch_movements moved;
};

struct watch_dead {
	struct watch_sums sums;		/* of all that died */
	struct watch_socket *kept;	/* owned: the first of them */
	int kept_count, kept_room;
};

struct watch_tally {
	struct watch_dead dead[2];	/* if no program was skipped, and if one was: a reading tells */
	int processes_read;	/* at the reading before */
	int kept_max;
	bool forgets;	/* nobody tells which processes are gone: those without sockets are folded when there are many */
	uint64_t folded;
	struct watch_member *gone;	/* owned: processes of the subject that ended and were collected */
	int gone_count;
	uint64_t folded_processes;	/* gone, and in the total alone */
	struct watch_ids folded_ids[2];	/* the last of them, and those before */
	struct watch_past *past;	/* owned, in the order of cookies */
	int past_count;
};

/* @kept_max sockets that died, and processes that are gone, are kept one by one; 0: 1000 of each. */
void watch_tally_begin(struct watch_tally *t, int kept_max);

/* A socket that died, whatever @hooked says of programs that were skipped. 0 or -ENOMEM. */
int watch_tally_death(struct watch_tally *t, const struct watch_book *book,
		      const struct watch_hooked *hooked);

/* A process of the subject that is gone; sockets of it may still die. 0 or -ENOMEM. */
int watch_tally_gone(struct watch_tally *t, const struct watch_member *member);

/* Fills everything of an open socket. */
void watch_tally_open(const struct watch_tally *t, struct watch_socket *socket,
		      const struct watch_book *book, const struct watch_hooked *hooked);

/* Of .unseen_events, in the words of laws that cannot be tested for that. */
#define MOMENTS_UNSEEN "at %llu moments sockets of this machine began, changed, ended or moved bytes unseen"

/* Everything that is open and everything that died: sockets, processes, total, laws of @r, which has its unseen
 * events already. After it the next reading begins. @open is in the order of cookies, @skipped as it was filled with;
 * @open may be what @r owns already, as of sockets they are megabytes. 0 or -ENOMEM. */
int watch_tally_read(struct watch_tally *t, const struct watch_socket *open, int count, bool skipped,
		     struct watch_record *r);

void watch_tally_free(struct watch_tally *t);

#endif
