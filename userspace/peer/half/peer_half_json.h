/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One host's half of a record, on its way to the other: its run record as it is, and what a record
 * leaves out: the workload's own totals, stacks of late copies, lost updates.
 *
 * Both hosts are the same build, so one can read what the other wrote. Still the reader trusts
 * nothing in it: a process of its own (aside.h) parses it, checks the type of each key and answers
 * with plain data, and the reader checks the range of each field before it takes it over.
 */
#ifndef COPYSCOPE_PEER_HALF_JSON_H
#define COPYSCOPE_PEER_HALF_JSON_H

#include <jansson.h>

#include "userspace/record/experiment.h"
#include "userspace/run/ends/launch.h"

/* Far above what 1,024 connections need, and the plain data of so many. */
enum { HALF_SOCKETS_MAX = 4096, HALF_PLAIN_BYTES = 16 << 20 };

/* A half as plain data, before its lists; no pointer in it means anything to who takes it. */
struct half {
	struct record record;
	struct experiment experiment;
};

json_t *peer_half_json(const struct record *r, enum end end);

/* The same as text, for the caller to free; NULL without memory. */
char *half_text(const struct record *r, enum end end);

/* Parses a half, of either end; an aside_work. */
int half_parse(const char *text, size_t bytes, void **answer, size_t *size);

/*
 * Fills in a zeroed record with what the host of @end counted. 0 or -EBADMSG; what is owned by @r is
 * the caller's to free either way.
 */
int half_read(json_t *o, enum end end, struct record *r);

/* The same from the plain data that a parser answered; checks all of it. */
int half_take(const char *answer, size_t size, enum end end, struct record *r);

#endif
