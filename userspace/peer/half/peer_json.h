/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One host's half of the books, on its way to the other: its run record as it stands, with what a
 * record leaves out: the workload's own totals, stacks of late copies, lost updates.
 *
 * Both hosts are the same build, so one reads what the other wrote; all the same nothing in it is
 * trusted. It is parsed aside (aside.h), where each key is checked for its type, and comes back as
 * plain data, of which each field is checked for its range before it is taken over.
 */
#ifndef COPYSCOPE_HALF_JSON_H
#define COPYSCOPE_HALF_JSON_H

#include <jansson.h>

#include "userspace/record/record.h"
#include "userspace/run/ends/launch.h"

/* Far above what 1,024 connections leave, and what a half of so many takes as plain data. */
enum { HALF_SOCKETS_MAX = 4096, HALF_PLAIN_BYTES = 16 << 20 };

json_t *half_json(const struct record *r, enum end end);

/* The same as text, the caller's to free; NULL without memory. */
char *half_text(const struct record *r, enum end end);

/* Parses a half, of whichever end it says; an aside_work. */
int half_parse(const char *text, size_t bytes, void **answer, size_t *size);

/*
 * Fills in a zeroed record with what the host of @end counted. 0 or -EBADMSG; what is owned by @r is
 * the caller's to free either way.
 */
int half_read(json_t *o, enum end end, struct record *r);

/* The same from the plain data that a parser answered; nothing in it is believed. */
int half_take(const char *answer, size_t size, enum end end, struct record *r);

#endif
