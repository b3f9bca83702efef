/* SPDX-License-Identifier: GPL-2.0 */
/* What the user asked for. */
#ifndef COPYSCOPE_BASELINE_SETTINGS_H
#define COPYSCOPE_BASELINE_SETTINGS_H

#include <stdbool.h>

enum { ONLY_MAX = 64 };

/* What --break adds to each region, so that tests see the invariants catch it. */
enum spoil {
	SPOIL_NONE,
	SPOIL_SKIP,		/* do half of the calls */
	SPOIL_SYSCALL,	/* a system call more */
	SPOIL_SLEEP,		/* a voluntary context switch more */
	SPOIL_FAULT,		/* a page fault more */
	SPOIL_FORK,		/* a process more */
	SPOIL_PACKET,	/* a packet on another device */
	SPOIL_READ,		/* a read from the disk */
	SPOIL_HOLE,		/* files are holes: no disk has anything of them */
	SPOIL_APART,		/* the peer is on another CPU */
	SPOIL_NEAR,		/* the remote path has no delay */
	SPOIL_COUNT
};

struct settings {
	const char *only[ONLY_MAX];	/* rows or families; none: all */
	int only_count;
	bool quick;
	bool drop_caches;
	bool list;
	bool quiet;
	int runs, rounds;
	double rtt_ms;			/* of the remote path */
	const char *dir;		/* where files are made, nameless */
	const char *json;
	enum spoil spoil;
};

/* Exits with 2 and one line if the command line is not sound. */
void settings_parse(int argc, char **argv, struct settings *s);

/* Exits with 2 if a name fits no row and no family. */
void settings_check_names(const struct settings *s);

#endif
