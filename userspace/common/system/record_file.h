/* SPDX-License-Identifier: GPL-2.0 */
/* The file of a record: it gets its name only when it is whole. */
#ifndef COPYSCOPE_RECORD_FILE_H
#define COPYSCOPE_RECORD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Write to @file, then publish. @path is where the record will be. Space is reserved before the
 * run, so that a full disk is reported before anything is touched. A run that is killed leaves no
 * file. A path that is no regular file, as /dev/null, is written to and never replaced. The folder
 * stays open: a link that somebody puts on the way later changes nothing.
 */
struct record_file {
	FILE *file;
	bool nameless;
	int folder;			/* -1 unless it is nameless */
	char path[PATH_MAX];
	char name[NAME_MAX + 1];	/* in the folder */
	char temporary[48];		/* a name that is free, for a moment */
	char spare[48];			/* one that is free, if @name is taken in the end */
	bool spared;			/* the record has that one */
	uid_t replaces;			/* whose file it may replace, beside its own user's */
};

/*
 * Reserves the file that the user asked for by @option, stdout for "-"; without a request @name in
 * COPYSCOPE_RUNS or in the tree's results/runs. 0, or -errno with one line of @program printed.
 */
int record_file_reserve(struct record_file *k, const char *program, const char *option,
			const char *asked, const char *name);
/* Can this process name files where records go that nobody named a file for? */
bool record_file_has_place(void);
bool record_file_is_stdout(const struct record_file *k);
/* 0, or -errno: an earlier file of that name is still there, and the record has the spare name if that
 * can be. */
int record_file_publish(struct record_file *k);
/* Prints one line: why the record could not be written, and where it is all the same. */
void record_file_tell(const struct record_file *k, const char *program, int err);
/* For lines that are read while they are written: the file has its name from now on. 0 or -errno. */
int record_file_name_now(struct record_file *k);
void record_file_abandon(struct record_file *k);

struct keeper {
	pid_t pid;	/* 0: there is none */
	int line;	/* to it and back; when the pipe closes, the run has ended */
};

/*
 * Starts it. When the run has ended, in any way, it calls @at_end, which may use @descriptor (-1:
 * none) and opens nothing. 0 or -errno.
 */
int keeper_start(struct keeper *k, const struct record_file *file, void (*at_end)(void *arg), void *arg,
		 int descriptor);

/* Writes the rest of the record, and lets the keeper name it. 0 or -errno. */
int keeper_publish(const struct keeper *k, struct record_file *file);

/* Closes the pipe to it and waits until it has ended; accepts a zeroed one. */
void keeper_end(struct keeper *k);

/* Whether this program lies in no tree: a record for which nobody names a place is refused then. */
extern bool tree_is_none;

/* Writes the absolute path of @name in the tree: build/trace_run's own folder is build/. */
void tree_path(const char *name, char *path, size_t size);

#endif
