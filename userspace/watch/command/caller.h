/* SPDX-License-Identifier: GPL-2.0 */
/* The user on whose behalf the tool runs: who called sudo, or the tool's own. */
#ifndef COPYSCOPE_WATCH_CALLER_H
#define COPYSCOPE_WATCH_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

struct caller {
	bool other;	/* than the user of this process */
	uid_t uid;
	gid_t gid;
	char name[64], home[256], shell[64];
};

/* Finds it; the tool's own with @as_root, or where sudo was not used. 0, or -errno with one line
 * printed. */
int caller_find(struct caller *caller, bool as_root);

/* Becomes that user for good, with its groups and its HOME. 0, or -errno with one line printed. */
int caller_become(const struct caller *caller);

#endif
