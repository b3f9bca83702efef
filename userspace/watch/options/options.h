/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of copyscope watch. */
#ifndef COPYSCOPE_WATCH_OPTIONS_H
#define COPYSCOPE_WATCH_OPTIONS_H

#include <stdbool.h>

#include "bpf/include/watch.h"
#include "userspace/record/watch_record.h"
#include "userspace/watch/options/subject.h"

enum { WATCH_SECONDS_MAX = 86400 * 7, WATCH_TOP = 10, WATCH_ASKED_BYTES = 1024 };

/* What the rows of tables stand for. */
enum watch_rows { ROWS_SERVICES, ROWS_SOCKETS, ROWS_PROCESSES, ROWS_CGROUPS, ROWS_PEERS, ROWS_PORTS };

/* Which rows come first. */
enum rows_order { ROWS_BY_COPIED, ROWS_BY_SENT, ROWS_BY_RECEIVED, ROWS_BY_AVOIDABLE, ROWS_BY_CPU, ROWS_BY_NAME };

struct watch_options {
	struct watch_subject subject;	/* as asked, not resolved; of a command the pid is missing */
	const char *whom;	/* the first option that named the subject */
	int whom_count;		/* how many did */
	char asked[WATCH_ASKED_BYTES];	/* what it was given; of several all, with their options, as far as there is room */
	char **command;		/* NULL-terminated, in argv; NULL: processes that run */
	bool as_root;		/* the command does not become the user who called sudo */
	double seconds;		/* 0: until it ends or is interrupted */
	double interval;	/* 0: only the report at the end */
	enum watch_rows rows;
	enum rows_order order;
	struct json_t *names;	/* what containers and users are called; NULL: nobody told */
	int top;		/* rows of each table */
	bool top_asked;
	enum watch_books books;
	bool books_asked;	/* by --books */
	bool details;
	unsigned int cpu_hz;	/* 0: the clock is not sampled */
	bool sizes;		/* calls are told by their size: .books is WATCH_CALLS */
	uint32_t stack_every;	/* bytes: one of so many is sampled; 0: each has its stack */
	bool stacks;		/* which calls of the programs moved bytes: .books is WATCH_CALLS */
	enum backend backend;
	enum fault_inject fault_inject;	/* for tests: none unless asked for */
	const char *json;	/* file, "-" for stdout, NULL: no record */
	bool no_keep;		/* without .json no record stays */
	const char *lines;	/* the same, of what moves in each interval */
	bool fold_lines;	/* a row of a line is a service, and not a process */
	bool table;		/* names and numbers in place of the report */
	bool quiet;
	bool fail_on;		/* a command's exit status says, too, if a law is broken */
	bool fail_on_needless;	/* and what was copied needlessly, if it is more than */
	double needless_most;	/* percent of what was to be sent without a copy */
};

/* What --by calls them. */
extern const char *const watch_rows_names[];

/* What --sort calls the orders. */
extern const char *const watch_order_names[];

/* True if stdout is for a record or for lines of intervals. */
bool watch_prints_records(const struct watch_options *o);

/* Parses, or exits with 2 and one line that says what to do; --help prints and exits with 0. */
void watch_options_parse(int argc, char **argv, struct watch_options *o);

#endif
