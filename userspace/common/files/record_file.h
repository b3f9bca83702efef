/* SPDX-License-Identifier: GPL-2.0 */
/* The file of a record: it gets its name only when it is whole. */
#ifndef COPYSCOPE_RECORD_FILE_H
#define COPYSCOPE_RECORD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Write to @file, then publish. @path is where the record will be. Space is reserved before the
 * run, so that a full disk is reported before anything is touched. A run that is killed leaves no
 * file. A path that is no regular file, as /dev/null, is written to and never replaced. The folder
 * stays open: a link that somebody puts on the way meanwhile changes nothing.
 */
struct record_file {
	FILE *file;
	bool nameless;
	int folder;			/* -1 unless it is nameless */
	char path[PATH_MAX];
	char name[NAME_MAX + 1];	/* in the folder */
	char aside[48];			/* a name that is free, for a moment */
};

/*
 * Reserves the file that the user asked for, stdout for "-"; without a request @name in COPYSCOPE_RUNS
 * or in the tree's results/runs. 0, or -errno with one line of @program printed.
 */
int record_file_reserve(struct record_file *k, const char *program, const char *asked, const char *name);
bool record_file_is_stdout(const struct record_file *k);
/* 0, or -errno: an earlier file of that name is still there. */
int record_file_publish(struct record_file *k);
/* The two steps of it, for a process that may not name files and lets another one do it: everything
 * written reaches the file; a nameless file gets its name, for which @file and @folder must be
 * open. 0 or -errno. */
int record_file_finish(struct record_file *k);
int record_file_name(const struct record_file *k);
void record_file_abandon(struct record_file *k);

#endif
